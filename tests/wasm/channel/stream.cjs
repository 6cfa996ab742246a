// SPDX-License-Identifier: MIT
// Live streams: order, the window, who works slowly, tabs that nobody sees.
"use strict";

const scenarios = (exports.scenarios = {});

/** Follows until N frames came: whether each was the right one, and all bytes. */
const follow = (page, n, how = {}) =>
  page.evaluate(
    async (n, { window: at, msPerFrame }) => {
      const { isFrame, until } = await import("/pages.mjs");
      window.seen = { frames: 0, bytes: 0, wrong: 0, before: null };
      const onOpen = (recording) => {
        seen.before = recording.size;
        dispatchEvent(new Event("live"));
      };
      const onFrame = (frame) => {
        if (!isFrame(frame, seen.frames)) seen.wrong++;
        seen.frames++;
        seen.bytes += frame.length;
        dispatchEvent(new Event("live"));
        if (msPerFrame) return new Promise((resolve) => setTimeout(resolve, msPerFrame));
      };
      window.stream = client.live(client.runtimes[0].id, { onOpen, onFrame, window: at });
      await until(window, "live", () => seen.frames >= n);
      return seen;
    },
    n,
    how,
  );

const opened = (page) =>
  page.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    await until(window, "live", () => window.seen && seen.before !== null);
  });

// In one go, as in a collection: far more than the window.
scenarios.burst = async ({ assert, program, panel, listed }) => {
  const app = await program("one");
  await app.evaluate(() => (sources[0].before = [new Uint8Array(12345)]));
  const page = await panel();
  await listed(page, 1);
  const sizes = [100, 60000, 1 << 20, 3 << 20, 56, 57, 700000, 700000];
  // The first of a stream's frames may have no answer while it opens.
  const all = follow(page, 64);
  await opened(page);
  const bytes = await app.evaluate((sizes) => {
    let bytes = 0;
    for (let i = 0; i < 64; i++) {
      const size = sizes[i % sizes.length];
      sources[0].record(size);
      bytes += size;
    }
    return bytes;
  }, sizes);
  assert.deepStrictEqual(await all, { frames: 64, bytes, wrong: 0, before: 12345 });
  // It goes on, and ends when it is told to.
  await app.evaluate(() => sources[0].record(100));
  await page.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    await until(window, "live", () => seen.frames === 65);
    stream.stop();
    if ((await stream.ended) !== null) throw new Error("it ended otherwise");
  });
  await app.evaluate(async () => {
    while (sources[0].listeners.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });
};

/** Never more than WINDOW chunks are sent and not acknowledged: the most that there were. */
const watchWindow = (app) =>
  app.evaluate(() => {
    const post = BroadcastChannel.prototype.postMessage;
    window.flow = { out: 0, most: 0, chunks: 0 };
    BroadcastChannel.prototype.postMessage = function (data) {
      if (data.type === "heapshot/chunk") {
        flow.chunks = data.chunk;
        flow.most = Math.max(flow.most, ++flow.out);
      }
      return post.call(this, data);
    };
    const descriptor = Object.getOwnPropertyDescriptor(BroadcastChannel.prototype, "onmessage");
    Object.defineProperty(BroadcastChannel.prototype, "onmessage", {
      ...descriptor,
      set(back) {
        let last = 0;
        descriptor.set.call(this, (event) => {
          if (event.data.type === "heapshot/ack") {
            flow.out -= event.data.chunk - last;
            last = event.data.chunk;
          }
          back(event);
        });
      },
    });
  });

/** A window, and more chunks than that: a frame of these bytes is one. */
const WINDOWS = [
  [2, 20],
  [3, 20],
  [8, 40],
  [64, 80],
];
for (const [window, n] of WINDOWS) {
  scenarios["window" + window] = async ({ assert, page, panel, listed, inPage }) => {
    const app = await page();
    await watchWindow(app);
    await inPage(app, "program", ["one"]);
    const viewer = await panel();
    await listed(viewer, 1);
    const all = follow(viewer, n, { window: window === 8 ? undefined : window, msPerFrame: 1 });
    await opened(viewer);
    await app.evaluate((n) => {
      for (let i = 0; i < n; i++) sources[0].record(600000);
    }, n);
    assert.strictEqual((await all).wrong, 0);
    const { most, chunks } = await app.evaluate(() => flow);
    assert.strictEqual(most, window);
    assert.strictEqual(chunks, n);
  };
}

// Small frames are together where the window is full, and alone where it is not.
scenarios.together = async ({ assert, page, panel, listed, inPage }) => {
  const app = await page();
  await watchWindow(app);
  await inPage(app, "program", ["one"]);
  const viewer = await panel();
  await listed(viewer, 1);
  const all = follow(viewer, 5000);
  await opened(viewer);
  await app.evaluate(() => {
    for (let i = 0; i < 5000; i++) sources[0].record(500);
  });
  assert.deepStrictEqual(await all, { frames: 5000, bytes: 2500000, wrong: 0, before: 0 });
  const { chunks } = await app.evaluate(() => flow);
  assert.ok(chunks >= 9 && chunks <= 20, String(chunks));
};

// Two panels have streams of their own; that one is slow, or ends, is nothing to the other.
scenarios.twoPanels = async ({ assert, program, panel, listed }) => {
  const app = await program("one");
  const [slow, fast] = [await panel(), await panel()];
  for (const page of [slow, fast]) await listed(page, 1);
  await slow.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    window.frames = 0;
    const wait = new Promise((resolve) => (window.release = resolve));
    const onFrame = () => {
      frames++;
      dispatchEvent(new Event("live"));
      return wait;
    };
    let isOpen = false;
    const onOpen = () => {
      isOpen = true;
      dispatchEvent(new Event("live"));
    };
    window.stream = client.live(client.runtimes[0].id, { onFrame, onOpen });
    await until(window, "live", () => isOpen);
  });
  const all = follow(fast, 20);
  await opened(fast);
  await app.evaluate(() => {
    for (let i = 0; i < 20; i++) sources[0].record(1 << 20);
  });
  assert.deepStrictEqual(await all, { frames: 20, bytes: 20 << 20, wrong: 0, before: 0 });
  // The slow one has its first, and goes on where it stood.
  assert.strictEqual(await slow.evaluate(() => frames), 1);
  await fast.evaluate(() => stream.stop());
  await slow.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    release();
    await until(window, "live", () => frames === 20);
  });
};

// A page that fails at a frame ends its stream, and the program sends no more.
scenarios.fails = async ({ assert, program, panel, listed }) => {
  const app = await program("one");
  const page = await panel();
  await listed(page, 1);
  const why = page.evaluate(async () => {
    const onFrame = () => {
      throw new RangeError("no room for it");
    };
    return (await client.live(client.runtimes[0].id, { onFrame }).ended).message;
  });
  await app.evaluate(async () => {
    while (sources[0].listeners.size === 0) await new Promise((resolve) => setTimeout(resolve, 10));
    sources[0].record(100);
    while (sources[0].listeners.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  });
  assert.strictEqual(await why, "no room for it");
};

// Timers are slow in a tab that is not seen; nothing here waits for one.
scenarios.hidden = async ({ assert, page, panel, listed, inPage }) => {
  const tabs = [await page(), await page()];
  for (const tab of tabs)
    await tab.evaluate(() => {
      window.timers = 0;
      for (const name of ["setTimeout", "setInterval", "requestAnimationFrame", "requestIdleCallback"])
        window[name] = () => timers++;
      AbortSignal.timeout = () => timers++;
    });
  const [app, viewer] = tabs;
  await inPage(app, "program", ["one"]);
  await (await page()).bringToFront();
  for (const tab of tabs) assert.strictEqual(await tab.evaluate(() => document.visibilityState), "hidden");
  await inPage(viewer, "panel");
  await listed(viewer, 1);
  const all = follow(viewer, 30);
  await opened(viewer);
  await app.evaluate(() => {
    for (let i = 0; i < 30; i++) sources[0].record(1 << 20);
  });
  assert.strictEqual((await all).wrong, 0);
  const taken = viewer.evaluate(async () => (await client.take(client.runtimes[0].id)).text());
  await inPage(app, "taking", [1]);
  await app.evaluate(() => sources[0].takes[0].resolve(new Blob(["hidden"])));
  assert.strictEqual(await taken, "hidden");
  for (const tab of tabs) assert.strictEqual(await tab.evaluate(() => document.visibilityState), "hidden");
  for (const tab of tabs) assert.strictEqual(await tab.evaluate(() => timers), 0);
};
