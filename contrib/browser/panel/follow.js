// SPDX-License-Identifier: MIT
// Follows what a runtime records: collections, counters, and the snapshots that the
// app takes itself; from its start on, since all that was recorded comes first.
import { h } from "../page/dom.js";
import { bytes, count } from "../page/format.js";

const PART = 1 << 20; // what is kept as one Blob

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
    this.parts = [];
    this.pieces = [];
    this.waiting = this.size = this.frames = 0;
    this.messages.clear();
    let stream;
    try {
      stream = this.stream = this.client.live(this.runtime.id, { onOpen: (recording) => this.open(recording), onFrame: (frame) => this.put(frame) });
      this.draw();
      const error = await stream.ended;
      if (error) this.messages.fail(error);
    } catch (error) {
      this.messages.fail(error);
    } finally {
      this.stream = undefined;
      this.draw();
    }
    this.finish();
  }

  stop() {
    if (this.stream) this.stream.stop();
  }

  open(recording) {
    this.parts.push(recording);
    this.size += recording.size;
    this.draw();
  }

  put(frame) {
    this.pieces.push(frame.slice());
    this.waiting += frame.length;
    this.size += frame.length;
    this.frames++;
    if (this.waiting >= PART) this.flush();
    this.draw();
  }

  flush() {
    this.parts.push(new Blob(this.pieces));
    this.pieces = [];
    this.waiting = 0;
  }

  /** Even of a runtime that has gone, what came is a recording. */
  finish() {
    this.flush();
    this.text.textContent = "";
    if (this.size > 0) this.taken(new Blob(this.parts, { type: "application/octet-stream" }), `${this.runtime.title || "Runtime"}, followed`, this.runtime);
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
