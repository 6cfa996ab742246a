// SPDX-License-Identifier: MIT
// LZ4 frames as heapshot writes them: one independent block, a content checksum.  What
// is unpacked here came from the module in this very process, whose reader checks the
// checksums; sizes are checked all the same.

const MAGIC = 0x184d2204;
const MIN_MATCH = 4;
const HAS_CONTENT_SIZE = 8;
const IS_STORED = 0x80000000;

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;

const rotate = (value, bits) => (value << bits) | (value >>> (32 - bits));

/** XXH32 with seed 0, which LZ4 frames check themselves with. */
export function xxh32(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  let hash;
  if (bytes.length >= 16) {
    const lanes = [(PRIME_1 + PRIME_2) | 0, PRIME_2 | 0, 0, -PRIME_1 | 0];
    for (; at + 16 <= bytes.length; at += 16)
      for (let lane = 0; lane < 4; lane++)
        lanes[lane] = Math.imul(
          rotate((lanes[lane] + Math.imul(view.getUint32(at + 4 * lane, true), PRIME_2)) | 0, 13),
          PRIME_1
        );
    hash = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
  } else {
    hash = PRIME_5;
  }
  hash = (hash + bytes.length) | 0;
  for (; at + 4 <= bytes.length; at += 4)
    hash = Math.imul(rotate((hash + Math.imul(view.getUint32(at, true), PRIME_3)) | 0, 17), PRIME_4);
  for (; at < bytes.length; at++) hash = Math.imul(rotate((hash + Math.imul(bytes[at], PRIME_5)) | 0, 11), PRIME_1);
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** CONTENT as an LZ4 frame, stored.  @returns {Uint8Array} */
export function storedFrame(content) {
  const frame = new Uint8Array(7 + 4 + content.length + 4 + 4);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  frame[4] = 0x64; // version 1, independent blocks, content checksum
  frame[5] = 0x60; // blocks of up to 1 MB
  frame[6] = xxh32(frame.subarray(4, 6)) >>> 8;
  view.setUint32(7, (IS_STORED | content.length) >>> 0, true);
  frame.set(content, 11);
  view.setUint32(frame.length - 4, xxh32(content), true);
  return frame;
}

function unpackBlock(block, out) {
  let from = 0;
  let to = 0;
  const longLength = (length) => {
    if (length < 15) return length;
    let byte;
    do {
      byte = block[from++];
      length += byte;
    } while (byte === 255);
    return length;
  };
  while (from < block.length) {
    const token = block[from++];
    const literals = longLength(token >>> 4);
    if (from + literals > block.length || to + literals > out.length) throw new RangeError("an LZ4 block is damaged");
    out.set(block.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from >= block.length) break;
    const distance = block[from] | (block[from + 1] << 8);
    from += 2;
    const length = longLength(token & 15) + MIN_MATCH;
    if (distance === 0 || distance > to || to + length > out.length) throw new RangeError("an LZ4 block is damaged");
    // What is copied may begin in what is being written: bytes repeat then.
    if (distance >= length) out.copyWithin(to, to - distance, to - distance + length);
    else for (let i = 0; i < length; i++) out[to + i] = out[to - distance + i];
    to += length;
  }
  return to;
}

/**
 * The content of an LZ4 frame of one block.
 * @param {Uint8Array} frame  without its tag
 * @param {number} rawBytes   of the content, as the tag says
 */
export function unpackFrame(frame, rawBytes) {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (view.getUint32(0, true) !== MAGIC || rawBytes > 1 << 20) throw new RangeError("this is no LZ4 frame");
  const start = 7 + (frame[4] & HAS_CONTENT_SIZE ? 8 : 0);
  const size = view.getUint32(start, true);
  const bytes = size & ~IS_STORED;
  const block = frame.subarray(start + 4, start + 4 + bytes);
  if (block.length !== bytes) throw new RangeError("an LZ4 frame is cut");
  if (size & IS_STORED) return block;
  const out = new Uint8Array(rawBytes);
  if (unpackBlock(block, out) !== rawBytes) throw new RangeError("an LZ4 block is damaged");
  return out;
}
