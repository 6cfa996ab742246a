// SPDX-License-Identifier: MIT
// The page: its head, the views and which of them is shown.  Data come from a
// provider (data.js), so that pages with other sources can use it.
import { h, replace, breakable } from "./dom.js";
import { Colours } from "./colour.js";
import { programName } from "./format.js";
import { Summary } from "./summary.js";
import { Types } from "./types.js";
import { Treemap } from "./treemap.js";
import { Flame } from "./flame.js";
import { Paths } from "./paths.js";
import { Diff } from "./diff.js";
import { Timeline } from "./timeline.js";
import { Counters } from "./counters.js";
import { Handles } from "./handles.js";

// isForEvents: it has something to show without a snapshot, too.
const VIEWS = [
  { name: "summary", title: "Summary", View: Summary, isForEvents: true },
  { name: "types", title: "Types", View: Types },
  { name: "treemap", title: "Treemap", View: Treemap },
  { name: "flame", title: "Flame graph", View: Flame },
  { name: "paths", title: "Paths", View: Paths },
  { name: "diff", title: "Diff", View: Diff },
  { name: "handles", title: "Handles", View: Handles },
  { name: "counters", title: "Counters", View: Counters, isForEvents: true },
  { name: "timeline", title: "Timeline", View: Timeline, isForEvents: true },
];

/** What the views share: data, info, colours, and the ways from one to another. */
export class App {
  /** OPTIONS, for a page that has more than this: isEmbedded: head and title are that page's; onShow(app):
   * another snapshot or view is shown; onError(error): a view cannot be shown. */
  constructor(data, element, options = {}) {
    this.data = data;
    this.element = element;
    this.options = options;
    this.views = new Map();
  }

  async start(index, recording) {
    window.addEventListener("hashchange", () => this.openByHash());
    await this.update(index, recording);
  }

  /** Reads anew what snapshots there are, and shows that of number INDEX, or the last; or no snapshot, but
   * the events of RECORDING. */
  async update(index, recording) {
    this.info = await this.data.info();
    const { snapshots } = this.info;
    this.recording = recording || 0;
    this.snapshot = index !== undefined ? snapshots[index] : recording === undefined ? snapshots[snapshots.length - 1] || null : null;
    if (this.colours === undefined || this.colours.isEmpty) this.colours = new Colours(this.snapshot === null ? [] : await this.largest());
    this.views.clear();
    this.shownViews = await this.viewsWithData();
    this.drawFrame();
    await this.openByHash();
  }

  async largest() {
    const { rows } = await this.data.types(this.snapshot.index);
    const weight = (row) => Math.max(row.bytes, row.retained || 0);
    return rows.slice().sort((a, b) => weight(b) - weight(a)).map((row) => row.name);
  }

  /** Views that have something to show. */
  async viewsWithData() {
    const shown = [];
    for (const view of VIEWS) {
      if (this.snapshot === null && !view.isForEvents) continue;
      if (!view.View.isThere || (await view.View.isThere(this))) shown.push(view);
    }
    return shown;
  }

  /** Number of the recording that SNAPSHOT is of; without one, that whose events are shown. */
  recordingOf(snapshot) {
    return snapshot ? snapshot.recording : this.recording;
  }

  /** Snapshots of the same run of a program that were taken before SNAPSHOT, the first one first. */
  earlier(snapshot) {
    const { recordings, snapshots } = this.info;
    const runOf = (one) => recordings[one.recording].run || one.recording;
    return snapshots.filter((one) => runOf(one) === runOf(snapshot) && (one.recording === snapshot.recording ? one.index < snapshot.index : one.timeNs < snapshot.timeNs));
  }

  drawFrame() {
    const { recordings, snapshots } = this.info;
    const recording = recordings[this.recordingOf(this.snapshot)];
    const program = recording.name || programName(recording.commandLine) || recording.file.replace(/^.*\//, "");
    if (!this.options.isEmbedded) document.title = program + ": heapshot report";
    this.choice = h(
      "select",
      { id: "snapshot", onchange: () => this.chooseSnapshot(Number(this.choice.value)) },
      snapshots.map((snapshot) => h("option", { value: snapshot.index }, snapshot.title))
    );
    this.tabs = h(
      "div",
      { class: "tabs", role: "tablist", "aria-label": "Views", onkeydown: (event) => this.onTabKey(event) },
      this.shownViews.map((view) =>
        h("button", { type: "button", role: "tab", id: "tab-" + view.name, "aria-controls": "panel", "aria-selected": "false", tabindex: "-1", onclick: () => this.open(view.name) }, view.title)
      )
    );
    this.panel = h("div", { id: "panel", role: "tabpanel", tabindex: "-1" });
    this.note = h("p", { class: "note", role: "status", hidden: true });
    const head = this.options.isEmbedded ? ["div", "h2", "div"] : ["header", "h1", "main"];
    const choose = snapshots.length > 0 ? h("div", { class: "choose" }, h("label", { for: "snapshot" }, "Snapshot"), this.choice) : null;
    replace(
      this.element,
      h(head[0], { class: "head" }, h("div", { class: "title" }, h(head[1], { title: program }, program), h("span", { class: "dim", title: recording.runtime }, recording.runtime.replace(/ \(.*/, ""))), choose, this.options.tools || null),
      h("nav", { "aria-label": "Views" }, this.tabs),
      h(head[2], { class: "body" }, this.note, this.panel)
    );
  }

  onTabKey(event) {
    const tabs = [...this.tabs.children];
    const at = tabs.indexOf(document.activeElement);
    const steps = { ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const tab = tabs[steps[event.key] % tabs.length];
    tab.focus();
    tab.click();
  }

  /** Shows a view; its name stands in the address, so that "back" works. */
  open(name, argument) {
    this.argument = argument;
    if (location.hash === "#" + name) this.show(name);
    else location.hash = name;
  }

  async openByHash() {
    if (this.info === undefined) return;
    const name = location.hash.slice(1);
    await this.show(this.shownViews.some((view) => view.name === name) ? name : this.shownViews[0].name);
  }

  /** Shows the view NAME of the chosen snapshot. */
  async show(name) {
    try {
      await this.showView(name);
    } catch (error) {
      if (this.options.onError === undefined) throw error;
      this.options.onError(error);
    }
  }

  async showView(name) {
    const { View } = VIEWS.find((view) => view.name === name);
    if (!this.views.has(name)) this.views.set(name, new View(this));
    const view = this.views.get(name);
    const argument = this.argument;
    this.argument = undefined;
    this.name = name;
    for (const tab of this.tabs.children) {
      const isChosen = tab.id === "tab-" + name;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", "tab-" + name);
    this.panel.className = name;
    if (this.choice) this.choice.value = this.snapshot ? String(this.snapshot.index) : "";
    this.note.textContent = (this.snapshot && this.snapshot.note) || "";
    this.note.hidden = this.note.textContent === "";
    if (this.panel.firstChild !== view.element) replace(this.panel, view.element);
    const turn = (this.turn = {}); // a later call makes this one void
    this.element.setAttribute("aria-busy", "true");
    try {
      await view.show(this.snapshot, argument);
    } finally {
      if (turn === this.turn) this.element.setAttribute("aria-busy", "false");
    }
    if (turn !== this.turn) return;
    this.element.dataset.ready = name;
    if (this.options.onShow) this.options.onShow(this);
  }

  async chooseSnapshot(index) {
    this.snapshot = this.info.snapshots[index];
    await this.show(this.name);
  }

  /** Shows what holds the objects of type number TYPE. */
  openPaths(type, snapshot = this.snapshot) {
    this.snapshot = snapshot;
    this.open("paths", type);
  }

  async openPathsByName(name) {
    const { rows } = await this.data.types(this.snapshot.index);
    const row = rows.find((one) => one.name === name);
    if (row !== undefined) this.openPaths(row.type);
  }

  /** A path in words, its steps apart. */
  pathWords(text) {
    return text.split(" -> ").map((step, i) => [i > 0 ? h("span", { class: "arrow", "aria-hidden": "true" }, "→") : null, h("span", { class: "step" }, breakable(step))]);
  }
}
