// SPDX-License-Identifier: MIT
// Panels and programs on their real runtime, in tabs of their own: job {root: the published
// program, browser: the folder contrib/browser, out: where recordings go, nodes}.
"use strict";
const assert = require("node:assert");
const { inChromium } = require("../page.cjs");

inChromium(async ({ job, serve, open }) => {
  const empty = "<!doctype html><title>page</title>";
  const texts = { "/program.html": empty, "/panel.html": empty };
  const places = { "/": job.root, "/browser/": job.browser };
  for (const name of ["pages.mjs", "real_pages.mjs", "real_worker.mjs"]) places["/" + name] = __dirname + "/" + name;
  const server = await serve(places, { texts, out: job.out });
  const opened = [];
  const page = async (name) => {
    const tab = await open(server.url(name));
    opened.push(tab);
    return tab;
  };
  const call = (tab, file, name, ...words) =>
    tab.evaluate(
      async (file, name, words) => (await import(file))[name](...words.map((word) => word ?? undefined)),
      file,
      name,
      words,
    );
  const program = async (title, nodes, options) => {
    const tab = await page("/program.html");
    await call(tab, "/real_pages.mjs", "runtime", title, nodes, options);
    return tab;
  };
  const panel = async (options) => {
    const tab = await page("/panel.html");
    await call(tab, "/pages.mjs", "panel", options);
    return tab;
  };
  const take = (tab, ...words) => call(tab, "/real_pages.mjs", "take", ...words);
  const listed = (tab, n) => call(tab, "/pages.mjs", "listed", n);
  const result = {};

  const first = await program("first", job.nodes);
  const second = await program("second", 2 * job.nodes, { title: "second of two" });
  const [a, b] = [await panel(), await panel()];
  for (const tab of [a, b]) await listed(tab, 2);
  result.runtimes = await a.evaluate(() => client.runtimes);

  // The page that made it is closed before it is read.
  result.first = await take(a, "first", null, { label: "from the panel" });
  await first.close();
  await listed(a, 1);
  await a.evaluate(async () => (await import("/real_pages.mjs")).keep("first.hs", blob));

  // The other one is used by both at once, followed, and grows meanwhile.
  await call(a, "/real_pages.mjs", "follow", "second of two");
  const title = "second of two";
  result.both = await Promise.all([take(a, title, "a.hs", { label: "of a" }), take(b, title, "b.hs", { label: "of b" })]);
  await second.evaluate((nodes) => app.Build(nodes), job.nodes);
  result.grown = await take(b, title, "grown.hs", { label: "grown" });
  result.stats = await b.evaluate(async () => {
    const { types, memory } = await client.stats(client.runtimes[0].id);
    return { node: types.find((each) => each.type === "T.Node"), memory };
  });
  // What the panels took is theirs, and does not stay with the program as well.
  result.kept = await second.evaluate(() => ({ snapshots: hs.snapshots.length, bytes: hs.recording().size }));
  result.frames = await a.evaluate(async () => {
    stream.stop();
    await stream.ended;
    await (await import("/real_pages.mjs")).keep("followed.hs", new Blob(followed));
    return followed.length - 1;
  });
  // Behind what was dropped: the numbers of frames have a gap there, which is no loss.
  await call(a, "/real_pages.mjs", "follow", title);
  await take(b, title, null, { label: "seen" });
  await a.evaluate(async () => {
    const { until } = await import("/pages.mjs");
    const { readTag, KIND } = await import("/browser/app/tag.mjs");
    await until(window, "live", () => followed.slice(1).some((frame) => readTag(frame).kind === KIND.end));
    stream.stop();
    await (await import("/real_pages.mjs")).keep("gap.hs", new Blob(followed));
  });

  // Given up in the middle, where the runtime stands still; the next one is whole.
  await second.evaluate((nodes) => app.Build(nodes), job.large);
  result.cancelled = await take(a, title, null, { label: "given up", cancelAt: 1 });
  result.after = await take(a, title, "after.hs", { label: "after" });
  result.heard = await second.evaluate(() => hs.snapshots.length);
  second.wrong.length = 0; // the URL that is there no more

  // A runtime in a worker, and one that wants a token.
  const shop = await page("/program.html");
  await call(shop, "/real_pages.mjs", "inWorker", "worker", job.nodes);
  await listed(a, 2);
  result.worker = await take(a, "worker", "worker.hs", { label: "of a worker" });
  await shop.evaluate(() => worker.terminate());
  await listed(a, 1);
  await program("guarded", job.nodes, { token: "open sesame" });
  const knows = await panel({ token: "open sesame" });
  await listed(knows, 1);
  result.guarded = await take(knows, "guarded", "guarded.hs", { label: "by token" });
  result.listed = await a.evaluate(() => client.runtimes.map((each) => each.title));

  await second.evaluate(() => hs.detach());
  await listed(a, 0);
  for (const tab of opened) assert.deepStrictEqual(tab.wrong, []);
  result.said = opened.flatMap((tab) => tab.said);
  return result;
});
