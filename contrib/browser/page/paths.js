// SPDX-License-Identifier: MIT
// What holds the objects of a type: shortest paths from the roots, those that
// read alike put together.
import { h, replace, breakable, command } from "./dom.js";
import { bytes, count, exactBytes, share, shellWord, shortName } from "./format.js";

/** "System.Delegate[] [17]" but "System.EventHandler.delegates" */
function slotText(slot) {
  return (/^[[+(]/.test(slot) ? " " : ".") + slot;
}

export class Paths {
  constructor(app) {
    this.app = app;
    this.list = h("div", { class: "choices", role: "listbox", "aria-label": "Types", onkeydown: (event) => this.onKey(event) });
    this.field = h("input", { type: "search", placeholder: "Search types", "aria-label": "Search types with paths", spellcheck: "false", oninput: () => this.drawList() });
    this.result = h("div", { class: "result", "aria-live": "polite" });
    this.element = h("div", { class: "split" }, h("div", { class: "side" }, this.field, this.list), this.result);
  }

  async show(snapshot, type) {
    if (snapshot !== this.snapshot) {
      this.snapshot = snapshot;
      this.types = await this.app.data.pathTypes(snapshot.index);
      this.all = (await this.app.data.types(snapshot.index)).rows;
      if (type === undefined) type = this.type;
    }
    if (type !== undefined) this.type = type;
    else if (this.type === undefined && this.types.length > 0) this.type = (this.types.find((row) => !/^System\.|\[\]$/.test(row.name)) || this.types[0]).type;
    this.drawList();
    await this.drawResult();
  }

  drawList() {
    const words = this.field.value.toLowerCase();
    const rows = this.types.filter((row) => row.name.toLowerCase().includes(words));
    replace(
      this.list,
      rows.map((row) => {
        const isChosen = row.type === this.type;
        return h(
          "div",
          {
            role: "option",
            class: "choice",
            "aria-selected": String(isChosen),
            tabindex: isChosen ? "0" : "-1",
            "data-type": row.type,
            title: row.name,
            onclick: () => this.choose(row.type),
          },
          h("span", { class: "swatch " + this.app.colours.ofType(row.name) }),
          h("span", { class: "name" }, shortName(row.name)),
          h("span", { class: "n dim" }, row.retained === null ? bytes(row.bytes) : bytes(row.retained))
        );
      })
    );
    if (this.list.querySelector('[tabindex="0"]') === null && this.list.firstChild) this.list.firstChild.tabIndex = 0;
  }

  async choose(type) {
    this.type = type;
    for (const option of this.list.children) {
      const isChosen = Number(option.dataset.type) === type;
      option.setAttribute("aria-selected", String(isChosen));
      option.tabIndex = isChosen ? 0 : -1;
    }
    await this.drawResult();
  }

  onKey(event) {
    const options = [...this.list.children];
    const at = options.indexOf(document.activeElement);
    const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: options.length - 1, Enter: at, " ": at };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const to = options[Math.max(0, Math.min(options.length - 1, steps[event.key]))];
    to.focus();
    this.choose(Number(to.dataset.type));
  }

  async drawResult() {
    const row = this.all.find((one) => one.type === this.type);
    const recording = this.app.info.recordings[this.snapshot.recording];
    const at = shellWord(recording.file + "@" + this.snapshot.id);
    if (row === undefined) {
      replace(this.result, h("p", { class: "empty" }, this.type === undefined ? this.snapshot.note || "No type has paths." : "This snapshot has no objects of the type."));
      return;
    }
    const found = await this.app.data.paths(this.snapshot.index, this.type);
    const head = [
      h("h2", {}, h("span", { class: "swatch " + this.app.colours.ofType(row.name) }), row.name),
      h(
        "p",
        { class: "dim" },
        `${count(row.count)} objects, ${bytes(row.bytes)}` + (row.retained === null ? "" : `; they retain ${bytes(row.retained)}`) + (row.assembly ? `; of ${row.assembly}` : "")
      ),
    ];
    const terminal = command(`heapshot path ${at} ${shellWord(row.name)}`, "all paths, in a terminal");
    if (found === null) {
      replace(this.result, head, h("p", {}, "The paths to this type are not in the report, which has those of the largest types."), terminal);
      return;
    }
    replace(
      this.result,
      head,
      found.reached < found.objects ? h("p", { class: "dim" }, `${count(found.objects - found.reached)} of them are reached by nothing.`) : null,
      found.paths.map((path) => this.drawPath(path, found)),
      found.all > found.paths.length ? h("p", { class: "dim" }, `and ${count(found.all - found.paths.length)} more paths`) : null,
      terminal
    );
  }

  drawPath(path, found) {
    return h(
      "section",
      { class: "path-card", "aria-label": `${count(path.count)} objects` },
      h(
        "p",
        { class: "under" },
        h(
          "span",
          { class: "meter", role: "img", "aria-label": share(path.count, found.reached) + " of them" },
          h("span", { class: "meter-part", style: { width: (100 * path.count) / (found.reached || 1) + "%" } })
        ),
        h("span", { title: exactBytes(path.bytes) }, `${count(path.count)} object${path.count === 1 ? "" : "s"}, ${bytes(path.bytes)}, ${share(path.count, found.reached)}`),
        path.longest > 0 ? h("span", { class: "dim" }, `up to ${count(path.longest)} steps longer`) : null
      ),
      h(
        "ol",
        { class: "chain" },
        h("li", { class: "from" }, h("span", { class: "kind" }, path.kind.replace(/_/g, " ") || "root"), path.root),
        path.parts.map((part, i) => this.drawPart(part, path, i === path.parts.length - 1))
      )
    );
  }

  drawPart(part, path, isLast) {
    if (part.type === null) return h("li", { class: "dim" }, `${count(part.times)} more steps`);
    const times = part.times > 1 ? (path.count > 1 ? " again and again" : ` ${count(part.times)} times`) : "";
    return h(
      "li",
      { class: isLast ? "to" : "" },
      h("span", { class: "swatch " + this.app.colours.ofType(part.type) }),
      h("span", { class: "type" }, breakable(part.type)),
      part.slot === null ? null : h("span", { class: "slot" }, slotText(part.slot)),
      times ? h("span", { class: "dim" }, times) : null
    );
  }
}
