// SPDX-License-Identifier: MIT
// The few records that are read here (schema/heapshot.proto), and the one that is written.
import { storedFrame, unpackFrame } from "./lz4.mjs";
import { KIND, TAG_BYTES, makeTag, readTag } from "./tag.mjs";

/** Numbers of records, which are fields of Record. */
export const RECORD = Object.freeze({
  frameStart: 1,
  type: 4,
  snapshotEnd: 11,
  end: 25,
  typeTotals: 27,
});

const END_REASON_EXTRACTED = 7;
const decoder = new TextDecoder();

/** A varint of BYTES: [value, where it ends]; beyond 2^53 the value is not exact. */
function varint(bytes, at) {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    if (at >= bytes.length) throw new RangeError("a record is cut");
    const byte = bytes[at++];
    value += (byte & 127) * factor;
    if (byte < 128) return [value, at];
  }
}

/**
 * The fields of a protobuf message: [number, value]; a number, or the bytes of a string
 * or message, or of 4 or 8 fixed bytes.
 * @param {Uint8Array} bytes
 * @returns {Generator<[number, number|Uint8Array]>}
 */
export function* fields(bytes) {
  let at = 0;
  while (at < bytes.length) {
    let key, size;
    [key, at] = varint(bytes, at);
    switch (key % 8) {
      case 0:
        [size, at] = varint(bytes, at);
        yield [Math.floor(key / 8), size];
        continue;
      case 1:
        size = 8;
        break;
      case 2:
        [size, at] = varint(bytes, at);
        break;
      case 5:
        size = 4;
        break;
      default:
        throw new RangeError("a record has an unknown wire type");
    }
    if (at + size > bytes.length) throw new RangeError("a record is cut");
    yield [Math.floor(key / 8), bytes.subarray(at, at + size)];
    at += size;
  }
}

/** The text of a string field. */
export const text = (bytes) => decoder.decode(bytes);

/**
 * The records of a frame: [number of the record, its bytes].
 * @param {Uint8Array} frame  with its tag
 */
export function* records(frame) {
  for (const [, record] of fields(unpackFrame(frame.subarray(TAG_BYTES), readTag(frame).rawBytes)))
    for (const [number, body] of fields(record)) if (typeof body !== "number") yield [number, body];
}

/** Puts together a message: [number, number | bigint | Uint8Array] each. */
function message(...parts) {
  const out = [];
  const put = (value) => {
    let rest = BigInt(value);
    for (; rest >= 128n; rest >>= 7n) out.push(Number(rest & 127n) | 128);
    out.push(Number(rest));
  };
  for (const [number, value] of parts) {
    if (value instanceof Uint8Array) {
      put(number * 8 + 2);
      put(value.length);
      out.push(...value);
    } else if (value) {
      put(number * 8);
      put(value);
    }
  }
  return Uint8Array.from(out);
}

/**
 * The last frame of a part.
 * @param {{stream: number, seq: number, timeNs: bigint, snapshots: number, isBehindGap: boolean}} what
 * @returns {Uint8Array} with its tag
 */
export function endFrame({ stream, seq, timeNs, snapshots, isBehindGap }) {
  const start = message([1, stream], [2, seq], [3, timeNs]);
  const end = message([1, END_REASON_EXTRACTED], [2, snapshots]);
  const content = [message([1, message([RECORD.frameStart, start])]), message([1, message([RECORD.end, end])])];
  const raw = new Uint8Array(content[0].length + content[1].length);
  raw.set(content[0]);
  raw.set(content[1], content[0].length);
  const body = storedFrame(raw);
  const tag = makeTag({
    kind: KIND.last,
    isBehindGap,
    stream,
    snapshot: 0,
    seq,
    timeNs,
    compressedBytes: body.length,
    rawBytes: raw.length,
  });
  const frame = new Uint8Array(tag.length + body.length);
  frame.set(tag);
  frame.set(body, tag.length);
  return frame;
}
