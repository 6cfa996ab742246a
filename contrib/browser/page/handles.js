// SPDX-License-Identifier: MIT
// References between C# and JavaScript: who holds what on the other side, by
// type or one by one, and what they keep alive.
import { h, replace } from "./dom.js";
import { Table } from "./table.js";
import { bytes, change, count, exactBytes } from "./format.js";
import { changesOf, endOf, entriesOf, titleOf } from "./handle_groups.js";

export class Handles {
  constructor(app) {
    this.app = app;
    this.list = h("div", { class: "choices", role: "listbox", "aria-label": "Tables", onkeydown: (event) => this.onListKey(event) });
    this.isSingle = h("input", { type: "checkbox", id: "each-handle", onchange: () => this.drawTable() });
    this.result = h("div", { class: "fill" });
    this.element = h("div", { class: "split" }, h("div", { class: "side" }, this.list), this.result);
  }

  static async isThere(app) {
    for (const snapshot of app.info.snapshots) if ((await app.data.handles(snapshot.index)) !== null) return true;
    return false;
  }

  /** NAME: the table that is asked for, or the one that was shown. */
  async show(snapshot, name) {
    if (name !== undefined) this.name = name;
    else if (snapshot === this.snapshot) return;
    this.snapshot = snapshot;
    this.first = await firstWithHandles(this.app, snapshot);
    [this.tables, this.before] = await Promise.all([this.app.data.handles(snapshot.index), this.first ? this.app.data.handles(this.first.index) : null]);
    if (this.tables !== null && !this.tables.some((table) => table.name === this.name)) this.name = [...this.tables].sort((a, b) => entriesOf(b) - entriesOf(a)).map((table) => table.name)[0];
    this.drawList();
    this.drawTable();
  }

  // ---- The list of tables ----

  drawList() {
    replace(
      this.list,
      (this.tables || []).map((table) => {
        const isChosen = table.name === this.name;
        return h(
          "div",
          { role: "option", class: "choice", "data-table": table.name, "aria-selected": String(isChosen), tabindex: isChosen ? "0" : "-1", title: titleOf(table), onclick: () => this.choose(table.name) },
          h("span", { class: "name" }, titleOf(table)),
          h("span", { class: "n dim" }, count(entriesOf(table)))
        );
      })
    );
  }

  choose(name) {
    this.name = name;
    for (const option of this.list.children) {
      const isChosen = option.dataset.table === name;
      option.setAttribute("aria-selected", String(isChosen));
      option.tabIndex = isChosen ? 0 : -1;
    }
    this.drawTable();
  }

  onListKey(event) {
    const options = [...this.list.children];
    const at = options.indexOf(document.activeElement);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1 };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const to = options[Math.max(0, Math.min(options.length - 1, steps[event.key]))];
    to.focus();
    this.choose(to.dataset.table);
  }

  // ---- The chosen one ----

  drawTable() {
    const table = this.tables === null ? undefined : this.tables.find((one) => one.name === this.name);
    if (table === undefined) {
      replace(this.result, h("p", { class: "empty" }, this.tables === null ? "This snapshot has no tables of JavaScript references: the app takes them with heapshot.prepare() before it makes the runtime." : "There are no references."));
      return;
    }
    const isSingle = this.isSingle.checked;
    const rows = isSingle ? table.entries : changesOf(table, this.before);
    this.shown = this.makeTable(table, isSingle, rows);
    replace(
      this.result,
      h(
        "div",
        { class: "about-table" },
        h("h2", {}, `${titleOf(table)}: ${count(entriesOf(table))}`),
        h("p", { class: "dim" }, this.words(table)),
        h("p", {}, this.isSingle, " ", h("label", { for: "each-handle" }, "Each handle by itself"))
      ),
      this.shown.element
    );
    this.shown.setRows(rows);
  }

  /** What became of entries, what has none, and what ends one. */
  words(table) {
    const went = [
      [table.released, "released"],
      [table.collected, "collected"],
    ].filter(([n]) => n > 0);
    return [
      endOf(table),
      went.length > 0 ? `So far ${went.map(([n, word]) => `${count(n)} ${word}`).join(", ")}.` : null,
      table.escaped > 0 ? `${count(table.escaped)} more escaped: frozen, sealed or otherwise not to be marked, so that they are counted only.` : null,
      table.other > 0 ? `${count(table.other)} entries of smaller kinds are left out of the list.` : null,
      table.note ? table.note.replace(/[^.]$/, "$&.") : null,
    ]
      .filter((text) => text)
      .join(" ");
  }

  makeTable(table, isSingle, rows) {
    const hasRetained = rows.some((row) => row.retained !== null && row.retained !== undefined);
    const text = (key, title, hint, value) => ({ key, title, hint, isText: true, value });
    const columns = [
      { ...text("name", "Managed type", "Opens what holds its objects", (row) => row.type || (isSingle ? "(none known)" : `(none known) ${row.jsName || row.jsType || ""}`.trim())), swatch: (row) => (row.type ? this.app.colours.ofType(row.type) : "rest") },
      text("js", "In JavaScript", "Its type and the name of its constructor there", (row) => [row.jsName, row.jsType && row.jsType !== row.jsName ? `(${row.jsType})` : ""].filter((word) => word).join(" ") || "-"),
    ];
    if (isSingle) {
      columns.push({ key: "handle", title: "Handle", hint: "Number of the entry", value: (row) => Number(row.handle) || 0, text: (row) => (row.handle === null || row.handle === undefined ? "-" : String(row.handle)) });
      columns.push(text("object", "Object", "Address of the managed object", (row) => row.object || "-"));
    }
    if (!isSingle || rows.some((row) => row.count > 1)) columns.push({ key: "count", title: "Entries", value: (row) => row.count, text: (row) => count(row.count), bar: (row) => row.count / Math.max(1, ...rows.map((one) => one.count)) });
    if (!isSingle && this.first)
      columns.push({
        key: "change",
        title: "Change",
        hint: "Since " + this.first.title,
        value: (row) => row.change || 0,
        text: (row) => change(row.change || 0),
        className: (row) => (row.change > 0 ? "more" : row.change < 0 ? "less" : ""),
      });
    if (hasRetained) columns.push({ key: "retained", title: "Retained", hint: "What would go with the managed objects", value: (row) => row.retained || 0, text: (row) => (row.retained === null || row.retained === undefined ? "-" : bytes(row.retained)), exact: (row) => exactBytes(row.retained || 0) });
    return new Table({
      columns,
      sort: isSingle ? ["handle", false] : ["count", true],
      caption: `${titleOf(table)} at ${this.snapshot.title}`,
      what: isSingle ? "entries" : "kinds",
      search: (row) => [row.type, row.jsType, row.jsName, row.handle, row.object].filter((word) => word).join(" "),
      canOpen: (row) => Boolean(row.type),
      open: (row) => this.app.openPathsByName(row.type),
      openTitle: "Show what holds its objects",
    });
  }
}

/** The first snapshot that has such tables and comes before SNAPSHOT, or null. */
export async function firstWithHandles(app, snapshot) {
  for (const one of app.earlier(snapshot)) if ((await app.data.handles(one.index)) !== null) return one;
  return null;
}
