// SPDX-License-Identifier: MIT
// A live stream as it arrives: chunks are taken apart into frames, worked off one by one, and
// acknowledged, so that the program never has more than a window of them on their way.
import { isCount } from "../app/protocol.mjs";

export class LiveReader {
  #onFrame;
  #ackAt;
  #ack;
  #onError;
  #waiting = []; // chunks; at most a window of them
  #isBusy = false;
  #isClosed = false;
  #done = 0; // number of the last chunk that was worked off
  #acknowledged = 0;
  #next = 1;

  constructor(onFrame, window, { ack, onError }) {
    this.#onFrame = onFrame;
    // The program must not stand at the end of its window while none is due.
    this.#ackAt = Math.max(1, Math.min(2, window >> 1));
    this.#ack = ack;
    this.#onError = onError;
  }

  close() {
    this.#isClosed = true;
    this.#waiting = [];
  }

  add({ chunk, lengths, bytes }) {
    if (this.#isClosed || chunk !== this.#next || !isChunk(lengths, bytes)) return;
    this.#next++;
    this.#waiting.push({ chunk, lengths, bytes });
    if (!this.#isBusy) this.#work();
  }

  /** Called by the message that brings a chunk: a timer would be late in a hidden tab. */
  async #work() {
    this.#isBusy = true;
    try {
      while (this.#waiting.length > 0) {
        const { chunk, lengths, bytes } = this.#waiting.shift();
        let at = 0;
        for (const length of lengths) {
          const result = this.#onFrame(new Uint8Array(bytes, at, length));
          if (result instanceof Promise) await result;
          if (this.#isClosed) return;
          at += length;
        }
        // The collector of JavaScript would come for it late.
        bytes.transfer?.(0);
        this.#done = chunk;
        if (this.#done - this.#acknowledged >= this.#ackAt) this.#ack((this.#acknowledged = this.#done));
      }
    } catch (error) {
      this.#onError(error);
    }
    this.#isBusy = false;
  }
}

const isChunk = (lengths, bytes) =>
  bytes instanceof ArrayBuffer &&
  Array.isArray(lengths) &&
  lengths.every(isCount) &&
  lengths.reduce((sum, length) => sum + length, 0) === bytes.byteLength;
