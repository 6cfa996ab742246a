// SPDX-License-Identifier: MIT
// What else may happen: saving, cancelling, tabs that go, tokens, files, several panels.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { openApp, openPanel, listed, choose, take, shown, view, rows, wait, number, error, said, openFiles } = require("./pages.cjs");

const FORMATS = ["hs", "mono-heap", "gcdump", "heapsnapshot"];

exports.saved = async (tools) => {
  const { assert, downloads } = tools;
  const app = await openApp(tools);
  await app.do(() => window.app.cs.Build(2000));
  const panel = await openPanel(tools);
  await listed(panel, 1);
  await take(panel, "to be saved");
  assert((await panel.$eval("[data-entry]", (item) => item.innerText)).includes("not saved"));
  const saved = {};
  for (const format of FORMATS) {
    await panel.click(`[data-format="${format}"]`);
    saved[format] = await downloads.file(`to-be-saved.${format}`);
    await said(panel, `^to-be-saved\\.${format}: .* saved\\.$`);
  }
  assert(!(await panel.$eval("[data-entry]", (item) => item.innerText)).includes("not saved"));
  // What was saved opens here, beside the other.
  await openFiles(panel, saved.hs);
  await shown(panel, "to-be-saved.hs");
  await view(panel, "diff");
  await wait(panel, () => document.querySelector("#panel .sums").textContent.includes("No type changed."));
  return saved;
};

exports.cancelled = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools);
  const panel = await openPanel(tools);
  await listed(panel, 1);
  // The program is busy until the test says so: nothing comes meanwhile.
  await app.do(() => {
    window.app.busy = new Promise((resolve) => (window.app.release = resolve));
    const take = window.app.hs.takeSnapshot;
    window.app.hs.takeSnapshot = async function (options) {
      window.app.asked = true;
      await Promise.race([window.app.busy, new Promise((_, reject) => options.signal.addEventListener("abort", () => reject(options.signal.reason)))]);
      return take.call(this, options);
    };
  });
  await panel.click("#take");
  await wait(app, () => window.app.asked);
  await panel.waitForSelector(".progress:not([hidden]) progress");
  assert(await panel.$eval("#take", (button) => button.disabled));
  await panel.click(".progress button");
  await said(panel, "^Cancelled\\.$");
  assert.strictEqual(await panel.$(".progress:not([hidden])"), null);
  assert.strictEqual((await panel.$$("[data-entry]")).length, 0);
  assert.strictEqual(await panel.$(".error:not([hidden])"), null);
  // The next one goes well.
  await app.do(() => window.app.release());
  await take(panel, "again");
};

exports.gone = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools, "?title=First");
  const other = await openApp(tools, "?title=Second");
  const panel = await openPanel(tools);
  assert.deepStrictEqual((await listed(panel, 2)).sort(), ["First", "Second"]);
  await choose(panel, "First");
  await take(panel, "kept");
  await choose(panel, "First");
  await app.close();
  assert.deepStrictEqual(await listed(panel, 1), ["Second"]);
  await panel.waitForSelector(".gone:not([hidden])");
  assert((await panel.$eval(".gone", (text) => text.textContent)).startsWith("This runtime has gone"));
  assert(await panel.$eval("#take", (button) => button.disabled));
  // Its snapshot stays, with all of its views.
  await panel.click(".item-open[title=kept]");
  await shown(panel, "kept");
  await view(panel, "treemap");
  assert((await panel.$$("#panel .box")).length > 3);
  // In the middle of a snapshot: an error, and the list goes on.
  await other.do(() => {
    window.app.hs.takeSnapshot = () => {
      window.app.asked = true;
      return new Promise(() => {});
    };
  });
  await choose(panel, "Second");
  await panel.click("#take");
  await wait(other, () => window.app.asked);
  await other.close();
  const text = await error(panel);
  assert(/gone/.test(text) && !text.includes("\n"), text);
  await listed(panel, 0);
  await panel.click(".error button");
  assert.strictEqual(await panel.$(".error:not([hidden])"), null);
};

exports.token = async (tools) => {
  const { assert } = tools;
  await openApp(tools, "?title=Secret&token=sesame&channel=private");
  await openApp(tools, "?title=Open");
  const panel = await openPanel(tools);
  assert.deepStrictEqual(await listed(panel, 1), ["Open"]);
  const connect = async (name, token) => {
    await panel.evaluate((name, token) => {
      document.querySelector(".connect").open = true;
      document.querySelector("#channel").value = name;
      document.querySelector("#token").value = token;
    }, name, token);
    await panel.click(".connect button[type=submit]");
  };
  // Neither without the token nor with a wrong one; what is missing is said.
  for (const token of ["", "wrong"]) {
    await connect("private", token);
    await listed(panel, 0);
    await panel.click("#refresh");
    // A message to and fro, which the answer would have come before.
    await tools.pages[0].do(async () => {
      const asked = new BroadcastChannel("private");
      await new Promise((resolve) => {
        asked.onmessage = resolve;
        new BroadcastChannel("private").postMessage({ type: "test" });
      });
    });
    assert.deepStrictEqual(await listed(panel, 0), []);
    assert((await panel.$eval("#list p", (text) => text.textContent)).includes("enableDiagnosticChannel"));
  }
  await connect("private", "sesame");
  assert.deepStrictEqual(await listed(panel, 1), ["Secret"]);
  await choose(panel, "Secret");
  await take(panel, "by token");
  // A page may be asked for by the name of its channel.
  const named = await openPanel(tools, { query: "?channel=private" });
  assert.strictEqual(await named.$eval("#channel", (field) => field.value), "private");
};

exports.files = async (tools) => {
  const { assert, folder, job } = tools;
  // No runtime at all.
  const panel = await openPanel(tools);
  await panel.waitForSelector(".welcome");
  const bad = path.join(folder, "notes.hs");
  const empty = path.join(folder, "empty.hs");
  fs.writeFileSync(bad, "these are not the bytes of a recording\n".repeat(100));
  fs.writeFileSync(empty, "");
  for (const file of [bad, empty]) {
    await openFiles(panel, file);
    const text = await error(panel);
    assert(text.startsWith(`Cannot open ${path.basename(file)}: `) && !text.includes("\n"), text);
    assert.strictEqual((await panel.$$("[data-entry]")).length, 0);
    await panel.click(".error button");
  }
  // A recording of Linux, with several snapshots, and one more: all snapshots stand in the list.
  await openFiles(panel, job.files.good, job.files.held);
  await shown(panel, "held.hs");
  const titles = await panel.$$eval("#snapshot option", (list) => list.map((option) => option.textContent));
  assert.deepStrictEqual(titles.map((title) => title.split(" ").slice(0, 2).join(" ")), ["good.hs #1", "good.hs #2", "good.hs #3", "held.hs"]);
  // By type they are as the native command says.
  for (const [index, expected] of [[2, job.expected.good], [3, job.expected.held]]) {
    await panel.select("#snapshot", String(index));
    await view(panel, "types");
    await wait(panel, (n) => document.querySelectorAll("#panel .table tbody tr").length === n, expected.length);
    const found = (await rows(panel)).map((row) => [row[0].text, number(row[2].text)]);
    assert.deepStrictEqual(found.sort(), expected.map((row) => [row.type, row.count]).sort());
  }
  // Two recordings compared, as by heapshot diff.
  await view(panel, "diff");
  await panel.select("#diff-from", "2");
  await panel.select("#diff-to", "3");
  await wait(panel, () => document.querySelector("#panel caption").textContent.endsWith("to held.hs"));
  assert.deepStrictEqual((await rows(panel)).map((row) => [row[0].text, number(row[2].text)]).sort(), job.expected.diff.map((row) => [row.type, row.count]).sort());
  // Dropped on the page.
  const bytes = fs.readFileSync(job.files.held).toString("base64");
  await panel.evaluate((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0))], "dropped.hs"));
    for (const type of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer: transfer }));
  }, bytes);
  await shown(panel, "dropped.hs");
  // Events alone.
  await openFiles(panel, job.files.none);
  await said(panel, "^none.hs has no snapshot");
  await wait(panel, () => document.querySelector("#app").getAttribute("aria-busy") === "false" && document.querySelector("#tab-types") === null);
  // One that is removed while another is being added takes nothing with it.
  const left = await panel.evaluate(async () => {
    const { JoinedData } = await import("./joined_data.js");
    const info = { version: "", cut: {}, recordings: [{}], snapshots: [{ index: 0, recording: 0, title: "#1" }] };
    const source = (info) => ({ info: () => info, close() {} });
    let tell;
    const [one, two] = [source(info), source(new Promise((resolve) => (tell = resolve)))];
    const data = new JoinedData();
    await data.add(one, "one");
    const adding = data.add(two, "two");
    data.remove(one);
    tell(info);
    await adding;
    return (await data.info()).snapshots.map((snapshot) => snapshot.title);
  });
  assert.deepStrictEqual(left, ["two"]);
  // Nothing was asked for but the page itself.
  assert(tools.server.asked.every((name) => name.startsWith("/heapshot/")), tools.server.asked.join(" "));
};

exports.several = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools, "?title=Shared");
  await app.do(() => window.app.cs.Build(300));
  const one = await openPanel(tools);
  const two = await openPanel(tools);
  for (const panel of [one, two]) assert.deepStrictEqual(await listed(panel, 1), ["Shared"]);
  await one.bringToFront();
  await choose(one, "Shared");
  await take(one, "of one");
  await two.bringToFront();
  await choose(two, "Shared");
  await take(two, "of two");
  for (const [panel, name] of [[one, "of one"], [two, "of two"]]) assert.deepStrictEqual(await panel.$$eval("[data-entry] .name", (list) => list.map((text) => text.textContent)), [name]);
  // Asked again and again, each answers once; the app loaded anew is a new one.
  for (let i = 0; i < 3; i++) await two.click("#refresh");
  assert.deepStrictEqual(await listed(two, 1), ["Shared"]);
  const before = await two.$eval("button[data-id]", (button) => button.dataset.id);
  await app.reload();
  await wait(app, () => window.app !== undefined);
  await wait(two, (id) => document.querySelectorAll("button[data-id]").length === 1 && document.querySelector("button[data-id]").dataset.id !== id, before);
  // The panel loaded anew lists again; what it had is gone, and was asked about.
  two.on("dialog", (dialog) => dialog.accept());
  await two.reload();
  assert.deepStrictEqual(await listed(two, 1), ["Shared"]);
  await take(two, "anew");
};

exports.statistics = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools);
  await app.do(() => window.app.cs.Build(700));
  const panel = await openPanel(tools);
  await listed(panel, 1);
  await panel.click("#read-once");
  const row = () => panel.evaluate(() => [...document.querySelectorAll(".live-table tbody tr")].filter((row) => row.children[0].textContent === "T.Node").map((row) => [...row.children].map((cell) => cell.textContent))[0]);
  await wait(panel, () => document.querySelectorAll(".live-table tbody tr").length > 10);
  assert.strictEqual(number((await row())[1]), 700);
  const parts = await panel.$$eval(".memory-part", (list) => list.map((part) => part.dataset.part));
  assert.deepStrictEqual(parts, ["live", "free", "native", "total", "maximum"]);
  const of = (name) => panel.$eval(`[data-part="${name}"] [title]`, (text) => Number(text.title.replace(/\D/g, "")));
  assert.strictEqual((await of("live")) + (await of("free")) + (await of("native")), await of("total"));
  assert.strictEqual(await of("maximum"), 2 ** 31);
  // By itself, until it is stopped.
  await panel.click("#live");
  await app.do(() => window.app.cs.Build(100));
  await wait(panel, () => [...document.querySelectorAll(".live-table tbody tr")].some((row) => row.children[0].textContent === "T.Node" && row.children[1].textContent === "800"));
  assert((await row())[3].startsWith("+"), await row());
  await panel.click("#live");
  assert.strictEqual(await panel.$eval("#live", (button) => button.getAttribute("aria-pressed")), "false");
};

exports.followed = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools);
  const panel = await openPanel(tools);
  await listed(panel, 1);
  await panel.click("#follow");
  await wait(panel, () => document.querySelector("#follow").textContent === "Stop and open");
  // A snapshot that the app takes itself is in it.
  await app.do(async () => {
    window.app.cs.Build(900);
    await window.app.hs.takeSnapshot({ label: "of the app" });
  });
  await wait(panel, () => /[1-9]\d* frames/.test(document.querySelector("#follow + .n").textContent));
  await panel.click("#follow");
  await shown(panel, "Leaky, followed");
  await view(panel, "types");
  const node = (await rows(panel)).find((row) => row[0].text === "T.Node");
  assert.strictEqual(number(node[2].text), 900);
  await view(panel, "timeline");
  // Of one that goes: what came is opened, and why it ended is said.
  await choose(panel, "Leaky");
  await panel.click("#follow");
  await wait(panel, () => document.querySelector("#follow + .n").textContent !== "");
  await app.close();
  await wait(panel, () => document.querySelector('.item-open[aria-current="true"] .name')?.textContent === "Leaky, followed (2)" && !document.querySelector(".error").hidden);
  assert(/gone/.test(await error(panel)));
};

exports.disk = async (tools) => {
  const { assert, job } = tools;
  // Opened by file://: browsers load no modules there, and the page says what to do.
  const page = await tools.open(pathToFileURL(path.join(job.panel, "panel", "index.html")).href, { from: tools.context });
  const text = await page.$eval("main", (main) => main.innerText);
  assert(/file:\/\//.test(text) && /http\.server/.test(text), text);
  await page.close();
};
