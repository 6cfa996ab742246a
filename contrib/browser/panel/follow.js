// SPDX-License-Identifier: MIT
// Follows what a runtime records: collections, counters, and the snapshots that the
// app takes itself; from its start on, since all that was recorded comes first.
import { h } from "../page/dom.js";
import { bytes, count } from "../page/format.js";
import { Parts } from "./parts.js";

const TYPE = "application/octet-stream";

export class Follow {
  /** TAKEN(blob, label, runtime) gets the recording at the end. */
  constructor({ client, runtime, messages, taken }) {
    Object.assign(this, { client, runtime, messages, taken });
    this.button = h("button", { type: "button", id: "follow", "aria-pressed": "false", onclick: () => (this.stream ? this.stop() : this.start()) }, "Follow");
    this.text = h("span", { class: "n", role: "status" });
    this.element = h(
      "section",
      { class: "live", "aria-labelledby": "follow-title" },
      h("h3", { id: "follow-title" }, "What it records"),
      h("p", { class: "dim" }, "All collections, counters and snapshots, until it is stopped: for the time line and the counters."),
      h("div", { class: "tools" }, this.button, this.text)
    );
  }

  async start() {
    this.before = null; // what was recorded so far
    this.parts = new Parts();
    this.size = this.frames = 0;
    this.messages.clear();
    let error;
    try {
      this.stream = this.client.live(this.runtime.id, { onOpen: (recording) => this.open(recording), onFrame: (frame) => this.put(frame) });
      this.draw();
      error = await this.stream.ended;
    } catch (failure) {
      error = failure;
    }
    this.stream = undefined;
    this.draw();
    await this.finish();
    // Behind that, since what is opened takes errors away.
    if (error) this.messages.fail(error);
  }

  stop() {
    if (this.stream) this.stream.stop();
  }

  open(recording) {
    this.before = recording;
    this.size += recording.size;
    this.draw();
  }

  put(frame) {
    this.parts.put(frame.slice());
    this.size += frame.length;
    this.frames++;
    this.draw();
  }

  /** Even of a runtime that has gone, what came is a recording. */
  async finish() {
    if (this.before === null) return;
    const blob = new Blob([this.before, this.parts.blob(TYPE)], { type: TYPE });
    await this.taken(blob, `${this.runtime.title || "Runtime"}, followed`, this.runtime);
  }

  draw() {
    const isRunning = this.stream !== undefined;
    this.button.setAttribute("aria-pressed", String(isRunning));
    this.button.textContent = isRunning ? "Stop and open" : "Follow";
    this.text.textContent = isRunning ? `${bytes(this.size)}, ${count(this.frames)} frames` : "";
  }

  setGone() {
    this.button.disabled = true;
  }
}
