// SPDX-License-Identifier: MIT
// Colours of types: one type has one colour in all views and snapshots.  The
// eight hues of page.css can be told apart by colour-blind people, too; names
// stand in every tile that has room, so that no meaning hangs on colour alone.

const HUES = 8;

export class Colours {
  /** NAMES: types, the largest first; these get hues that differ. */
  constructor(names) {
    this.hues = new Map();
    this.isEmpty = names.length === 0;
    names.slice(0, HUES).forEach((name, i) => this.hues.set(name, i));
  }

  /** Class of the type NAME. */
  ofType(name) {
    let hue = this.hues.get(name);
    if (hue === undefined) {
      let hash = 2166136261;
      for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
      hue = (hash >>> 8) % HUES;
      this.hues.set(name, hue);
    }
    return "hue" + hue;
  }

  /** Class of a node of the tree. */
  ofNode(node) {
    if (node.kind === "type") return this.ofType(node.name);
    if (node.kind === "own") return this.ofType(node.parentName);
    return node.kind === "other" ? "rest" : "root";
  }
}
