// SPDX-License-Identifier: MIT
// Live statistics of a runtime: types by bytes, and how full its memory is, asked
// for again and again without a graph.
import { h, replace, onResize } from "../page/dom.js";
import { Table } from "../page/table.js";
import { LineChart } from "../page/line_chart.js";
import { bytes, change, count, exactBytes, share } from "../page/format.js";

const EVERY_S = [2, 5, 10, 30];
const MOST = 600; // readings that are kept

export class Statistics {
  constructor({ client, runtime, messages }) {
    Object.assign(this, { client, runtime, messages });
    this.toggle = h("button", { type: "button", id: "live", "aria-pressed": "false", onclick: () => (this.isRunning ? this.stop() : this.start()) }, "Live statistics");
    this.once = h("button", { type: "button", id: "read-once", onclick: () => this.read() }, "Read once");
    this.every = h("select", { id: "every" }, EVERY_S.map((s) => h("option", { value: s }, `every ${s} s`)));
    this.line = h("p", { class: "memory-line", hidden: true });
    this.charts = h("div", { class: "live-chart" });
    this.place = h("div", { class: "live-table" });
    this.readings = [];
    this.element = h(
      "section",
      { class: "live", "aria-labelledby": "live-title" },
      h("h3", { id: "live-title" }, "Memory now"),
      h("p", { class: "dim" }, "Types by bytes, without a graph: a reading stops the app for a collection."),
      h("div", { class: "tools" }, this.toggle, h("label", { for: "every" }, "a reading"), this.every, this.once),
      this.line,
      this.charts,
      this.place
    );
    onResize(this.charts, () => this.chart && this.chart.draw());
  }

  start() {
    this.isRunning = true;
    this.toggle.setAttribute("aria-pressed", "true");
    this.next();
  }

  stop() {
    this.isRunning = false;
    this.toggle.setAttribute("aria-pressed", "false");
    clearTimeout(this.timer);
  }

  setGone() {
    this.toggle.disabled = this.once.disabled = true;
  }

  async next() {
    await this.read();
    if (this.isRunning) this.timer = setTimeout(() => this.next(), 1000 * Number(this.every.value));
  }

  async read() {
    if (this.isReading) return;
    this.isReading = true;
    try {
      this.show(await this.client.stats(this.runtime.id));
    } catch (error) {
      this.stop();
      this.messages.fail(error);
    } finally {
      this.isReading = false;
    }
  }

  show({ types, memory }) {
    this.readings.push({ ms: performance.now(), memory });
    if (this.readings.length > MOST) this.readings.shift();
    this.line.hidden = false;
    this.drawLine(memory);
    this.drawChart();
    this.drawTypes(types);
  }

  /** One line, which is the key of the chart, too, and the same as a bar: what is full, and how much there may be. */
  drawLine(memory) {
    const parts = memoryParts(memory);
    const maximum = parts.find((part) => part.key === "maximum");
    replace(
      this.line,
      maximum === undefined
        ? null
        : h(
            "span",
            { class: "memory-bar", role: "img", "aria-label": `${share(memory.total, memory.maximum)} of the maximum is taken` },
            parts.slice(0, 3).map(({ key, value }) => h("span", { class: "memory-" + key, style: { width: (100 * value) / memory.maximum + "%" } }))
          ),
      parts.map(({ key, name, value }) => h("span", { class: "memory-part", "data-part": key }, h("span", { class: "swatch memory-" + key }), h("span", { class: "dim" }, name + " "), h("span", { title: exactBytes(value) }, bytes(value))))
    );
  }

  drawChart() {
    const start = this.readings[0].ms;
    const names = memoryParts(this.readings.at(-1).memory).filter((part) => part.key !== "maximum").map((part) => part.name);
    if (names.length === 0) return;
    const lines = names.map((name, number) => ({
      number,
      counter: {
        name,
        samples: this.readings.flatMap(({ ms, memory }) => memoryParts(memory).filter((part) => part.name === name).map((part) => [(ms - start) * 1e6, part.value])),
      },
    }));
    const end = Math.max(1e9, (this.readings.at(-1).ms - start) * 1e6);
    this.chart = new LineChart({ unit: "bytes", lines, end, marks: [], point: () => {}, step: () => {} });
    replace(this.charts, this.chart.element);
    this.chart.draw();
  }

  drawTypes(types) {
    if (this.first === undefined) this.first = new Map(types.map((row) => [row.type, row.bytes]));
    const rows = types.map((row) => ({ ...row, change: row.bytes - (this.first.get(row.type) || 0) }));
    if (this.table === undefined) {
      this.table = this.makeTable();
      replace(this.place, this.table.element);
    }
    // The row that has the focus keeps it.
    const focused = this.place.contains(document.activeElement) && document.activeElement.closest("tbody tr");
    const name = focused ? focused.querySelector("th").textContent : null;
    this.most = Math.max(1, ...rows.map((row) => row.bytes));
    this.table.setRows(rows);
    if (name !== null) this.table.focusRow(this.table.shown.findIndex((row) => row.type === name));
  }

  makeTable() {
    return new Table({
      columns: [
        { key: "type", title: "Type", isText: true, value: (row) => row.type },
        { key: "count", title: "Objects", value: (row) => row.count, text: (row) => count(row.count) },
        { key: "bytes", title: "Size", value: (row) => row.bytes, text: (row) => bytes(row.bytes), exact: (row) => exactBytes(row.bytes), bar: (row) => row.bytes / this.most },
        { key: "change", title: "Change", hint: "Of the size, since the first reading", value: (row) => row.change, text: (row) => change(row.change, bytes), exact: (row) => change(row.change) + " bytes", className: (row) => (row.change > 0 ? "more" : row.change < 0 ? "less" : "") },
      ],
      sort: ["bytes", true],
      caption: "Types by bytes now",
      what: "types",
      search: (row) => row.type,
      canOpen: () => false,
      open: () => {},
    });
  }
}

/** What memory is used for, in the order in which it is stacked up to "taken in all". */
export function memoryParts(memory) {
  const names = { live: "live managed", free: "free inside the managed heap", native: "native", total: "taken in all", maximum: "maximum" };
  return Object.entries(names)
    .filter(([key]) => memory && Number.isFinite(memory[key]))
    .map(([key, name]) => ({ key, name, value: memory[key] }));
}
