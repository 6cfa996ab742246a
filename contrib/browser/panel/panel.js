// SPDX-License-Identifier: MIT
// The panel: lists runtimes of other tabs, takes snapshots of them, and shows these,
// or those of files, by the views of the report.
import { h, replace } from "../page/dom.js";
import { App } from "../page/app.js";
import { save } from "../app/environment.mjs";
import { Files } from "./files.js";
import { Messages } from "./messages.js";
import { Runtimes } from "./runtimes.js";
import { RuntimeView } from "./runtime_view.js";
import { Save, fileName, savedText } from "./save.js";
import { Snapshots } from "./snapshots.js";
import { welcome } from "./welcome.js";

class Panel {
  constructor(element) {
    this.messages = new Messages();
    const { messages } = this;
    this.runtimes = new Runtimes({ say: (text) => messages.say(text), fail: (error) => messages.fail(error) });
    this.snapshots = new Snapshots();
    this.files = new Files((files) => this.openFiles(files));
    this.views = new Map(); // of runtimes, by id
    this.save = new Save((format, suffix) => this.saveAs(format, suffix));
    this.appElement = h("div", { id: "app" });
    this.app = null; // from the first snapshot on
    this.taken = 0;
    this.drawFrame(element);
    this.listen();
    this.show(null);
    this.runtimes.connect();
  }

  drawFrame(element) {
    this.toggle = h("button", { type: "button", id: "toggle-list", "aria-expanded": "true", "aria-controls": "list", onclick: () => this.setList(!this.isListOpen) }, "☰ List");
    this.aside = h("aside", { id: "list", "aria-label": "Runtimes and snapshots" }, this.runtimes.element, this.snapshots.element);
    this.main = h("main", { class: "main", tabindex: "-1" });
    replace(
      element,
      h("header", { class: "bar-top" }, this.toggle, h("h1", {}, "heapshot panel"), this.messages.status, this.files.element),
      this.messages.error,
      h("div", { class: "sides" }, this.aside, this.main)
    );
    this.setList(true);
  }

  listen() {
    const { runtimes, snapshots } = this;
    runtimes.addEventListener("open", (event) => this.showRuntime(event.detail));
    runtimes.addEventListener("gone", (event) => this.gone(event.detail));
    runtimes.addEventListener("change", () => this.runtimesChanged());
    snapshots.addEventListener("open", (event) => this.showEntry(event.detail));
    snapshots.addEventListener("change", () => this.snapshotsChanged());
    window.addEventListener("beforeunload", (event) => {
      if (snapshots.hasUnsaved) event.preventDefault();
    });
  }

  // ---- What is shown ----

  /** The list is beside what is shown, or, in a narrow window, in its place. */
  setList(isOpen) {
    this.isListOpen = isOpen;
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    document.body.classList.toggle("list-open", isOpen);
  }

  get isNarrow() {
    return window.matchMedia("(max-width: 900px)").matches;
  }

  /** Shows ELEMENT, or what to do first. */
  show(element) {
    const hadFocus = this.main.contains(document.activeElement) || (this.isNarrow && this.aside.contains(document.activeElement));
    this.shown = element;
    replace(this.main, element || welcome());
    if (element === null) document.title = "heapshot panel";
    else if (this.isNarrow) this.setList(false);
    // What had the focus may be gone: Tab goes on from here.
    if (hadFocus) this.main.focus();
  }

  runtimesChanged() {
    for (const [id, view] of this.views) if (this.runtimes.find(id) === undefined && !view.isGone) view.setGone();
    // The only one is what a reader came for.
    const [only, second] = this.runtimes.runtimes;
    if (this.shown === null && only !== undefined && second === undefined) this.showRuntime(only.id, true);
  }

  gone({ id }) {
    const view = this.views.get(id);
    if (view !== undefined) view.setGone();
  }

  showRuntime(id, isByItself = false) {
    const runtime = this.runtimes.find(id);
    if (runtime === undefined) return;
    let view = this.views.get(id);
    if (view === undefined || view.isGone || view.client !== this.runtimes.client) {
      if (view !== undefined) view.close();
      view = new RuntimeView({ client: this.runtimes.client, runtime, messages: this.messages, taken: (...values) => this.take(...values) });
      this.views.set(id, view);
    }
    this.runtimes.choose(id);
    this.snapshots.choose(null);
    this.show(view.element);
    document.title = (runtime.title || "A runtime") + ": heapshot panel";
    if (!isByItself) view.label.focus();
  }

  async showEntry(entry) {
    this.runtimes.choose(null);
    this.snapshots.choose(entry);
    this.show(this.appElement);
    this.appElement.setAttribute("aria-busy", "true");
    const turn = (this.turn = {}); // what is shown last says that all is there
    await this.queue(() => this.showInApp(entry));
    if (turn === this.turn) this.appElement.setAttribute("aria-busy", "false");
  }

  async showInApp(entry) {
    // Now, since numbers change when another is removed, and this one may be gone.
    const last = this.snapshots.data.lastOf(entry.data);
    if (last === null) return;
    const { index, recording } = last;
    if (index === undefined) this.messages.say(`${entry.name} has no snapshot: its events are shown.`);
    const isStale = this.isStale;
    this.isStale = false;
    if (this.app === null) {
      this.app = new App(this.snapshots.data, this.appElement, {
        isEmbedded: true,
        tools: this.save.element,
        onShow: (app) => this.viewShown(app),
        onError: (error) => this.messages.fail(error),
      });
      await this.app.start(index, recording);
    } else if (isStale || index === undefined || this.app.snapshot === null) await this.app.update(index, recording);
    else await this.app.chooseSnapshot(index);
  }

  /** One change of what is shown after the other. */
  queue(work) {
    this.last = (this.last || Promise.resolve()).then(work).catch((error) => this.messages.fail(error));
    return this.last;
  }

  viewShown(app) {
    if (app.snapshot === null) return;
    this.snapshots.choose(this.snapshots.entryOf(app.snapshot.index));
    document.title = app.snapshot.title + ": heapshot panel";
  }

  // ---- Snapshots ----

  /** A snapshot that was taken of RUNTIME. */
  async take(blob, label, runtime) {
    this.taken++;
    const name = label || `Snapshot ${this.taken}`;
    await this.add({ name, file: fileName(name, ".hs"), blob, runtime: runtime.title || "" });
  }

  async openFiles(files) {
    for (const file of files) await this.add({ name: file.name, file: file.name, blob: file, isSaved: true });
  }

  async add(what) {
    this.messages.clear();
    this.messages.say(`Reading ${what.name}.`);
    try {
      const entry = await this.snapshots.add(what);
      this.messages.say(`${entry.name} is read.`);
      await this.showEntry(entry);
    } catch (error) {
      if (error.name === "AbortError") this.messages.say(`${what.name} is not read.`);
      else this.messages.fail(new Error(`Cannot open ${what.name}: ${error.message.replace(what.name + ": ", "")}`));
    }
  }

  /** Something was added or removed. */
  async snapshotsChanged() {
    this.isStale = true;
    if (this.shown !== this.appElement) return;
    const { entries, chosen } = this.snapshots;
    const next = chosen || entries.filter((entry) => entry.data !== null).at(-1);
    if (next === undefined) this.show(null);
    else await this.showEntry(next);
  }

  async saveAs(format, suffix) {
    const { snapshot } = this.app;
    if (snapshot === null) return;
    const entry = this.snapshots.entryOf(snapshot.index);
    this.save.setBusy(true);
    this.messages.clear();
    try {
      const name = fileName(entry.file, suffix);
      // What was taken here is a recording as it is.
      const isWhole = format === "hs" && this.app.info.snapshots.filter((one) => this.snapshots.entryOf(one.index) === entry).length === 1;
      this.messages.say(`Making ${name}.`);
      const blob = isWhole ? entry.blob : await this.snapshots.data.exportAs(snapshot.index, format);
      await save(blob, name);
      if (format === "hs") this.snapshots.setSaved(entry);
      this.messages.say(savedText(name, blob));
    } catch (error) {
      this.messages.fail(error);
    } finally {
      this.save.setBusy(false);
    }
  }
}

new Panel(document.getElementById("page"));
