// SPDX-License-Identifier: MIT
// The data provider on a reader: what the report has, and by request all that it leaves out.
// It runs where the reader does; the page's side of it is worker_data.js.
import { EmbeddedData } from "../page/embedded.js";
import { Parts } from "./parts.js";

/** Bytes of the report's JSON, as with --max-size. */
export const REPORT_BYTES = 64 << 20;
/** Paths of a type. */
const PATHS = 50;

/** Formats of exportAs, and their types of media. */
const FORMATS = {
  hs: "application/octet-stream",
  "mono-heap": "application/octet-stream",
  gcdump: "application/octet-stream",
  heapsnapshot: "application/json",
};

export class ReaderData extends EmbeddedData {
  /** @param {import("./reader.js").Reader} reader  not opened yet */
  constructor(reader) {
    reader.open();
    super(JSON.parse(reader.report(REPORT_BYTES)));
    this.reader = reader;
  }

  async children(node) {
    if (node.kind === "own" || node.kind === "other") return [];
    const children = this.reader.children(node.snapshot, node.id).map((child) => ({
      id: child.node,
      snapshot: node.snapshot,
      ...this.nodeName(child.name),
      objects: child.objects,
      bytes: child.bytes,
      allObjects: child.all_objects,
      retained: child.retained,
      hasChildren: child.children > 0,
    }));
    return this.withRest(node, children);
  }

  /** All types of which something lives: any may be asked for. */
  async pathTypes(snapshot) {
    const { rows } = await this.types(snapshot);
    return rows.filter((row) => row.retained > 0).sort((a, b) => b.retained - a.retained || a.type - b.type);
  }

  async paths(snapshot, type) {
    const known = await super.paths(snapshot, type);
    if (known !== null && known.paths.length === known.all) return known;
    if (!this.snapshots[snapshot].hasGraph) return null;
    const { rows } = await this.types(snapshot);
    if (!rows.some((row) => row.type === type)) return null;
    const { paths, names } = this.reader.paths(snapshot, type, PATHS);
    return this.describePaths(paths, names);
  }

  /** The snapshot in a format of FORMATS.  @returns {Promise<Blob>} */
  async exportAs(snapshot, format) {
    if (!Object.hasOwn(FORMATS, format)) throw new Error(`there is no format '${format}' here`);
    const parts = new Parts();
    this.reader.export(snapshot, format, (piece) => parts.put(piece));
    return parts.blob(FORMATS[format]);
  }
}
