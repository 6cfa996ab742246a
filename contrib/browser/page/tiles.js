// SPDX-License-Identifier: MIT
// What treemap and flame graph share: boxes of nodes that are zoomed into, the
// way back up, keys, and a line that says what the pointed box is.
import { h, replace, onResize } from "./dom.js";
import { bytes, count, exactBytes, share, shortName } from "./format.js";

/** CHILDREN of NODE in their order; those of less than LEAST bytes go into its "other". */
export function mergeSmall(node, children, least) {
  const large = children.filter((child) => child.kind !== "other" && child.retained >= least);
  const small = children.filter((child) => !large.includes(child));
  if (small.length === 0) return large;
  const sum = (key) => small.reduce((all, child) => all + child[key], 0);
  const n = small.filter((child) => child.kind !== "other").length;
  return [
    ...large,
    {
      id: node.id + "other",
      snapshot: node.snapshot,
      kind: "other",
      name: "other",
      parentName: node.name,
      hasChildren: false,
      objects: sum("allObjects"),
      allObjects: sum("allObjects"),
      bytes: sum("retained"),
      retained: sum("retained"),
      merged: n,
    },
  ];
}

export class Tiles {
  /** OPTIONS: { className, title, hint }; a subclass has layout(). */
  constructor(app, options) {
    this.app = app;
    this.way = []; // nodes from the root down to the one that is shown
    this.boxes = [];
    this.crumbs = h("nav", { class: "crumbs", "aria-label": "Way to the shown node" });
    this.paths = h("button", { type: "button", class: "action", onclick: () => this.openPaths() }, "Paths");
    this.line = h("output", { class: "line", "aria-live": "polite" });
    this.area = h("div", {
      class: "area " + options.className,
      role: "group",
      "aria-label": options.title + ". " + options.hint,
      onkeydown: (event) => this.onKey(event),
      onpointerover: (event) => this.describe(this.boxOf(event.target)),
      onpointerleave: () => this.describe(null),
      onfocusin: (event) => this.describe(this.boxOf(event.target)),
      onclick: (event) => this.zoomTo(this.boxOf(event.target)),
    });
    this.hint = options.hint;
    this.element = h(
      "div",
      { class: "tiles" },
      h("div", { class: "tools" }, this.crumbs, this.paths),
      this.area,
      this.line
    );
    onResize(this.area, () => this.draw());
  }

  async show(snapshot) {
    if (snapshot !== this.snapshot) {
      const root = await this.app.data.root(snapshot.index);
      this.snapshot = snapshot;
      this.way = root === null ? [] : [root];
    }
    await this.draw();
  }

  get node() {
    return this.way[this.way.length - 1];
  }

  boxOf(element) {
    const button = element.closest("button[data-box]");
    return button === null ? null : this.boxes[Number(button.dataset.box)];
  }

  /** What a box is, in a sentence. */
  words(node) {
    const own = node.kind === "type" && node.objects !== node.allObjects;
    const name = node.merged ? `${count(node.merged)} others` : node.name;
    return (
      `${name}: retains ${bytes(node.retained)} (${exactBytes(node.retained)}, ` +
      `${share(node.retained, this.way[0].retained)} of all), ${count(node.allObjects)} object${node.allObjects === 1 ? "" : "s"}` +
      (own ? `, ${count(node.objects)} of them its own with ${bytes(node.bytes)}` : "")
    );
  }

  describe(box) {
    this.line.textContent = box ? this.words(box.node) : this.node ? this.words(this.node) : "";
  }

  async draw() {
    const draft = (this.draft = {}); // a later call makes this one void
    if (this.node === undefined) {
      replace(this.area, h("p", { class: "empty" }, this.snapshot.note || "There is no graph of this snapshot."));
      replace(this.crumbs);
      this.paths.hidden = true;
      this.boxes = [];
      return;
    }
    const boxes = await this.layout(this.area.clientWidth, this.area.clientHeight);
    if (draft !== this.draft) return;
    this.boxes = boxes;
    replace(
      this.area,
      boxes.map((box, i) => this.drawBox(box, i))
    );
    const first = this.area.querySelector("button[data-box]");
    if (first !== null) first.tabIndex = 0;
    this.drawCrumbs();
    this.describe(null);
  }

  drawBox(box, i) {
    const { node } = box;
    const name = node.kind === "type" || node.kind === "own" ? shortName(node.name) : node.name;
    const button = h(
      "button",
      {
        type: "button",
        tabindex: "-1",
        "data-box": i,
        "data-name": node.name,
        class: "box " + this.app.colours.ofNode(node) + (box.isHead ? " head" : ""),
        "aria-label": `${node.name}, ${bytes(node.retained)}, ${share(node.retained, this.way[0].retained)}`,
        style: { left: box.x + "px", top: box.y + "px", width: box.w + "px", height: box.h + "px" },
      },
      box.w > 34 && box.h > 13
        ? h("span", { class: "label" }, name, box.w > 130 || box.h > 40 ? h("span", { class: "size" }, " " + bytes(node.retained)) : null)
        : null
    );
    return button;
  }

  drawCrumbs() {
    replace(
      this.crumbs,
      h(
        "ol",
        {},
        this.way.map((node, i) => {
          const text = node.kind === "type" ? shortName(node.name) : node.name;
          return h(
            "li",
            {},
            i === this.way.length - 1
              ? h("span", { "aria-current": "true" }, text)
              : h("button", { type: "button", class: "link", onclick: () => this.zoomOut(i, true) }, text)
          );
        })
      )
    );
    this.paths.hidden = this.node.kind !== "type";
    this.paths.textContent = "Paths to " + shortName(this.node.name);
  }

  openPaths() {
    this.app.openPathsByName(this.node.name);
  }

  /** Shows BOX alone; one that is shown already leads up again. */
  async zoomTo(box) {
    if (box === null || box === undefined) return;
    const at = this.way.findIndex((node) => node.id === box.node.id);
    if (at >= 0) {
      if (at === this.way.length - 1 && at > 0) await this.zoomOut(at - 1);
      else if (at < this.way.length - 1) await this.zoomOut(at);
      return;
    }
    if (!box.node.hasChildren && box.node.kind !== "type") return;
    this.way.push(...box.above, box.node);
    await this.draw();
    this.focusFirst();
  }

  /** Back to node AT of the way. */
  async zoomOut(at, isFromCrumbs) {
    const left = this.way[at + 1];
    this.way.length = at + 1;
    await this.draw();
    const box = this.boxes.findIndex((one) => one.node.id === left.id);
    if (isFromCrumbs || box < 0) this.focusFirst();
    else this.focus(box);
  }

  focusFirst() {
    this.focus(0);
  }

  focus(i) {
    const button = this.area.querySelector(`button[data-box="${i}"]`);
    if (button === null) return;
    for (const other of this.area.querySelectorAll('button[tabindex="0"]')) other.tabIndex = -1;
    button.tabIndex = 0;
    button.focus();
  }

  /** The nearest box from FROM in a direction. */
  nearest(from, dx, dy) {
    const middle = (box) => [box.x + box.w / 2, box.y + Math.min(box.h, box.isHead ? 18 : box.h) / 2];
    const [x, y] = middle(from);
    let best = -1;
    let least = Infinity;
    this.boxes.forEach((box, i) => {
      const [bx, by] = middle(box);
      const along = (bx - x) * dx + (by - y) * dy;
      if (box === from || along <= 0.5) return;
      const across = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
      const cost = along + 2 * across;
      if (cost < least) [best, least] = [i, cost];
    });
    return best;
  }

  onKey(event) {
    const box = this.boxOf(event.target);
    const arrows = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    if (box === null || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in arrows) {
      event.preventDefault();
      const to = this.nearest(box, ...arrows[event.key]);
      if (to >= 0) this.focus(to);
    } else if ((event.key === "Escape" || event.key === "Backspace") && this.way.length > 1) {
      event.preventDefault();
      this.zoomOut(this.way.length - 2);
    } else if (event.key === "Home") {
      event.preventDefault();
      this.focus(0);
    }
  }
}
