// SPDX-License-Identifier: MIT
// The panel by keys alone, in two sizes, light and dark, judged by axe; what its policy forbids.
"use strict";
const fs = require("node:fs");
const { openApp, openPanel, listed, choose, take, shown, view, wait, openFiles } = require("./pages.cjs");
const { tryAll } = require("../../node-tools/policy.cjs");

const VIEWS = ["summary", "types", "treemap", "flame", "paths", "diff", "handles", "counters", "timeline"];
const SIZES = [[800, 600], [1920, 1080]];

const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.textContent);

/** Presses Tab until the focus is where IS_THERE, a function in the page, says; fails after a round. */
async function tabTo(page, isThere, ...values) {
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(isThere, ...values)) {
      // What has the focus is seen.
      const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).boxShadow);
      if (outline === "nonenone") throw new Error("the focus is not seen on " + (await focused(page)));
      return;
    }
  }
  throw new Error("Tab does not lead there; the focus is on " + (await focused(page)));
}
const hasId = (id) => document.activeElement.id === id;

exports.keyboard = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools, "?title=Keys");
  await app.do(() => window.app.cs.Build(1000));
  const panel = await openPanel(tools);
  await panel.bringToFront();
  await listed(panel, 1);
  const press = async (...keys) => {
    for (const key of keys) await panel.keyboard.press(key);
  };
  // The runtime is chosen; the label is where the focus goes.
  await tabTo(panel, () => document.activeElement.dataset.id !== undefined);
  await press("Enter");
  await wait(panel, hasId, "label");
  await panel.keyboard.type("one");
  await press("Enter");
  await shown(panel, "one");
  await app.do(() => window.app.cs.Build(50));
  await tabTo(panel, () => document.activeElement.dataset.id !== undefined);
  await press("Enter");
  await wait(panel, hasId, "label");
  await panel.keyboard.type("two");
  await press("Tab");
  assert.strictEqual(await focused(panel), "take");
  await press(" ");
  await shown(panel, "two");
  // The views: tabs by arrows.
  await tabTo(panel, () => document.activeElement.getAttribute("role") === "tab");
  for (const name of VIEWS.slice(1)) {
    if ((await panel.$("#tab-" + name)) === null) continue;
    await press("ArrowRight");
    await panel.waitForSelector(`#app[data-ready="${name}"][aria-busy="false"]`);
    assert.strictEqual(await focused(panel), "tab-" + name);
  }
  // A counter is chosen.
  await press("ArrowLeft");
  await panel.waitForSelector('#app[data-ready="counters"][aria-busy="false"]');
  await tabTo(panel, () => document.activeElement.getAttribute("role") === "option");
  const before = (await panel.$$("#panel .series")).length;
  await press(" ");
  await wait(panel, (n) => document.querySelectorAll("#panel .series").length === n - 1, before);
  // Saved, as .hs.
  await panel.keyboard.down("Shift");
  for (let i = 0; i < 40 && !(await panel.evaluate(() => document.activeElement.dataset.format === "hs")); i++) await press("Tab");
  await panel.keyboard.up("Shift");
  await press("Enter");
  await tools.downloads.file("two.hs");
  // Removed; the focus stays in the list.
  await panel.evaluate(() => document.querySelector('[data-focus="open0"]').focus());
  await press("Tab", "Enter");
  await wait(panel, () => document.querySelectorAll("[data-entry]").length === 1);
  assert.strictEqual(await panel.evaluate(() => document.activeElement.dataset.focus), "remove0");
  // Channel and token, which are folded away.
  await panel.evaluate(() => document.querySelector("#refresh").focus());
  await tabTo(panel, () => document.activeElement.tagName === "SUMMARY" && document.activeElement.textContent === "Channel and token");
  await press("Enter", "Tab");
  assert.strictEqual(await focused(panel), "channel");
};

exports.layout = async (tools) => {
  const { assert } = tools;
  const app = await openApp(tools);
  await app.do(() => {
    window.app.cs.Build(1000);
    for (let i = 0; i < 60; i++) window.app.kept.push(window.app.interop.GiveObject(i));
  });
  for (const [width, height] of SIZES) {
    const panel = await openPanel(tools, { width, height });
    await panel.bringToFront();
    await listed(panel, 1);
    const isSmall = width < 900;
    const inside = (what) =>
      panel.evaluate(() => {
        const root = document.documentElement;
        return [root.scrollWidth <= innerWidth, root.scrollHeight <= innerHeight];
      }).then((seen) => assert.deepStrictEqual(seen, [true, true], `${what} at ${width}x${height}`));
    await inside("list");
    await choose(panel, "Leaky");
    // In a narrow window the list makes room, and comes back by its button.
    const isListShown = () => panel.$eval("#list", (list) => list.offsetWidth > 0);
    assert.strictEqual(await isListShown(), !isSmall);
    await inside("runtime");
    await take(panel, "layout");
    for (const name of VIEWS) {
      await view(panel, name);
      await inside(name);
      const seen = await panel.evaluate(() => {
        const box = document.querySelector("#panel").getBoundingClientRect();
        return [Math.round(box.bottom) <= innerHeight, box.height > innerHeight / 2];
      });
      assert.deepStrictEqual(seen, [true, true], `${name} at ${width}x${height}`);
      const places = () => panel.$$eval(".bar-top, .head, nav, .tools, .area, .scroll, .result, .line, .chart", (list) => list.map((element) => JSON.stringify(element.getBoundingClientRect())));
      const before = await places();
      await panel.mouse.move(width / 2, height / 2);
      await panel.mouse.move(width / 3, height / 1.5);
      assert.deepStrictEqual(await places(), before, name);
    }
    if (isSmall) {
      await panel.click("#toggle-list");
      assert(await isListShown());
      assert.strictEqual(await panel.$eval("#toggle-list", (button) => button.getAttribute("aria-expanded")), "true");
      await panel.click(".item-open[title=layout]");
      await wait(panel, () => document.querySelector("#list").offsetWidth === 0 && document.querySelector("#app").offsetWidth > 0);
    } else assert.strictEqual(await panel.$eval("#toggle-list", (button) => button.offsetWidth), 0);
  }
};

exports.accessible = async (tools) => {
  const { assert, job } = tools;
  const source = fs.readFileSync(tools.axe, "utf8");
  const app = await openApp(tools);
  await app.do(() => {
    window.app.cs.Build(1000);
    window.app.cs.Listen(200);
    for (let i = 0; i < 60; i++) window.app.kept.push(window.app.interop.GiveObject(i));
  });
  for (const scheme of ["light", "dark"])
    for (const [width, height] of SIZES) {
      // In short runs each colour scheme and each size once.
      if (!job.isLong && (scheme === "light") !== (width === 800)) continue;
      const panel = await openPanel(tools, { scheme, width, height });
      await panel.bringToFront();
      // The page forbids scripts but its own; puppeteer's world is another.
      const client = await panel.createCDPSession();
      await client.send("Runtime.evaluate", { expression: source });
      const judge = async (what) => {
        const result = await panel.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
        const violations = result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + " " + node.failureSummary.slice(0, 300)).join(" | ")}`);
        assert.deepStrictEqual(violations, [], `${what}, ${scheme}, ${width}x${height}`);
        assert(result.passes.length > 10);
      };
      await listed(panel, 1);
      await judge("list");
      await choose(panel, "Leaky");
      await panel.click("#read-once");
      await wait(panel, () => document.querySelectorAll(".live-table tbody tr").length > 10);
      await judge("runtime");
      await take(panel, "axe");
      for (const name of VIEWS) {
        await view(panel, name);
        await judge(name);
      }
      await openFiles(panel, __filename);
      await panel.waitForSelector(".error:not([hidden])");
      await judge("error");
      // What goes on is told politely, errors at once.
      assert.deepStrictEqual(await panel.$$eval('[role="status"], [role="alert"]', (list) => list.map((one) => one.getAttribute("role")).filter((role, i, all) => all.indexOf(role) === i)), ["status", "alert"]);
    }
};

exports.policy = async (tools) => {
  const { assert } = tools;
  const panel = await openPanel(tools);
  const { isScriptRun, isEvalRun, refused } = await panel.evaluate(tryAll);
  assert.deepStrictEqual([isScriptRun, isEvalRun], [false, false]);
  for (const what of ["fetch", "script-src-elem", "connect-src", "img-src"]) assert(refused.includes(what), refused.join(" "));
  // These were of our own making.
  panel.said.length = panel.wrong.length = 0;
};
