// SPDX-License-Identifier: MIT
// JavaScript objects that C# holds.  The runtime (dotnet.runtime.js) numbers each, and
// writes the number under a symbol into the object, as a property of its own; when C# lets
// go, it overwrites that with undefined.  An accessor of that symbol on Object.prototype
// receives both instead, and keeps the numbers beside the objects.
//
// Objects that cannot be marked escape: those that are not extensible, and, with .NET 10,
// functions with a `prototype`.  The runtime asks Object.isExtensible() about each object that
// has no mark, right after it read the mark; a read without that question is a release.
// Objects without Object.prototype (null, another realm) get the runtime's own property.
import { describe } from "./describe.mjs";

const HANDLE = Symbol.for("wasm cs_owned_js_handle");

export class HeldObjects {
  #marks = new WeakMap(); // object: handle
  #refs = new Map(); // handle: WeakRef of the object
  #bare = []; // WeakRefs of objects that may have a mark of their own
  #bareLimit = 1000;
  #seenBare = new WeakSet();
  #escaped = new WeakMap(); // object: {live, why, isAsked, taken: by the last read}
  #live = { fixed: 0, function: 0 }; // handles of objects that escaped, by the reason
  #released = 0;
  #asked = null; // object without a mark whose mark was read last
  #hasAccessor = false;
  #isExtensible = Object.isExtensible;
  #ours = null;

  /** @returns {string[]} what cannot be */
  install() {
    const notes = [];
    try {
      Object.defineProperty(Object.prototype, HANDLE, this.#accessor());
      this.#hasAccessor = true;
    } catch {
      notes.push("Object.prototype is frozen: objects that C# holds are looked for, those that escape are not counted");
    }
    try {
      Object.isExtensible = this.#question();
    } catch {
      notes.push(
        "Object is frozen: " +
          (this.#hasAccessor ? "objects that escape are not counted" : "objects that C# holds are not known")
      );
      this.#ours = null;
    }
    return notes;
  }

  #accessor() {
    const held = this;
    return {
      configurable: true,
      enumerable: false,
      get() {
        const handle = held.#marks.get(this);
        if (handle === undefined) held.#onRead(this);
        return handle;
      },
      set(handle) {
        if (handle === undefined) held.#unmark(this);
        else held.#mark(this, handle);
      },
    };
  }

  #mark(object, handle) {
    // A function that .NET 9 marks all the same.
    const known = this.#escaped.get(object);
    if (known) {
      this.#count(known, -known.live);
      this.#escaped.delete(object);
    }
    this.#marks.set(object, handle);
    this.#refs.set(handle, new WeakRef(object));
  }

  #unmark(object) {
    const handle = this.#marks.get(object);
    if (handle === undefined) return;
    this.#marks.delete(object);
    this.#refs.delete(handle);
    this.#released++;
  }

  /** Somebody asks for the mark of an object that has none. */
  #onRead(object) {
    const known = this.#escaped.get(object);
    if (!known) {
      this.#asked = object;
      return;
    }
    // A release, unless the question follows.
    const n = known.live > 0 ? 1 : 0;
    this.#count(known, -n);
    this.#released += n;
    known.taken = n;
    known.isAsked = true;
  }

  #count(known, n) {
    known.live += n;
    this.#live[known.why] += n;
  }

  #question() {
    const held = this;
    const stock = this.#isExtensible;
    this.#ours = {
      isExtensible(object) {
        const is = stock(object);
        if (held.#ours) held.#onQuestion(object, is);
        return is;
      },
    }.isExtensible;
    return this.#ours;
  }

  #onQuestion(object, is) {
    const type = typeof object;
    if ((type !== "object" && type !== "function") || object === null) return;
    const known = this.#escaped.get(object);
    const isAsked = known ? known.isAsked : this.#asked === object;
    this.#asked = null;
    if (!isAsked) {
      // Of the program itself; or of an object that the accessor does not see.
      if (is && !known) this.#meetBare(object);
      return;
    }
    if (known) {
      // The read before was none.
      this.#count(known, known.taken);
      this.#released -= known.taken;
      known.taken = 0;
      known.isAsked = false;
    }
    if (!is) this.#escape(object, known, "fixed");
    else if (type === "function" && Object.hasOwn(object, "prototype")) this.#escape(object, known, "function");
  }

  #escape(object, known, why) {
    if (!known) this.#escaped.set(object, (known = { live: 0, why, isAsked: false, taken: 0 }));
    this.#count(known, 1);
  }

  #meetBare(object) {
    if (this.#seenBare.has(object)) return;
    try {
      if (this.#hasAccessor && HANDLE in object && !Object.hasOwn(object, HANDLE)) return;
    } catch {
      return; // a trap of a Proxy
    }
    this.#seenBare.add(object);
    if (this.#bare.push(new WeakRef(object)) > this.#bareLimit) {
      this.#bare = this.#bare.filter((ref) => ref.deref());
      this.#bareLimit = Math.max(1000, 2 * this.#bare.length);
    }
  }

  *#marked() {
    for (const [handle, ref] of this.#refs) {
      const object = ref.deref();
      if (object && this.#marks.get(object) === handle) yield [handle, object];
      else this.#refs.delete(handle);
    }
    for (const ref of this.#bare) {
      const object = ref.deref();
      const handle = object && Object.getOwnPropertyDescriptor(object, HANDLE)?.value;
      if (typeof handle === "number") yield [handle, object];
    }
  }

  /** The table. */
  read() {
    const entries = [];
    for (const [handle, object] of this.#marked()) entries.push({ handle, ...describe(object) });
    const { fixed, function: functions } = this.#live;
    const notes = [];
    if (fixed) notes.push(`${fixed} not extensible`);
    if (functions) notes.push(`${functions} functions or classes`);
    return {
      name: "js_object",
      entries,
      escaped: fixed + functions,
      released: this.#released,
      note: notes.length ? "without a known handle: " + notes.join(", ") : "",
    };
  }

  /** Leaves the objects with the marks that the runtime would have given them. */
  remove() {
    const held = [...this.#refs.entries()];
    if (this.#hasAccessor) delete Object.prototype[HANDLE];
    if (this.#ours && Object.isExtensible === this.#ours) Object.isExtensible = this.#isExtensible;
    this.#ours = null;
    for (const [handle, ref] of held) {
      const object = ref.deref();
      if (object && this.#marks.get(object) === handle) Reflect.set(object, HANDLE, handle);
    }
    this.#refs.clear();
    this.#bare = [];
  }
}
