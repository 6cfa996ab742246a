// SPDX-License-Identifier: MIT
// Who is there: each program once, whoever asks and however often.
"use strict";

const scenarios = (exports.scenarios = {});

const titles = (page) => page.evaluate(() => client.runtimes.map((each) => each.title).sort());
const ids = (page) => page.evaluate(() => client.runtimes.map((each) => each.id).sort());

/** What was answered on the lobby to each hello: {hello: [runtime, ...]}. */
const answers = (listener) =>
  listener.evaluate(() => {
    const found = {};
    for (const each of messages) if (each.type === "heapshot/hello") found[each.hello] = [];
    for (const each of messages) if (each.type === "heapshot/hello-reply") found[each.hello].push(each.runtime);
    return found;
  });

/** Every program that is there has answered HELLOS hellos by now, and none of them twice. */
async function oneAnswerEach({ assert, inPage }, listener, hellos, programs) {
  // What was posted before comes before.
  await listener.evaluate(
    async (n) => {
      const { until } = await import("/pages.mjs");
      const replies = () => messages.filter((each) => each.type === "heapshot/hello-reply").length;
      await until(window, "message-heard", () => replies() >= n);
    },
    hellos * programs,
  );
  const found = Object.values(await answers(listener));
  assert.strictEqual(found.length, hellos);
  for (const replies of found) assert.strictEqual(new Set(replies).size, programs);
  for (const replies of found) assert.strictEqual(replies.length, programs);
}

scenarios.listed = async (tools) => {
  const { assert, program, panel, listener, listed, inPage } = tools;
  const ear = await listener();
  const first = await program("one");
  await program("two");
  // Two runtimes on one page.
  await inPage(first, "program", ["three"]);
  const panels = [await panel(), await panel()];
  for (const page of panels) {
    await listed(page, 3);
    assert.deepStrictEqual(await titles(page), ["one", "three", "two"]);
  }
  const [about] = await panels[0].evaluate(() => client.runtimes.filter((each) => each.title === "one"));
  assert.match(about.id, /^[0-9a-f]{32}$/);
  assert.strictEqual(about.url, tools.server.url("/panel.html"));
  assert.deepStrictEqual(
    [about.runtimeVersion, about.heapshotVersion, about.protocol, about.isSupported],
    ["10.0.1", "1.0", 1, true],
  );
  assert.deepStrictEqual(await ids(panels[0]), await ids(panels[1]));
  await oneAnswerEach(tools, ear, 2, 3);

  // Asked again, by either.
  const before = await ids(panels[0]);
  for (const page of [panels[0], panels[1], panels[0]]) await page.evaluate(() => client.refresh());
  await oneAnswerEach(tools, ear, 5, 3);
  for (const page of panels) assert.deepStrictEqual(await ids(page), before);

  // Loaded anew, by either.
  for (const page of panels) {
    await page.reload();
    await inPage(page, "panel");
    await listed(page, 3);
  }
  await oneAnswerEach(tools, ear, 7, 3);
  assert.deepStrictEqual(await titles(panels[0]), ["one", "three", "two"]);
  assert.deepStrictEqual(await titles(panels[1]), ["one", "three", "two"]);

  // A program's page that is loaded anew is another one.
  await first.reload();
  await inPage(first, "program", ["one"]);
  for (const page of panels) {
    await page.evaluate(async () => {
      const { until } = await import("/pages.mjs");
      await until(client, "runtimes", () => client.runtimes.map((each) => each.title).sort().join() === "one,two");
    });
    assert.ok(!(await ids(page)).includes(about.id));
  }
};

// One snapshot each, although both panels asked again: it comes once, and to who asked for it.
scenarios.once = async ({ assert, program, panel, listed, inPage }) => {
  const app = await program("one");
  const [a, b] = [await panel(), await panel()];
  for (const page of [a, b]) await listed(page, 1);
  for (const page of [a, b, a, b]) await page.evaluate(() => client.refresh());
  const taken = (page, label) =>
    page.evaluate(async (label) => {
      window.blobs = [];
      const blob = await client.take(client.runtimes[0].id, { label });
      window.blobs.push(blob);
      return blob.text();
    }, label);
  const both = Promise.all([taken(a, "of a"), taken(b, "of b")]);
  await inPage(app, "taking", [2]);
  await app.evaluate(() => {
    for (const take of sources[0].takes) take.resolve(new Blob([take.label]));
  });
  assert.deepStrictEqual(await both, ["of a", "of b"]);
  assert.strictEqual(await app.evaluate(() => sources[0].takes.length), 2);
  for (const page of [a, b]) assert.strictEqual(await page.evaluate(() => blobs.length), 1);
};

// A panel that is there already learns of programs that come, and of those that close.
scenarios.later = async ({ assert, program, panel, listed }) => {
  const page = await panel();
  assert.deepStrictEqual(await page.evaluate(() => client.runtimes), []);
  const app = await program("late", { title: "by option" });
  await listed(page, 1);
  assert.deepStrictEqual(await titles(page), ["by option"]);
  await app.evaluate(() => channels[0].close());
  await listed(page, 0);
  assert.strictEqual(await page.evaluate(() => heard.filter((each) => each.type === "gone").length), 1);
  assert.strictEqual(await page.evaluate(() => client.take("0".repeat(32)).catch((error) => error.name)), "GoneError");
  // What is closed has let go of its lock.
  assert.strictEqual(await app.evaluate(async () => (await navigator.locks.query()).held.length), 1);
};

// Another name is another room.
scenarios.named = async ({ assert, program, panel, listed }) => {
  await program("usual");
  await program("other", { name: "elsewhere" });
  const [a, b] = [await panel(), await panel({ name: "elsewhere" })];
  await listed(a, 1);
  await listed(b, 1);
  assert.deepStrictEqual([await titles(a), await titles(b)], [["usual"], ["other"]]);
};

// A program that did not ask for a channel has none.
scenarios.closed = async ({ assert, page, panel, program, listed }) => {
  const app = await page();
  await app.evaluate(async () => {
    window.made = 0;
    const Real = BroadcastChannel;
    window.BroadcastChannel = class extends Real {
      constructor(name) {
        super(name);
        window.made++;
      }
    };
    await import("/browser/app/channel.mjs");
  });
  const asker = await panel();
  // Another program's answer shows that the time for one was there.
  await program("open");
  await listed(asker, 1);
  await asker.evaluate(() => client.refresh());
  await listed(asker, 1);
  assert.deepStrictEqual(await titles(asker), ["open"]);
  assert.strictEqual(await app.evaluate(() => made), 0);
  // The locks of the panel and of the other program, and none more.
  assert.strictEqual(await app.evaluate(async () => (await navigator.locks.query()).held.length), 2);
};

// One channel a runtime.
scenarios.twice = async ({ assert, program, panel, listed }) => {
  const app = await program("one");
  const why = await app.evaluate(async () => {
    const { openChannel } = await import("/browser/app/channel.mjs");
    const second = await openChannel(sources[0]).catch((error) => error.message);
    channels[0].close();
    channels[0] = await openChannel(sources[0]);
    return second;
  });
  assert.match(why, /has a channel already/);
  const page = await panel();
  await listed(page, 1);
};
