// SPDX-License-Identifier: MIT
// What both sides of the channel between a program and a panel share: doc/channel.md tells
// what the messages are, and why.

/** Of the messages; both sides name theirs in each of them. */
export const PROTOCOL = 1;

/** Of the BroadcastChannel where panels and programs meet. */
export const NAME = "heapshot";

/** Bytes of a chunk of a live stream, at most; a larger frame is a chunk by itself. */
export const CHUNK_BYTES = 1 << 20;

/** Chunks that may be on their way, if the panel says nothing else; it acknowledges every second. */
export const WINDOW = 8;
const WINDOW_AT_LEAST = 2;
const WINDOW_AT_MOST = 64;

/** A hello with a proof counts for so long. */
export const HELLO_MS = 60000;

/** 128 random bits in hexadecimal digits. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const isId = (value) => typeof value === "string" && /^[0-9a-f]{32}$/.test(value);

/** Numbers of chunks, bytes, frames. */
export const isCount = (value) => Number.isSafeInteger(value) && value >= 0;

/** A window that a live stream may have; one of another size is not opened. */
export const isWindow = (value) => isCount(value) && value >= WINDOW_AT_LEAST && value <= WINDOW_AT_MOST;

/** A message of any version: what all of them must have. */
export const isMessage = (value) =>
  typeof value === "object" &&
  value !== null &&
  typeof value.type === "string" &&
  value.type.startsWith("heapshot/") &&
  Number.isSafeInteger(value.protocol) &&
  value.protocol > 0;

/** A message of this version. */
export const message = (type, rest) => ({ type: "heapshot/" + type, protocol: PROTOCOL, ...rest });

/**
 * The channel of one panel and one program.  Where there is a token its name is a secret
 * of both: who does not know it can neither listen there nor speak.
 * @param {import("./secret.mjs").Secret|null} secret
 */
export async function sessionName(secret, name, panel, runtime, nonce) {
  const words = ["session", name, panel, runtime, nonce];
  return name + "/" + (secret ? await secret.prove(...words) : words.slice(2).join("/"));
}

/** What the proof of a hello is about. */
export const helloWords = (name, { panel, hello, at, to }) => ["hello", name, panel, hello, at, to ?? ""];

/** What the proof of the reply is about. */
export const replyWords = (name, { hello, panel, runtime, nonce, title, url, runtimeVersion, heapshotVersion }) => [
  "hello-reply",
  name,
  hello,
  panel,
  runtime,
  nonce,
  title,
  url,
  runtimeVersion,
  heapshotVersion,
];

/** Says why there can be no channel here, in the words of the side that asks; else null. */
export function whyNot() {
  if (typeof BroadcastChannel !== "function") return "this is no browser: there is no BroadcastChannel";
  if (!globalThis.navigator?.locks || !globalThis.crypto?.subtle)
    return "pages find each other in secure contexts only: use https, or localhost";
  return null;
}
