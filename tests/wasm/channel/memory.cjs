// SPDX-License-Identifier: MIT
// 500 MB, as one Blob and as a live stream: what that takes where.  Shared memory that is on its
// way belongs to no process: it shows in the system's Shmem alone, as do other programs' changes.
"use strict";
const fs = require("node:fs");
const { crash } = require("./lost.cjs");

const MB = 1 << 20;
const N = 500;

const scenarios = (exports.scenarios = {});

function shmem() {
  return Number(/^Shmem: +(\d+) kB/m.exec(fs.readFileSync("/proc/meminfo", "latin1"))[1]) * 1024;
}

/** PSS of PID's process and of those below it: {pid: {type, bytes}}. */
function processes(pid) {
  const below = {};
  for (const name of fs.readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const parent = Number(/\) \S (\d+)/.exec(fs.readFileSync(`/proc/${name}/stat`, "latin1"))[1]);
      (below[parent] ||= []).push(Number(name));
    } catch {
      // It has ended.
    }
  }
  const found = {};
  const visit = (each) => {
    try {
      const pss = /^Pss: +(\d+) kB/m.exec(fs.readFileSync(`/proc/${each}/smaps_rollup`, "latin1"));
      const type = /--type=([\w-]+)/.exec(fs.readFileSync(`/proc/${each}/cmdline`, "latin1"));
      if (pss) found[each] = { type: type ? type[1] : "browser", bytes: Number(pss[1]) * 1024 };
    } catch {
      // It has ended.
    }
    for (const child of below[each] || []) visit(child);
  };
  visit(pid);
  return found;
}

/**
 * The most that WORK took, in MB, above what was there at its start.  It returns the program's
 * page, which crashes then: so it is known whose process was whose.
 */
async function measured(browser, work) {
  const before = { shmem: shmem(), of: processes(browser.process().pid) };
  let shared = 0;
  const most = {}; // by pid
  const lookAtShared = () => (shared = Math.max(shared, shmem() - before.shmem));
  const lookAtAll = () => {
    for (const [pid, { bytes }] of Object.entries(processes(browser.process().pid)))
      if (pid in before.of) most[pid] = Math.max(most[pid] ?? 0, bytes - before.of[pid].bytes);
  };
  // To ask for the PSS of all takes its time; each asks for itself.
  const timers = [setInterval(lookAtShared, 50), setInterval(lookAtAll, 1000)];
  const begun = Date.now();
  let app;
  try {
    app = await work();
  } finally {
    for (const timer of timers) clearInterval(timer);
  }
  lookAtShared();
  lookAtAll();
  const seconds = (Date.now() - begun) / 1000;
  if (app) await crash(app);
  const left = processes(browser.process().pid);
  const largest = (isWanted) =>
    Math.round(Math.max(0, ...Object.keys(most).filter((pid) => isWanted(before.of[pid].type, pid in left)).map((pid) => most[pid])) / MB);
  return {
    shmem: Math.round(shared / MB),
    browser: largest((type) => type === "browser"),
    program: largest((type, isLeft) => type === "renderer" && !isLeft),
    panel: largest((type, isLeft) => type === "renderer" && isLeft),
    seconds,
  };
}

scenarios.blob500 = async ({ assert, browser, program, panel, listed, inPage }) => {
  const app = await program("large");
  const page = await panel();
  await listed(page, 1);
  const taken = page.evaluate(async () => {
    window.blob = await client.take(client.runtimes[0].id);
    return blob.size;
  });
  await inPage(app, "taking", [1]);
  const figures = await measured(browser, async () => {
    await app.evaluate(async (n) => {
      const { frameOf } = await import("/pages.mjs");
      const parts = [];
      // As they come in a collection: in one go, each a Blob at once.
      for (let i = 0; i < n; i++) parts.push(new Blob([frameOf(i, 1 << 20)]));
      sources[0].takes[0].resolve(new Blob(parts));
    }, N);
    assert.strictEqual(await taken, N * MB);
    return app;
  });
  // A handle, and no copy; it has crashed, and what it made is there.
  assert.ok(figures.panel < 100, JSON.stringify(figures));
  await listed(page, 0);
  const wrong = await page.evaluate(async () => {
    const { isFrame } = await import("/pages.mjs");
    const frame = new Uint8Array(1 << 20);
    let at = 0;
    let number = 0;
    let wrong = 0;
    const reader = blob.stream().getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      for (let from = 0; from < read.value.length; ) {
        const part = read.value.subarray(from, from + frame.length - at);
        frame.set(part, at);
        at = (at + part.length) % frame.length;
        from += part.length;
        if (at === 0 && !isFrame(frame, number++)) wrong++;
      }
    }
    return { number, wrong };
  });
  assert.deepStrictEqual(wrong, { number: N, wrong: 0 });
  app.wrong.length = app.said.length = 0;
  return figures;
};

scenarios.stream500 = async ({ assert, browser, program, panel, listed }) => {
  const app = await program("large");
  const page = await panel();
  await listed(page, 1);
  const all = page.evaluate(async (n) => {
    const { isFrame, until } = await import("/pages.mjs");
    window.seen = { frames: 0, wrong: 0 };
    const released = new Promise((resolve) => (window.release = resolve));
    const onOpen = () => {
      window.isOpen = true;
      dispatchEvent(new Event("live"));
    };
    const onFrame = async (frame) => {
      if (seen.frames === 0) await released;
      if (!isFrame(frame, seen.frames++)) seen.wrong++;
      dispatchEvent(new Event("live"));
    };
    client.live(client.runtimes[0].id, { onOpen, onFrame });
    await until(window, "live", () => seen.frames === n);
    return seen;
  }, N);
  await page.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    await until(window, "live", () => window.isOpen);
  });
  let waiting;
  const figures = await measured(browser, async () => {
    const before = shmem();
    // The panel stands at the first frame: without a window all would be on its way.
    await app.evaluate((n) => {
      for (let i = 0; i < n; i++) sources[0].record(1 << 20);
    }, N);
    waiting = Math.round((shmem() - before) / MB);
    await page.evaluate(() => release());
    assert.deepStrictEqual(await all, { frames: N, wrong: 0 });
    return app;
  });
  assert.ok(waiting < 150, `${waiting} MB more Shmem`);
  assert.ok(figures.shmem < 200 && figures.panel < 200, JSON.stringify(figures));
  app.wrong.length = app.said.length = 0;
  return { ...figures, waiting };
};
