// SPDX-License-Identifier: MIT
//
// Loads a .heapsnapshot by DevTools' own loader in a headless Chromium:
// devtools_load.cjs FILE FOLDER; prints one line of JSON.  CPU time is that of
// all of the browser's processes while it loads, memory the peak of the largest of
// them, the start of the browser included.  Needs CHROMIUM, CHROMIUM_FLAGS.
"use strict";
const fs = require("fs");
const puppeteer = require("puppeteer-core");

const [file, folder] = process.argv.slice(2);
const TICKS = 100;

/** All processes below PID, itself too: pid to ticks of CPU time and peak of memory. */
function family(pid) {
  const parents = new Map(), found = new Map();
  for (const name of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, "latin1").replace(/^.*\) /s, "").split(" ");
      const status = fs.readFileSync(`/proc/${name}/status`, "latin1");
      parents.set(Number(name), {
        parent: Number(stat[1]),
        ticks: Number(stat[11]) + Number(stat[12]),
        peak: Number((/VmHWM:\s*(\d+)/.exec(status) || [0, 0])[1]) * 1024,
      });
    } catch (error) {
      // It has ended meanwhile.
    }
  }
  for (const [name, one] of parents) {
    let at = name;
    while (at !== pid && parents.has(at))
      at = parents.get(at).parent;
    if (at === pid)
      found.set(name, one);
  }
  return found;
}

/** In DevTools' page: loads the file of the page's input, answers with what was found. */
async function load() {
  const base = "devtools://devtools/bundled/";
  const { HeapSnapshotProxy } = await import(base + "models/heap_snapshot/heap_snapshot.js").catch(
    () => import(base + "panels/profiler/profiler.js"));
  const worker = new HeapSnapshotProxy.HeapSnapshotWorkerProxy(
    () => {}, base + "entrypoints/heap_snapshot_worker/heap_snapshot_worker-entrypoint.js");
  const start = performance.now();
  const found = new Promise((resolve) => {
    window.loader = worker.createLoader(1, resolve);
  });
  const reader = document.querySelector("#heapshot").files[0].stream().pipeThrough(new TextDecoderStream()).getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read())
    await window.loader.write(part.value);
  await window.loader.close();
  const snapshot = await found;
  const wall = performance.now() - start;
  const { HeapSnapshotModel } = await import(base + "models/heap_snapshot_model/heap_snapshot_model.js").catch(() => ({}));
  const filter = HeapSnapshotModel ? new HeapSnapshotModel.NodeFilter() : {};
  const classes = await snapshot.aggregatesWithFilter(filter);
  let nodes = 0;
  for (const name of Object.keys(classes))
    nodes += classes[name].count;
  return { wall_s: wall / 1000, objects: nodes };
}

(async () => {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM, args: (process.env.CHROMIUM_FLAGS || "").split(" "), userDataDir: folder,
    protocolTimeout: 1800000,
  });
  try {
    const page = await browser.newPage();
    await page.goto("devtools://devtools/bundled/devtools_app.html");
    await page.evaluate(() => {
      const input = document.createElement("input");
      input.type = "file";
      input.id = "heapshot";
      document.body.append(input);
    });
    await (await page.$("#heapshot")).uploadFile(file);
    const pid = browser.process().pid;
    const before = family(pid);
    const result = await page.evaluate(load);
    let ticks = 0, peak = 0;
    for (const [name, one] of family(pid)) {
      ticks += one.ticks - (before.has(name) ? before.get(name).ticks : 0);
      peak = Math.max(peak, one.peak);
    }
    console.log(JSON.stringify({ ...result, cpu_s: ticks / TICKS, peak_rss_bytes: peak,
                                 version: await browser.version() }));
  } finally {
    await browser.close();
  }
})().catch((error) => {
  console.error(String(error && error.stack || error));
  process.exit(1);
});
