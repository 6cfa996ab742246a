// SPDX-License-Identifier: MIT
// Where the views have their data from.  They know this interface only; the
// report's page implements it on the JSON that is in it (embedded.js).  All
// functions are asynchronous, so that a reader in a worker can implement it too.

/**
 * @typedef {object} Recording
 * @property {string} file, commandLine, runtime, architecture, system, host, options
 * @property {number|null} pid, wallStartMs
 * @property {boolean} isRing
 * @property {string[]} notes      what is wrong with the file, in sentences
 * @property {string} [name]       by which it is called, if not by its program
 * @property {string} [run]        recordings with the same are of one run of a program
 * @property {string} [saved]      what has to be done before a terminal finds the file, if anything
 *
 * @typedef {object} Snapshot
 * @property {number} index        by which the functions below are asked
 * @property {number} recording    index of its recording
 * @property {number} id           number in its recording
 * @property {string} label, trigger, title
 * @property {number} timeNs
 * @property {string|null} note    why something of it is not there
 * @property {number} objects, bytes
 * @property {number|null} liveObjects, liveBytes, pauseNs
 * @property {boolean} hasGraph    retained sizes, tree and paths are there
 *
 * @typedef {object} TypeRow
 * @property {number} type         number of the type, the same in all snapshots
 * @property {string} name, assembly
 * @property {number} count, bytes all objects of the type
 * @property {number|null} retained what would go with those that live
 *
 * @typedef {object} Node          objects of one type below one holder, put together
 * @property {string} name, kind   kind: "heap", "root", "type", "own" (the objects of the
 *                                 node itself, without those below), "other" (what is cut)
 * @property {number} objects, bytes        its own
 * @property {number} allObjects, retained  with all below it
 * @property {boolean} hasChildren
 *
 * @typedef {object} Counter
 * @property {string} name, section
 * @property {string} unit         "bytes", "count", "time_100ns", "percentage", "raw", ...
 * @property {[number, number][]} samples  [time in ns, value], in the order of time
 *
 * @typedef {object} HandleTable   references between C# and JavaScript
 * @property {string} name         "js_proxy": C# objects that JavaScript holds; "js_object": JavaScript
 *                                 objects that C# holds; Blazor's "dotnet_object_reference" and
 *                                 "js_object_reference"
 * @property {string} title
 * @property {number} escaped      objects that could not be marked, so that they have no entry
 * @property {number} released, collected   entries that went
 * @property {string|null} note
 * @property {HandleEntry[]} entries
 * @property {number} [other]      entries that are left out
 *
 * @typedef {object} HandleEntry
 * @property {string|null} handle  its number; where COUNT is not 1, that of the first
 * @property {string} jsType, jsName   "object", "ManagedObject"
 * @property {string|null} type    of the managed object, or null: there is none, or it is not known
 * @property {string|null} object  its address, "0x1234"
 * @property {number|null} retained
 * @property {number} count        entries that are alike
 *
 * @typedef {object} Path
 * @property {string} kind, root   of the root: "static", "T.Pub.Ev"
 * @property {number} count, bytes objects that share it
 * @property {number} longest      steps that the longest of them has more
 * @property {{type: string|null, slot: string|null, times: number}[]} parts
 *                                 type null: TIMES parts are left out
 */

export class DataProvider {
  /** @returns {Promise<{version: string, recordings: Recording[], snapshots: Snapshot[], cut: object}>} */
  async info() {
    throw new Error("not implemented");
  }

  /** Collections of a recording in the order of time, and its snapshots, shown or not.
   * @returns {Promise<{collections: object[], summary: object, snapshots: object[]}>} */
  async events(recording) {
    throw new Error("not implemented");
  }

  /** What may leak, by the last snapshot of a recording; null: not looked for. */
  async suspects(recording) {
    throw new Error("not implemented");
  }

  /** @returns {Promise<{rows: TypeRow[], other: {types: number, count: number, bytes: number}}>} */
  async types(snapshot) {
    throw new Error("not implemented");
  }

  /** The node of the whole heap, or null without a graph.  @returns {Promise<Node|null>} */
  async root(snapshot) {
    throw new Error("not implemented");
  }

  /** Nodes below NODE, the largest first, "own" and "other" behind them; their retained
   * sizes sum up to that of NODE.  @returns {Promise<Node[]>} */
  async children(node) {
    throw new Error("not implemented");
  }

  /** Types whose paths are there.  @returns {Promise<TypeRow[]>} */
  async pathTypes(snapshot) {
    throw new Error("not implemented");
  }

  /** Counters of a recording with their samples; null: there are none.
   * @returns {Promise<Counter[]|null>} */
  async counters(recording) {
    return null;
  }

  /** References between C# and JavaScript at a snapshot; null: it has no such tables.
   * @returns {Promise<HandleTable[]|null>} */
  async handles(snapshot) {
    return null;
  }

  /** Merged shortest paths to the objects of a type; null: they are not there.
   * @returns {Promise<{objects: number, reached: number, all: number, paths: Path[]}|null>} */
  async paths(snapshot, type) {
    throw new Error("not implemented");
  }

  /** Types of two snapshots that changed; a row has count, bytes and retained as
   * changes, and the values of both in before and after. */
  async diff(before, after) {
    const [from, to] = await Promise.all([this.types(before), this.types(after)]);
    return joinTypes(from.rows, to.rows);
  }
}

/** The rows of diff, for providers that have no better way. */
export function joinTypes(from, to) {
  const none = { count: 0, bytes: 0, retained: 0 };
  const hasRetained = (row) => row === none || row.retained !== null;
  const rows = new Map();
  for (const row of from) rows.set(row.type, { row, before: row, after: none });
  for (const row of to) rows.set(row.type, { row, before: (rows.get(row.type) || { before: none }).before, after: row });
  const changed = [];
  for (const { row, before, after } of rows.values()) {
    const known = hasRetained(before) && hasRetained(after);
    const difference = {
      type: row.type,
      name: row.name,
      assembly: row.assembly,
      count: after.count - before.count,
      bytes: after.bytes - before.bytes,
      retained: known ? after.retained - before.retained : null,
      before,
      after,
    };
    if (difference.count !== 0 || difference.bytes !== 0 || difference.retained) changed.push(difference);
  }
  return changed;
}
