// SPDX-License-Identifier: MIT
// Tags, which stand before frames (schema/FORMAT.md, section 3).

/** Kinds of frames. */
export const KIND = Object.freeze({ metadata: 1, events: 2, begin: 3, body: 4, end: 5, last: 6 });

/** Bytes of a tag of version 1: a skippable frame with 48 bytes of payload. */
export const TAG_BYTES = 56;

const SKIPPABLE = 0x184d2a5b;
const MAGIC = 0x47545348; // "HSTG"
const HEADER_BYTES = 8;
const FLAG_PART = 2;
const CRC_AT = HEADER_BYTES + 44;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = CRC_TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  return ~crc >>> 0;
}

/**
 * What the tag of FRAME says.
 * @param {Uint8Array} frame  a whole frame with its tag
 * @returns {{kind: number, stream: number, snapshot: number, seq: number, timeNs: bigint,
 *   compressedBytes: number, rawBytes: number}}
 */
export function readTag(frame) {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < TAG_BYTES || view.getUint32(0, true) !== SKIPPABLE || view.getUint32(8, true) !== MAGIC)
    throw new TypeError("this is no frame of a recording");
  return {
    kind: frame[13],
    stream: view.getUint32(16, true),
    snapshot: view.getUint32(20, true),
    seq: Number(view.getBigUint64(24, true)),
    timeNs: view.getBigUint64(32, true),
    compressedBytes: view.getUint32(40, true),
    rawBytes: view.getUint32(44, true),
  };
}

/**
 * A tag anew.
 * @param {boolean} what.isBehindGap  numbers before it were left out
 * @returns {Uint8Array}
 */
export function makeTag({ kind, isBehindGap, stream, snapshot, seq, timeNs, compressedBytes, rawBytes }) {
  const tag = new Uint8Array(TAG_BYTES);
  const view = new DataView(tag.buffer);
  view.setUint32(0, SKIPPABLE, true);
  view.setUint32(4, TAG_BYTES - HEADER_BYTES, true);
  view.setUint32(8, MAGIC, true);
  tag[12] = 1;
  tag[13] = kind;
  view.setUint16(14, isBehindGap ? FLAG_PART : 0, true);
  view.setUint32(16, stream, true);
  view.setUint32(20, snapshot, true);
  view.setBigUint64(24, BigInt(seq), true);
  view.setBigUint64(32, timeNs, true);
  view.setUint32(40, compressedBytes, true);
  view.setUint32(44, rawBytes, true);
  view.setUint32(CRC_AT, crc32(tag.subarray(HEADER_BYTES, CRC_AT)), true);
  return tag;
}
