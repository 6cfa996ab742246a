// SPDX-License-Identifier: MIT
// A runtime that is being recorded: what heapshot.attach() returns.
import { fileName, save, title, turn } from "./environment.mjs";
import { Recording } from "./recording.mjs";
import { Names, memoryLine, memoryStats, typeStats } from "./stats.mjs";
import { KIND } from "./tag.mjs";

/** What is put on the runtime's own object where that is asked for. */
const EXPOSED = ["takeSnapshot", "downloadMemoryDump", "logMemoryStats", "enableDiagnosticChannel"];

const isOfSnapshot = (kind) => kind === KIND.begin || kind === KIND.body || kind === KIND.end;

/** Nothing more may happen: why, as an Error. */
function reasonOf(signal) {
  return signal.reason instanceof Error ? signal.reason : new DOMException(String(signal.reason), "AbortError");
}

export class Heapshot extends EventTarget {
  #runtime;
  #module;
  #recording = new Recording();
  #names = new Names();
  #listeners = new Set();
  #current = null; // the snapshot that takeSnapshot() waits for
  #progress = { id: 0, bytes: 0, frames: 0 };
  #isQuiet = false; // a snapshot that ends now is not told
  #closers = new Set();
  #exposed = [];
  #tables;
  #ready = null; // tables that were made before the collection

  /** detach() was called. */
  isDetached = false;

  constructor(runtime, { title: given, tables = null } = {}) {
    super();
    this.#runtime = runtime;
    this.#module = runtime.Module;
    this.#tables = tables;
    /** How a person tells this program from others. */
    this.title = given || title();
    /** Of .NET: "10.0.12". */
    this.runtimeVersion = String(runtime.runtimeBuildInfo?.productVersion || "").split("+")[0];
    const version = this.#module._heapshot_version();
    /** Of the module: "1.0". */
    this.heapshotVersion = (version >>> 16) + "." + (version & 0xffff);
    const place = (this.#module.heapshot ||= {});
    for (const waiting = place.waiting || []; waiting.length; waiting.shift()) this.#write(waiting[0]);
    place.write = (frame) => this.#write(frame);
    if (tables) place.tables = () => this.#ready || tables();
  }

  /** The runtime that this is of. */
  get runtime() {
    return this.#runtime;
  }

  get isRecording() {
    return this.#module._heapshot_is_recording() === 1;
  }

  /**
   * Takes a snapshot.  That is one step in which nothing else happens; before it, what the
   * event loop has waiting gets its turn.
   * @param {object} [options]
   * @param {string} [options.label]
   * @param {AbortSignal} [options.signal]  looked at before the snapshot, and after each onProgress()
   * @param {(progress: {bytes: number, frames: number}) => void} [options.onProgress]  called in the
   *   middle of the snapshot: it must not call the runtime, and what it throws ends the snapshot
   * @param {boolean} [options.keep]  false: recording() does not have it
   * @returns {Promise<Blob>} a recording with this snapshot alone
   */
  async takeSnapshot({ label = "", signal, onProgress, keep = true } = {}) {
    const id = await this.#take(label, signal, onProgress);
    const part = this.#recording.part(id);
    if (!keep) this.#recording.forget(id);
    return part;
  }

  async #take(label, signal, onProgress) {
    if (signal?.aborted) throw reasonOf(signal);
    await turn();
    if (signal?.aborted) throw reasonOf(signal);
    const current = (this.#current = { signal, onProgress, failure: null, id: 0 });
    let id;
    try {
      this.#ready = this.#tables?.() ?? null;
      id = this.#call("heapshot_take", label);
    } finally {
      this.#current = this.#ready = null;
    }
    if (id > 0) return id;
    if (!current.failure) throw this.#failure();
    this.#flushQuietly();
    if (current.id) this.#recording.forget(current.id);
    throw current.failure;
  }

  /** What the module kept back comes now: the end of a snapshot that is nobody's. */
  #flushQuietly() {
    this.#isQuiet = true;
    try {
      this.#module._heapshot_flush();
    } finally {
      this.#isQuiet = false;
    }
  }

  #call(name, ...words) {
    return Number(this.#module.ccall(name, "number", words.map(() => "string"), words));
  }

  #failure() {
    return new Error("heapshot: " + this.#module.UTF8ToString(this.#module._heapshot_error()));
  }

  /** Gets each frame, mostly in the middle of a collection: it must not call the runtime. */
  #write(frame) {
    const kind = frame[13];
    if (this.#current?.failure) throw this.#current.failure;
    if (isOfSnapshot(kind)) this.#report(frame);
    const { ended } = this.#recording.add(frame);
    for (const listener of this.#listeners) this.#guard(() => listener(frame));
    if (ended && !this.#isQuiet) queueMicrotask(() => this.#emit("snapshot", ended));
    if (kind === KIND.last) queueMicrotask(() => this.#emit("end", null));
  }

  /** Says how far a snapshot is; throws where it is to end. */
  #report(frame) {
    const id = new DataView(frame.buffer, frame.byteOffset).getUint32(20, true);
    const progress = this.#progress.id === id ? this.#progress : (this.#progress = { id, bytes: 0, frames: 0 });
    progress.bytes += frame.length;
    progress.frames++;
    const detail = { bytes: progress.bytes, frames: progress.frames };
    const current = this.#current;
    if (current) current.id = id;
    try {
      current?.onProgress?.(detail);
      if (current?.signal?.aborted) throw reasonOf(current.signal);
    } catch (error) {
      current.failure = error;
      throw error;
    }
    this.#emit("progress", detail);
  }

  /** Calls a listener, whose mistakes are not the recording's. */
  #guard(work) {
    try {
      work();
    } catch (error) {
      queueMicrotask(() => this.#emit("error", error));
    }
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }

  /**
   * Calls LISTENER with the detail of each event TYPE.
   * @returns {() => void} that ends it
   */
  on(type, listener) {
    const heard = (event) => listener(event.detail);
    this.addEventListener(type, heard);
    return () => this.removeEventListener(type, heard);
  }

  /**
   * Calls LISTENER with each frame as it comes.
   * @returns {() => void} that ends it
   */
  onFrame(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Snapshots so far, whoever asked for them. */
  get snapshots() {
    return this.#recording.snapshots;
  }

  /** The recording of one of them alone.  @returns {Blob} */
  snapshot(id) {
    if (!this.#recording.snapshots.some((each) => each.id === id)) throw new RangeError("there is no snapshot " + id);
    return this.#recording.part(id);
  }

  /**
   * All that was recorded so far.
   * @param {object} [options]
   * @param {boolean} [options.isOpen]  without an end: for those who put the frames behind that follow
   * @returns {Blob}
   */
  recording({ isOpen = false } = {}) {
    return this.#recording.whole(isOpen);
  }

  /** Drops the snapshots and events so far, to give back their memory. */
  forget() {
    this.#recording.forgetAll();
  }

  /** Puts a label among the events. */
  mark(label) {
    if (this.#call("heapshot_mark", String(label)) !== 0) throw this.#failure();
  }

  /** Takes a snapshot and gives it to the person: a download of a page, a file of node. */
  async downloadMemoryDump(name = fileName(this.title), options = {}) {
    await save(await this.takeSnapshot(options), name);
    return name;
  }

  /** Counts and bytes by type, and what memory is used for; without the graph. */
  async memoryStats() {
    await turn();
    let id;
    try {
      this.#isQuiet = true;
      id = this.#call("heapshot_take_stats", "");
    } finally {
      this.#isQuiet = false;
    }
    if (id <= 0) throw this.#failure();
    try {
      const memory = memoryStats(this.#module);
      return { types: await typeStats(this.#recording, this.#names, id), memory };
    } finally {
      // It was for the caller, and would make the recording grow.
      this.#recording.forget(id);
    }
  }

  /** The same on the console: a table of types, and a line.  @returns {Promise<object[]>} its rows */
  async logMemoryStats(limit = 50) {
    const { types } = await this.memoryStats();
    console.table(types.slice(0, limit));
    console.log("heapshot: " + memoryLine(this.#module));
    return types;
  }

  /** Answers to panels in other tabs from now on; see panel/.  @returns {Promise<{close: () => void}>} */
  async enableDiagnosticChannel(options = {}) {
    const { openChannel } = await import("./channel.mjs");
    const channel = await openChannel(this, options);
    const close = () => {
      this.#closers.delete(close);
      channel.close();
    };
    // Meanwhile, too, detach() may have been called.
    if (this.isDetached) {
      close();
      throw new Error("heapshot: no channel to a panel: detach() was called");
    }
    this.#closers.add(close);
    return { close };
  }

  /** Puts the functions that people call on the runtime's own object. */
  expose() {
    for (const name of EXPOSED) {
      if (name in this.#runtime) continue;
      this.#runtime[name] = this[name].bind(this);
      this.#exposed.push(name);
    }
  }

  /** Ends the recording and all that attach() did.  What was recorded stays. */
  detach() {
    if (this.isDetached) return;
    this.isDetached = true;
    for (const close of [...this.#closers]) close();
    for (const name of this.#exposed.splice(0)) delete this.#runtime[name];
    this.#module._heapshot_stop();
    delete this.#module.heapshot.write;
    if (this.#tables) delete this.#module.heapshot.tables;
  }
}
