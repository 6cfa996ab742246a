// SPDX-License-Identifier: MIT
// One runtime: takes its snapshots, and shows its live statistics.
import { h, replace } from "../page/dom.js";
import { bytes, count } from "../page/format.js";
import { Progress } from "./progress.js";
import { Follow } from "./follow.js";
import { Statistics } from "./statistics.js";

export class RuntimeView {
  /** CLIENT of the runtime RUNTIME; TAKEN(blob, label) gets snapshots; MESSAGES: see there. */
  constructor({ client, runtime, messages, taken }) {
    Object.assign(this, { client, runtime, messages, taken });
    this.progress = new Progress((text) => messages.say(text));
    this.label = h("input", { id: "label", type: "text", placeholder: "after login", maxlength: "200", autocomplete: "off" });
    this.button = h("button", { type: "submit", class: "primary", id: "take" }, "Take snapshot");
    this.statistics = new Statistics({ client, runtime, messages });
    this.follow = new Follow({ client, runtime, messages, taken });
    const submit = (event) => {
      event.preventDefault();
      this.take();
    };
    this.gone = h("p", { class: "gone", hidden: true });
    this.element = h(
      "div",
      { class: "runtime" },
      h("h2", {}, runtime.title || "A runtime"),
      h("p", { class: "dim facts" }, this.facts()),
      this.gone,
      h("form", { class: "take", onsubmit: submit }, h("label", { for: "label" }, "Label"), this.label, this.button, this.progress.element),
      this.statistics.element,
      this.follow.element
    );
  }

  facts() {
    const { url, runtimeVersion, heapshotVersion } = this.runtime;
    return [runtimeVersion && ".NET " + runtimeVersion, heapshotVersion && "heapshot " + heapshotVersion, url].filter((text) => text).join(", ");
  }

  async take() {
    if (this.progress.isRunning) return;
    const label = this.label.value.trim();
    this.button.disabled = true;
    this.messages.clear();
    try {
      const blob = await this.progress.run("Taking a snapshot", (signal, onProgress) =>
        this.client.take(this.runtime.id, {
          label,
          signal,
          onProgress: (at) => onProgress(this.words(at)),
        })
      );
      this.label.value = "";
      this.taken(blob, label, this.runtime);
    } catch (error) {
      this.messages.fail(error);
    } finally {
      this.button.disabled = this.isGone === true;
    }
  }

  words({ bytes: size = 0, objects }) {
    return `Taking a snapshot: ${bytes(size)}` + (objects ? `, ${count(objects)} objects` : "");
  }

  /** The tab was closed, or the app has ended its channel. */
  setGone() {
    this.isGone = true;
    this.button.disabled = true;
    this.gone.hidden = false;
    replace(this.gone, "This runtime has gone: its tab was closed or loaded anew. Its snapshots stay here; choose another runtime, or open the app again.");
    this.statistics.stop();
    this.statistics.setGone();
    this.follow.setGone();
  }

  /** Nothing is asked for any more. */
  close() {
    this.statistics.stop();
    this.follow.stop();
  }
}
