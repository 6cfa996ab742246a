// SPDX-License-Identifier: MIT
// WorkerData in Chromium: the job names what is read and asked; see test_reader.py.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { inChromium } = require("./page.cjs");

/** Done in the page: opens URL as a Blob and asks; answers as JSON. */
async function ask({ name, steps }) {
  const { WorkerData } = await import("/panel/panel/worker_data.js");
  const blob = await (await fetch("/data/" + name)).blob();
  const seen = { reading: 0, writing: 0 };
  const onProgress = ({ step, done, all }) => {
    if (!(done >= 0 && done <= all)) throw new Error(`progress of ${done} of ${all}`);
    seen[step]++;
  };
  const answers = [];
  let data;
  try {
    data = await WorkerData.open([{ name, blob }], { onProgress });
    for (const [method, ...values] of steps) {
      if (method !== "exportAs") {
        answers.push(await data[method](...values));
        continue;
      }
      const [snapshot, format, to] = values;
      const file = await data.exportAs(snapshot, format, { onProgress });
      await fetch("/out/" + to, { method: "POST", body: file });
      answers.push({ size: file.size, type: file.type });
    }
    return { answers, seen, memoryBytes: data.memoryBytes };
  } catch (error) {
    return { answers, seen, error: { name: error.name, message: error.message } };
  } finally {
    if (data) data.close();
  }
}

/** Done in the page: cancels while the reader reads, and opens again afterwards. */
async function cancel({ name }) {
  const { WorkerData } = await import("/panel/panel/worker_data.js");
  const blob = await (await fetch("/data/" + name)).blob();
  const told = {};
  const during = new AbortController();
  const start = performance.now();
  try {
    await WorkerData.open([{ name, blob }], { signal: during.signal, onProgress: () => during.abort() });
  } catch (error) {
    told.opening = error.name;
  }
  told.openingMs = performance.now() - start;
  const data = await WorkerData.open([{ name, blob }]);
  told.objects = (await data.info()).snapshots[0].objects;
  const writing = new AbortController();
  try {
    await data.exportAs(0, "heapsnapshot", { signal: writing.signal, onProgress: () => writing.abort() });
  } catch (error) {
    told.writing = error.name;
  }
  try {
    told.again = (await data.info()).snapshots[0].objects;
    await data.exportAs(0, "gcdump", { signal: AbortSignal.abort() });
  } catch (error) {
    told.before = error.name;
  }
  data.close();
  try {
    await data.info();
  } catch (error) {
    told.closed = error.message;
  }
  return told;
}

inChromium(async ({ browser, job, serve, open }) => {
  const server = await serve({ "/panel/": job.panel, "/data/": job.data }, { out: job.out, texts: { "/": "<!doctype html><title>reader</title>" } });
  const page = await open(server.url("/"));
  const result = await page.evaluate(job.what === "cancel" ? cancel : ask, job);
  const workers = () => page.workers().length;
  // Terminated workers leave the list by and by.
  for (let i = 0; workers() > 0 && i < 500; i++) await new Promise((resolve) => setTimeout(resolve, 20));
  return { ...result, workers: workers(), wrong: page.wrong, size: job.name && fs.statSync(path.join(job.data, job.name)).size };
});
