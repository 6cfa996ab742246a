// SPDX-License-Identifier: MIT
// The panel's side of the channel: which programs are there, and what may be asked of them.
// doc/channel.md has the protocol.
import {
  NAME,
  PROTOCOL,
  helloWords,
  isId,
  isMessage,
  message,
  newId,
  replyWords,
  sessionName,
  whyNot,
} from "../app/protocol.mjs";
import { hold, onLeaving } from "../app/presence.mjs";
import { Secret } from "../app/secret.mjs";
import { Remote, goneError } from "./remote.js";

/**
 * @typedef {object} Runtime
 * @property {string} id
 * @property {string} title, url
 * @property {string} runtimeVersion   of .NET
 * @property {string} heapshotVersion
 * @property {number} protocol
 * @property {boolean} isSupported     it speaks the protocol of this panel
 */

/**
 * Finds programs of the same origin.  Events: "runtimes", the list has changed; "gone", whose
 * detail is the Runtime.
 */
export class PanelClient extends EventTarget {
  #name;
  #secret;
  #here = null; // promise of {id, lobby, release, hellos, remotes} while this page is shown
  #now = null; // what it resolved to
  #isClosed = false;
  #turn = Promise.resolve();
  #endLeaving;

  /**
   * @param {object} [options]
   * @param {string} [options.name]   of the BroadcastChannel
   * @param {string} [options.token]  programs that do not have it are not listed
   */
  constructor({ name = NAME, token = "" } = {}) {
    super();
    const why = whyNot();
    if (why) throw new Error("no programs can be found: " + why);
    this.#name = String(name);
    this.#secret = Secret.of(token, this.#name);
    this.#secret.catch(() => {});
    this.#enter().catch(() => {}); // refresh() tells
    this.#endLeaving = onLeaving(
      () => this.#leave(),
      () => this.refresh(),
    );
  }

  /** Those that answered and are still there, in the order of their answers.  @returns {Runtime[]} */
  get runtimes() {
    return this.#now ? [...this.#now.remotes.values()].map((remote) => ({ ...remote.about })) : [];
  }

  /** Asks who is there; the answers come as events, when programs have time for them. */
  async refresh() {
    await this.#hello();
  }

  /**
   * Takes a snapshot of a program.
   * @param {string} id
   * @param {object} [options]
   * @param {string} [options.label]
   * @param {(progress: {bytes: number, frames: number}) => void} [options.onProgress]
   * @param {AbortSignal} [options.signal]
   * @returns {Promise<Blob>} a recording; stays when the program's page goes.  Rejects with a
   *   "GoneError" when the program is gone, with what SIGNAL says, or with the program's error
   */
  async take(id, { label = "", onProgress, signal } = {}) {
    return this.#remote(id).take(String(label), onProgress, signal);
  }

  /** Counts and bytes by type, and what memory is used for, without the graph. */
  async stats(id, { signal } = {}) {
    return this.#remote(id).stats(signal);
  }

  /**
   * Follows what a program records.
   * @param {object} how
   * @param {(frame: Uint8Array) => void|Promise<void>} how.onFrame  a whole frame with its tag, in
   *   order; its memory is given back when that has returned, or its promise is settled.  No more
   *   frames are sent than it works off
   * @param {(recording: Blob) => void} [how.onOpen]  all that was recorded before the first frame
   * @param {number} [how.window]  chunks of up to 1 MB that may be on their way, 2 to 64
   * @returns {{stop: () => void, ended: Promise<Error|null>}}  ended: resolves, to null by stop().
   *   Throws a "GoneError" when the program is gone, and a RangeError for another window
   */
  live(id, how) {
    return this.#remote(id).live(how);
  }

  /** Ends all that is under way; nothing is listed any more. */
  close() {
    this.#isClosed = true;
    this.#endLeaving();
    this.#leave();
  }

  #remote(id) {
    const remote = this.#now?.remotes.get(id);
    if (!remote) throw goneError();
    if (!remote.about.isSupported)
      throw new Error(
        `the program speaks version ${remote.about.protocol} of the protocol, this panel version ${PROTOCOL}: use its panel`,
      );
    return remote;
  }

  #enter() {
    const id = newId();
    // The lock comes first, since whoever hears of this id waits for its end.
    const here = (this.#here = hold(id).then((release) => {
      if (here !== this.#here) {
        // Left meanwhile.
        release();
        return null;
      }
      const lobby = new BroadcastChannel(this.#name);
      this.#now = { id, lobby, release, hellos: new Set(), remotes: new Map() };
      const now = this.#now;
      lobby.onmessage = ({ data }) => {
        this.#turn = this.#turn.then(() => this.#hear(now, data)).catch(() => {});
      };
      return now;
    }));
    return here;
  }

  #leave() {
    const now = this.#now;
    this.#here = this.#now = null;
    if (!now) return;
    now.lobby.close();
    for (const remote of now.remotes.values()) remote.close(new DOMException("the panel was closed", "AbortError"));
    const had = now.remotes.size > 0;
    now.remotes.clear();
    now.release();
    if (had) this.#changed();
  }

  async #hello(to) {
    if (this.#isClosed) return;
    const secret = await this.#secret;
    const now = await (this.#here || this.#enter());
    if (!now || now !== this.#now) return;
    const hello = { hello: newId(), panel: now.id, at: Date.now() };
    if (to) hello.to = to;
    if (secret) hello.proof = await secret.prove(...helloWords(this.#name, hello));
    now.hellos.add(hello.hello);
    if (now === this.#now) now.lobby.postMessage(message("hello", hello));
  }

  async #hear(now, data) {
    if (now !== this.#now || !isMessage(data) || !isId(data.runtime)) return;
    if (data.type === "heapshot/available") {
      if (!now.remotes.has(data.runtime)) await this.#hello(data.runtime);
      return;
    }
    const isReply = data.type === "heapshot/hello-reply" && data.panel === now.id && now.hellos.has(data.hello);
    if (!isReply || !isId(data.nonce)) return;
    const about = aboutOf(data);
    const secret = await this.#secret;
    if (!about || (secret && !(await secret.isProof(data.proof, ...replyWords(this.#name, data))))) return;
    const channel = about.isSupported && (await sessionName(secret, this.#name, now.id, data.runtime, data.nonce));
    if (now === this.#now) this.#list(now, about, channel);
  }

  #list(now, about, channel) {
    const known = now.remotes.get(about.id);
    if (known && known.channelName === channel) {
      if (JSON.stringify(known.about) === JSON.stringify(about)) return;
      known.about = about;
    } else {
      known?.close(goneError());
      const onGone = () => {
        if (now.remotes.get(about.id) !== remote) return;
        now.remotes.delete(about.id);
        this.dispatchEvent(new CustomEvent("gone", { detail: { ...remote.about } }));
        this.#changed();
      };
      const remote = new Remote(about, channel, onGone);
      now.remotes.set(about.id, remote);
    }
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new CustomEvent("runtimes", { detail: this.runtimes }));
  }
}

/** @returns {Runtime|null} null: it is not as it must be */
function aboutOf({ runtime, title, url, runtimeVersion, heapshotVersion, protocol }) {
  if ([title, url, runtimeVersion, heapshotVersion].some((text) => typeof text !== "string")) return null;
  return { id: runtime, title, url, runtimeVersion, heapshotVersion, protocol, isSupported: protocol === PROTOCOL };
}
