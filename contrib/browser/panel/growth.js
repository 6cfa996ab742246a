// SPDX-License-Identifier: MIT
// What grew between two snapshots of two Blobs, as the summary shows it: the
// reader of each knows its own only.
import { bytes, change, count } from "../page/format.js";

const MOST = 10; // types
const LEAST_BYTES = 1024;

/** "static T.Pub.Ev -> System.EventHandler.delegates -> System.Object[] [0] -> T.Page" */
function pathText({ kind, root, parts }) {
  const slot = (text) => (/^[[+(]/.test(text) ? " " : ".") + text;
  const step = ({ type, slot: field, times }) => (type === null ? `${count(times)} more steps` : type + (field === null ? "" : slot(field)) + (times > 1 ? ` (${count(times)} times)` : ""));
  return [`${kind.replace(/_/g, " ")} ${root}`.trim(), ...parts.map(step)].join(" -> ");
}

/** The types that grew most from snapshot FIRST to LAST of DATA, with what holds them. */
export async function growthOf(data, first, last) {
  const rows = (await data.diff(first.index, last.index)).filter((row) => row.count > 0 && row.bytes >= LEAST_BYTES);
  rows.sort((a, b) => b.bytes - a.bytes);
  return Promise.all(
    rows.slice(0, MOST).map(async (row) => {
      const found = last.hasGraph ? await data.paths(last.index, row.type) : null;
      const path = found !== null && found.paths.length > 0 ? found.paths[0] : null;
      return {
        kind: "growth",
        text: `${row.name}: ${change(row.count)} objects, ${change(row.bytes, bytes)}; now ${count(row.after.count)} with ${bytes(row.after.bytes)}`,
        type: row.name,
        count: row.count,
        bytes: row.bytes,
        holder: null,
        path: path === null ? null : { text: pathText(path) },
      };
    })
  );
}
