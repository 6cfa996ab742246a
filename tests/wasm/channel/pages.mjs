// SPDX-License-Identifier: MIT
// What the pages of the channel's tests are made of.  A Source is to the channel what a recorded
// runtime is, and a test says when it records and how much; real ones are in real.cjs.
import { openChannel } from "/browser/app/channel.mjs";
import { KIND, TAG_BYTES, makeTag, readTag } from "/browser/app/tag.mjs";
import { PanelClient } from "/browser/panel/client.js";

/** A frame that tells its number, first and last, so that none can be lost, doubled or exchanged. */
export function frameOf(number, bytes) {
  const frame = new Uint8Array(Math.max(bytes, TAG_BYTES)).fill(number % 251);
  const what = { kind: KIND.events, stream: 1, snapshot: 0, seq: number, timeNs: 0n };
  frame.set(makeTag({ ...what, compressedBytes: frame.length - TAG_BYTES, rawBytes: 0 }));
  return frame;
}

export function isFrame(frame, number) {
  const { seq, compressedBytes } = readTag(frame);
  if (seq !== number || compressedBytes !== frame.length - TAG_BYTES) return false;
  return compressedBytes === 0 || frame[frame.length - 1] === number % 251;
}

export class Source {
  listeners = new Set();
  number = 0;
  before = [];
  takes = []; // of snapshots that are under way: {label, signal, onProgress, resolve, reject}
  runtimeVersion = "10.0.1";
  heapshotVersion = "1.0";

  constructor(title) {
    this.title = title;
  }

  recording() {
    return new Blob(this.before);
  }

  onFrame(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  record(bytes) {
    const frame = frameOf(this.number++, bytes);
    for (const listener of this.listeners) listener(frame);
  }

  /** Ends when a test says so. */
  takeSnapshot({ label, signal, onProgress }) {
    return new Promise((resolve, reject) => {
      this.takes.push({ label, signal, onProgress, resolve, reject });
      signal.addEventListener("abort", () => reject(signal.reason));
      dispatchEvent(new Event("take"));
    });
  }

  async memoryStats() {
    return { types: [{ type: "T.Node", count: 3, bytes: 60 }], memory: { live: 60 } };
  }
}

/** Puts a source with an open channel on this page: window.sources, window.channels. */
export async function program(title, options) {
  const source = new Source(title);
  (window.sources ||= []).push(source);
  (window.channels ||= []).push(await openChannel(source, options));
}

/** A panel on this page: window.client, and window.heard, the events it had. */
export async function panel(options) {
  const client = (window.client = new PanelClient(options));
  const heard = (window.heard = []);
  for (const type of ["runtimes", "gone"])
    client.addEventListener(type, (event) => heard.push({ type, detail: event.detail }));
  await client.refresh();
}

/** Resolves when CONDITION holds, which is asked at each event TYPE of TARGET. */
export function until(target, type, condition) {
  return new Promise((resolve) => {
    const look = () => {
      if (!condition()) return;
      target.removeEventListener(type, look);
      resolve();
    };
    target.addEventListener(type, look);
    look();
  });
}

export const listed = (n) => until(window.client, "runtimes", () => window.client.runtimes.length === n);
export const taking = (n, source = window.sources[0]) => until(window, "take", () => source.takes.length === n);

/** All messages of a channel, as somebody who listens has them: window.messages. */
export function listen(name = "heapshot") {
  const channel = (window.listener = new BroadcastChannel(name));
  const messages = (window.messages = []);
  channel.onmessage = ({ data }) => {
    messages.push(data);
    dispatchEvent(new Event("message-heard"));
  };
}

export const heardOf = (condition) => until(window, "message-heard", () => window.messages.some(condition));
