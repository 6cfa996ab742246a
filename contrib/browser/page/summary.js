// SPDX-License-Identifier: MIT
// The first view: what the program is, what grew, what may leak, what to do next.
import { h, replace, breakable, command, onResize } from "./dom.js";
import { bytes, count, duration, exactBytes, share, shellWord, wallTime } from "./format.js";
import { Chart } from "./timeline.js";
import { firstWithHandles } from "./handles.js";
import { hintsOf } from "./handle_groups.js";

const HINTS = 10; // of references, at most

const KINDS = {
  growth: "growth",
  event: "event handlers",
  collection: "collection",
  holder: "holder",
  structure: "list or tree",
  handles: "GC handles",
  sparse: "hardly filled arrays",
  empty: "empty arrays",
  strings: "equal strings",
};

export class Summary {
  constructor(app) {
    this.app = app;
    this.element = h("div", { class: "summary" });
    onResize(this.element, () => this.chart && this.chart.draw());
  }

  async show(snapshot) {
    const number = this.app.recordingOf(snapshot);
    const [events, suspects, references] = await Promise.all([this.app.data.events(number), this.app.data.suspects(number), this.references(snapshot)]);
    const recording = this.app.info.recordings[number];
    this.chart = new Chart(this.app, { isSmall: true });
    replace(
      this.element,
      h(
        "div",
        { class: "columns" },
        h(
          "div",
          {},
          this.cards(snapshot, events),
          references,
          snapshot ? this.suspects(snapshot, suspects) : null,
          recording.notes.length > 0 ? this.notes(recording) : null
        ),
        h(
          "div",
          {},
          h("section", { "aria-label": "Heap over time" }, h("h2", {}, "Heap over time"), this.chart.element),
          snapshot ? this.next(snapshot, suspects, recording) : null,
          this.about(recording)
        )
      )
    );
    this.chart.setEvents(events, snapshot);
    this.chart.draw();
  }

  cards(snapshot, events) {
    const { summary } = events;
    const card = (title, value, more, exact) =>
      h("div", { class: "card" }, h("dt", {}, title), h("dd", { title: exact }, value), h("dd", { class: "dim" }, more));
    const cards = [];
    if (snapshot && snapshot.liveBytes !== null) {
      cards.push(card("Live", bytes(snapshot.liveBytes), count(snapshot.liveObjects) + " objects", exactBytes(snapshot.liveBytes)));
      const unreached = snapshot.bytes - snapshot.liveBytes;
      if (unreached > 0) cards.push(card("Reached by nothing", bytes(unreached), count(snapshot.objects - snapshot.liveObjects) + " objects", exactBytes(unreached)));
    } else if (snapshot) {
      cards.push(card("Objects", bytes(snapshot.bytes), count(snapshot.objects) + " objects", exactBytes(snapshot.bytes)));
    }
    if (summary.max_heap_bytes !== null) cards.push(card("Largest heap", bytes(summary.max_heap_bytes), "as the collector counts", exactBytes(summary.max_heap_bytes)));
    cards.push(card("Collections", count(summary.collections), `${count(summary.major)} major, in ${duration(summary.duration_ns)}`));
    if (summary.collections > 0)
      cards.push(card("Paused", duration(summary.pause_ns), `${share(summary.pause_ns, summary.duration_ns)}, longest ${duration(summary.max_pause_ns)}`));
    return h("section", { "aria-label": "In numbers" }, h("h2", { class: "hidden" }, "In numbers"), h("dl", { class: "cards" }, cards));
  }

  /** References between C# and JavaScript that look forgotten; null: there are no such tables. */
  async references(snapshot) {
    const tables = snapshot ? await this.app.data.handles(snapshot.index) : null;
    if (tables === null) return null;
    const first = await firstWithHandles(this.app, snapshot);
    const hints = hintsOf(tables, first ? await this.app.data.handles(first.index) : null).slice(0, HINTS);
    return h(
      "section",
      { "aria-label": "Undisposed references" },
      h("h2", {}, "Undisposed references"),
      hints.length > 0 ? h("ol", { class: "findings" }, hints.map((hint) => this.reference(hint, first))) : h("p", { class: "dim" }, "None: no table between C# and JavaScript has many entries of a kind" + (first ? ", or more than before." : "."))
    );
  }

  reference({ table, group, text, more, ends }, first) {
    return h(
      "li",
      { class: "finding", "data-table": table.name, "data-type": group.type },
      h("p", {}, h("span", { class: "kind" }, "references"), h("span", {}, breakable(text)), more ? h("span", { class: "more" }, ` ${more} since ${first.title}`) : null),
      h("p", { class: "under" }, h("span", { class: "dim" }, ends)),
      h(
        "p",
        { class: "under" },
        group.retained === null ? null : h("span", { title: exactBytes(group.retained) }, `retain ${bytes(group.retained)}`),
        group.type ? h("button", { type: "button", class: "link", onclick: () => this.app.openPathsByName(group.type) }, "What holds them") : null,
        h("button", { type: "button", class: "link", onclick: () => this.app.open("handles", table.name) }, "The table")
      )
    );
  }

  suspects(snapshot, suspects) {
    if (suspects === null)
      return h("section", {}, h("h2", {}, "Suspects"), h("p", {}, snapshot.note || (this.app.info.cut.suspects ? "The suspects were left out, so that the page is not too large." : "Suspects were not looked for.")));
    const list = (title, rows, none) =>
      h(
        "section",
        { "aria-label": title },
        h("h2", {}, title),
        rows.length > 0 ? h("ol", { class: "findings" }, rows.map((row) => this.finding(row, suspects))) : h("p", { class: "dim" }, none)
      );
    return [
      list("Suspects", suspects.suspects, "None: nothing holds many objects."),
      suspects.first === null
        ? h(
            "section",
            { "aria-label": "What grew" },
            h("h2", {}, "What grew"),
            h("p", { class: "dim" }, "There is one snapshot. Record with snapshot=gc or snapshot=60s, or type heapshot take, to see what grows.")
          )
        : list(`What grew since snapshot ${suspects.first}`, suspects.growth, "Nothing grew."),
      suspects.waste.length > 0 ? list("Waste", suspects.waste, "") : null,
    ];
  }

  finding(row, suspects) {
    const part = row.holder ? row.holder.retained : row.bytes;
    return h(
      "li",
      { class: "finding", "data-type": row.type },
      h(
        "p",
        {},
        h("span", { class: "kind" }, KINDS[row.kind] || row.kind),
        h("span", {}, breakable(row.text))
      ),
      row.path ? h("p", { class: "path" }, this.app.pathWords(row.path.text)) : null,
      h(
        "p",
        { class: "under" },
        h(
          "span",
          { class: "meter", role: "img", "aria-label": share(part, suspects.live.bytes) + " of all that lives" },
          h("span", { class: "meter-part", style: { width: Math.min(100, (100 * part) / (suspects.live.bytes || 1)) + "%" } })
        ),
        h("span", { title: exactBytes(part) }, `${bytes(part)}, ${share(part, suspects.live.bytes)}`),
        h("button", { type: "button", class: "link", onclick: () => this.app.openPathsByName(row.type) }, "What holds them")
      )
    );
  }

  next(snapshot, suspects, recording) {
    const file = shellWord(recording.file);
    const at = file + "@" + snapshot.id;
    const first = suspects && (suspects.suspects[0] || suspects.growth[0]);
    return h(
      "section",
      { "aria-label": "Next" },
      h("h2", {}, "Next, in a terminal"),
      recording.saved ? h("p", { class: "dim" }, recording.saved) : null,
      first ? command(`heapshot path ${at} ${shellWord(first.type)}`, "all paths to them") : null,
      command(`heapshot leaks ${file}`, "all suspects, and what is wasted"),
      command(`heapshot find ${at} --min-size 64k`, "large objects, by address"),
      command(`heapshot export --format sqlite ${at} -o app.db`, "every object, for SQL")
    );
  }

  notes(recording) {
    return h(
      "section",
      { "aria-label": "Notes on the recording", class: "notes" },
      h("h2", {}, "Notes on the recording"),
      h("ul", {}, recording.notes.map((note) => h("li", {}, note)))
    );
  }

  about(recording) {
    const rows = [
      ["File", recording.file],
      ["Command", recording.commandLine.replace(/\0/g, " ")],
      ["Runtime", [recording.runtime, recording.architecture].filter((word) => word).join(", ")],
      ["System", recording.system],
      ["Process", [recording.pid === null ? "" : "pid " + recording.pid, recording.host].filter((word) => word).join(" on ")],
      ["Recorded", recording.wallStartMs === null ? "" : wallTime(recording.wallStartMs)],
      ["Options", recording.options],
    ];
    return h(
      "section",
      { "aria-label": "The program" },
      h("h2", {}, "The program"),
      h(
        "dl",
        { class: "about" },
        rows.filter((row) => row[1]).map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])
      )
    );
  }
}
