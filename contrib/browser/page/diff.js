// SPDX-License-Identifier: MIT
// What changed between two snapshots, of one recording or of two.
import { h, replace } from "./dom.js";
import { Table } from "./table.js";
import { bytes, change, count, exactBytes } from "./format.js";

export class Diff {
  constructor(app) {
    this.app = app;
    const options = () => app.info.snapshots.map((snapshot) => h("option", { value: snapshot.index }, snapshot.title));
    this.from = h("select", { id: "diff-from", onchange: () => this.update() }, options());
    this.to = h("select", { id: "diff-to", onchange: () => this.update() }, options());
    this.swap = h("button", { type: "button", onclick: () => this.exchange() }, "Swap");
    this.sums = h("p", { class: "sums", "aria-live": "polite" });
    this.place = h("div", { class: "fill" });
    this.element =
      app.info.snapshots.length < 2
        ? h("p", { class: "empty" }, "There is one snapshot in this report; two are needed to compare. Record with snapshot=gc or snapshot=60s, type heapshot take PID, or give heapshot report a second file.")
        : h(
            "div",
            { class: "fill" },
            h(
              "div",
              { class: "tools choose" },
              h("label", { for: "diff-from" }, "From"),
              this.from,
              h("label", { for: "diff-to" }, "to"),
              this.to,
              this.swap
            ),
            this.sums,
            this.place
          );
    if (app.info.snapshots.length >= 2) this.to.value = String(app.info.snapshots.length - 1);
  }

  async show(snapshot) {
    if (this.app.info.snapshots.length < 2) return;
    // The chosen snapshot is compared with the first one, until something else is chosen here.
    if (!this.isTouched && snapshot.index > 0) this.to.value = String(snapshot.index);
    await this.draw();
  }

  async exchange() {
    [this.from.value, this.to.value] = [this.to.value, this.from.value];
    await this.update();
  }

  async update() {
    this.isTouched = true;
    await this.draw();
  }

  async draw() {
    const [from, to] = [Number(this.from.value), Number(this.to.value)];
    if (this.table !== undefined && from === this.drawn[0] && to === this.drawn[1]) return;
    this.drawn = [from, to];
    const [before, after] = [this.app.info.snapshots[from], this.app.info.snapshots[to]];
    const rows = await this.app.data.diff(from, to);
    const hasRetained = before.hasGraph && after.hasGraph;
    const sums = [
      [change(after.objects - before.objects) + " objects", after.objects - before.objects],
      [change(after.bytes - before.bytes, bytes), after.bytes - before.bytes],
    ];
    replace(
      this.sums,
      sums.map(([text, n]) => h("span", { class: n > 0 ? "more" : n < 0 ? "less" : "" }, text)),
      h("span", { class: "dim" }, `now ${count(after.objects)} objects, ${bytes(after.bytes)}`),
      rows.length === 0 ? h("span", {}, "No type changed.") : null
    );
    const kept = this.table ? { text: this.table.field.value, sort: [this.table.sortKey, this.table.isDescending] } : { text: "", sort: ["bytes", true] };
    if (!hasRetained && kept.sort[0] === "retained") kept.sort = ["bytes", true];
    this.table = this.makeTable(before, after, hasRetained, kept.sort);
    this.table.field.value = kept.text;
    replace(this.place, this.table.element);
    this.table.setRows(rows);
  }

  makeTable(before, after, hasRetained, sort) {
    const column = (key, title, format) => ({
      key,
      title,
      hint: "Change, what grew most first",
      value: (row) => row[key],
      text: (row) => change(row[key], format),
      exact: (row) => change(row[key]) + (format === bytes ? " bytes: " : ": ") + `${count(row.before[key] || 0)}, then ${count(row.after[key] || 0)}`,
      className: (row) => (row[key] > 0 ? "more" : row[key] < 0 ? "less" : ""),
    });
    const columns = [
      { key: "name", title: "Type", isText: true, value: (row) => row.name, swatch: (row) => this.app.colours.ofType(row.name) },
      { key: "assembly", title: "Assembly", isText: true, value: (row) => row.assembly || "-" },
      column("count", "+ Objects", count),
      column("bytes", "+ Size", bytes),
    ];
    if (hasRetained) columns.push(column("retained", "+ Retained", bytes));
    columns.push(
      { key: "after", title: "Objects", hint: "In the second snapshot", value: (row) => row.after.count, text: (row) => count(row.after.count) },
      { key: "afterBytes", title: "Size", hint: "In the second snapshot", value: (row) => row.after.bytes, text: (row) => bytes(row.after.bytes), exact: (row) => exactBytes(row.after.bytes) }
    );
    return new Table({
      columns,
      sort,
      caption: `Types that changed from ${before.title} to ${after.title}`,
      what: "changed types",
      search: (row) => row.name + " " + row.assembly,
      open: (row) => this.app.openPaths(row.type, row.after.count > 0 ? after : before),
      openTitle: "Show what holds its objects",
    });
  }
}
