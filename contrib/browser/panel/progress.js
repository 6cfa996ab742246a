// SPDX-License-Identifier: MIT
// Something that takes a while: a bar, what it has come to, and a way to end it.
import { h } from "../page/dom.js";

const PAUSE_MS = 1000; // between two sentences for those who listen

export class Progress {
  /** SAY: told what goes on from time to time. */
  constructor(say) {
    this.say = say;
    this.bar = h("progress", { max: "1", "aria-label": "Progress" });
    this.text = h("span", { class: "n" });
    this.cancel = h("button", { type: "button", onclick: () => this.controller && this.controller.abort() }, "Cancel");
    this.element = h("div", { class: "progress", hidden: true }, this.bar, this.text, this.cancel);
  }

  get isRunning() {
    return this.controller !== undefined;
  }

  /** Runs WORK(signal, onProgress(text, part)) with the bar shown; TITLE says what it is. */
  async run(title, work) {
    this.controller = new AbortController();
    this.element.hidden = false;
    this.bar.setAttribute("aria-label", title);
    this.show(title, null);
    this.say(title);
    let last = performance.now();
    try {
      return await work(this.controller.signal, (text, part = null) => {
        this.show(text, part);
        if (performance.now() - last < PAUSE_MS) return;
        last = performance.now();
        this.say(text);
      });
    } finally {
      this.controller = undefined;
      this.element.hidden = true;
    }
  }

  show(text, part) {
    this.text.textContent = text;
    if (part === null) this.bar.removeAttribute("value");
    else this.bar.value = part;
  }
}
