// SPDX-License-Identifier: MIT
// Loads .heapsnapshot files by the code of DevTools' Memory panel, in its own page
// of a headless Chromium, and answers with what it finds.  The job has "files",
// "edges_of" (names of classes) and "pairs" (of numbers of files, to be compared).
"use strict";
const path = require("node:path");
const { with_browser } = require(path.join(__dirname, "..", "node-tools", "browser.cjs"));

/** In DevTools' page: its model of each file of the page's input. */
async function load() {
  const base = "devtools://devtools/bundled/";
  const { HeapSnapshotProxy, HeapSnapshotModel } = await import(base + "models/heap_snapshot/heap_snapshot.js");
  const worker = new HeapSnapshotProxy.HeapSnapshotWorkerProxy(
    () => {}, base + "entrypoints/heap_snapshot_worker/heap_snapshot_worker-entrypoint.js");
  window.filter = new HeapSnapshotModel.NodeFilter();
  window.snapshots = [];
  for (const [number, file] of Array.from(document.querySelector("#files").files).entries()) {
    let loader;
    const found = new Promise((resolve) => {
      loader = worker.createLoader(number + 1, resolve);
    });
    const reader = file.stream().pipeThrough(new TextDecoderStream()).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      await loader.write(part.value);
    await loader.close();
    window.snapshots.push(await found);
    window.snapshots[number].setProfileUid(number + 1);
  }
}

/** In DevTools' page: all that its views show of one file. */
async function describe(number, edges_of) {
  const snapshot = window.snapshots[number];
  const all = async (provider) => {
    const { items, totalLength } = await provider.serializeItemsRange(0, 1 << 30);
    if (items.length !== totalLength)
      throw new Error(`${items.length} of ${totalLength} items`);
    return items;
  };
  const edges = async (node) => (await all(snapshot.createEdgesProvider(node.nodeIndex)))
    .map((edge) => ({ type: edge.type, name: edge.name, node: edge.node }));
  const answer = { total: snapshot.totalSize, classes: {}, objects: [], edges: {}, roots: [] };
  // The views Summary and Statistics.
  const classes = await snapshot.aggregatesWithFilter(window.filter);
  for (const [key, found] of Object.entries(classes)) {
    answer.classes[found.name] = [found.count, found.self, found.maxRet];
    const items = await all(snapshot.createNodesProviderForClass(key, window.filter));
    for (const { id, name, selfSize, retainedSize, distance } of items)
      answer.objects.push([id, name, selfSize, retainedSize, distance]);
    if (!edges_of.includes(found.name))
      continue;
    answer.edges[found.name] = [];
    for (const item of items)
      for (const edge of await edges(item))
        answer.edges[found.name].push([edge.type, edge.name, edge.node.name]);
  }
  // The view Containment: kinds of roots, below them what is a root.
  for (const kind of await edges({ nodeIndex: snapshot.rootNodeIndex }))
    for (const source of await edges(kind.node))
      for (const root of await edges(source.node))
        answer.roots.push([kind.node.type, kind.node.name, source.node.type, source.node.name, root.type, root.node.name]);
  return answer;
}

/** In DevTools' page: the view Comparison. */
async function compare(before, after) {
  const old = window.snapshots[before], now = window.snapshots[after];
  const aggregates = await old.aggregatesForDiff(await now.interfaceDefinitions());
  const differences = await now.calculateSnapshotDiff(old.uid, aggregates);
  const answer = {};
  for (const found of Object.values(differences))
    answer[found.name] = [found.addedCount, found.removedCount, found.addedSize, found.removedSize];
  return answer;
}

with_browser(async (browser, job) => {
  const page = await browser.newPage();
  await page.goto("devtools://devtools/bundled/devtools_app.html");
  await page.evaluate(() => {
    const input = document.createElement("input");
    Object.assign(input, { type: "file", id: "files", multiple: true });
    document.body.append(input);
  });
  await (await page.$("#files")).uploadFile(...job.files);
  await page.evaluate(load);
  const answers = { files: [], pairs: [], version: await browser.version() };
  for (const number of job.files.keys())
    answers.files.push(await page.evaluate(describe, number, job.edges_of));
  for (const [before, after] of job.pairs)
    answers.pairs.push(await page.evaluate(compare, before, after));
  return answers;
});
