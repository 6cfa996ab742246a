// SPDX-License-Identifier: MIT
// A scenario in node: node mjs_node.mjs FILE SCENARIO ROOT DIRECTORY [WORD...], where FILE is a
// module of this folder that exports `scenarios`.
import fs from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , file, name, root, directory, ...words] = process.argv;
const place = {
  base: pathToFileURL(root + path.sep).href,
  heapshot: new URL("../../contrib/browser/heapshot.mjs", import.meta.url).href,
  save: (to, blob) => fs.writeFile(path.join(directory, to), blob.stream()),
  where: "node",
};
const { scenarios } = await import(new URL(file, import.meta.url));
const result = await scenarios[name](place, ...words);
process.stdout.write("RESULT " + JSON.stringify(result) + "\n", () => process.exit(0));
