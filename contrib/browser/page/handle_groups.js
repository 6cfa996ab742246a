// SPDX-License-Identifier: MIT
// References between C# and JavaScript, those that are alike put together, and
// which of them look forgotten.
import { change, count } from "./format.js";

const MANY = 50; // alike in one table: worth a hint
const GREW = 20; // more of them than at the first snapshot: too

/** What the tables are: in a title, in a sentence, and what ends an entry. */
const TABLES = {
  js_proxy: {
    title: "C# objects held by JavaScript",
    says: (n, name) => `JavaScript holds ${n} C# object${n === "1" ? "" : "s"} ${name}`,
    ends: "Their proxies are let go, or disposed: proxy.dispose().",
  },
  js_object: {
    title: "JavaScript objects held by C#",
    says: (n, name) => `C# holds ${n} JavaScript object${n === "1" ? "" : "s"} ${name}`,
    ends: "Their JSObject is disposed in C#, or collected.",
  },
  dotnet_object_reference: {
    title: "DotNetObjectReference",
    says: (n, name) => `${n} DotNetObjectReference not disposed: ${name}`,
    ends: "Blazor keeps the object until Dispose() of its reference, in C# or in JavaScript.",
  },
  js_object_reference: {
    title: "IJSObjectReference",
    says: (n, name) => `${n} IJSObjectReference not disposed: ${name}`,
    ends: "Blazor keeps the JavaScript object until DisposeAsync() of its reference.",
  },
};

/** Title of a table. */
export function titleOf(table) {
  return TABLES[table.name] ? TABLES[table.name].title : table.title || table.name;
}

/** What ends the entries of a table, in a sentence, or null. */
export function endOf(table) {
  return TABLES[table.name] ? TABLES[table.name].ends : null;
}

/** Entries of TABLE, those that are left out among them. */
export function entriesOf(table) {
  return table.entries.reduce((sum, entry) => sum + entry.count, table.other || 0);
}

const keyOf = (entry) => [entry.type, entry.jsType, entry.jsName].join("\0");

/** Entries that are alike: { type, jsType, jsName, count, retained, first }, the most first; what
 * several entries retain is a sum, the same object counted once. */
export function groupsOf(table) {
  const groups = new Map();
  const seen = new Set();
  for (const entry of table.entries) {
    const key = keyOf(entry);
    let group = groups.get(key);
    if (group === undefined) groups.set(key, (group = { key, type: entry.type, jsType: entry.jsType, jsName: entry.jsName, count: 0, retained: null }));
    group.count += entry.count;
    if (entry.retained !== null && entry.retained !== undefined && !(entry.object && seen.has(entry.object))) group.retained = (group.retained || 0) + entry.retained;
    if (entry.object) seen.add(entry.object);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
}

/** TABLE's groups, each with its change since the same table among those BEFORE, if these are given. */
export function changesOf(table, before) {
  const groups = groupsOf(table);
  if (!before) return groups;
  const same = before.find((one) => one.name === table.name);
  const old = new Map(same ? groupsOf(same).map((group) => [group.key, group.count]) : []);
  return groups.map((group) => ({ ...group, change: group.count - (old.get(group.key) || 0) }));
}

/** A name for what a group is of: by what stands on the other side. */
export function nameOf(table, { type, jsName, jsType }) {
  const isOfJs = table.name.startsWith("js_object");
  return (isOfJs ? jsName || type : type || jsName) || jsType || "of a kind that is not known";
}

/** Groups that look forgotten: there are many, or there were fewer BEFORE.
 * @returns {{table: object, group: object, text: string, more: string, ends: string}[]} */
export function hintsOf(tables, before) {
  const hints = [];
  for (const table of tables) {
    for (const group of changesOf(table, before)) {
      if (group.count < MANY && !(group.change >= GREW)) continue;
      const says = TABLES[table.name] ? TABLES[table.name].says : (n, name) => `${titleOf(table)}: ${n} ${name}`;
      hints.push({ table, group, text: says(count(group.count), nameOf(table, group)), more: group.change ? change(group.change) : "", ends: endOf(table) || "" });
    }
  }
  return hints.sort((a, b) => (b.group.change || 0) - (a.group.change || 0) || b.group.count - a.group.count);
}
