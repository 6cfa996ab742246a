// SPDX-License-Identifier: MIT
// The program's side of the channel: answers the panels that ask who is there, once each, and
// opens a channel of its own for each panel (session.mjs).  doc/channel.md has the protocol.
import {
  HELLO_MS,
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
} from "./protocol.mjs";
import { hold, onLeaving } from "./presence.mjs";
import { Secret } from "./secret.mjs";
import { Session } from "./session.mjs";

/** Of hellos that were answered, so many are remembered. */
const REMEMBERED = 1000;

const channels = new WeakMap(); // by hs

/**
 * Lets panels of the same origin find HS, take its snapshots, and follow its recording.
 * @param {import("./attached.mjs").Heapshot} hs
 * @param {object} [options]
 * @param {string} [options.name]   of the BroadcastChannel
 * @param {string} [options.token]  a panel without it gets no answer
 * @param {string} [options.title]  by which a person tells this program from others
 * @returns {Promise<{close: () => void}>}
 */
export async function openChannel(hs, { name = NAME, token = "", title } = {}) {
  const why = whyNot();
  if (why) throw new Error("heapshot: no channel to a panel: " + why);
  if (channels.has(hs)) throw new Error("heapshot: this runtime has a channel already: close that first");
  const channel = new Channel(hs, String(name), title);
  channels.set(hs, channel);
  try {
    await channel.start(token);
  } catch (error) {
    channels.delete(hs);
    throw error;
  }
  return {
    close: () => {
      channel.end();
      if (channels.get(hs) === channel) channels.delete(hs);
    },
  };
}

class Channel {
  #hs;
  #name;
  #title;
  #secret = null;
  #here = null; // {id, lobby, release, sessions, answered} while this page is shown
  #isEnded = false;
  #turn = Promise.resolve(); // hellos are answered in the order in which they came
  #endLeaving = () => {};

  constructor(hs, name, title) {
    this.#hs = hs;
    this.#name = name;
    this.#title = title;
  }

  async start(token) {
    this.#secret = await Secret.of(token, this.#name);
    await this.#enter();
    this.#endLeaving = onLeaving(
      () => this.#leave(),
      () => this.#enter(),
    );
  }

  end() {
    this.#isEnded = true;
    this.#endLeaving();
    this.#leave();
  }

  async #enter() {
    const id = newId();
    // First, since whoever hears of this id waits for its end.
    const release = await hold(id);
    if (this.#isEnded || this.#here) {
      release();
      return;
    }
    const lobby = new BroadcastChannel(this.#name);
    const here = (this.#here = { id, lobby, release, sessions: new Map(), answered: new Set() });
    lobby.onmessage = ({ data }) => {
      this.#turn = this.#turn.then(() => this.#answer(here, data)).catch(() => {});
    };
    lobby.postMessage(message("available", { runtime: id }));
  }

  #leave() {
    const here = this.#here;
    if (!here) return;
    this.#here = null;
    here.lobby.close();
    for (const session of here.sessions.values()) session.close();
    here.release();
  }

  async #answer(here, hello) {
    if (!isMessage(hello) || hello.type !== "heapshot/hello" || !isId(hello.hello) || !isId(hello.panel)) return;
    if (hello.to !== undefined && hello.to !== here.id) return;
    if (here.answered.has(hello.hello)) return;
    if (this.#secret && !(await this.#isProven(hello))) return;
    if (here !== this.#here) return;
    here.answered.add(hello.hello);
    if (here.answered.size > REMEMBERED) here.answered.delete(here.answered.values().next().value);
    const reply = { hello: hello.hello, panel: hello.panel, runtime: here.id, nonce: newId(), ...this.#about() };
    // What follows the hello may differ in another version; it learns of this one's.
    if (hello.protocol === PROTOCOL) reply.nonce = await this.#nonceOf(here, hello.panel);
    if (this.#secret) reply.proof = await this.#secret.prove(...replyWords(this.#name, reply));
    if (here === this.#here) here.lobby.postMessage(message("hello-reply", reply));
  }

  async #isProven(hello) {
    // An old one that somebody listened to, and sends again.
    if (hello.protocol !== PROTOCOL || !(Math.abs(Date.now() - hello.at) <= HELLO_MS)) return false;
    return this.#secret.isProof(hello.proof, ...helloWords(this.#name, hello));
  }

  /** A panel that asks again keeps its session, and what is under way there. */
  async #nonceOf(here, panel) {
    const known = here.sessions.get(panel);
    if (known) return known.nonce;
    const nonce = newId();
    const name = await sessionName(this.#secret, this.#name, panel, here.id, nonce);
    if (here === this.#here) {
      const session = new Session(this.#hs, name, panel, nonce, () => here.sessions.delete(panel));
      here.sessions.set(panel, session);
    }
    return nonce;
  }

  #about() {
    const text = (value) => String(value ?? "").slice(0, 300);
    const { origin, pathname } = globalThis.location ?? {};
    return {
      title: text(this.#title || this.#hs.title),
      // What is behind it may be somebody's secret.
      url: text(origin && origin + pathname),
      runtimeVersion: text(this.#hs.runtimeVersion),
      heapshotVersion: text(this.#hs.heapshotVersion),
    };
  }
}
