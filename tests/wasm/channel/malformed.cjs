// SPDX-License-Identifier: MIT
// Messages that are none, which any page of the origin may post: nothing comes of them, not even
// an error on the console, and what is asked meanwhile is answered.
"use strict";

const scenarios = (exports.scenarios = {});

scenarios.lobby = async ({ assert, program, panel, listener, listed }) => {
  const app = await program("one");
  const page = await panel();
  await listed(page, 1);
  const ear = await listener();
  const runtime = await page.evaluate(() => client.runtimes[0].id);
  const posted = await ear.evaluate(async (runtime) => {
    const { newId } = await import("/browser/app/protocol.mjs");
    const id = newId();
    const say = (type, rest) => ({ type: "heapshot/" + type, protocol: 1, ...rest });
    const hello = (rest) => ({ ...say("hello", { hello: newId(), panel: id }), ...rest });
    const cycle = {};
    cycle.type = cycle;
    const bad = [
      ...[null, undefined, 0, NaN, "heapshot/hello", 1n, [], {}, cycle, new Map(), new Date(), new Blob(["x"]), new ArrayBuffer(8)],
      { type: 1 },
      { type: "hello", protocol: 1, hello: id, panel: id },
      { type: "heapshot/hello" },
      say("hello"),
      ...["1", -1, 0, 1.5, NaN, null, {}].map((protocol) => hello({ protocol })),
      ...["1", 1, null, {}, id + "0", id.replace(/^./, "G"), [id]].map((value) => hello({ hello: value })),
      ...["1", 1, null, {}, id + "0", [id]].map((value) => hello({ panel: value })),
      ...[newId(), 1, null, {}].map((to) => hello({ to })),
      say("available"),
      say("available", { runtime: "x" }),
      say("hello-reply", { runtime }),
      say("hello-reply", { runtime, hello: id, panel: id, nonce: id }),
      say("take", { request: id, label: "" }),
      say("take", { request: id, label: "", runtime }),
      say("nonsense", { request: id }),
    ];
    for (const each of bad) listener.postMessage(each);
    return bad.length;
  }, runtime);
  assert.ok(posted > 40);
  // What is asked behind it is answered, and nothing was before.
  const asker = await panel();
  await listed(asker, 1);
  assert.strictEqual(await ear.evaluate(() => messages.filter((each) => each?.type === "heapshot/hello-reply").length), 1);
  assert.strictEqual(await app.evaluate(() => sources[0].takes.length), 0);
  assert.deepStrictEqual(await page.evaluate(() => client.runtimes.map((each) => each.id)), [runtime]);
};

/** Somebody who listens on the channel of a panel and a program, which has no secret here: window.session. */
async function intruder({ panel, listener, listed }) {
  const page = await panel();
  await listed(page, 1);
  const ear = await listener();
  const name = await page.evaluate(async () => {
    const lobby = new BroadcastChannel("heapshot");
    const { panel, runtime, nonce } = await new Promise((resolve) => {
      lobby.onmessage = ({ data }) => data.type === "heapshot/hello-reply" && resolve(data);
      client.refresh();
    });
    lobby.close();
    return [panel, runtime, nonce].join("/");
  });
  await ear.evaluate((name) => {
    window.session = new BroadcastChannel("heapshot/" + name);
    session.onmessage = ({ data }) => {
      messages.push(data);
      dispatchEvent(new Event("message-heard"));
    };
    window.say = (type, rest) => ({ type: "heapshot/" + type, protocol: 1, ...rest });
  }, name);
  return { page, ear };
}

/** The request of the message TYPE, once it was heard. */
const requestOf = (ear, type) =>
  ear.evaluate(async (type) => {
    const { until } = await import("/pages.mjs");
    const found = () => messages.find((each) => each.type === "heapshot/" + type);
    await until(window, "message-heard", found);
    return found().request;
  }, type);

scenarios.requests = async (tools) => {
  const { assert, program, inPage } = tools;
  const app = await program("one");
  const { page, ear } = await intruder(tools);
  await ear.evaluate(async () => {
    const { newId } = await import("/browser/app/protocol.mjs");
    const request = newId();
    const bad = [
      ...[null, 1, "x", {}, [], say("take"), say("take", { request }), say("take", { request: 7, label: "" })],
      ...[7, null, {}, ["x"]].map((label) => say("take", { request, label })),
      { ...say("take", { request, label: "" }), protocol: 2 },
      { ...say("stats", { request }), protocol: "1" },
      ...[undefined, 0, 1, 65, 2.5, -2, "8", NaN].map((window) => say("live-open", { request, window })),
      ...["ack", "cancel", "nonsense", "__proto__", "constructor"].map((type) => say(type, { request, chunk: 1 })),
    ];
    for (const each of bad) session.postMessage(each);
  });
  const taken = page.evaluate(async () => {
    window.told = 0;
    const blob = await client.take(client.runtimes[0].id, { label: "good", onProgress: () => told++ });
    return blob.text();
  });
  await inPage(app, "taking", [1]);
  // Answers that are none, to a request that is one.
  const request = await requestOf(ear, "take");
  await ear.evaluate((request) => {
    const bad = [
      ...[undefined, "x", {}, new ArrayBuffer(3)].map((blob) => say("snapshot", { request, blob })),
      ...[undefined, "1", -1, NaN].map((bytes) => say("progress", { request, bytes, frames: 1 })),
      { ...say("snapshot", { request, blob: new Blob(["bad"]) }), protocol: 2 },
      { ...say("error", { request }), protocol: "x" },
      ...["stats-reply", "chunk", "live", "constructor", "__proto__", "nonsense"].map((type) => say(type, { request, stats: {} })),
    ];
    for (const each of bad) session.postMessage(each);
  }, request);
  // The panel has them when it has what was posted behind them.
  await page.evaluate(() => client.stats(client.runtimes[0].id));
  await app.evaluate(() => sources[0].takes[0].resolve(new Blob(["good"])));
  assert.strictEqual(await taken, "good");
  assert.strictEqual(await page.evaluate(() => told), 0);
  assert.deepStrictEqual(await app.evaluate(() => [sources[0].takes.length, sources[0].listeners.size]), [1, 0]);
};

scenarios.chunks = async (tools) => {
  const { assert, program } = tools;
  const app = await program("one");
  const { page, ear } = await intruder(tools);
  const got = page.evaluate(async () => {
    const { isFrame, until } = await import("/pages.mjs");
    const lengths = [];
    const onFrame = (frame) => {
      lengths.push(isFrame(frame, lengths.length) && frame.length);
      dispatchEvent(new Event("live"));
    };
    const stream = client.live(client.runtimes[0].id, { onFrame });
    await until(window, "live", () => lengths.length === 40);
    stream.stop();
    return lengths;
  });
  const request = await requestOf(ear, "live-open");
  await requestOf(ear, "live");
  await ear.evaluate(async (request) => {
    const bytes = new ArrayBuffer(8);
    const bad = [
      ...[0, 2, 99, -1, "1", null, 1.5].map((chunk) => say("chunk", { request, chunk, lengths: [8], bytes })),
      ...[[7], [9], [], "8", [4, -4, 8], ["8"], null].map((lengths) => say("chunk", { request, chunk: 1, lengths, bytes })),
      ...["12345678", [8], new Uint8Array(8), null, new Blob(["12345678"])].map((bytes) =>
        say("chunk", { request, chunk: 1, lengths: [8], bytes }),
      ),
      // To the program: what was not sent yet cannot have been worked off.
      ...[1, 8, 1e9, -1, "1", NaN, null].map((chunk) => say("ack", { request, chunk })),
      say("live-open", { request, window: 8 }),
      say("take", { request, label: "" }),
    ];
    for (const each of bad) session.postMessage(each);
    // Heard by the program behind them: an answer to this is one to all.
    const { newId } = await import("/browser/app/protocol.mjs");
    const { until } = await import("/pages.mjs");
    session.postMessage(say("stats", { request: newId() }));
    await until(window, "message-heard", () => messages.some((each) => each.type === "heapshot/stats-reply"));
  }, request);
  await app.evaluate(() => {
    for (let i = 0; i < 40; i++) sources[0].record(1000 + i);
  });
  assert.deepStrictEqual(await got, Array.from({ length: 40 }, (_, i) => 1000 + i));
  assert.strictEqual(await app.evaluate(() => sources[0].takes.length), 0);
};
