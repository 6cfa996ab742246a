// SPDX-License-Identifier: MIT
// Flame graph of retained sizes, hanging: a row is a step of the tree of
// dominators, the width of a box what would go with its node.
import { Tiles, mergeSmall } from "./tiles.js";

const ROW = 22; // pixels
const LEAST = 3; // of a box; what is narrower goes into "other"

export class Flame extends Tiles {
  constructor(app) {
    super(app, {
      className: "flame",
      title: "Flame graph of retained sizes",
      hint: "Enter or a click zooms in, Escape out; arrow keys move.",
    });
    this.area.append(this.floor());
  }

  /** Stands behind the last row, so that the area scrolls to it. */
  floor(rows = 0) {
    const floor = document.createElement("div");
    floor.className = "floor";
    floor.style.height = rows * ROW + "px";
    return floor;
  }

  async layout(width) {
    const boxes = this.way.slice(0, -1).map((node, i) => ({ node, above: [], x: 0, y: i * ROW, w: width, h: ROW - 1, isAbove: true }));
    const scale = this.node.retained > 0 ? width / this.node.retained : 0;
    const place = async (node, above, row, x) => {
      const w = node === this.node ? width : node.retained * scale;
      boxes.push({ node, above, x, y: row * ROW, w: Math.max(1, w - 1), h: ROW - 1 });
      if (!node.hasChildren) return;
      let at = x;
      // Its own objects need no box: they are where nothing hangs below it.
      const children = (await this.app.data.children(node)).filter((child) => child.kind !== "own");
      for (const child of mergeSmall(node, children, scale > 0 ? LEAST / scale : 0)) {
        const size = child.retained * scale;
        if (size >= 1) await place(child, node === this.node ? [] : [...above, node], row + 1, at);
        at += size;
      }
    };
    await place(this.node, [], this.way.length - 1, 0);
    this.rows = Math.max(...boxes.map((box) => box.y / ROW)) + 1;
    return boxes;
  }

  async draw() {
    await super.draw();
    if (this.node !== undefined) this.area.append(this.floor(this.rows));
  }

  focusFirst() {
    this.focus(this.way.length - 1);
  }
}
