// SPDX-License-Identifier: MIT
// The data of several providers as those of one: each Blob has a reader of its own,
// so that one that is damaged, or removed, costs nothing but itself.  Types are the
// same where their names and assemblies are.
import { DataProvider } from "../page/data.js";
import { growthOf } from "./growth.js";

export class JoinedData extends DataProvider {
  constructor() {
    super();
    this.parts = []; // { source, info, name, numbers, types }
    this.numbers = new Map(); // name and assembly -> number of the type here
  }

  /** Adds the data of SOURCE; its snapshots come last.  NAME: for people.
   * MORE: what is known of its recordings besides: { file, saved }. */
  async add(source, name, more) {
    const info = await source.info();
    this.parts.push({ source, name, more, info, numbers: new Map(), types: new Map() });
    this.number();
  }

  /** Takes the data of SOURCE out, and closes it. */
  remove(source) {
    this.parts = this.parts.filter((part) => part.source !== source);
    this.number();
    source.close();
  }

  /** Numbers recordings and snapshots of all anew. */
  number() {
    let recording = 0;
    let snapshot = 0;
    for (const part of this.parts) {
      Object.assign(part, { recording, snapshot });
      recording += part.info.recordings.length;
      snapshot += part.info.snapshots.length;
    }
  }

  /** The last snapshot of SOURCE here, by its index, and its recording; index undefined: it has none.
   * Null: SOURCE is not here. */
  lastOf(source) {
    const part = this.parts.find((one) => one.source === source);
    if (part === undefined) return null;
    const last = part.info.snapshots.at(-1);
    return { index: last && part.snapshot + last.index, recording: part.recording + (last ? last.recording : 0) };
  }

  /** Source and number there of snapshot INDEX. */
  placeOf(index) {
    const part = this.ofSnapshot(index);
    return { source: part.source, snapshot: index - part.snapshot };
  }

  ofSnapshot(index) {
    return this.parts.findLast((part) => part.snapshot <= index && part.info.snapshots.length > 0);
  }

  ofRecording(index) {
    return this.parts.findLast((part) => part.recording <= index);
  }

  async info() {
    const { parts } = this;
    return {
      version: parts.length > 0 ? parts[0].info.version : "",
      cut: parts.length > 0 ? parts[0].info.cut : {},
      recordings: parts.flatMap((part) => part.info.recordings.map((one) => ({ ...one, ...part.more, name: part.name, run: runOf(one) }))),
      snapshots: parts.flatMap((part) => part.info.snapshots.map((one) => this.describe(part, one))),
    };
  }

  describe(part, snapshot) {
    const isAlone = part.info.snapshots.length === 1;
    return {
      ...snapshot,
      index: part.snapshot + snapshot.index,
      recording: part.recording + snapshot.recording,
      title: isAlone ? part.name : `${part.name} ${snapshot.title}`,
    };
  }

  async events(recording) {
    const part = this.ofRecording(recording);
    const events = await part.source.events(recording - part.recording);
    return { ...events, snapshots: events.snapshots.map((mark) => ({ ...mark, shown: mark.shown === null ? null : part.snapshot + mark.shown })) };
  }

  /** Suspects of the recording itself; where it has one snapshot, what grew since earlier ones of the same run. */
  async suspects(recording) {
    const part = this.ofRecording(recording);
    const suspects = await part.source.suspects(recording - part.recording);
    if (suspects === null || suspects.first !== null) return suspects;
    const { snapshots, recordings } = await this.info();
    const last = snapshots.filter((one) => one.recording === recording).at(-1);
    const first = snapshots.find((one) => recordings[one.recording].run === recordings[recording].run && one.timeNs < last.timeNs);
    if (first === undefined) return suspects;
    return { ...suspects, first: first.title, growth: await growthOf(this, first, last) };
  }

  async counters(recording) {
    const part = this.ofRecording(recording);
    return part.source.counters(recording - part.recording);
  }

  async handles(snapshot) {
    const { source, snapshot: number } = this.placeOf(snapshot);
    return source.handles(number);
  }

  // ---- Types: numbers of the source to ours, and back ----

  row(part, row) {
    const key = row.name + "\0" + (row.assembly || "");
    if (!this.numbers.has(key)) this.numbers.set(key, this.numbers.size);
    const number = this.numbers.get(key);
    part.numbers.set(number, row.type);
    return { ...row, type: number };
  }

  /** Rows of one snapshot; they are made once. */
  async types(snapshot) {
    const part = this.ofSnapshot(snapshot);
    const number = snapshot - part.snapshot;
    if (!part.types.has(number)) {
      const { rows, other } = await part.source.types(number);
      part.types.set(number, { rows: rows.map((row) => this.row(part, row)), other });
    }
    return part.types.get(number);
  }

  async pathTypes(snapshot) {
    const part = this.ofSnapshot(snapshot);
    return (await part.source.pathTypes(snapshot - part.snapshot)).map((row) => this.row(part, row));
  }

  async paths(snapshot, type) {
    await this.types(snapshot);
    const part = this.ofSnapshot(snapshot);
    const number = part.numbers.get(type);
    return number === undefined ? null : part.source.paths(snapshot - part.snapshot, number);
  }

  // ---- The tree ----

  node(part, node) {
    return node === null ? null : { ...node, snapshot: part.snapshot + node.snapshot };
  }

  async root(snapshot) {
    const part = this.ofSnapshot(snapshot);
    return this.node(part, await part.source.root(snapshot - part.snapshot));
  }

  async children(node) {
    const part = this.ofSnapshot(node.snapshot);
    const children = await part.source.children({ ...node, snapshot: node.snapshot - part.snapshot });
    return children.map((child) => this.node(part, child));
  }

  /** Snapshot INDEX in a format.  @returns {Promise<Blob>} */
  async exportAs(index, format, options) {
    const { source, snapshot } = this.placeOf(index);
    return source.exportAs(snapshot, format, options);
  }
}

/** What recordings of one run of a program have in common. */
function runOf({ pid, wallStartMs, commandLine, host, options }) {
  return JSON.stringify([pid, wallStartMs, commandLine, host, options]);
}
