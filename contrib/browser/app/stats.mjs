// SPDX-License-Identifier: MIT
// Counts and bytes by type out of a snapshot without a graph, and what memory is used for.
import { fields, records, text, RECORD } from "./records.mjs";
import { KIND } from "./tag.mjs";

/**
 * @typedef {object} TypeStats
 * @property {string} type
 * @property {number} count
 * @property {number} bytes
 *
 * @typedef {object} MemoryStats      bytes; null where the counters are not recorded
 * @property {number} live           of objects in the managed heap
 * @property {number} free           inside the managed heap
 * @property {number} native         taken, and not the managed heap's
 * @property {number} total          taken of linear memory
 * @property {number} maximum        that linear memory may grow to
 */

/** Names of types and counters, as frames of names bring them. */
export class Names {
  #done = 0; // number of the next frame
  #types = new Map();
  #counters = new Map();

  async update(recording) {
    // Begun anew: all ids are.
    if (recording.frames.length === 0 || recording.frames[0].stream !== this.stream) {
      this.#done = 0;
      this.#types.clear();
      this.#counters.clear();
      this.stream = recording.frames[0]?.stream;
    }
    const news = recording.frames.filter((frame) => frame.kind === KIND.metadata && frame.seq >= this.#done);
    for (const frame of news) {
      for (const [number, body] of records(await recording.read(frame))) {
        const into = number === RECORD.type ? this.#types : number === RECORD.counter ? this.#counters : null;
        if (into) into.set(...identified(body, number === RECORD.type ? 3 : 2));
      }
      this.#done = frame.seq + 1;
    }
  }

  type(id) {
    return this.#types.get(id) || "type#" + id;
  }

  counter(id) {
    return this.#counters.get(id);
  }
}

/** [id, name] of a record that has its id in field 1. */
function identified(body, nameField) {
  const of = Object.fromEntries(fields(body));
  return [of[1], of[nameField] ? text(of[nameField]) : ""];
}

/** The rows of the snapshot ID, most bytes first.  @returns {Promise<TypeStats[]>} */
export async function typeStats(recording, names, id) {
  await names.update(recording);
  const byName = new Map(); // several domains may have a type of one name
  for (const frame of recording.framesOf(id)) {
    for (const [number, body] of records(await recording.read(frame))) {
      if (number !== RECORD.typeTotals) continue;
      for (const [field, total] of fields(body)) {
        if (field !== 2) continue;
        const of = Object.fromEntries(fields(total));
        const type = names.type(of[1]);
        const row = byName.get(type) || { type, count: 0, bytes: 0 };
        row.count += of[2] || 0;
        row.bytes += of[3] || 0;
        byName.set(type, row);
      }
    }
  }
  return [...byName.values()].sort((a, b) => b.bytes - a.bytes || (a.type < b.type ? -1 : 1));
}

/** By the last sample of the counters.  @returns {Promise<MemoryStats|null>} */
export async function memoryStats(recording, names) {
  await names.update(recording);
  const events = recording.frames.filter((frame) => frame.kind === KIND.events);
  for (const frame of events.reverse()) {
    const samples = [...records(await recording.read(frame))].filter(([number]) => number === RECORD.counterSample);
    if (samples.length === 0) continue;
    const value = {};
    for (const [, one] of fields(samples.at(-1)[1])) {
      const of = Object.fromEntries(fields(one));
      value[names.counter(of[1])] = of[3] || 0;
    }
    const heap = value["GC heap"];
    const live = value["GC heap used"];
    const total = value["Memory taken"];
    return { live, free: heap - live, native: total - heap, total, maximum: value["Memory maximum"] };
  }
  return null;
}

const megabytes = (bytes) => (bytes / 1048576).toFixed(1);

/** The one line of it. */
export function memoryLine({ live, free, native, total, maximum }) {
  return (
    `${megabytes(live)} MB live managed + ${megabytes(free)} MB free inside the managed heap + ` +
    `${megabytes(native)} MB native = ${megabytes(total)} MB of ${megabytes(maximum)} MB at most`
  );
}
