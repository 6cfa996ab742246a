// SPDX-License-Identifier: MIT
// contrib/reader and its analysis, compiled to WebAssembly (reader.wasm): one instance reads
// the files that it is made with.  Its calls are synchronous, so it lives in a worker.

/** @typedef {{name: string, size: number, read: (offset: number, bytes: number) => Uint8Array}} Source */

const NOT_THERE = 52; // ENOSYS of WASI
const PAGE = 64 << 10;

/** What the reader says of a file or question that it cannot serve; the message is one line. */
export class ReaderError extends Error {
  /** @param {string[]} lines  all that it said, the reason last */
  constructor(lines, options) {
    super(lines[lines.length - 1] || "the reader failed without a word", options);
    this.name = "ReaderError";
    this.lines = lines;
  }
}

/** Small reads, of which the reader makes many, are served from the last page that was read. */
function paged(source) {
  let page = new Uint8Array(0);
  let start = 0;
  return (offset, bytes) => {
    if (bytes >= PAGE / 2) return source.read(offset, bytes);
    if (offset < start || offset + bytes > start + page.length) {
      page = source.read(offset, Math.min(PAGE, source.size - offset));
      start = offset;
    }
    return page.subarray(offset - start, offset - start + bytes);
  };
}

export class Reader {
  /**
   * @param {WebAssembly.Module} module  reader.wasm
   * @param {Source[]} sources
   * @param {(isReading: boolean, done: number, all: number) => void} [onProgress]
   */
  static async make(module, sources, onProgress = () => {}) {
    const reader = new Reader(sources, onProgress);
    const instance = await WebAssembly.instantiate(module, reader.imports(module));
    reader.exports = instance.exports;
    reader.exports._initialize();
    return reader;
  }

  constructor(sources, onProgress) {
    this.sources = sources;
    this.onProgress = onProgress;
    this.reads = sources.map(paged);
    this.said = "";
    this.take = null; // who takes what an export writes
    this.failed = null; // why JavaScript failed that was called from inside
  }

  /** Memory that the reader has, in bytes. */
  get memoryBytes() {
    return this.exports.memory.buffer.byteLength;
  }

  bytes(pointer, size) {
    return new Uint8Array(this.exports.memory.buffer, pointer >>> 0, size >>> 0);
  }

  imports(module) {
    const decoder = new TextDecoder();
    const guard = (otherwise, act) => {
      try {
        return act();
      } catch (error) {
        this.failed = error;
        return otherwise;
      }
    };
    const heapshot = {
      size: (file) => this.sources[file].size,
      read: (file, offset, pointer, size) =>
        guard(-1, () => {
          const data = this.reads[file](offset, size >>> 0);
          this.bytes(pointer, data.length).set(data);
          return data.length;
        }),
      take: (pointer, size) =>
        guard(0, () => {
          this.take(this.bytes(pointer, size).slice());
          return 1;
        }),
      progress: (isReading, done, all) => this.onProgress(isReading !== 0, done, all),
    };
    const wasi = {
      fd_write: (file, vectors, count, written) => {
        const view = new DataView(this.exports.memory.buffer);
        let all = 0;
        for (let i = 0; i < count; i++) {
          const at = (vectors >>> 0) + 8 * i;
          const size = view.getUint32(at + 4, true);
          if (file === 2) this.said += decoder.decode(this.bytes(view.getUint32(at, true), size), { stream: true });
          all += size;
        }
        view.setUint32(written >>> 0, all, true);
        return 0;
      },
      clock_time_get: (clock, precision, result) => {
        const ns = BigInt(Math.round((performance.timeOrigin + performance.now()) * 1000)) * 1000n;
        new DataView(this.exports.memory.buffer).setBigUint64(result >>> 0, ns, true);
        return 0;
      },
    };
    const all = { heapshot, wasi_snapshot_preview1: wasi };
    // What the C library would ask of a system: there is none.
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      const names = (all[from] = all[from] || {});
      if (names[name] === undefined) names[name] = () => NOT_THERE;
    }
    return all;
  }

  lines() {
    const lines = this.said.split("\n").map((line) => line.replace(/^heapshot: /, ""));
    return lines.filter((line) => line !== "");
  }

  /** Calls an exported function; throws what was said if its status is not 0. */
  call(name, ...values) {
    this.said = "";
    this.failed = null;
    let status;
    try {
      status = this.exports[name](...values);
    } catch (error) {
      // The instance is in the middle of something from here on.
      throw new ReaderError([...this.lines(), "the reader broke down: " + error.message], { cause: error });
    }
    if (status === 0) return;
    const lines = this.lines();
    const memory = lines.find((line) => /needs more memory than|out of memory/.test(line));
    if (memory !== undefined) {
      const name = memory.includes(": ") ? memory.replace(/: .*/, "") : this.sources[0].name;
      lines.push(`${name}: the browser has too little memory for this; the heapshot command reads it`);
    }
    if (this.failed !== null) lines.push((lines.pop() || "the browser failed") + ": " + this.failed.message);
    throw new ReaderError(lines, { cause: this.failed });
  }

  /** Calls an exported function that answers by JSON. */
  ask(name, ...values) {
    this.call(name, ...values);
    return JSON.parse(this.text());
  }

  /** The text of the last answer. */
  text() {
    return new TextDecoder().decode(this.bytes(this.exports.reader_text(), this.exports.reader_text_bytes()));
  }

  /** TEXT in the reader's memory, with a NUL behind. */
  put(text) {
    const bytes = new TextEncoder().encode(text + "\0");
    const pointer = this.exports.malloc(bytes.length);
    if (pointer === 0) throw new ReaderError(["out of memory"]);
    this.bytes(pointer, bytes.length).set(bytes);
    return pointer;
  }

  /** Opens all files and reads them as a report does; to be called once, and first.
   * @param {boolean} [isAll]  all snapshots, not only some of many */
  open(isAll = false) {
    this.call("reader_open", this.put(this.sources.map((source) => source.name).join("\0")), this.sources.length, isAll);
  }

  /** The text of `heapshot report --json`, of at most LIMIT bytes. */
  report(limit) {
    this.call("reader_json", limit);
    return this.text();
  }

  /** Nodes below a node of the tree of retained sizes; 0: the heap. */
  children(snapshot, node) {
    return this.ask("reader_children", snapshot, node);
  }

  /** Merged paths to the objects of a type. */
  paths(snapshot, type, most) {
    return this.ask("reader_paths", snapshot, type, most);
  }

  /** Writes a snapshot in a format: TAKE gets pieces, each its own.
   * @param {"hs"|"mono-heap"|"gcdump"|"heapsnapshot"|"folded"|"speedscope"|"pprof"} format
   * @param {(bytes: Uint8Array) => void} take */
  export(snapshot, format, take) {
    const name = this.put(format);
    this.take = take;
    try {
      this.call("reader_export", snapshot, name);
    } finally {
      this.take = null;
      this.exports.free(name);
    }
  }
}
