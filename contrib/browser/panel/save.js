// SPDX-License-Identifier: MIT
// The shown snapshot as a file, in one of the formats.
import { h } from "../page/dom.js";
import { bytes } from "../page/format.js";

const FORMATS = [
  { format: "hs", suffix: ".hs", what: "heapshot's own: the command line and this page read it" },
  { format: "mono-heap", suffix: ".mono-heap", what: "the format of dotnet/runtime's memory panel" },
  { format: "gcdump", suffix: ".gcdump", what: "for dotnet-gcdump, PerfView and Visual Studio" },
  { format: "heapsnapshot", suffix: ".heapsnapshot", what: "for the memory tab of Chromium's developer tools" },
];

/** NAME as that of a file. */
export function fileName(name, suffix) {
  return name.replace(/\.hs$/, "").replace(/[\\/:*?"<>|\s\u0000-\u001f]+/g, "-") + suffix;
}

export class Save {
  /** ACT(format, suffix): makes the file and saves it. */
  constructor(act) {
    this.buttons = FORMATS.map(({ format, suffix, what }) => h("button", { type: "button", "data-format": format, "aria-label": "Save as " + suffix, title: what, onclick: () => act(format, suffix) }, suffix));
    this.element = h("div", { class: "save", role: "group", "aria-label": "Save as" }, h("span", { "aria-hidden": "true", class: "dim" }, "Save as"), this.buttons);
  }

  /** While one is being made the others wait. */
  setBusy(isBusy) {
    for (const button of this.buttons) button.disabled = isBusy;
  }
}

/** "app.gcdump: 1.2 MB saved" */
export function savedText(name, blob) {
  return `${name}: ${bytes(blob.size)} saved.`;
}
