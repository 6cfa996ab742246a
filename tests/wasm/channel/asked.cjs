// SPDX-License-Identifier: MIT
// What a panel asks, and what it is told.
"use strict";

/** Begins a snapshot on a panel: window.taken, what came of it, and window.progress. */
const begin = (page, label = "") =>
  page.evaluate((label) => {
    window.ended = new AbortController();
    window.progress = [];
    const onProgress = (done) => {
      progress.push(done);
      dispatchEvent(new Event("progress"));
    };
    const taken = client.take(client.runtimes[0].id, { label, signal: ended.signal, onProgress });
    window.taken = taken.then(
      (blob) => blob.text(),
      (error) => error.name + ": " + error.message,
    );
  }, label);
const taken = (page) => page.evaluate(() => window.taken);
exports.begin = begin;
exports.taken = taken;

const scenarios = (exports.scenarios = {});

scenarios.progress = async ({ assert, program, panel, listed, inPage }) => {
  const app = await program("one");
  const page = await panel();
  await listed(page, 1);
  await begin(page, "with a label");
  await inPage(app, "taking", [1]);
  // The page stands still meanwhile, as in a collection, and what it tells comes all the same.
  const told = page.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    await until(window, "progress", () => progress.length >= 3);
    return progress;
  });
  const calls = await app.evaluate(() => {
    const [take] = sources[0].takes;
    const begun = performance.now();
    let frames = 0;
    while (performance.now() - begun < 1000) take.onProgress({ bytes: ++frames * 10, frames });
    take.resolve(new Blob([take.label]));
    return frames;
  });
  assert.strictEqual(await taken(page), "with a label");
  const progress = await told;
  // As often as that is of use, and not with each frame.
  assert.ok(calls > 1000 && progress.length <= 12, `${calls} ${progress.length}`);
  assert.deepStrictEqual(Object.keys(progress[0]).sort(), ["bytes", "frames"]);
  for (const { bytes, frames } of progress) assert.strictEqual(bytes, frames * 10);
  for (let i = 1; i < progress.length; i++) assert.ok(progress[i].frames > progress[i - 1].frames);
};

scenarios.cancel = async ({ assert, program, panel, listed, inPage }) => {
  const app = await program("one");
  const page = await panel();
  await listed(page, 1);
  await begin(page);
  await inPage(app, "taking", [1]);
  await page.evaluate(() => ended.abort());
  assert.match(await taken(page), /^AbortError: /);
  await app.evaluate(async () => {
    const { signal } = sources[0].takes[0];
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  });
  // What ends all the same is not sent, and the next one is.
  await app.evaluate(() => sources[0].takes[0].resolve(new Blob(["late"])));
  await begin(page, "next");
  await inPage(app, "taking", [2]);
  await app.evaluate(() => sources[0].takes[1].resolve(new Blob(["next"])));
  assert.strictEqual(await taken(page), "next");
  // Cancelled before it was asked for.
  const early = await page.evaluate(() =>
    client.take(client.runtimes[0].id, { signal: AbortSignal.abort() }).catch((error) => error.name),
  );
  assert.strictEqual(early, "AbortError");
  assert.strictEqual(await app.evaluate(() => sources[0].takes.length), 2);
};

/** The program stands still for a minute, unless the snapshot is given up: how. */
const standStill = (app) =>
  app.evaluate(() => {
    const [take] = sources[0].takes;
    const begun = performance.now();
    let frames = 0;
    while (performance.now() - begun < 60000 && !take.signal.aborted) take.onProgress({ bytes: ++frames, frames });
    return { isAborted: take.signal.aborted, messages: window.messagesMeanwhile };
  });

// Neither the cancel, nor the end of the panel, can be received there.
scenarios.still = async ({ assert, program, panel, listed, inPage }) => {
  for (const how of ["cancel", "close"]) {
    const app = await program(how);
    const page = await panel();
    await listed(page, 1);
    await begin(page);
    await inPage(app, "taking", [1]);
    const stood = standStill(app);
    await page.evaluate(async () => {
      const { until } = await import("/pages.mjs");
      await until(window, "progress", () => progress.length > 0);
    });
    if (how === "cancel") await page.evaluate(() => ended.abort());
    else await page.close();
    assert.strictEqual((await stood).isAborted, true);
    // The browser notes that the URL is gone; nothing else.
    assert.ok(app.said.length <= 1 && /ERR_FILE_NOT_FOUND/.test(app.said.join()), app.said.join());
    app.said.length = app.wrong.length = 0;
    await app.close();
  }
};

scenarios.failing = async ({ assert, program, panel, listed, inPage }) => {
  const app = await program("one");
  const page = await panel();
  await listed(page, 1);
  await begin(page);
  await inPage(app, "taking", [1]);
  await app.evaluate(() => sources[0].takes[0].reject(new RangeError("no room for it")));
  assert.strictEqual(await taken(page), "RangeError: no room for it");
  const stats = await page.evaluate(() => client.stats(client.runtimes[0].id));
  assert.deepStrictEqual(stats, { types: [{ type: "T.Node", count: 3, bytes: 60 }], memory: { live: 60 } });
  await app.evaluate(() => {
    sources[0].memoryStats = async () => ({ cannotCross: () => {} });
    sources[0].recording = () => {
      throw new Error("nothing was recorded");
    };
  });
  const refused = await page.evaluate(async () => {
    const { id } = client.runtimes[0];
    const stats = await client.stats(id).catch((error) => error.name);
    const live = await client.live(id, { onFrame() {} }).ended;
    return [stats, live.message];
  });
  assert.deepStrictEqual(refused, ["DataCloneError", "nothing was recorded"]);
  // What the program would not answer is refused here.
  const windows = await page.evaluate(() =>
    [1, 65, 2.5, "8", null].map((window) => {
      try {
        client.live(client.runtimes[0].id, { onFrame() {}, window });
        return "opened";
      } catch (error) {
        return error.name;
      }
    }),
  );
  assert.deepStrictEqual(windows, Array(5).fill("RangeError"));
  // Not a rejected promise that nobody sees, either.
  const own = await page.evaluate(() => client.stats("nobody").catch((error) => error.name));
  assert.strictEqual(own, "GoneError");
};

// A page whose policy forbids to look for the panel's URL: a cancel counts afterwards.
scenarios.policy = async ({ assert, page, panel, listed, inPage }) => {
  const app = await page("/policy.html");
  await inPage(app, "program", ["one"]);
  const viewer = await panel();
  await listed(viewer, 1);
  await begin(viewer);
  await inPage(app, "taking", [1]);
  const stood = app.evaluate(async () => {
    const [take] = sources[0].takes;
    const begun = performance.now();
    let frames = 0;
    while (performance.now() - begun < 1000) take.onProgress({ bytes: ++frames, frames });
    const { signal } = take;
    const isAborted = signal.aborted;
    if (!isAborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return isAborted;
  });
  await viewer.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    await until(window, "progress", () => progress.length > 0);
    ended.abort();
  });
  assert.match(await taken(viewer), /^AbortError: /);
  assert.strictEqual(await stood, false);
  assert.ok(app.said.every((line) => /Content Security Policy/.test(line)), app.said.join());
  app.said.length = app.wrong.length = 0;
};

// A URL of anything else is not asked for.
scenarios.sign = async ({ assert, server, program, listener, inPage }) => {
  const ear = await listener();
  const app = await program("one");
  await ear.evaluate(async (elsewhere) => {
    const { newId } = await import("/browser/app/protocol.mjs");
    const { hold } = await import("/browser/app/presence.mjs");
    const { heardOf } = await import("/pages.mjs");
    const panel = newId();
    await hold(panel);
    listener.postMessage({ type: "heapshot/hello", protocol: 1, hello: newId(), panel });
    await heardOf((each) => each.type === "heapshot/hello-reply");
    const { runtime, nonce } = messages.find((each) => each.type === "heapshot/hello-reply");
    const session = new BroadcastChannel(["heapshot", panel, runtime, nonce].join("/"));
    for (const sign of [elsewhere, "/wanted", "blob:https://example.invalid/" + newId(), 7, null, {}])
      session.postMessage({ type: "heapshot/take", protocol: 1, request: newId(), label: "", sign });
  }, server.url("/wanted"));
  await inPage(app, "taking", [6]);
  await app.evaluate(() => {
    for (const take of sources[0].takes) {
      take.onProgress({ bytes: 1, frames: 1 });
      take.resolve(new Blob(["x"]));
    }
  });
  assert.ok(!server.asked.includes("/wanted"), String(server.asked));
  // None of them was taken for a cancel.
  assert.deepStrictEqual(await app.evaluate(() => sources[0].takes.map((take) => take.signal.aborted)), Array(6).fill(false));
};

// Where there are no Web Locks, as without https.
scenarios.insecure = async ({ assert, page }) => {
  const tab = await page();
  const why = await tab.evaluate(async () => {
    Object.defineProperty(navigator, "locks", { value: undefined });
    const { Source } = await import("/pages.mjs");
    const { openChannel } = await import("/browser/app/channel.mjs");
    const { PanelClient } = await import("/browser/panel/client.js");
    const said = [await openChannel(new Source("one")).catch((error) => error.message)];
    try {
      new PanelClient();
    } catch (error) {
      said.push(error.message);
    }
    return said;
  });
  assert.strictEqual(why.length, 2);
  for (const each of why) assert.match(each, /use https, or localhost/);
};
