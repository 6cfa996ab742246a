// SPDX-License-Identifier: MIT
// Counters of the runtime over time: those that are chosen as lines, one chart a
// unit, and the same values as tables.
import { h, replace, onResize } from "./dom.js";
import { count } from "./format.js";
import { seconds } from "./axis.js";
import { LineChart, lineClass, sampleAt, unitText } from "./line_chart.js";

// What is shown first, where it is there.
const WANTED = ["Memory maximum", "Linear memory", "Memory taken", "GC heap", "GC heap used", "Malloc used"];
const FIRST = 3; // else so many of those that change
const VALUES = 500; // rows of the table of all values

/** Counters that a reader most likely asks for, those that change before the others. */
function firstChoice(counters) {
  const wanted = counters.filter((counter) => WANTED.includes(counter.name));
  if (wanted.length > 0) return wanted;
  const isMoving = ({ samples }) => samples.some((sample) => sample[1] !== samples[0][1]);
  const order = [...counters].sort((a, b) => (b.unit === "bytes") - (a.unit === "bytes") || isMoving(b) - isMoving(a));
  return order.slice(0, FIRST);
}

export class Counters {
  constructor(app) {
    this.app = app;
    this.chosen = new Set(); // names with sections
    this.list = h("div", { class: "choices", role: "listbox", "aria-label": "Counters", "aria-multiselectable": "true", onkeydown: (event) => this.onListKey(event) });
    this.field = h("input", { type: "search", placeholder: "Search counters", "aria-label": "Search counters", spellcheck: "false", oninput: () => this.drawList() });
    this.place = h("div", { class: "charts" });
    this.line = h("output", { class: "line", "aria-live": "polite" });
    this.tables = h("div", {});
    this.result = h("div", { class: "result" }, this.place, this.line, this.tables);
    this.element = h("div", { class: "split" }, h("div", { class: "side" }, this.field, this.list), this.result);
    this.charts = [];
    onResize(this.place, () => this.drawCharts());
  }

  static async isThere(app) {
    for (let i = 0; i < app.info.recordings.length; i++) if ((await app.data.counters(i)) !== null) return true;
    return false;
  }

  async show(snapshot) {
    const recording = this.app.recordingOf(snapshot);
    if (recording !== this.recording) {
      const [counters, events] = await Promise.all([this.app.data.counters(recording), this.app.data.events(recording)]);
      this.recording = recording;
      this.counters = (counters || []).filter((counter) => counter.samples.length > 0);
      this.marks = events.snapshots;
      this.end = Math.max(1, events.summary.duration_ns, ...this.counters.map(({ samples }) => samples[samples.length - 1][0]));
      if (!this.counters.some((counter) => this.isChosen(counter))) this.chosen = new Set(firstChoice(this.counters).map((counter) => this.keyOf(counter)));
      this.drawList();
    }
    this.draw();
  }

  keyOf(counter) {
    return counter.section + "\0" + counter.name;
  }

  isChosen(counter) {
    return this.chosen.has(this.keyOf(counter));
  }

  // ---- The list ----

  drawList() {
    const words = this.field.value.toLowerCase();
    const sections = new Map();
    for (const counter of this.counters)
      if ((counter.section + " " + counter.name).toLowerCase().includes(words)) sections.set(counter.section, [...(sections.get(counter.section) || []), counter]);
    replace(
      this.list,
      [...sections].map(([section, counters]) =>
        h(
          "div",
          { role: "group", "aria-label": section || "other" },
          h("div", { class: "choice-head", "aria-hidden": "true" }, section || "other"),
          counters.map((counter) => this.option(counter))
        )
      )
    );
    this.options = [...this.list.querySelectorAll('[role="option"]')];
    this.setEntry(this.options.find((option) => option.getAttribute("aria-selected") === "true") || this.options[0]);
  }

  option(counter) {
    const last = counter.samples[counter.samples.length - 1][1];
    const option = h(
      "div",
      { role: "option", class: "choice", "aria-selected": String(this.isChosen(counter)), tabindex: "-1", title: counter.name, onclick: () => this.toggle(option, counter) },
      h("span", { class: "tickmark", "aria-hidden": "true" }),
      h("span", { class: "name" }, counter.name),
      h("span", { class: "n dim" }, unitText(last, counter.unit))
    );
    option.counter = counter;
    return option;
  }

  /** The option by which Tab enters the list. */
  setEntry(option) {
    for (const one of this.options) one.tabIndex = one === option ? 0 : -1;
  }

  toggle(option, counter) {
    const key = this.keyOf(counter);
    if (!this.chosen.delete(key)) this.chosen.add(key);
    option.setAttribute("aria-selected", String(this.chosen.has(key)));
    this.setEntry(option);
    this.draw();
  }

  onListKey(event) {
    const at = this.options.indexOf(document.activeElement);
    const last = this.options.length - 1;
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last };
    if (at < 0) return;
    if (event.key === " " || event.key === "Enter") {
      event.preventDefault();
      this.toggle(this.options[at], this.options[at].counter);
    } else if (event.key in steps) {
      event.preventDefault();
      const to = this.options[Math.max(0, Math.min(last, steps[event.key]))];
      this.setEntry(to);
      to.focus();
    }
  }

  // ---- Charts and tables ----

  draw() {
    this.shown = this.counters.filter((counter) => this.isChosen(counter)).map((counter, number) => ({ counter, number }));
    this.times = [...new Set(this.shown.flatMap(({ counter }) => counter.samples.map((sample) => sample[0])))].sort((a, b) => a - b);
    this.at = -1;
    const units = [...new Set(this.shown.map(({ counter }) => counter.unit))];
    this.charts = units.map(
      (unit) =>
        new LineChart({
          unit,
          lines: this.shown.filter(({ counter }) => counter.unit === unit),
          end: this.end,
          marks: this.marks,
          point: (ns) => this.point(ns),
          step: (event) => this.onKey(event),
        })
    );
    replace(this.place, this.charts.map((chart) => chart.element));
    replace(this.tables, this.shown.length > 0 ? [this.summary(), this.values()] : h("p", { class: "empty" }, this.counters.length > 0 ? "Choose counters in the list." : "This recording has no counters. Record with events=counters, which is among the defaults."));
    this.drawCharts();
  }

  drawCharts() {
    for (const chart of this.charts) chart.draw();
    this.point(null);
  }

  /** Says the values at NS, the last that are known then. */
  point(ns) {
    for (const chart of this.charts) chart.setCursor(ns);
    if (this.shown.length === 0) this.line.textContent = "";
    else if (ns === null) this.line.textContent = `${count(this.shown.length)} counters, ${count(this.times.length)} samples. Point at a chart, or use the arrow keys.`;
    else
      this.line.textContent =
        `At ${seconds(ns, this.end)}: ` +
        this.shown
          .map(({ counter }) => {
            const sample = sampleAt(counter, ns);
            return `${counter.name} ${sample === null ? "not known yet" : unitText(sample[1], counter.unit)}`;
          })
          .join(", ");
  }

  onKey(event) {
    const last = this.times.length - 1;
    const steps = { ArrowRight: this.at + 1, ArrowLeft: this.at < 0 ? last : this.at - 1, Home: 0, End: last };
    if (!(event.key in steps) || last < 0) return;
    event.preventDefault();
    this.at = Math.max(0, Math.min(last, steps[event.key]));
    this.point(this.times[this.at]);
  }

  /** What the lines are, and their ends; the key of the charts. */
  summary() {
    const cells = ({ samples, unit }) => {
      const values = samples.map((sample) => sample[1]);
      return [values[0], values[values.length - 1], Math.min(...values), Math.max(...values)].map((value) => h("td", { class: "n", title: String(value) }, unitText(value, unit)));
    };
    return this.table(
      "What the lines are",
      ["Counter", "Section", "First", "Last", "Least", "Most"],
      2,
      this.shown.map(({ counter, number }) =>
        h("tr", { "data-counter": counter.name }, h("th", { scope: "row" }, this.stroke(number), counter.name), h("td", { class: "t" }, counter.section || "-"), cells(counter))
      )
    );
  }

  stroke(number) {
    return h("span", { class: "stroke " + lineClass(number) });
  }

  values() {
    const rows = this.times.slice(0, VALUES).map((ns) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, seconds(ns, this.end)),
        this.shown.map(({ counter }) => {
          const sample = sampleAt(counter, ns);
          return h("td", { class: "n", title: sample === null ? null : String(sample[1]) }, sample === null ? "" : unitText(sample[1], counter.unit));
        })
      )
    );
    const left = this.times.length - rows.length;
    return h(
      "details",
      { class: "values" },
      h("summary", {}, "All values"),
      this.table("All values", ["Time", ...this.shown.map(({ counter }) => counter.name)], 1, rows),
      left > 0 ? h("p", { class: "dim" }, `and ${count(left)} more samples`) : null
    );
  }

  /** TEXTS: how many of the first columns are texts. */
  table(caption, heads, texts, rows) {
    return h(
      "div",
      { class: "scroll short", tabindex: "0", role: "region", "aria-label": caption },
      h(
        "table",
        { class: "snapshots" },
        h("caption", { class: "hidden" }, caption),
        h("thead", {}, h("tr", {}, heads.map((head, i) => h("th", { scope: "col", class: i < texts ? null : "n" }, head)))),
        h("tbody", {}, rows)
      )
    );
  }
}
