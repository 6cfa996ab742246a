// SPDX-License-Identifier: MIT
// Recordings from files: chosen by a button, or dropped on the page.
import { h } from "../page/dom.js";

export class Files {
  /** OPEN(files): gets what is chosen or dropped. */
  constructor(open) {
    this.input = h("input", { type: "file", id: "file", class: "hidden", accept: ".hs,.ring,.old", multiple: true, tabindex: "-1", "aria-hidden": "true", onchange: () => this.take(open) });
    this.element = h("div", {}, this.input, h("button", { type: "button", id: "open-file", onclick: () => this.input.click() }, "Open file…"));
    this.listen(open);
  }

  take(open) {
    const files = [...this.input.files];
    this.input.value = ""; // the same file may be chosen again
    if (files.length > 0) open(files);
  }

  listen(open) {
    const hasFiles = (event) => event.dataTransfer && [...event.dataTransfer.types].includes("Files");
    const mark = (isOver) => document.body.classList.toggle("dropping", isOver);
    window.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      mark(true);
    });
    window.addEventListener("dragleave", (event) => {
      if (event.relatedTarget === null) mark(false);
    });
    window.addEventListener("drop", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      mark(false);
      open([...event.dataTransfer.files]);
    });
  }
}
