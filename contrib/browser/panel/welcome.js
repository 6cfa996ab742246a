// SPDX-License-Identifier: MIT
// What to do first.
import { h } from "../page/dom.js";

/** Shown as long as neither a runtime nor a snapshot is. */
export function welcome() {
  return h(
    "div",
    { class: "welcome" },
    h("h2", {}, "What keeps the memory of a .NET WebAssembly app?"),
    h(
      "ol",
      {},
      h("li", {}, "In the app: ", h("code", {}, "const hs = await heapshot.attach(runtime);"), " then ", h("code", {}, "hs.enableDiagnosticChannel();")),
      h("li", {}, "Open this page from the app's origin, in another tab: the runtime stands in the list of runtimes."),
      h("li", {}, "Choose it, take a snapshot, use the app, and take another: what grew, and what holds it, is shown here.")
    ),
    h("p", { class: "drop" }, "Or open a recording: by “Open file…”, or drop it on this page. Nothing leaves the browser.")
  );
}
