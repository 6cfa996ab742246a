// SPDX-License-Identifier: MIT
// The data provider of the panel: recordings are read in a worker (worker.js), by the reader
// that is compiled to WebAssembly.  The page only asks and waits.
import { DataProvider } from "../page/data.js";

/**
 * @typedef {object} Options
 * @property {(progress: {step: "reading"|"writing", done: number, all: number}) => void} [onProgress]
 * @property {AbortSignal} [signal]  ends the worker; a later call begins anew
 */

function aborted(signal) {
  const { reason } = signal;
  return reason instanceof Error ? reason : new DOMException("The reading was cancelled.", "AbortError");
}

function errorOf({ name, message, lines }) {
  const error = new Error(message);
  error.name = name;
  if (lines !== undefined) error.lines = lines;
  return error;
}

export class WorkerData extends DataProvider {
  #files;
  #worker = null;
  #opened = null; // a promise, while there is a worker
  #calls = new Map(); // by id: what waits for an answer
  #nextId = 1;
  #isClosed = false;

  /**
   * Opens recordings; they stay where they are.  Fails with the reader's sentence where one
   * is none, and with an AbortError where SIGNAL ends it.
   * @param {{name: string, blob: Blob}[]} files
   * @param {Options} [options]
   * @returns {Promise<WorkerData>}
   */
  static async open(files, options = {}) {
    const data = new WorkerData(files);
    try {
      await data.#start(options);
    } catch (error) {
      data.close();
      throw error;
    }
    return data;
  }

  /** Use WorkerData.open(). */
  constructor(files) {
    super();
    this.#files = files.map(({ name, blob }) => ({ name, blob }));
    this.memoryBytes = 0; // of the reader, after its last answer
  }

  #start(options) {
    if (this.#opened === null) {
      this.#worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module", name: "heapshot reader" });
      this.#worker.onmessage = (event) => this.#take(event.data);
      this.#worker.onerror = (event) => {
        event.preventDefault();
        this.#end(new Error("the reader cannot be loaded: " + (event.message || "worker.js or a module of it is missing")));
      };
      this.#opened = this.#send("open", [this.#files], options);
      this.#opened.catch(() => {});
    }
    return this.#opened;
  }

  #take({ id, progress, result, error, memoryBytes }) {
    if (progress !== undefined) {
      // One call at a time is under way: the first of those that wait.
      const [first] = this.#calls.values();
      if (first !== undefined && first.onProgress !== undefined) first.onProgress(progress);
      return;
    }
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    call.forget();
    if (memoryBytes !== undefined) this.memoryBytes = memoryBytes;
    if (error === undefined) call.resolve(result);
    else call.reject(errorOf(error));
  }

  /** Ends the worker; what waits for it fails. */
  #end(error) {
    if (this.#worker !== null) this.#worker.terminate();
    this.#worker = null;
    this.#opened = null;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) {
      call.forget();
      call.reject(error);
    }
  }

  #send(method, values, { onProgress, signal } = {}) {
    return new Promise((resolve, reject) => {
      if (signal !== undefined && signal.aborted) {
        reject(aborted(signal));
        return;
      }
      const id = this.#nextId++;
      const onAbort = () => this.#end(aborted(signal));
      const forget = () => signal !== undefined && signal.removeEventListener("abort", onAbort);
      if (signal !== undefined) signal.addEventListener("abort", onAbort);
      this.#calls.set(id, { resolve, reject, onProgress, forget });
      this.#worker.postMessage({ id, method, values });
    });
  }

  async #call(method, values, options) {
    if (this.#isClosed) throw new Error("the recording was closed");
    await this.#start({});
    return this.#send(method, values, options);
  }

  info() {
    return this.#call("info", []);
  }

  events(recording) {
    return this.#call("events", [recording]);
  }

  counters(recording) {
    return this.#call("counters", [recording]);
  }

  suspects(recording) {
    return this.#call("suspects", [recording]);
  }

  types(snapshot) {
    return this.#call("types", [snapshot]);
  }

  root(snapshot) {
    return this.#call("root", [snapshot]);
  }

  children(node) {
    return this.#call("children", [node]);
  }

  pathTypes(snapshot) {
    return this.#call("pathTypes", [snapshot]);
  }

  paths(snapshot, type) {
    return this.#call("paths", [snapshot, type]);
  }

  handles(snapshot) {
    return this.#call("handles", [snapshot]);
  }

  /** A snapshot as a file.
   * @param {number} snapshot
   * @param {"hs"|"mono-heap"|"gcdump"|"heapsnapshot"} format
   * @param {Options} [options]
   * @returns {Promise<Blob>} */
  exportAs(snapshot, format, options = {}) {
    return this.#call("exportAs", [snapshot, format], options);
  }

  /** Ends the worker and gives its memory back. */
  close() {
    this.#isClosed = true;
    this.#end(new DOMException("The recording was closed.", "AbortError"));
  }
}
