// SPDX-License-Identifier: MIT
// Bytes that come piece by piece become one Blob, which the browser may keep on disk.

const PART = 1 << 20;

export class Parts {
  constructor() {
    this.blobs = [];
    this.pieces = [];
    this.waiting = 0;
  }

  /** @param {Uint8Array} piece  which nobody changes afterwards */
  put(piece) {
    this.pieces.push(piece);
    this.waiting += piece.length;
    if (this.waiting >= PART) this.flush();
  }

  flush() {
    if (this.waiting > 0) this.blobs.push(new Blob(this.pieces));
    this.pieces = [];
    this.waiting = 0;
  }

  /** All of it.  @param {string} type  of media */
  blob(type) {
    this.flush();
    return new Blob(this.blobs, { type });
  }
}
