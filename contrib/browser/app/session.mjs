// SPDX-License-Identifier: MIT
// What one panel asks of the program, on a channel that the two have for themselves.  It ends,
// and all that is under way with it, when the panel is gone.
import { PROTOCOL, isCount, isId, isMessage, isWindow, message } from "./protocol.mjs";
import { whenGone } from "./presence.mjs";
import { LiveStream } from "./live.mjs";
import { watch } from "./wanted.mjs";

/** Progress is told no more often. */
const PROGRESS_MS = 100;

export class Session {
  #hs;
  #channel;
  #served = new Map(); // id of a request: {cancel, ack?}
  #endWatching;
  #onClosed;

  /**
   * @param {string} name   of the channel
   * @param {string} panel  its id
   * @param {string} nonce  that NAME was made with
   */
  constructor(hs, name, panel, nonce, onClosed) {
    this.#hs = hs;
    this.nonce = nonce;
    this.#onClosed = onClosed;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => this.#hear(data);
    this.#endWatching = whenGone(panel, () => this.close());
  }

  close() {
    if (!this.#channel) return;
    this.#channel.close();
    this.#channel = null;
    this.#endWatching();
    for (const request of this.#served.values()) request.cancel();
    this.#served.clear();
    this.#onClosed();
  }

  #post(type, rest) {
    this.#channel?.postMessage(message(type, rest));
  }

  #hear(data) {
    if (!isMessage(data) || data.protocol !== PROTOCOL || !isId(data.request)) return;
    const { type, request } = data;
    const served = this.#served.get(request);
    if (served) {
      if (type === "heapshot/cancel") served.cancel();
      else if (type === "heapshot/ack" && isCount(data.chunk)) served.ack?.(data.chunk);
    } else if (type === "heapshot/take" && typeof data.label === "string") {
      this.#serve(request, (ended) => this.#take(request, data, ended));
    } else if (type === "heapshot/stats") {
      this.#serve(request, () => this.#stats(request));
    } else if (type === "heapshot/live-open" && isWindow(data.window)) {
      this.#live(request, data.window);
    }
  }

  /** Does WORK, which a cancel ends; says why, where it cannot be done. */
  async #serve(request, work) {
    const ended = new AbortController();
    this.#served.set(request, { cancel: () => ended.abort(unwanted()) });
    try {
      await work(ended);
    } catch (error) {
      this.#refuse(request, error);
    }
    this.#served.delete(request);
  }

  #refuse(request, error) {
    const { name, message: why } = error instanceof Error || error instanceof DOMException ? error : new Error(String(error));
    this.#post("error", { request, name: String(name), message: String(why) });
  }

  async #take(request, { label, sign }, ended) {
    const isWanted = watch(sign);
    let last = -Infinity;
    // While the runtime stands still: what is posted leaves at once all the same.
    const onProgress = ({ bytes, frames }) => {
      const now = performance.now();
      if (now - last < PROGRESS_MS) return;
      last = now;
      this.#post("progress", { request, bytes, frames });
      if (isWanted && !isWanted()) ended.abort(unwanted());
    };
    // The panel's Blob keeps the data, for as long as it wants them.
    const { signal } = ended;
    const blob = await this.#hs.takeSnapshot({ label, signal, onProgress, keep: false });
    signal.throwIfAborted();
    this.#post("snapshot", { request, blob });
  }

  async #stats(request) {
    this.#post("stats-reply", { request, stats: await this.#hs.memoryStats() });
  }

  #live(request, window) {
    const onError = (error) => {
      this.#served.delete(request);
      this.#refuse(request, error);
    };
    let stream;
    try {
      const post = (chunk) => this.#post("chunk", { request, ...chunk });
      stream = new LiveStream(this.#hs, window, { post, onError });
    } catch (error) {
      onError(error);
      return;
    }
    this.#served.set(request, {
      cancel: () => {
        this.#served.delete(request);
        stream.close();
      },
      ack: (chunk) => stream.ack(chunk),
    });
    this.#post("live", { request, recording: stream.before });
    stream.start();
  }
}

const unwanted = () => new DOMException("the panel wants it no more", "AbortError");
