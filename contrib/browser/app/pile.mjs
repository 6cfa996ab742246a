// SPDX-License-Identifier: MIT
// Bytes in the order in which they came, kept as Blobs: those are outside of the heap of
// WebAssembly, and in a browser outside of that of JavaScript too.

/** So many bytes become a Blob. */
const PIECE_BYTES = 1 << 20;

export class Pile {
  #blobs = []; // {at, end, blob}
  #loose = []; // {at, end, bytes}, less than a piece in all
  #looseAt = 0;

  bytes = 0;

  /** @param {Uint8Array} bytes  which are the pile's from now on */
  add(bytes) {
    this.#loose.push({ at: this.bytes, end: this.bytes + bytes.length, bytes });
    this.bytes += bytes.length;
    if (this.bytes - this.#looseAt < PIECE_BYTES) return;
    try {
      const blob = new Blob(this.#loose.map((each) => each.bytes));
      this.#blobs.push({ at: this.#looseAt, end: this.bytes, blob });
    } catch (error) {
      // No room for it: as if it had not been offered.
      this.bytes -= bytes.length;
      this.#loose.pop();
      throw error;
    }
    this.#loose = [];
    this.#looseAt = this.bytes;
  }

  /** What a Blob of the bytes from AT to END is made of.  @returns {(Blob|Uint8Array)[]} */
  parts(at, end) {
    const cut = (list, slice) =>
      list
        .filter((each) => each.end > at && each.at < end)
        .map((each) => slice(each, Math.max(at - each.at, 0), Math.min(end, each.end) - each.at));
    return [
      ...cut(this.#blobs, (each, from, to) => each.blob.slice(from, to)),
      ...cut(this.#loose, (each, from, to) => each.bytes.subarray(from, to)),
    ];
  }
}
