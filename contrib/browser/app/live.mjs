// SPDX-License-Identifier: MIT
// The frames of a recording as they come, to one panel: in chunks, so many of which may be on
// their way.  Frames come in the middle of a collection, where nothing can be acknowledged:
// those that do not fit in the window wait here, in Blobs, and not in the browser's pipes.
import { CHUNK_BYTES } from "./protocol.mjs";
import { makeTag, readTag } from "./tag.mjs";

export class LiveStream {
  #window;
  #post;
  #onError;
  #end;
  #isStarted = false;
  #sent = 0; // chunks, which are numbered from 1
  #acknowledged = 0;
  #loose = []; // frames, less than a chunk of them
  #looseBytes = 0;
  #pieces = []; // {lengths, blob}: chunks that come before the loose ones
  #isReading = false;

  #isFirst = true;

  /** All that was recorded before the first frame of the stream, and was not dropped since. */
  before;

  /**
   * @param {number} window  chunks that may be on their way
   * @param {(chunk: {chunk: number, lengths: number[], bytes: ArrayBuffer}) => void} how.post
   * @param {(error: Error) => void} how.onError  it goes on no more
   */
  constructor(hs, window, { post, onError }) {
    this.#window = window;
    this.#post = post;
    this.#onError = onError;
    this.before = hs.recording({ isOpen: true });
    this.#end = hs.onFrame((frame) => this.#add(frame));
  }

  start() {
    this.before = null;
    this.#isStarted = true;
    this.#pump();
  }

  close() {
    this.#end();
    this.#isStarted = false;
    this.#loose = [];
    this.#pieces = [];
  }

  /** All up to the CHUNK-th were worked off. */
  ack(chunk) {
    if (chunk <= this.#acknowledged || chunk > this.#sent) return;
    this.#acknowledged = chunk;
    this.#pump();
  }

  #add(given) {
    const frame = this.#isFirst ? behindGap(given) : given;
    this.#isFirst = false;
    if (this.#looseBytes + frame.length > CHUNK_BYTES) this.#putAside();
    this.#loose.push(frame);
    this.#looseBytes += frame.length;
    this.#pump();
  }

  /** Only when the window is full. */
  #putAside() {
    if (this.#loose.length === 0) return;
    this.#pieces.push({ lengths: this.#loose.map((frame) => frame.length), blob: new Blob(this.#loose) });
    this.#loose = [];
    this.#looseBytes = 0;
  }

  #pump() {
    while (this.#isStarted && !this.#isReading && this.#sent - this.#acknowledged < this.#window) {
      if (this.#pieces.length > 0) this.#sendPiece();
      else if (this.#loose.length > 0) this.#sendLoose();
      else return;
    }
  }

  #sendLoose() {
    const bytes = new Uint8Array(this.#looseBytes);
    let at = 0;
    for (const frame of this.#loose) {
      bytes.set(frame, at);
      at += frame.length;
    }
    const lengths = this.#loose.map((frame) => frame.length);
    this.#loose = [];
    this.#looseBytes = 0;
    this.#send(lengths, bytes.buffer);
  }

  async #sendPiece() {
    this.#isReading = true;
    const { lengths, blob } = this.#pieces.shift();
    try {
      const bytes = await blob.arrayBuffer();
      this.#isReading = false;
      if (!this.#isStarted) return;
      this.#send(lengths, bytes);
      this.#pump();
    } catch (error) {
      this.close();
      this.#onError(error);
    }
  }

  #send(lengths, bytes) {
    this.#post({ chunk: ++this.#sent, lengths, bytes });
    // It was copied; the collector of JavaScript would come for it late.
    bytes.transfer?.(0);
  }
}

/** FRAME says that others were left out before it, should any be missing there. */
function behindGap(frame) {
  const copy = frame.slice();
  copy.set(makeTag({ ...readTag(frame), isBehindGap: true }));
  return copy;
}
