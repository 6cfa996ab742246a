// SPDX-License-Identifier: MIT
// The other side is closed, leaves, crashes or is killed, while a snapshot or a live stream is
// under way: it is told, nothing waits for ever, and what was held for it is let go.
"use strict";
const { begin, taken } = require("./asked.cjs");

/** The ways in which a tab may be lost. */
const WAYS = {
  closed: (tools, page) => page.close(),
  left: ({ server }, page) => page.goto(server.url("/elsewhere.html")),
  crashed: (tools, page) => crash(page),
};

async function crash(page) {
  const session = await page.createCDPSession();
  session.send("Page.crash").catch(() => {}); // there is nobody to answer
  await new Promise((resolve) => page.once("error", resolve));
}

exports.crash = crash;

async function renderers(browser) {
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  return processInfo.filter((each) => each.type === "renderer");
}

/** Kills the process of a page that computes without end; only that one gains seconds. */
async function killBusy(browser) {
  const before = new Map((await renderers(browser)).map((each) => [each.id, each.cpuTime]));
  for (;;) {
    const busy = (await renderers(browser)).filter((each) => each.cpuTime - (before.get(each.id) ?? 0) > 3);
    if (busy.length > 1) throw new Error("several pages are busy");
    if (busy.length === 1) {
      process.kill(busy[0].id, "SIGKILL");
      return;
    }
  }
}

/** Opens a live stream on a panel: window.frames, of which the first is there already. */
async function follow(app, page) {
  const first = page.evaluate(async () => {
    window.frames = [];
    const { until } = await import("/pages.mjs");
    const onOpen = () => dispatchEvent(new Event("live"));
    window.stream = client.live(client.runtimes[0].id, {
      onOpen,
      onFrame: (frame) => {
        frames.push(frame.slice());
        dispatchEvent(new Event("live"));
      },
    });
    stream.ended.then((error) => {
      window.streamEnd = error && error.name;
      dispatchEvent(new Event("live"));
    });
    await until(window, "live", () => frames.length > 0);
  });
  await app.evaluate(async () => {
    while (sources[0].listeners.size === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    sources[0].record(1000);
  });
  await first;
}

/** What the panel has heard of the loss, when it has. */
const toldOf = (page) =>
  page.evaluate(async () => {
    const { listed, until } = await import("/pages.mjs");
    await listed(0);
    await until(window, "live", () => window.streamEnd !== undefined);
    return { stream: streamEnd, gone: heard.filter((each) => each.type === "gone").map((each) => each.detail.title) };
  });

/** A program and a panel; a live stream and a snapshot are under way. */
async function underWay({ program, panel, listed, inPage }) {
  const app = await program("one");
  const page = await panel();
  await listed(page, 1);
  await follow(app, page);
  await begin(page);
  await inPage(app, "taking", [1]);
  return { app, page };
}

/** Takes snapshot number N of the program from PAGE. */
async function takes({ assert, inPage }, app, page, n) {
  await begin(page, "again");
  await inPage(app, "taking", [n]);
  await app.evaluate((n) => sources[0].takes[n - 1].resolve(new Blob(["again"])), n);
  assert.strictEqual(await taken(page), "again");
}

/** Waits until nobody follows the program any more. */
const unfollowed = (app) =>
  app.evaluate(async () => {
    while (sources[0].listeners.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });

/** Nothing waits for anybody: no lock is asked for, and only PAGE's own is held. */
async function isAlone(assert, page) {
  const locks = await page.evaluate(async () => {
    const { held, pending } = await navigator.locks.query();
    return { held: held.length, pending: pending.length };
  });
  assert.deepStrictEqual(locks, { held: 1, pending: 0 });
}

const scenarios = (exports.scenarios = {});

for (const [how, lose] of Object.entries(WAYS)) {
  scenarios["program_" + how] = async (tools) => {
    const { assert } = tools;
    const { app, page } = await underWay(tools);
    await lose(tools, app);
    assert.match(await taken(page), /^GoneError: the program is gone/);
    assert.deepStrictEqual(await toldOf(page), { stream: "GoneError", gone: ["one"] });
    assert.strictEqual(await page.evaluate(() => client.take(heard[0].detail[0].id).catch((error) => error.name)), "GoneError");
    await isAlone(assert, page);
    app.wrong.length = app.said.length = 0;
  };

  scenarios["panel_" + how] = async (tools) => {
    const { assert, panel, listed } = tools;
    const { app, page } = await underWay(tools);
    await lose(tools, page);
    // The snapshot is given up, and nobody listens to frames any more.
    const left = await app.evaluate(async () => {
      const { signal } = sources[0].takes[0];
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return { listeners: sources[0].listeners.size };
    });
    assert.deepStrictEqual(left, { listeners: 0 });
    await isAlone(assert, app);
    // And the next panel finds the program as before.
    const next = await panel();
    await listed(next, 1);
    await takes(tools, app, next, 2);
    page.wrong.length = page.said.length = 0;
  };
}

// In the middle of a collection, which does not end.
scenarios.program_killed = async (tools) => {
  const { assert, browser } = tools;
  const { app, page } = await underWay(tools);
  app.evaluate(() => {
    for (;;);
  }).catch(() => {});
  await killBusy(browser);
  assert.match(await taken(page), /^GoneError: /);
  assert.deepStrictEqual(await toldOf(page), { stream: "GoneError", gone: ["one"] });
  app.wrong.length = app.said.length = 0;
};

// The browser keeps a page that is left for the way back.
scenarios.back = async (tools) => {
  const { assert, server, program, panel, listed } = tools;
  const app = await program("one");
  const page = await panel();
  await listed(page, 1);
  const id = await page.evaluate(() => client.runtimes[0].id);
  await follow(app, page);
  await app.goto(server.url("/elsewhere.html"));
  assert.deepStrictEqual(await toldOf(page), { stream: "GoneError", gone: ["one"] });
  await app.goBack();
  // Without it this would be another page, without a program.
  assert.strictEqual(await app.evaluate(() => window.sources?.length), 1);
  await listed(page, 1);
  assert.notStrictEqual(await page.evaluate(() => client.runtimes[0].id), id);
  await page.evaluate(() => delete window.streamEnd);
  await follow(app, page);

  // The same for the panel.
  await page.goto(server.url("/elsewhere.html"));
  await unfollowed(app);
  await page.goBack();
  await listed(page, 1);
  assert.strictEqual(await page.evaluate(() => streamEnd), "AbortError");
  await takes(tools, app, page, 1);
};

// A panel that is closed by its own page, and a program that closes its channel.
scenarios.byThemselves = async (tools) => {
  const { assert, panel, listed, inPage } = tools;
  const { app, page } = await underWay(tools);
  const ended = await page.evaluate(async () => {
    client.close();
    await stream.ended;
    return [await taken, client.runtimes.length];
  });
  assert.deepStrictEqual(ended, ["AbortError: the panel was closed", 0]);
  await unfollowed(app);
  assert.strictEqual(await app.evaluate(() => sources[0].takes[0].signal.aborted), true);
  const next = await panel();
  await listed(next, 1);
  await follow(app, next);
  await begin(next);
  await inPage(app, "taking", [2]);
  await app.evaluate(() => channels[0].close());
  assert.match(await taken(next), /^GoneError/);
  assert.deepStrictEqual(await toldOf(next), { stream: "GoneError", gone: ["one"] });
  assert.strictEqual(await app.evaluate(() => sources[0].listeners.size), 0);
  await isAlone(assert, next);
};
