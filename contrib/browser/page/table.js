// SPDX-License-Identifier: MIT
// A table that is sorted by the buttons of its head, searched by the field above
// it, and walked through by the arrow keys.  Only the first rows are shown until
// more are asked for, so that thousands of types do not slow the page.
import { h, replace } from "./dom.js";
import { count } from "./format.js";

const ROWS = 500;
const { compare: byText } = new Intl.Collator();

/**
 * A column: { key, title, hint, value(row), text(row), exact(row), isText, bar(row) }.
 * text makes the cell's text, exact its title; bar, 0 to 1, draws a bar behind it.
 */
export class Table {
  /** OPTIONS: { columns, sort: [key, isDescending], caption, what, search(row), open(row), openTitle,
   * canOpen(row): where not all can be opened } */
  constructor(options) {
    Object.assign(this, options);
    this.rows = [];
    this.limit = ROWS;
    [this.sortKey, this.isDescending] = options.sort;
    this.field = h("input", {
      type: "search",
      placeholder: "Search " + this.what,
      "aria-label": "Search " + this.what,
      spellcheck: "false",
      oninput: () => this.update(),
    });
    this.found = h("output", { class: "dim", "aria-live": "polite" });
    this.head = h("thead");
    this.body = h("tbody", { onkeydown: (event) => this.onKey(event) });
    this.more = h("button", { type: "button", class: "more", onclick: () => this.showMore() });
    this.scroll = h(
      "div",
      { class: "scroll" },
      h("table", {}, h("caption", { class: "hidden" }, this.caption), this.columnWidths(), this.head, this.body),
      this.more
    );
    this.tools = h("div", { class: "tools" }, this.field, this.found);
    this.element = h("div", { class: "table" }, this.tools, this.scroll);
    this.drawHead();
  }

  columnWidths() {
    return h(
      "colgroup",
      {},
      this.columns.map((column) => h("col", { class: column.isText ? `text-${column.key} ${column.key}` : "number" }))
    );
  }

  drawHead() {
    replace(
      this.head,
      h(
        "tr",
        {},
        this.columns.map((column) => {
          const isSorted = column.key === this.sortKey;
          return h(
            "th",
            {
              scope: "col",
              class: column.isText ? column.key : "n",
              "aria-sort": isSorted ? (this.isDescending ? "descending" : "ascending") : null,
              "data-key": column.key,
            },
            h("button", { type: "button", title: column.hint, onclick: () => this.sortBy(column) }, column.title)
          );
        })
      )
    );
  }

  sortBy(column) {
    if (this.sortKey === column.key) this.isDescending = !this.isDescending;
    else [this.sortKey, this.isDescending] = [column.key, !column.isText];
    this.drawHead();
    this.update();
    this.head.querySelector(`th[data-key="${column.key}"] button`).focus();
  }

  /** Shows ROWS; what was searched for stays. */
  setRows(rows) {
    this.rows = rows;
    this.limit = ROWS;
    this.words = new Map(rows.map((row) => [row, this.search(row).toLowerCase()]));
    this.drawn = new Map();
    this.update();
  }

  showMore() {
    const at = this.limit;
    this.limit += ROWS;
    this.draw();
    this.focusRow(at);
  }

  update() {
    const words = this.field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const column = this.columns.find((one) => one.key === this.sortKey);
    const order = this.isDescending ? -1 : 1;
    const compare = column.isText
      ? (a, b) => order * byText(column.value(a), column.value(b))
      : (a, b) => order * (column.value(a) - column.value(b));
    this.shown = this.rows.filter((row) => words.every((word) => this.words.get(row).includes(word)));
    this.shown.sort((a, b) => compare(a, b) || byText(this.words.get(a), this.words.get(b)));
    this.draw();
  }

  draw() {
    const rows = this.shown.slice(0, this.limit);
    this.body.replaceChildren(...rows.map((row) => this.elementOf(row)));
    for (const button of this.body.querySelectorAll('button.link[tabindex="0"]')) button.tabIndex = -1;
    const first = this.body.querySelector("button.link");
    if (first !== null) first.tabIndex = 0;
    this.found.textContent =
      this.shown.length === this.rows.length
        ? count(this.rows.length) + " " + this.what
        : count(this.shown.length) + " of " + count(this.rows.length) + " " + this.what;
    this.more.hidden = this.shown.length <= rows.length;
    this.more.textContent = `Show ${count(Math.min(ROWS, this.shown.length - rows.length))} more of ${count(this.shown.length)} ${this.what}`;
  }

  /** Rows are made once: sorting and searching move them. */
  elementOf(row) {
    let element = this.drawn.get(row);
    if (element === undefined) {
      element = this.drawRow(row);
      this.drawn.set(row, element);
    }
    return element;
  }

  drawRow(row) {
    return h(
      "tr",
      {},
      this.columns.map((column, k) => {
        const text = column.text ? column.text(row) : column.value(row);
        if (k > 0) {
          const bar = column.bar ? column.bar(row) : 0;
          return h(
            "td",
            { class: (column.isText ? "t " + column.key : "n") + (column.className ? " " + column.className(row) : ""), title: column.exact ? column.exact(row) : column.isText ? text : null },
            bar > 0 ? h("span", { class: "bar", style: { width: (85 * Math.min(1, bar)).toFixed(1) + "%" } }) : null,
            h("span", { class: "over" }, text)
          );
        }
        // Names are what rows are opened by.
        return h(
          "th",
          { scope: "row", class: "t", title: text },
          column.swatch ? h("span", { class: "swatch " + column.swatch(row) }) : null,
          this.canOpen && !this.canOpen(row)
            ? h("span", {}, text)
            : h("button", { type: "button", class: "link", tabindex: "-1", title: this.openTitle, onclick: () => this.open(row) }, text)
        );
      })
    );
  }

  focusRow(i) {
    const buttons = this.body.querySelectorAll("button.link");
    const button = buttons[Math.max(0, Math.min(i, buttons.length - 1))];
    if (button === undefined) return;
    this.body.querySelector('button.link[tabindex="0"]').tabIndex = -1;
    button.tabIndex = 0;
    button.focus();
    button.closest("tr").scrollIntoView({ block: "nearest" });
  }

  onKey(event) {
    const buttons = [...this.body.querySelectorAll("button.link")];
    const at = buttons.indexOf(document.activeElement);
    const page = Math.max(1, Math.floor(this.scroll.clientHeight / 32) - 2);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: buttons.length - 1 };
    if (at < 0 || !(event.key in steps) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.focusRow(steps[event.key]);
  }
}
