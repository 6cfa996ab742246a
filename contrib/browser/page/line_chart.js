// SPDX-License-Identifier: MIT
// Lines over time, all of one unit: one chart of the counters.
import { h, svg, replace } from "./dom.js";
import { bytes, count, duration } from "./format.js";
import { seconds, ticks } from "./axis.js";

const LINES = 8; // colours; the dashes of the next eight differ
const DOTS = 60; // samples of a line that are shown as such

/** VALUE as people read it. */
export function unitText(value, unit) {
  if (unit === "bytes") return bytes(value);
  if (unit === "time_100ns") return duration(value * 100);
  const text = Number.isInteger(value) || Math.abs(value) >= 1e6 ? count(value).replace("-", "−") : value.toFixed(2).replace("-", "−");
  return unit === "percentage" ? text + " %" : text;
}

/** Class of line number I. */
export function lineClass(i) {
  return `line${i % LINES}` + (i >= LINES ? " dashed" : "");
}

/** The last sample that is not behind NS, or null. */
export function sampleAt(counter, ns) {
  let from = 0;
  let to = counter.samples.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (counter.samples[middle][0] <= ns) from = middle + 1;
    else to = middle;
  }
  return from === 0 ? null : counter.samples[from - 1];
}

export class LineChart {
  /** OPTIONS: { unit, lines: [{ counter, number }], end, marks, point(ns), step(event) } */
  constructor(options) {
    Object.assign(this, options);
    this.place = h("div", { class: "chart" });
    this.element = h("section", { "aria-label": this.title() }, this.place);
    const values = this.lines.flatMap(({ counter }) => counter.samples.map((sample) => sample[1]));
    this.most = Math.max(0, ...values);
    this.least = Math.min(0, ...values);
    if (this.most === this.least) this.most = this.least + 1;
  }

  title() {
    const names = { bytes: "Bytes", time_100ns: "Time", percentage: "Percent" };
    return names[this.unit] || "Number";
  }

  draw() {
    const width = Math.max(200, this.place.clientWidth);
    const box = { left: 72, right: width - 24, top: 30, end: 220 };
    this.x = (ns) => box.left + ((box.right - box.left) * ns) / this.end;
    this.y = (value) => box.end - ((box.end - box.top) * (value - this.least)) / (this.most - this.least);
    this.cursor = svg("line", { class: "cursor", y1: box.top, y2: box.end, visibility: "hidden" });
    replace(
      this.place,
      svg(
        "svg",
        {
          width,
          height: box.end + 26,
          viewBox: `0 0 ${width} ${box.end + 26}`,
          role: "group",
          tabindex: "0",
          "aria-label": `${this.title()} over ${duration(this.end)}: ${this.lines.map(({ counter }) => counter.name).join(", ")}. Arrow keys go through the samples.`,
          onkeydown: (event) => this.step(event),
          onpointermove: (event) => this.point(this.timeAt(event, box)),
          onpointerleave: () => this.point(null),
        },
        this.axes(box),
        this.drawMarks(box),
        this.lines.map((line) => this.drawLine(line)),
        this.cursor
      )
    );
  }

  timeAt(event, box) {
    const x = event.clientX - this.place.getBoundingClientRect().left;
    return Math.max(0, Math.min(this.end, ((x - box.left) * this.end) / (box.right - box.left)));
  }

  axes(box) {
    const most = Math.max(this.most, -this.least);
    const unit = this.unit === "bytes" ? Math.pow(1024, Math.floor(Math.log(most) / Math.log(1024))) : 1;
    const steps = ticks(most / unit, 4).map((n) => n * unit);
    const values = [...steps.slice(1).map((n) => -n).reverse(), ...steps].filter((n) => n >= this.least && n <= this.most * 1.0001);
    const text = (n) => unitText(n, this.unit).replace(/(\.\d*?)0+(?= |$)/, "$1").replace(/\.(?= |$)/, "");
    return svg(
      "g",
      { "aria-hidden": "true" },
      svg("text", { x: 8, y: 16, class: "tick start" }, this.title()),
      values.map((n) => [
        svg("line", { class: "grid", x1: box.left, x2: box.right, y1: this.y(n), y2: this.y(n) }),
        svg("text", { x: box.left - 6, y: this.y(n) + 4, class: "tick end" }, text(n)),
      ]),
      ticks(this.end, Math.max(2, Math.floor((box.right - box.left) / 110))).map((ns) => svg("text", { x: this.x(ns), y: box.end + 18, class: "tick" }, seconds(ns, this.end)))
    );
  }

  /** Where the snapshots are; numbers that would stand on each other are left out. */
  drawMarks(box) {
    let free = -Infinity;
    return this.marks.map((mark) => {
      const x = this.x(mark.timeNs);
      const isLabelled = x - free >= 16;
      if (isLabelled) free = x;
      return svg(
        "g",
        { class: "mark", "aria-hidden": "true" },
        svg("line", { x1: x, x2: x, y1: box.top - 6, y2: box.end }),
        isLabelled ? svg("rect", { x: x - 9, y: box.top - 24, width: 18, height: 18, rx: 4 }) : null,
        isLabelled ? svg("text", { x, y: box.top - 11 }, String(mark.id)) : null
      );
    });
  }

  drawLine({ counter, number }) {
    const points = counter.samples.map(([ns, value]) => [this.x(ns).toFixed(1), this.y(value).toFixed(1)]);
    return svg(
      "g",
      { class: "series " + lineClass(number), "aria-hidden": "true", "data-counter": counter.name },
      svg("path", { d: points.map(([x, y], i) => (i === 0 ? "M" : "L") + x + " " + y).join("") }),
      points.length <= DOTS ? points.map(([x, y]) => svg("circle", { cx: x, cy: y, r: 2.5 })) : null
    );
  }

  /** Shows the time NS, or none. */
  setCursor(ns) {
    this.cursor.setAttribute("visibility", ns === null ? "hidden" : "visible");
    if (ns === null) return;
    this.cursor.setAttribute("x1", this.x(ns));
    this.cursor.setAttribute("x2", this.x(ns));
  }
}
