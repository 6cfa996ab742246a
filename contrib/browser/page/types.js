// SPDX-License-Identifier: MIT
// The table of types of a snapshot, and what changed since the first one.
import { h, replace } from "./dom.js";
import { Table } from "./table.js";
import { bytes, change, count, exactBytes } from "./format.js";

export class Types {
  constructor(app) {
    this.app = app;
    this.element = h("div", { class: "fill" });
  }

  makeTable(snapshot, first) {
    const most = (key) => Math.max(1, ...this.rows.map((row) => row[key] || 0));
    const mostBytes = most("bytes");
    const mostRetained = most("retained");
    const size = (key, title, hint, largest) => ({
      key,
      title,
      hint,
      value: (row) => row[key],
      text: (row) => bytes(row[key]),
      exact: (row) => exactBytes(row[key]),
      bar: (row) => row[key] / largest,
    });
    const columns = [
      { key: "name", title: "Type", isText: true, value: (row) => row.name, swatch: (row) => this.app.colours.ofType(row.name) },
      { key: "assembly", title: "Assembly", isText: true, value: (row) => row.assembly || "-" },
      { key: "count", title: "Objects", hint: "Objects of the type", value: (row) => row.count, text: (row) => count(row.count) },
      size("bytes", "Size", "Exact bytes of all its objects", mostBytes),
    ];
    if (snapshot.hasGraph) columns.push(size("retained", "Retained", "What would go with its objects", mostRetained));
    if (first)
      columns.push({
        key: "change",
        title: "Change",
        hint: "Of the size, since " + first.title,
        value: (row) => row.change,
        text: (row) => change(row.change, bytes),
        exact: (row) => change(row.change) + " bytes since " + first.title,
        className: (row) => (row.change > 0 ? "more" : row.change < 0 ? "less" : ""),
      });
    return new Table({
      columns,
      sort: [snapshot.hasGraph ? "retained" : "bytes", true],
      caption: "Types of " + snapshot.title,
      what: "types",
      search: (row) => row.name + " " + row.assembly,
      open: (row) => this.app.openPaths(row.type),
      openTitle: "Show what holds its objects",
    });
  }

  async show(snapshot) {
    if (snapshot === this.snapshot) return;
    this.snapshot = snapshot;
    // The first snapshot of the same program is what changes are counted from.
    const first = this.app.earlier(snapshot)[0] || snapshot;
    const { rows, other } = await this.app.data.types(snapshot.index);
    this.rows = rows;
    if (first !== snapshot) {
      const before = new Map((await this.app.data.types(first.index)).rows.map((row) => [row.type, row.bytes]));
      for (const row of rows) row.change = row.bytes - (before.get(row.type) || 0);
    }
    this.table = this.makeTable(snapshot, first === snapshot ? null : first);
    replace(
      this.element,
      this.table.element,
      other.types > 0
        ? h("p", { class: "dim" }, `${count(other.types)} small types are left out: ${count(other.count)} objects, ${bytes(other.bytes)}.`)
        : null
    );
    this.table.setRows(rows);
  }
}
