// SPDX-License-Identifier: MIT
// The frames of a recording as they come from the module, and what is made of them: the
// whole, or parts (schema/FORMAT.md, section 4), each as one Blob.
import { Pile } from "./pile.mjs";
import { endFrame, fields, records, text, RECORD } from "./records.mjs";
import { KIND, TAG_BYTES, makeTag, readTag } from "./tag.mjs";

export const TYPE = "application/x-heapshot";

/**
 * @typedef {object} Snapshot
 * @property {number} id            number in the recording, from 1
 * @property {string} label
 * @property {string} trigger       the option that led to it: "api", "at", "oom", ...
 * @property {boolean} isComplete
 * @property {number} objects       as its end says
 * @property {number} bytes         of the objects
 */

export class Recording {
  #frames = [];
  #names = new Pile();
  #events = new Pile();
  #snapshots = new Map(); // id: {pile, about: Snapshot | null while it is under way}
  #stream = null;
  #nextSeq = 0;

  /** What is known of each frame, in order. */
  get frames() {
    return this.#frames;
  }

  /** Has its End: nothing follows. */
  get isEnded() {
    return this.#frames.at(-1)?.kind === KIND.last;
  }

  /** Snapshots that have ended.  @returns {Snapshot[]} */
  get snapshots() {
    return [...this.#snapshots.values()].map((each) => each.about).filter((about) => about !== null);
  }

  /**
   * Keeps a frame.  Throws where there is no room for it; nothing has changed then.
   * @param {Uint8Array} bytes  a whole frame with its tag
   * @returns {{kind: number, snapshot: number, ended: Snapshot|null}}  ended: by this frame
   */
  add(bytes) {
    const tag = readTag(bytes);
    if (this.#stream === null && tag.seq !== 0)
      throw new Error("this recording began elsewhere, and its header is not here");
    // One that was begun anew is another.
    if (tag.stream !== this.#stream && tag.seq === 0) this.#begin(tag.stream);
    const pile = this.#pileOf(tag);
    const frame = { ...tag, pile, at: pile.bytes, bytes: bytes.length, isAfterLoss: tag.seq !== this.#nextSeq };
    pile.add(bytes);
    this.#frames.push(frame);
    this.#nextSeq = tag.seq + 1;
    let ended = null;
    if (tag.kind === KIND.end) ended = this.#snapshots.get(tag.snapshot).about = readEnd(bytes);
    return { kind: tag.kind, snapshot: tag.snapshot, ended };
  }

  #begin(stream) {
    this.#frames = [];
    this.#names = new Pile();
    this.#events = new Pile();
    this.#snapshots = new Map();
    this.#stream = stream;
    this.#nextSeq = 0;
  }

  #pileOf(tag) {
    if (tag.kind === KIND.metadata || tag.kind === KIND.last) return this.#names;
    if (tag.snapshot === 0) return this.#events;
    if (!this.#snapshots.has(tag.snapshot)) this.#snapshots.set(tag.snapshot, { pile: new Pile(), about: null });
    return this.#snapshots.get(tag.snapshot).pile;
  }

  /** The bytes of one of `frames`. */
  async read(frame) {
    return new Uint8Array(await new Blob(frame.pile.parts(frame.at, frame.at + frame.bytes)).arrayBuffer());
  }

  /** Frames of the snapshot ID.  */
  framesOf(id) {
    return this.#frames.filter((frame) => frame.snapshot === id);
  }

  /** One snapshot, with all names and events so far: a recording by itself.  @returns {Blob} */
  part(id) {
    return this.#blobOf((frame) => frame.snapshot === 0 || frame.snapshot === id);
  }

  /** All that is there; open: without an end.  @returns {Blob} */
  whole(isOpen = false) {
    return this.#blobOf(() => true, isOpen);
  }

  /** Drops the snapshot ID, and its bytes. */
  forget(id) {
    this.#snapshots.delete(id);
    this.#frames = this.#frames.filter((frame) => frame.snapshot !== id);
  }

  /** Drops all snapshots and events so far; what holds names stays. */
  forgetAll() {
    this.#snapshots.clear();
    this.#events = new Pile();
    this.#frames = this.#frames.filter((frame) => frame.kind === KIND.metadata || frame.kind === KIND.last);
  }

  #blobOf(isWanted, isOpen = false) {
    const parts = [];
    let run = null; // neighbours in one pile are one slice
    let nextSeq = 0;
    let isLost = false;
    let isPart = false;
    let timeNs = 0n;
    const endRun = () => {
      if (run) parts.push(...run.pile.parts(run.at, run.end));
      run = null;
    };
    const put = (frame) => {
      const isBehindGap = frame.seq !== nextSeq && !isLost;
      if (isBehindGap) {
        endRun();
        parts.push(makeTag({ ...frame, isBehindGap }));
        isPart = true;
      }
      const from = frame.at + (isBehindGap ? TAG_BYTES : 0);
      if (run && run.pile === frame.pile && run.end === from) {
        run.end = frame.at + frame.bytes;
      } else {
        endRun();
        run = { pile: frame.pile, at: from, end: frame.at + frame.bytes };
      }
      nextSeq = frame.seq + 1;
      isLost = false;
      timeNs = frame.timeNs;
    };
    for (const frame of this.#frames) {
      isLost ||= frame.isAfterLoss;
      if (frame.kind !== KIND.last && isWanted(frame)) put(frame);
    }
    // Its own end says too much where something was left out.
    const end = this.isEnded ? this.#frames.at(-1) : null;
    if (end && !isPart && end.seq === nextSeq) put(end);
    endRun();
    if (!isOpen && (!end || nextSeq <= end.seq)) {
      const seq = end ? end.seq : this.#nextSeq;
      const snapshots = this.#frames.filter((frame) => frame.kind === KIND.end && isWanted(frame)).length;
      parts.push(endFrame({ stream: this.#stream, seq, timeNs, snapshots, isBehindGap: nextSeq !== seq }));
    }
    return new Blob(parts, { type: TYPE });
  }
}

/** @returns {Snapshot} */
function readEnd(bytes) {
  const about = { id: 0, label: "", trigger: "", isComplete: true, objects: 0, bytes: 0 };
  for (const [number, body] of records(bytes)) {
    if (number !== RECORD.snapshotEnd) continue;
    for (const [field, value] of fields(body)) {
      if (field === 1) about.id = value;
      else if (field === 2) about.label = text(value);
      else if (field === 3) about.trigger = text(value);
      else if (field === 4) about.objects = value;
      else if (field === 6) about.bytes = value;
      // Frames lost, or a status other than 0.
      else if (field === 19 || field === 20) about.isComplete = false;
    }
  }
  return about;
}
