// SPDX-License-Identifier: MIT
// The size of the heap, the pauses of the collector and the snapshots over time.
import { h, svg, replace, onResize } from "./dom.js";
import { bytes, count, duration, share } from "./format.js";
import { seconds, ticks } from "./axis.js";

/** The picture alone: in the summary a small one, in its own view with all. */
export class Chart {
  constructor(app, options = {}) {
    this.app = app;
    this.isSmall = options.isSmall;
    this.line = h("output", { class: "line", "aria-live": "polite" });
    this.place = h("div", { class: "chart" });
    this.element = h("div", {}, this.place, this.isSmall ? null : this.line);
    this.at = -1;
  }

  setEvents(events, snapshot) {
    this.events = events;
    this.chosen = snapshot;
    const { collections, snapshots, summary } = events;
    this.end = Math.max(1, summary.duration_ns, ...snapshots.map((mark) => mark.timeNs));
    this.mostHeap = Math.max(1, ...collections.map((one) => one.heapBytes), ...snapshots.map((mark) => mark.bytes || 0));
    this.mostPause = Math.max(1, ...collections.map((one) => one.maxPauseNs));
  }

  draw() {
    const width = Math.max(200, this.place.clientWidth);
    const heapHeight = this.isSmall ? 120 : 220;
    const pauseHeight = this.isSmall ? 40 : 110;
    const box = { left: 62, right: width - 12, heapTop: 26, heapEnd: 26 + heapHeight, pauseTop: 56 + heapHeight, pauseEnd: 56 + heapHeight + pauseHeight };
    this.box = box;
    this.x = (ns) => box.left + ((box.right - box.left) * ns) / this.end;
    const height = box.pauseEnd + 24;
    this.cursor = svg("line", { class: "cursor", y1: box.heapTop, y2: box.pauseEnd, visibility: "hidden" });
    const picture = svg(
      "svg",
      {
        width,
        height,
        viewBox: `0 0 ${width} ${height}`,
        role: "group",
        "aria-label": this.words(),
        tabindex: this.isSmall ? null : "0",
        onkeydown: (event) => this.onKey(event),
        onpointermove: (event) => this.pointAt(event),
        onpointerleave: () => this.point(-1),
      },
      this.axes(),
      this.heap(),
      this.pauses(),
      this.cursor,
      this.marks()
    );
    replace(this.place, picture);
    this.point(this.at);
  }

  words() {
    const { summary, snapshots } = this.events;
    return (
      `Heap size and pauses over ${duration(this.end)}: ${count(summary.collections)} collections, ` +
      `${count(snapshots.length)} snapshots` +
      (this.isSmall ? "" : ". Arrow keys go through the collections.")
    );
  }

  axes() {
    const { box } = this;
    const heapY = (n) => box.heapEnd - ((box.heapEnd - box.heapTop) * n) / this.mostHeap;
    const pauseY = (n) => box.pauseEnd - ((box.pauseEnd - box.pauseTop) * n) / this.mostPause;
    const line = (y) => svg("line", { class: "grid", x1: box.left, x2: box.right, y1: y, y2: y });
    const label = (y, text) => svg("text", { x: box.left - 6, y: y + 4, class: "tick end" }, text);
    const unit = Math.pow(1024, Math.floor(Math.log(this.mostHeap) / Math.log(1024)));
    return svg(
      "g",
      { "aria-hidden": "true" },
      ticks(this.mostHeap / unit, this.isSmall ? 2 : 4).map((n) => [line(heapY(n * unit)), label(heapY(n * unit), bytes(n * unit).replace(/\.0+ /, " "))]),
      ticks(this.mostPause, this.isSmall ? 1 : 2).map((n) => [line(pauseY(n)), label(pauseY(n), n === 0 ? "0" : duration(n).replace(/\.0+ /, " "))]),
      ticks(this.end, Math.max(2, Math.floor((box.right - box.left) / 110))).map((ns) => svg("text", { x: this.x(ns), y: box.pauseEnd + 18, class: "tick" }, seconds(ns, this.end))),
      svg("text", { x: box.left, y: box.heapTop - 10, class: "tick start" }, "Heap"),
      svg("text", { x: box.left, y: box.pauseTop - 6, class: "tick start" }, "Pauses of the program")
    );
  }

  heap() {
    const { box } = this;
    const y = (n) => box.heapEnd - ((box.heapEnd - box.heapTop) * n) / this.mostHeap;
    const known = this.events.collections.filter((one) => one.heapBytes > 0);
    if (known.length === 0) return null;
    let path = `M${this.x(known[0].timeNs)} ${y(known[0].heapBytes)}`;
    for (const one of known.slice(1)) path += `H${this.x(one.timeNs).toFixed(1)}V${y(one.heapBytes).toFixed(1)}`;
    path += `H${this.x(this.end)}`;
    return svg(
      "g",
      { "aria-hidden": "true" },
      svg("path", { class: "heap-area", d: `${path}V${box.heapEnd}H${this.x(known[0].timeNs)}Z` }),
      svg("path", { class: "heap-line", d: path })
    );
  }

  pauses() {
    const { box } = this;
    return svg(
      "g",
      { "aria-hidden": "true" },
      this.events.collections.map((one) => {
        const height = Math.max(1, ((box.pauseEnd - box.pauseTop) * one.maxPauseNs) / this.mostPause);
        return svg("rect", { class: one.major > 0 ? "pause major" : "pause", x: (this.x(one.timeNs) - 1).toFixed(1), width: 2.5, y: (box.pauseEnd - height).toFixed(1), height: height.toFixed(1) });
      })
    );
  }

  marks() {
    const { box } = this;
    let free = -Infinity; // numbers that would stand on each other are left out
    return this.events.snapshots.map((mark) => {
      const x = this.x(mark.timeNs);
      const isChosen = this.chosen && mark.shown === this.chosen.index;
      const isLabelled = x - free >= 16 || isChosen;
      if (isLabelled) free = x;
      const y = mark.bytes === null ? null : box.heapEnd - ((box.heapEnd - box.heapTop) * mark.bytes) / this.mostHeap;
      const words = `Snapshot ${mark.id}${mark.label ? " " + mark.label : ""}, ${duration(mark.timeNs)}` + (mark.bytes === null ? "" : `, ${bytes(mark.bytes)}`) + (mark.isComplete ? "" : ", incomplete");
      const isButton = mark.shown !== null && !this.isSmall;
      const choose = isButton ? () => this.app.chooseSnapshot(mark.shown) : null;
      return svg(
        "g",
        {
          class: "mark" + (isChosen ? " chosen" : "") + (mark.shown === null ? " away" : ""),
          role: isButton ? "button" : null,
          "aria-hidden": isButton ? null : "true",
          "aria-label": isButton ? words : null,
          "aria-pressed": isButton ? String(Boolean(isChosen)) : null,
          tabindex: isButton ? "0" : null,
          "data-snapshot": mark.id,
          onclick: choose,
          onkeydown: isButton
            ? (event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault();
                event.stopPropagation();
                choose();
              }
            : null,
        },
        svg("title", {}, words),
        svg("line", { x1: x, x2: x, y1: box.heapTop - 6, y2: box.pauseEnd }),
        isLabelled ? svg("rect", { x: x - 9, y: box.heapTop - 24, width: 18, height: 18, rx: 4 }) : null,
        isLabelled ? svg("text", { x, y: box.heapTop - 11 }, String(mark.id)) : null,
        y === null ? null : svg("circle", { cx: x, cy: y, r: 3.5 })
      );
    });
  }

  /** Says what collection I was. */
  point(i) {
    const { collections, snapshots } = this.events;
    this.at = i;
    const one = collections[i];
    this.cursor.setAttribute("visibility", one ? "visible" : "hidden");
    if (one === undefined) {
      this.line.textContent = this.isSmall ? "" : `${count(this.events.summary.collections)} collections, ${count(snapshots.length)} snapshots. Point at the chart, or use the arrow keys.`;
      return;
    }
    this.cursor.setAttribute("x1", this.x(one.timeNs));
    this.cursor.setAttribute("x2", this.x(one.timeNs));
    this.line.textContent =
      one.count === 1
        ? `Collection ${count(i + 1)} at ${seconds(one.timeNs, this.end)}: ${one.major ? "major" : "nursery"}${one.kind && one.kind !== "full" ? " (" + one.kind + ")" : ""}, paused ${duration(one.pauseNs)}${one.heapBytes ? ", heap " + bytes(one.heapBytes) : ""}`
        : `${count(one.count)} collections from ${seconds(one.timeNs, this.end)} on: ${count(one.major)} major, paused ${duration(one.pauseNs)}, longest ${duration(one.maxPauseNs)}${one.heapBytes ? ", heap " + bytes(one.heapBytes) : ""}`;
  }

  pointAt(event) {
    const { collections } = this.events;
    if (this.isSmall || collections.length === 0) return;
    const x = event.clientX - this.place.getBoundingClientRect().left;
    let best = 0;
    collections.forEach((one, i) => {
      if (Math.abs(this.x(one.timeNs) - x) < Math.abs(this.x(collections[best].timeNs) - x)) best = i;
    });
    this.point(best);
  }

  onKey(event) {
    const n = this.events.collections.length;
    const steps = { ArrowRight: this.at + 1, ArrowLeft: this.at < 0 ? n - 1 : this.at - 1, Home: 0, End: n - 1 };
    if (!(event.key in steps) || n === 0 || event.target.getAttribute("role") === "button") return;
    event.preventDefault();
    this.point(Math.max(0, Math.min(n - 1, steps[event.key])));
  }
}

export class Timeline {
  constructor(app) {
    this.app = app;
    this.element = h("div", { class: "timeline" });
    onResize(this.element, () => this.chart && this.chart.draw());
  }

  async show(snapshot) {
    const events = await this.app.data.events(this.app.recordingOf(snapshot));
    const at = this.chart ? this.chart.at : -1;
    this.chart = new Chart(this.app);
    this.chart.at = at;
    replace(this.element, this.chart.element, this.sums(events), this.table(events, snapshot));
    this.chart.setEvents(events, snapshot);
    this.chart.draw();
  }

  sums({ summary }) {
    return h(
      "p",
      { class: "dim" },
      `${count(summary.collections)} collections (${count(summary.minor)} nursery, ${count(summary.major)} major) in ${duration(summary.duration_ns)}: ` +
        `paused ${duration(summary.pause_ns)} (${share(summary.pause_ns, summary.duration_ns)}), longest ${duration(summary.max_pause_ns)}`,
      h("span", { class: "key" }, h("span", { class: "swatch pause-key" }), "nursery", h("span", { class: "swatch major-key" }), "major", h("span", { class: "swatch mark-key" }), "objects of a snapshot")
    );
  }

  table(events, snapshot) {
    if (events.snapshots.length === 0) return h("p", {}, "No snapshot is in this recording: it has events only.");
    return h(
      "div",
      { class: "scroll short", tabindex: "0", role: "region", "aria-label": "Snapshots" },
      h(
        "table",
        { class: "snapshots" },
        h("caption", { class: "hidden" }, "Snapshots"),
        h("thead", {}, h("tr", {}, ["Snapshot", "Label", "Trigger"].map((text) => h("th", { scope: "col" }, text)), ["Time", "Size"].map((text) => h("th", { scope: "col", class: "n" }, text)))),
        h(
          "tbody",
          {},
          events.snapshots.map((mark) =>
            h(
              "tr",
              { class: snapshot && mark.shown === snapshot.index ? "chosen" : "" },
              h(
                "th",
                { scope: "row" },
                mark.shown === null
                  ? `#${mark.id}` + (mark.isComplete ? "" : " (incomplete)")
                  : h("button", { type: "button", class: "link", onclick: () => this.app.chooseSnapshot(mark.shown) }, `#${mark.id}` + (mark.isComplete ? "" : " (incomplete)"))
              ),
              h("td", { class: "t" }, mark.label || "-"),
              h("td", { class: "t" }, mark.trigger || "-"),
              h("td", { class: "n" }, seconds(mark.timeNs, events.summary.duration_ns)),
              h("td", { class: "n" }, mark.bytes === null ? "?" : bytes(mark.bytes))
            )
          )
        )
      ),
      events.snapshotsAll > events.snapshots.length ? h("p", { class: "dim" }, `and ${count(events.snapshotsAll - events.snapshots.length)} more`) : null
    );
  }
}
