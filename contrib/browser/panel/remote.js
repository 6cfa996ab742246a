// SPDX-License-Identifier: MIT
// One program, as the panel sees it: what was asked of it, and is not answered yet.
import { PROTOCOL, WINDOW, isCount, isId, isMessage, isWindow, message, newId } from "../app/protocol.mjs";
import { whenGone } from "../app/presence.mjs";
import { sign } from "../app/wanted.mjs";
import { LiveReader } from "./live.js";

/** The program's page was closed, left, or has crashed. */
export function goneError() {
  const error = new Error("the program is gone: its page was closed, left, or has crashed");
  error.name = "GoneError";
  return error;
}

export class Remote {
  #channel = null;
  #asked = new Map(); // id of a request: {hear(data), end(error)}
  #endWatching;

  /**
   * @param {import("./client.js").Runtime} about
   * @param {string|false} channelName  false: it speaks another protocol
   */
  constructor(about, channelName, onGone) {
    this.about = about;
    this.channelName = channelName;
    if (channelName) {
      this.#channel = new BroadcastChannel(channelName);
      this.#channel.onmessage = ({ data }) => this.#hear(data);
    }
    this.#endWatching = whenGone(about.id, () => {
      this.close(goneError());
      onGone();
    });
  }

  /** Ends all that is under way with ERROR. */
  close(error) {
    this.#endWatching();
    this.#channel?.close();
    this.#channel = null;
    for (const asked of [...this.#asked.values()]) asked.end(error);
    this.#asked.clear();
  }

  take(label, onProgress, signal) {
    const { url, revoke } = sign();
    const answers = {
      progress: ({ bytes, frames }) => {
        if (isCount(bytes) && isCount(frames)) onProgress?.({ bytes, frames });
      },
      snapshot: ({ blob }, done) => blob instanceof Blob && done(blob),
    };
    return this.#ask("take", { label, sign: url }, signal, answers).finally(revoke);
  }

  stats(signal) {
    return this.#ask("stats", {}, signal, {
      "stats-reply": ({ stats }, done) => typeof stats === "object" && stats !== null && done(stats),
    });
  }

  live({ onFrame, onOpen, window = WINDOW }) {
    // The program would not answer.
    if (!isWindow(window)) throw new RangeError("a live stream has a window of 2 to 64 chunks, not " + window);
    const request = newId();
    let tell;
    const ended = new Promise((resolve) => (tell = resolve));
    const end = (error) => {
      if (!this.#asked.delete(request)) return;
      reader.close();
      tell(error);
    };
    const reader = new LiveReader(onFrame, window, {
      ack: (chunk) => this.#post("ack", { request, chunk }),
      onError: (error) => {
        this.#post("cancel", { request });
        end(error);
      },
    });
    this.#asked.set(request, {
      end,
      hear: (type, data) => {
        if (type === "live" && data.recording instanceof Blob) onOpen?.(data.recording);
        else if (type === "chunk") reader.add(data);
        else if (type === "error") end(errorOf(data));
      },
    });
    this.#post("live-open", { request, window });
    const stop = () => {
      this.#post("cancel", { request });
      end(null);
    };
    return { stop, ended };
  }

  /** Asks for one thing; ANSWERS are functions by the type of the message. */
  #ask(type, rest, signal, answers) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const request = newId();
      const settle = (how, what) => {
        this.#asked.delete(request);
        signal?.removeEventListener("abort", cancel);
        how(what);
      };
      const cancel = () => {
        this.#post("cancel", { request });
        settle(reject, signal.reason);
      };
      signal?.addEventListener("abort", cancel);
      this.#asked.set(request, {
        end: (error) => settle(reject, error),
        hear: (answer, data) => {
          if (answer === "error") settle(reject, errorOf(data));
          else if (Object.hasOwn(answers, answer)) answers[answer](data, (what) => settle(resolve, what));
        },
      });
      this.#post(type, { request, ...rest });
    });
  }

  #post(type, rest) {
    this.#channel?.postMessage(message(type, rest));
  }

  #hear(data) {
    if (!isMessage(data) || data.protocol !== PROTOCOL || !isId(data.request)) return;
    this.#asked.get(data.request)?.hear(data.type.slice("heapshot/".length), data);
  }
}

/** An error of the program. */
function errorOf({ name, message: why }) {
  const error = new Error(typeof why === "string" ? why : "the program did not say why");
  if (typeof name === "string") error.name = name;
  return error;
}
