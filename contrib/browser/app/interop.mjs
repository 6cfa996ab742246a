// SPDX-License-Identifier: MIT
// The tables of the runtime's interop between C# and JavaScript, which the stock
// dotnet.runtime.js keeps to itself: seen from where it looks up globals at run time.
import { Blazor } from "./blazor.mjs";
import { HeldObjects } from "./js_objects.mjs";
import { Proxies } from "./js_proxies.mjs";

let prepared = null;

/** The hooks that are in place, or null.  @returns {Interop|null} */
export const current = () => prepared;

export class Interop {
  #proxies = new Proxies();
  #objects = new HeldObjects();
  #blazor = null;

  /** What cannot be seen, and why; empty when all can. */
  notes = [];

  constructor({ blazor = globalThis.DotNet !== undefined } = {}) {
    if (globalThis.getDotnetRuntime?.(0))
      this.notes.push("the runtime was there before heapshot.prepare(): what crossed until then is not known");
    const why = this.#proxies.install();
    if (why) this.notes.push(why + ": C# objects that JavaScript holds are not known");
    this.notes.push(...this.#objects.install());
    if (blazor) this.#blazor = new Blazor();
    prepared = this;
  }

  /**
   * What Module.heapshot.tables returns (profiler/wasm_javascript.c has its contract).
   * A property that is a function, so that it can be handed on: it needs no `this`.
   */
  tables = () => {
    const tables = [this.#proxies.read(), this.#objects.read(), ...(this.#blazor?.read() || [])];
    const notes = this.notes.join("; ");
    if (notes) for (const table of tables) table.note = [table.note, notes].filter(Boolean).join("; ");
    return tables;
  };

  /** Takes the hooks away, and leaves no trace of them. */
  remove() {
    if (prepared !== this) return;
    prepared = null;
    this.#proxies.remove();
    this.#objects.remove();
    this.#blazor?.remove();
  }
}

/**
 * Puts hooks in place that see what C# and JavaScript hold of each other.  To be called
 * before the runtime is made: before dotnet.create(), or Blazor.start().
 * @param {object} [options]
 * @param {boolean} [options.blazor]  Blazor's own references, too: true, also where its script comes
 *                                    later; without a word, where it is there already
 * @returns {Interop}
 */
export function prepare(options) {
  if (prepared) return prepared;
  const interop = new Interop(options);
  for (const note of interop.notes) console.warn("heapshot: " + note);
  return interop;
}
