// SPDX-License-Identifier: MIT
// The data of a report's page: the JSON of `heapshot report --json`.
import { DataProvider } from "./data.js";
import { duration } from "./format.js";

export class EmbeddedData extends DataProvider {
  constructor(json) {
    super();
    this.json = json;
    this.trees = new Map(); // snapshot -> children by number of node
    this.snapshots = json.snapshots.map((snapshot, index) => this.describe(snapshot, index));
  }

  describe(snapshot, index) {
    const isSeveral = this.json.recordings.length > 1;
    const file = this.json.recordings[snapshot.recording].file.replace(/^.*\//, "");
    const words = [snapshot.label, snapshot.trigger ? "(" + snapshot.trigger + ")" : "", "+" + duration(snapshot.time_ns)];
    return {
      index,
      recording: snapshot.recording,
      id: snapshot.id,
      label: snapshot.label,
      trigger: snapshot.trigger,
      title: (isSeveral ? file + " " : "") + "#" + snapshot.id + " " + words.filter((word) => word !== "").join(" "),
      timeNs: snapshot.time_ns,
      note: snapshot.note,
      objects: snapshot.objects,
      bytes: snapshot.bytes,
      liveObjects: snapshot.live_objects,
      liveBytes: snapshot.live_bytes,
      pauseNs: snapshot.pause_ns,
      hasGraph: snapshot.tree !== null,
    };
  }

  async info() {
    return {
      version: this.json.version,
      cut: this.json.cut,
      snapshots: this.snapshots,
      recordings: this.json.recordings.map((recording) => ({
        file: recording.file,
        commandLine: recording.command_line,
        runtime: recording.runtime,
        architecture: recording.architecture,
        system: recording.system,
        host: recording.host,
        options: recording.options,
        pid: recording.pid,
        wallStartMs: recording.wall_start_ms,
        isRing: recording.ring,
        notes: recording.notes,
      })),
    };
  }

  async events(recording) {
    const { collections, summary, snapshots, snapshots_all } = this.json.recordings[recording];
    return {
      summary,
      snapshotsAll: snapshots_all,
      collections: collections.time_ns.map((timeNs, i) => ({
        timeNs,
        count: collections.count[i],
        major: collections.major[i],
        pauseNs: collections.pause_ns[i],
        maxPauseNs: collections.max_pause_ns[i],
        heapBytes: collections.heap_bytes[i],
        kind: collections.kind[i],
      })),
      snapshots: snapshots.map((mark) => ({
        id: mark.id,
        label: mark.label,
        trigger: mark.trigger,
        timeNs: mark.time_ns,
        bytes: mark.bytes,
        isComplete: mark.complete,
        shown: mark.shown,
      })),
    };
  }

  async suspects(recording) {
    return this.json.recordings[recording].suspects;
  }

  async counters(recording) {
    const { counters } = this.json.recordings[recording];
    if (!counters || counters.length === 0) return null;
    return counters.map((counter) => ({
      name: counter.name,
      section: counter.section,
      unit: counter.unit,
      samples: counter.time_ns.map((timeNs, i) => [timeNs, counter.value[i]]),
    }));
  }

  async handles(snapshot) {
    const { handles } = this.json.snapshots[snapshot];
    if (!handles) return null;
    return handles.map((table) => ({
      ...table,
      entries: table.entries.map((entry) => ({
        handle: entry.handle,
        jsType: entry.js_type,
        jsName: entry.js_name,
        type: entry.type,
        object: entry.object,
        retained: entry.retained,
        count: entry.count,
      })),
    }));
  }

  row(type, count, bytes, retained) {
    const { names, types } = this.json;
    return { type, name: names[types.name[type]], assembly: names[types.assembly[type]], count, bytes, retained };
  }

  async types(snapshot) {
    const { types } = this.json.snapshots[snapshot];
    return {
      other: types.other,
      rows: types.type.map((type, i) =>
        this.row(type, types.count[i], types.bytes[i], types.retained ? types.retained[i] : null)
      ),
    };
  }

  node(snapshot, number) {
    const { tree } = this.json.snapshots[snapshot];
    return {
      id: number,
      snapshot,
      ...(number === 0 ? { kind: "heap", name: "All that lives" } : this.nodeName(this.json.names[tree.name[number]])),
      objects: tree.objects[number],
      bytes: tree.bytes[number],
      allObjects: tree.all_objects[number],
      retained: tree.retained[number],
      hasChildren: this.lists(snapshot)[number] !== undefined,
    };
  }

  /** Kind and name of a node that is not the whole heap. */
  nodeName(name) {
    return name.startsWith("(") ? { kind: "root", name: name.slice(1, -1).trim() } : { kind: "type", name };
  }

  /** Numbers of the children of each node that has some. */
  lists(snapshot) {
    let lists = this.trees.get(snapshot);
    if (lists === undefined) {
      const { parent } = this.json.snapshots[snapshot].tree;
      lists = [];
      for (let i = 1; i < parent.length; i++) (lists[parent[i]] = lists[parent[i]] || []).push(i);
      this.trees.set(snapshot, lists);
    }
    return lists;
  }

  async root(snapshot) {
    return this.json.snapshots[snapshot].tree === null ? null : this.node(snapshot, 0);
  }

  async children(node) {
    if (node.kind === "own" || node.kind === "other") return [];
    return this.withRest(
      node,
      (this.lists(node.snapshot)[node.id] || []).map((number) => this.node(node.snapshot, number))
    );
  }

  /** CHILDREN of NODE, and behind them its own objects and those of children that are not there. */
  withRest(node, children) {
    const rest = { snapshot: node.snapshot, parentName: node.name, hasChildren: false };
    let bytes = node.retained - node.bytes;
    let objects = node.allObjects - node.objects;
    for (const child of children) {
      bytes -= child.retained;
      objects -= child.allObjects;
    }
    if (node.bytes > 0 && (children.length > 0 || bytes > 0))
      children.push({
        ...rest,
        id: node.id + "own",
        kind: "own",
        name: node.name + " itself",
        objects: node.objects,
        allObjects: node.objects,
        bytes: node.bytes,
        retained: node.bytes,
      });
    if (bytes > 0)
      children.push({
        ...rest,
        id: node.id + "other",
        kind: "other",
        name: "other",
        objects,
        allObjects: objects,
        bytes,
        retained: bytes,
      });
    return children;
  }

  async pathTypes(snapshot) {
    const { rows } = await this.types(snapshot);
    const byType = new Map(rows.map((row) => [row.type, row]));
    return this.json.snapshots[snapshot].paths.map((paths) => byType.get(paths.type)).filter((row) => row !== undefined);
  }

  async paths(snapshot, type) {
    const found = this.json.snapshots[snapshot].paths.find((paths) => paths.type === type);
    return found === undefined ? null : this.describePaths(found, this.json.names);
  }

  describePaths(found, names) {
    const text = (number) => (number === null ? null : names[number]);
    return {
      objects: found.objects,
      reached: found.reached,
      all: found.all,
      paths: found.paths.map((path) => ({
        count: path.count,
        bytes: path.bytes,
        longest: path.longest,
        kind: text(path.kind) || "",
        root: text(path.root) || "",
        parts: path.parts.map(([type, slot, times]) => ({ type: text(type), slot: text(slot), times })),
      })),
    };
  }
}
