// SPDX-License-Identifier: MIT
// What the panel shows of a real program: types, sizes, paths, differences, counters, handles.
"use strict";
const { openApp, openPanel, listed, choose, take, view, rows, wait, number, exact } = require("./pages.cjs");

/** A row of the table of types or changes. */
const rowOf = async (page, name) => (await rows(page)).find((row) => row[0].text === name);

exports.take = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools, "?title=Shop");
  await app.do(() => {
    window.app.cs.Build(1000);
    window.app.cs.Listen(200);
  });
  const panel = await openPanel(tools);
  assert.deepStrictEqual(await listed(panel, 1), ["Shop"]);
  const item = await panel.$eval("button[data-id]", (button) => button.innerText);
  const version = await app.do(() => window.app.cs.Version());
  assert(item.includes(".NET " + version), item);
  // The only one is shown by itself.
  await panel.waitForSelector("#take");
  await take(panel, "before");
  // The summary names the event that leaks.
  const findings = await panel.$$eval("#panel .finding", (list) => list.map((item) => item.innerText));
  assert(findings.some((text) => /event/.test(text) && text.includes("T.App.Changed") && text.includes("T.Listener")), findings.join("\n"));
  // Exact counts.
  await view(panel, "types");
  const node = await rowOf(panel, "T.Node");
  assert.deepStrictEqual([number(node[2].text), exact(node[3].title)], [1000, 1000 * tools.job.nodeBytes]);
  const listener = await rowOf(panel, "T.Listener");
  assert.strictEqual(number(listener[2].text), 200);
  // The treemap has the static field as a box; its size is that of all that hangs on it.
  await view(panel, "treemap");
  const boxes = await panel.$$eval("#panel .box", (list) => list.map((box) => box.dataset.name));
  assert(boxes.includes("static T.App.first") && boxes.includes("static T.App.Changed"), boxes.join(", "));
  await view(panel, "flame");
  assert((await panel.$$("#panel .box")).length > 3);
  // What holds them: the field's name.
  await view(panel, "types");
  await panel.type('#panel input[type="search"]', "T.Node");
  await wait(panel, () => document.querySelectorAll("#panel .table tbody tr").length < 5);
  await panel.evaluate(() => [...document.querySelectorAll("#panel tbody button.link")].find((button) => button.textContent === "T.Node").click());
  await panel.waitForSelector('#app[data-ready="paths"]');
  await wait(panel, () => document.querySelector(".result h2") && document.querySelector(".result h2").textContent === "T.Node");
  const chain = await panel.$$eval(".path-card:first-of-type .chain li", (list) => list.map((item) => item.textContent));
  assert.strictEqual(chain[0], "staticT.App.first");
  // Another one: what grew.
  await app.do(() => {
    window.app.cs.Build(500);
    window.app.cs.Listen(300);
  });
  await choose(panel, "Shop");
  await take(panel, "after");
  await view(panel, "diff");
  const titles = await panel.$$eval("#diff-from option", (list) => list.map((option) => option.textContent));
  assert.deepStrictEqual(titles, ["before", "after"]);
  const grown = await rowOf(panel, "T.Node");
  assert.deepStrictEqual([number(grown[2].text), exact(grown[3].title), number(grown[5].text)], [500, 500 * tools.job.nodeBytes, 1500]);
  assert.strictEqual(number((await rowOf(panel, "T.Listener"))[2].text), 300);
  await view(panel, "summary");
  const growth = await panel.$$eval('[aria-label="What grew since snapshot before"] .finding', (list) => list.map((item) => item.innerText));
  assert(growth.some((text) => text.includes("T.Listener: +300 objects") && text.includes("T.App.Changed")), growth.join("\n"));
  // The change stands with the types, too.
  await view(panel, "types");
  assert.strictEqual(exact((await rowOf(panel, "T.Node"))[5].title), 500 * tools.job.nodeBytes);
  // Removed: one is left.
  await panel.click('[aria-label="Remove before"]');
  await wait(panel, () => document.querySelectorAll("[data-entry]").length === 1);
  await wait(panel, () => document.querySelectorAll("#snapshot option").length === 1 && document.querySelector("#snapshot").selectedOptions[0].textContent === "after");
  await view(panel, "diff");
  assert((await panel.$eval("#panel", (element) => element.innerText)).includes("one snapshot"));
};

exports.counters = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools);
  const panel = await openPanel(tools);
  await listed(panel, 1);
  await choose(panel, "Leaky");
  await app.do(() => window.app.cs.Build(100));
  await take(panel, "small");
  await app.do(() => window.app.cs.Build(400000));
  await choose(panel, "Leaky");
  await take(panel, "large");
  await view(panel, "counters");
  const names = await panel.$$eval("#panel .series", (list) => list.map((one) => one.dataset.counter));
  for (const name of ["Linear memory", "Memory maximum", "Memory taken"]) assert(names.includes(name), names.join(", "));
  const of = (name) => panel.$eval(`[aria-label="What the lines are"] tr[data-counter="${name}"]`, (row) => [...row.querySelectorAll("td.n")].map((cell) => Number(cell.title)));
  const [first, last, , most] = await of("Memory taken");
  assert(last > first + 400000 * tools.job.nodeBytes && most >= last, `${first} ${last} ${most}`);
  assert.strictEqual((await of("Memory maximum"))[1], 2 ** 31);
  // The same as the app says of itself.
  const said = await app.do(() => window.app.hs.memoryStats());
  assert(Math.abs(said.memory.total - last) < 16 << 20, `${said.memory.total} ${last}`);
};

exports.handles = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools);
  const panel = await openPanel(tools);
  await listed(panel, 1);
  await choose(panel, "Leaky");
  await take(panel, "before");
  // 200 objects of C# in JavaScript, 100 of JavaScript in C#; nobody disposes them.
  await app.do(() => {
    class Chart {}
    for (let i = 0; i < 200; i++) window.app.kept.push(window.app.interop.GiveObject(i));
    for (let i = 0; i < 100; i++) window.app.interop.Hold(new Chart());
  });
  await choose(panel, "Leaky");
  await take(panel, "after");
  // The summary names them.
  const hints = await panel.$$eval("#panel .finding[data-table]", (list) => list.map((item) => [item.dataset.table, item.innerText.replace(/\s+/g, " ")]));
  const proxy = hints.find(([table]) => table === "js_proxy");
  const held = hints.find(([table]) => table === "js_object");
  assert(proxy && proxy[1].includes("JavaScript holds 200 C# objects T.Payload") && proxy[1].includes("+200 since before"), JSON.stringify(hints));
  assert(held && /C# holds 100 JavaScript objects .*\+100 since before/.test(held[1]), JSON.stringify(hints));
  await view(panel, "handles");
  await panel.click('[data-table="js_proxy"]');
  const row = await rowOf(panel, "T.Payload");
  assert.deepStrictEqual([row[1].text, row[2].text, row[3].text], ["ManagedObject (object)", "200", "+200"]);
  await panel.click('[data-table="js_object"]');
  const chart = (await rows(panel)).find((one) => one[1].text.startsWith("Chart"));
  assert.deepStrictEqual([chart[2].text, chart[3].text], ["100", "+100"]);
  // By itself, with its handle; its type leads to what holds it.
  await panel.click('[data-table="js_proxy"]');
  await panel.click("#each-handle");
  await wait(panel, () => document.querySelectorAll("#panel .table tbody tr").length >= 1);
  await panel.evaluate(() => [...document.querySelectorAll("#panel tbody button.link")].find((button) => button.textContent === "T.Payload").click());
  await panel.waitForSelector('#app[data-ready="paths"]');
  const chain = await panel.$$eval(".path-card:first-of-type .chain li", (list) => list.map((item) => item.textContent));
  assert(/JavaScript object ManagedObject/.test(chain[0]), chain.join(" / "));
  // Disposed they vanish.
  await app.do(() => {
    for (const one of window.app.kept) one.dispose();
    window.app.kept.length = 0;
    window.app.interop.DisposeAll();
  });
  await choose(panel, "Leaky");
  await take(panel, "disposed");
  await view(panel, "handles");
  const texts = (await rows(panel)).map((one) => one.map((cell) => cell.text).join(" "));
  assert(!texts.some((text) => text.includes("T.Payload") || text.includes("Chart")), texts.join("\n"));
};
