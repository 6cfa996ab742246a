// SPDX-License-Identifier: MIT
// Blazor's own references: IJSObjectReference (JavaScript objects that C# holds, numbered by
// blazor.webassembly.js), and DotNetObjectReference (C# objects, numbered by C#, which
// JavaScript has as DotNet.DotNetObject).
//
// The first stand in a table that is private; the dispatcher that Blazor makes when it
// starts turns a number into its object where that is still there.  Numbers are never used
// again, so those that are gone are not asked about again.
import { describe } from "./describe.mjs";

/** Blazor calls it with what the reference stands for; it does nothing. */
const HARMLESS = "Object.is";
const RESULT_VOID = 3;
/** Proxies that are kept before it is looked which of them are gone. */
const PROXIES_LIMIT = 1000;

export class Blazor {
  #dotNet = null;
  #dispatcher = null;
  #isOn = true;
  #isWaiting = false; // an accessor stands in the place of globalThis.DotNet
  #probed; // what the reference that is asked about stands for
  #isProbing = false;
  #live = new Set(); // numbers of JavaScript objects
  #next = 1; // number that was not looked at
  #ours = 0; // numbers that were made to find out how far they go
  #proxies = new Map(); // number: WeakRef of a DotNetObject
  #proxiesLimit = PROXIES_LIMIT;
  #disposed = 0;
  #undo = [];

  constructor() {
    if (globalThis.DotNet) this.#hook(globalThis.DotNet);
    else this.#await();
  }

  /** Until blazor.webassembly.js makes it. */
  #await() {
    this.#isWaiting = true;
    Object.defineProperty(globalThis, "DotNet", {
      configurable: true,
      enumerable: true,
      get: () => undefined,
      set: (value) => {
        this.#stopWaiting();
        globalThis.DotNet = value;
        this.#hook(value);
      },
    });
  }

  #stopWaiting() {
    if (this.#isWaiting) delete globalThis.DotNet;
    this.#isWaiting = false;
  }

  #hook(dotNet) {
    this.#dotNet = dotNet;
    this.#wrap(dotNet, "attachDispatcher", (stock) => (calls) => (this.#dispatcher = stock(calls)));
    const blazor = this;
    this.#wrap(
      dotNet.DotNetObject.prototype,
      "dispose",
      (stock) =>
        function dispose() {
          if (blazor.#proxies.delete(this._id)) blazor.#disposed++;
          return stock.call(this);
        }
    );
    // It cannot be taken away again, and does nothing after remove().
    dotNet.attachReviver((key, value) => {
      if (this.#isOn) this.#onRevived(key, value);
      return value;
    });
  }

  #wrap(object, name, wrapper) {
    const stock = object[name];
    const ours = (object[name] = wrapper(stock));
    this.#undo.push(() => {
      if (object[name] === ours) object[name] = stock;
    });
  }

  #onRevived(key, value) {
    if (this.#isProbing) {
      if (key === "0") this.#probed = value;
    } else if (value instanceof this.#dotNet.DotNetObject) {
      this.#proxies.set(value._id, new WeakRef(value));
      if (this.#proxies.size > this.#proxiesLimit) this.#tidyProxies();
    }
  }

  /** What C# disposed of is never told here, and read() may never come. */
  #tidyProxies() {
    for (const [id, ref] of this.#proxies) if (!ref.deref()) this.#proxies.delete(id);
    this.#proxiesLimit = Math.max(PROXIES_LIMIT, 2 * this.#proxies.size);
  }

  /** The JavaScript object with this number; throws where C# has disposed of it. */
  #objectOf(id) {
    this.#isProbing = true;
    this.#probed = undefined;
    try {
      this.#dispatcher.invokeJSFromDotNet(HARMLESS, `[{"__jsObjectId":${id}}]`, RESULT_VOID, 0, 1);
      return this.#probed;
    } finally {
      this.#isProbing = false;
      this.#probed = undefined;
    }
  }

  #readObjects() {
    const name = "js_object_reference";
    if (!this.#dispatcher) return { name, entries: [], note: "Blazor had started before heapshot.prepare()" };
    const reference = this.#dotNet.createJSObjectReference({});
    this.#dotNet.disposeJSObjectReference(reference);
    for (; this.#next < reference.__jsObjectId; this.#next++) this.#live.add(this.#next);
    this.#next++;
    this.#ours++;
    const entries = [];
    for (const id of this.#live) {
      try {
        entries.push({ handle: id, ...describe(this.#objectOf(id)) });
      } catch {
        this.#live.delete(id);
      }
    }
    return { name, entries, released: this.#next - 1 - this.#ours - entries.length };
  }

  #readProxies() {
    const entries = [];
    for (const [id, ref] of this.#proxies) {
      const proxy = ref.deref();
      if (proxy) entries.push({ handle: id, ...describe(proxy), name: "DotNetObject" });
      else this.#proxies.delete(id);
    }
    const note = "proxies that JavaScript still has; one that C# disposed of stays until it is collected";
    return { name: "dotnet_object_reference", entries, released: this.#disposed, note };
  }

  /** The two tables; none without Blazor. */
  read() {
    return this.#dotNet ? [this.#readProxies(), this.#readObjects()] : [];
  }

  remove() {
    this.#isOn = false;
    this.#stopWaiting();
    for (const undo of this.#undo.splice(0)) undo();
    this.#proxies.clear();
    this.#live.clear();
  }
}
