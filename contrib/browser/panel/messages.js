// SPDX-License-Identifier: MIT
// What the page says: what goes on, politely, and errors at once; each one line.
import { h } from "../page/dom.js";

export class Messages {
  constructor() {
    this.status = h("p", { class: "status dim", role: "status" });
    this.text = h("span", {});
    this.error = h("div", { class: "error", role: "alert", hidden: true }, this.text, h("button", { type: "button", onclick: () => this.clear() }, "Dismiss"));
  }

  /** Says TEXT when the reader has time for it. */
  say(text) {
    this.status.textContent = text;
  }

  /** Says what failed, and what to do. */
  fail(error) {
    if (error && error.name === "AbortError") {
      this.say("Cancelled.");
      return;
    }
    const text = String((error && error.message) || error).split("\n")[0];
    this.error.hidden = false;
    this.text.textContent = text.charAt(0).toUpperCase() + text.slice(1);
    this.say("");
  }

  clear() {
    this.error.hidden = true;
    this.text.textContent = "";
  }
}
