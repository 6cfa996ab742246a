// SPDX-License-Identifier: MIT
// Treemap of retained sizes: the area of a box is what would go with its node.
// Boxes stand in those that dominate them; squarified as by Bruls, Huizing and
// van Wijk.
import { Tiles, mergeSmall } from "./tiles.js";

const HEAD = 18; // pixels of a title
const EDGE = 2;
const DEPTH = 8; // levels that are drawn at a time
const LEAST = 90; // square pixels of a box; what is smaller goes into "other"
const MOST = 1200; // boxes

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
    // The largest is opened first, so that a limit leaves out what is small.
    const waiting = [{ node: this.node, above: [], depth: 0, x: 0, y: 0, w: width, h: height }];
    while (waiting.length > 0) {
      let most = 0;
      waiting.forEach((box, i) => {
        if (box.w * box.h > waiting[most].w * waiting[most].h) most = i;
      });
      const { node, above, depth, x, y, w, h } = waiting.splice(most, 1)[0];
      const isOpen = node.hasChildren && depth < DEPTH && w >= 40 && h >= HEAD + 14 && boxes.length + waiting.length < MOST;
      boxes.push({ node, above, depth, x, y, w: Math.max(0, w - 1), h: Math.max(0, h - 1), isHead: isOpen });
      if (!isOpen) continue;
      const inner = { x: x + EDGE, y: y + HEAD, w: w - 2 * EDGE - 1, h: h - HEAD - EDGE - 1 };
      const least = (LEAST * node.retained) / (inner.w * inner.h);
      const children = mergeSmall(node, await this.app.data.children(node), least).filter((child) => child.retained > 0);
      children.sort((a, b) => b.retained - a.retained);
      squarify(
        children.map((child) => child.retained),
        inner.x,
        inner.y,
        inner.w,
        inner.h
      ).forEach((box, i) => {
        if (box.w >= 3 && box.h >= 3) waiting.push({ ...box, node: children[i], above: depth === 0 ? [] : [...above, node], depth: depth + 1 });
      });
    }
    // Those inside stand behind those around them, in the page and for the keys.
    return boxes.sort((a, b) => a.depth - b.depth);
  }
}
