// SPDX-License-Identifier: MIT
// The snapshots that the page has: taken here, or opened from files.
import { h, replace } from "../page/dom.js";
import { bytes, count } from "../page/format.js";
import { JoinedData } from "./joined_data.js";
import { WorkerData } from "./worker_data.js";

/**
 * @typedef {object} Entry
 * @property {string} name, runtime   for people
 * @property {string} file            its name, with ".hs"
 * @property {Blob} blob
 * @property {Date} time
 * @property {boolean} isSaved        it came from a file, or was saved as .hs
 * @property {WorkerData|null} data   null: it is being read
 * @property {string} progress
 */

export class Snapshots extends EventTarget {
  constructor() {
    super();
    this.data = new JoinedData();
    this.entries = [];
    this.chosen = null;
    this.list = h("ul", { class: "items" });
    this.empty = h("p", { class: "dim" }, "None yet.");
    this.element = h("div", { class: "part" }, h("h2", {}, "Snapshots"), this.empty, this.list);
    this.draw();
  }

  /** Adds a Blob and reads it; resolves to its entry.  Throws what the reader says of it. */
  async add({ name, file, blob, runtime = "", isSaved = false }) {
    const entry = { name: this.freeName(name), file, blob, runtime, isSaved, time: new Date(), data: null, progress: "reading", controller: new AbortController() };
    this.entries.push(entry);
    this.draw();
    const { signal } = entry.controller;
    try {
      const data = await WorkerData.open([{ name: entry.name, blob }], { signal, onProgress: (progress) => this.showProgress(entry, progress) });
      try {
        await this.data.add(data, entry.name, { file, saved: isSaved ? undefined : `Save it as .hs first: as ${file}.` });
        signal.throwIfAborted();
      } catch (error) {
        this.data.remove(data);
        throw error;
      }
      entry.data = data;
    } catch (error) {
      this.drop(entry);
      throw error;
    }
    this.draw();
    this.dispatchEvent(new Event("change"));
    return entry;
  }

  /** NAME, with a number behind it where it is there already. */
  freeName(name) {
    const isThere = (text) => this.entries.some((entry) => entry.name === text);
    let free = name;
    for (let i = 2; isThere(free); i++) free = `${name} (${i})`;
    return free;
  }

  showProgress(entry, progress) {
    entry.progress = progress.all > 0 ? `reading, ${Math.floor((100 * progress.done) / progress.all)} %` : "reading";
    const line = this.list.querySelector(`[data-entry="${this.entries.indexOf(entry)}"] .state`);
    if (line !== null) line.textContent = entry.progress;
  }

  drop(entry) {
    this.entries = this.entries.filter((one) => one !== entry);
    if (this.chosen === entry) this.chosen = null;
    this.draw();
  }

  /** Takes ENTRY out of the list; what is being read is given up. */
  remove(entry) {
    if (entry.data === null) {
      entry.controller.abort();
      return;
    }
    this.data.remove(entry.data);
    const at = this.entries.indexOf(entry);
    this.drop(entry);
    this.dispatchEvent(new Event("change"));
    // The focus goes to what has taken its place.
    const buttons = this.list.querySelectorAll(".item-remove");
    if (buttons.length > 0) buttons[Math.min(at, buttons.length - 1)].focus();
  }

  /** The entry of snapshot INDEX of the data. */
  entryOf(index) {
    const { source } = this.data.placeOf(index);
    return this.entries.find((entry) => entry.data === source);
  }

  setSaved(entry) {
    entry.isSaved = true;
    this.draw();
  }

  choose(entry) {
    this.chosen = entry;
    this.draw();
  }

  get hasUnsaved() {
    return this.entries.some((entry) => !entry.isSaved);
  }

  draw() {
    const focused = document.activeElement && this.list.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
    this.empty.hidden = this.entries.length > 0;
    replace(this.list, this.entries.map((entry, i) => this.item(entry, i)));
    const again = focused && this.list.querySelector(`[data-focus="${focused}"]`);
    if (again) again.focus();
  }

  item(entry, i) {
    const open = () => this.dispatchEvent(new CustomEvent("open", { detail: entry }));
    const two = (n) => String(n).padStart(2, "0");
    const time = `${two(entry.time.getHours())}:${two(entry.time.getMinutes())}:${two(entry.time.getSeconds())}`;
    return h(
      "li",
      { class: "item", "data-entry": i },
      h(
        "button",
        { type: "button", class: "item-open", "data-focus": "open" + i, disabled: entry.data === null, "aria-current": entry === this.chosen ? "true" : null, title: entry.name, onclick: open },
        h("span", { class: "name" }, entry.name),
        h("span", { class: "dim" }, [bytes(entry.blob.size), time, entry.runtime].filter((text) => text).join(", ")),
        entry.data === null ? h("span", { class: "dim state" }, entry.progress) : this.about(entry)
      ),
      h("button", { type: "button", class: "item-remove", "data-focus": "remove" + i, "aria-label": `${entry.data === null ? "Stop reading" : "Remove"} ${entry.name}`, title: entry.data === null ? "Stop reading" : "Remove", onclick: () => this.remove(entry) }, "×")
    );
  }

  /** What is in it, in a line; nothing for one snapshot that was saved. */
  about(entry) {
    const { snapshots } = this.data.parts.find((part) => part.source === entry.data).info;
    const words = [];
    if (snapshots.length === 1) words.push(`${count(snapshots[0].objects)} objects`);
    else words.push(snapshots.length === 0 ? "no snapshots, events only" : `${count(snapshots.length)} snapshots`);
    if (!entry.isSaved) words.push("not saved");
    return h("span", { class: "dim" }, words.join(", "));
  }
}
