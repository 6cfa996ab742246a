// SPDX-License-Identifier: MIT
// node check.mjs TYPESCRIPT BROWSER: prints in JSON the members that heapshot.d.mts declares, and
// those that are there.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [, , typescript, browser] = process.argv;
const ts = createRequire(import.meta.url)(typescript);
const file = path.join(browser, "heapshot.d.mts");
const source = ts.createSourceFile(file, fs.readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
const declared = { functions: [], members: [], interop: [] };
for (const statement of source.statements) {
  const name = statement.name.text;
  const members = statement.members?.map((member) => member.name.text);
  if (ts.isFunctionDeclaration(statement)) declared.functions.push(name);
  else if (name === "Heapshot" || name === "Exposed") declared.members.push(...members);
  else if (name === "Prepared") declared.interop.push(...members);
}

const load = (name) => import(pathToFileURL(path.join(browser, name)).href);
const { Heapshot } = await load("app/attached.mjs");
const { Interop } = await load("app/interop.mjs");
const own = (object, type) => [...Object.keys(object), ...Object.getOwnPropertyNames(type.prototype)];
const interop = new Interop();
const present = {
  functions: Object.keys(await load("heapshot.mjs")),
  members: own(new Heapshot({ Module: { _heapshot_version: () => 1 << 16 } }), Heapshot),
  interop: own(interop, Interop),
};
interop.remove();
const sorted = (names) => names.filter((name) => name !== "constructor" && name !== "expose").sort();
const each = (of) => Object.fromEntries(Object.entries(of).map(([name, names]) => [name, sorted(names)]));
console.log(JSON.stringify({ declared: each(declared), present: each(present) }));
