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
 * @typedef {object} MemoryStats      bytes; the first three make the total
 * @property {number} live           of objects in the managed heap
 * @property {number} free           inside the managed heap
 * @property {number} native         taken, and not the managed heap's
 * @property {number} total          taken of linear memory
 * @property {number} linear         linear memory, which grows in leaps
 * @property {number} maximum        that it may grow to
 */

/** Names of types, as frames of names bring them. */
export class Names {
  #done = 0; // number of the next frame
  #types = new Map();
  #stream;

  async update(recording) {
    // Begun anew: all ids are.
    if (recording.frames.length === 0 || recording.frames[0].stream !== this.#stream) {
      this.#done = 0;
      this.#types.clear();
      this.#stream = recording.frames[0]?.stream;
    }
    const news = recording.frames.filter((frame) => frame.kind === KIND.metadata && frame.seq >= this.#done);
    for (const frame of news) {
      for (const [number, body] of records(await recording.read(frame))) {
        if (number !== RECORD.type) continue;
        const of = Object.fromEntries(fields(body));
        this.#types.set(of[1], of[3] ? text(of[3]) : "");
      }
      this.#done = frame.seq + 1;
    }
  }

  type(id) {
    return this.#types.get(id) || "type#" + id;
  }
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

/** What linear memory is used for, as the module counts it; nothing is collected.  @returns {MemoryStats} */
export function memoryStats(module) {
  const at = module._heapshot_memory() >> 3;
  const [live, free, native, total, linear, maximum] = module.HEAPF64.subarray(at, at + 6);
  return { live, free, native, total, linear, maximum };
}

/** The one line of it. */
export const memoryLine = (module) => module.UTF8ToString(module._heapshot_memory_line());
