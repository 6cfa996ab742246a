// SPDX-License-Identifier: MIT
// C# objects that JavaScript holds.  The runtime (dotnet.runtime.js) makes a proxy for each,
// puts the GC handle under a symbol there, and registers the proxy, as target and as token,
// with a FinalizationRegistry of its own, which it makes when that module is evaluated.  So
// the class stands under the global name from prepare() until a registry shows by such a
// registration that it is the runtime's; that one is followed.
import { describe } from "./describe.mjs";

const HANDLE = Symbol.for("wasm js_owned_gc_handle");

/** A delegate is a function of a minified name. */
function describeProxy(proxy) {
  return typeof proxy === "function" ? { type: "function", name: "delegate" } : describe(proxy);
}

export class Proxies {
  #refs = new Map(); // handle: WeakRef of the proxy
  #made = 0;
  #released = 0;
  #stock = null;
  #ours = null;
  #isOn = false;

  /** @returns {string} why it cannot be, or "" */
  install() {
    const stock = globalThis.FinalizationRegistry;
    if (typeof stock !== "function") return "there is no FinalizationRegistry";
    const proxies = this;
    const ours = class FinalizationRegistry extends stock {
      #isRuntimes = false;

      register(target, held, token) {
        super.register(target, held, token);
        if (typeof held === "number" && target === token && proxies.#isOn && target[HANDLE] === held) {
          this.#isRuntimes = true;
          proxies.#add(target, held);
        }
      }

      unregister(token) {
        const is = super.unregister(token);
        if (is && this.#isRuntimes) proxies.#released++;
        return is;
      }

      // For the program this is the class that it knew.
      static [Symbol.hasInstance](value) {
        return Function.prototype[Symbol.hasInstance].call(this === ours ? stock : this, value);
      }
    };
    try {
      globalThis.FinalizationRegistry = ours;
    } catch {
      return "FinalizationRegistry cannot be replaced";
    }
    this.#stock = stock;
    this.#ours = ours;
    this.#isOn = true;
    return "";
  }

  #add(proxy, handle) {
    this.#restore();
    this.#refs.set(handle, new WeakRef(proxy));
    this.#made++;
  }

  #restore() {
    if (this.#ours && globalThis.FinalizationRegistry === this.#ours) globalThis.FinalizationRegistry = this.#stock;
    this.#ours = this.#stock = null;
  }

  remove() {
    this.#restore();
    this.#isOn = false;
    this.#refs.clear();
  }

  /** The table.  Released: by dispose(); collected: JavaScript dropped them. */
  read() {
    const entries = [];
    for (const [handle, ref] of this.#refs) {
      const proxy = ref.deref();
      if (proxy?.[HANDLE] === handle) entries.push({ handle, ...describeProxy(proxy) });
      else this.#refs.delete(handle);
    }
    return {
      name: "js_proxy",
      entries,
      released: this.#released,
      collected: this.#made - this.#released - entries.length,
    };
  }
}
