// SPDX-License-Identifier: MIT
// Treemap of retained sizes: the area of a box is what would go with its node.
// Boxes stand in those that dominate them; squarified as by Bruls, Huizing and
// van Wijk.
import { Tiles } from "./tiles.js";

const HEAD = 18; // pixels of a title
const EDGE = 2;
const DEPTH = 6; // levels that are drawn at a time
const LEAST = 6; // pixels, of a side
const MOST = 1500; // boxes; the largest come first

/** Rectangles for SIZES (descending) in a rectangle, their shape near to squares. */
export function squarify(sizes, x, y, w, h) {
  const boxes = [];
  let rest = sizes.reduce((sum, size) => sum + size, 0);
  let at = 0;
  while (at < sizes.length && w > 0 && h > 0 && rest > 0) {
    const side = Math.min(w, h);
    const scale = (w * h) / rest;
    let sum = 0;
    let n = 0;
    let worst = Infinity;
    while (at + n < sizes.length) {
      const next = sum + sizes[at + n] * scale;
      const ratio = (size) => Math.max((side * side * size) / (next * next), (next * next) / (side * side * size));
      const now = Math.max(ratio(sizes[at] * scale), ratio(sizes[at + n] * scale));
      if (n > 0 && now > worst) break;
      worst = now;
      sum = next;
      n++;
    }
    const depth = sum / side;
    let place = 0;
    for (let i = 0; i < n; i++) {
      const length = (sizes[at + i] * scale) / depth;
      boxes.push(w < h ? { x: x + place, y, w: length, h: depth } : { x, y: y + place, w: depth, h: length });
      place += length;
    }
    if (w < h) [y, h] = [y + depth, h - depth];
    else [x, w] = [x + depth, w - depth];
    for (let i = 0; i < n; i++) rest -= sizes[at + i];
    at += n;
  }
  return boxes;
}

export class Treemap extends Tiles {
  constructor(app) {
    super(app, {
      className: "treemap",
      title: "Treemap of retained sizes",
      hint: "Enter or a click zooms in, Escape out; arrow keys move.",
    });
  }

  async layout(width, height) {
    const boxes = [];
    // Level by level, so that a limit leaves out what is small and deep.
    const queue = [{ node: this.node, above: [], depth: 0, x: 0, y: 0, w: width, h: height }];
    for (let at = 0; at < queue.length; at++) {
      const { node, above, depth, x, y, w, h } = queue[at];
      const isOpen = node.hasChildren && depth < DEPTH && w >= 40 && h >= HEAD + 14;
      boxes.push({ node, above, x, y, w: Math.max(0, w - 1), h: Math.max(0, h - 1), isHead: isOpen });
      if (!isOpen) continue;
      const children = await this.app.data.children(node);
      const ordered = children.filter((child) => child.retained > 0).sort((a, b) => b.retained - a.retained);
      const inner = squarify(
        ordered.map((child) => child.retained),
        x + EDGE,
        y + HEAD,
        w - 2 * EDGE - 1,
        h - HEAD - EDGE - 1
      );
      for (let i = 0; i < inner.length; i++) {
        const box = inner[i];
        if (box.w < LEAST || box.h < LEAST || queue.length >= MOST) continue;
        queue.push({ ...box, node: ordered[i], above: depth === 0 ? [] : [...above, node], depth: depth + 1 });
      }
    }
    return boxes;
  }
}
