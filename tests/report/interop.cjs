// SPDX-License-Identifier: MIT
// Counters and handles on the page; see page.cjs.  job.expected.interop is what was put into it.
"use strict";

const wait = (page, condition, ...values) => page.waitForFunction(condition, { timeout: 30000 }, ...values);
const line = (page) => page.$eval("#panel .line", (element) => element.textContent);
const rows = (page) => page.$$eval("#panel .table tbody tr", (list) => list.map((row) => [...row.children].map((cell) => cell.textContent)));
const series = (page) => page.$$eval("#panel .series", (list) => list.map((one) => one.dataset.counter));
const options = (page) => page.$$eval('#panel [role="option"]', (list) => list.map((option) => [option.title, option.getAttribute("aria-selected")]));
const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

exports.counters = async ({ open, job, assert }) => {
  const page = await open(job.pages.interop, "counters");
  const { counters } = job.expected.interop;
  assert.deepStrictEqual(await options(page), counters.map((counter) => [counter.name, String(counter.wanted)]));
  const wanted = counters.filter((counter) => counter.wanted);
  assert.deepStrictEqual(await series(page), wanted.map((counter) => counter.name));
  // The table is the key of the lines: first, last, least, most.
  const summary = await page.$$eval('[aria-label="What the lines are"] tbody tr', (list) => list.map((row) => [row.dataset.counter, ...[...row.querySelectorAll("td.n")].map((cell) => Number(cell.title))]));
  assert.deepStrictEqual(
    summary,
    wanted.map(({ name, value }) => [name, value[0], value[value.length - 1], Math.min(...value), Math.max(...value)])
  );
  // Each sample stands where its time and its value are.
  const places = await page.$$eval("#panel .series", (list) => list.map((one) => [...one.querySelectorAll("circle")].map((dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))])));
  const grid = await page.$eval(".charts .grid", (one) => [Number(one.getAttribute("x1")), Number(one.getAttribute("x2")), Number(one.getAttribute("y1"))]);
  const most = Math.max(...wanted.flatMap((counter) => counter.value));
  const end = job.expected.interop.endNs;
  wanted.forEach(({ time_ns, value }, i) =>
    value.forEach((one, k) => {
      assert(Math.abs(places[i][k][0] - (grid[0] + ((grid[1] - grid[0]) * time_ns[k]) / end)) < 0.2, wanted[i].name);
      assert(Math.abs(places[i][k][1] - (grid[2] - (grid[2] - 30) * (one / most))) < 0.2, wanted[i].name);
    })
  );
  // All values as a table, for those who see no lines.
  await page.click(".values summary");
  const values = await page.$$eval(".values tbody tr", (list) => list.map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.title))));
  assert.deepStrictEqual(values, wanted[0].value.map((_, k) => wanted.map(({ value }) => value[k])));
  // By keys along the chart.
  await page.$eval(".charts svg", (chart) => chart.focus());
  await press(page, "End");
  const last = wanted.map(({ name, text }) => `${name} ${text}`).join(", ");
  assert((await line(page)).endsWith(last), await line(page));
  await press(page, "Home", "ArrowRight", "ArrowLeft");
  assert((await line(page)).startsWith("At 1.00 s: "), await line(page));
  // A counter of another unit has a chart of its own; one that is not wanted any more goes.
  await page.focus('#panel [role="option"][tabindex="0"]');
  await press(page, " ");
  await wait(page, (n) => document.querySelectorAll("#panel .series").length === n, wanted.length - 1);
  await press(page, "End", "Enter");
  await wait(page, () => document.querySelectorAll("#panel .charts svg").length === 2);
  assert.deepStrictEqual(await series(page), [...wanted.slice(1).map((counter) => counter.name), counters[counters.length - 1].name]);
  // Searched.
  await page.type('#panel .side input[type="search"]', "malloc");
  await wait(page, () => document.querySelectorAll('#panel [role="option"]').length === 1);
};

exports.handles = async ({ open, job, assert }) => {
  const page = await open(job.pages.interop, "handles");
  const { handles, type } = job.expected.interop;
  const n = (table) => table.entries.reduce((sum, entry) => sum + entry.count, 0);
  assert.deepStrictEqual(
    await page.$$eval("#panel .choice", (list) => list.map((choice) => [choice.dataset.table, choice.querySelector(".n").textContent.replace(",", "")])),
    handles.map((table) => [table.name, String(n(table))])
  );
  // The largest is shown first; what is alike is one row, with its change since the first snapshot that has tables.
  const heads = () => page.$$eval("#panel thead button", (list) => list.map((button) => button.textContent));
  assert.deepStrictEqual(await heads(), ["Managed type", "In JavaScript", "Entries", "Change", "Retained"]);
  assert.deepStrictEqual(await rows(page), [
    [type, "ManagedObject (object)", "1,000", "+900", "3.91 KB"],
    ["(none known) i", "i (function)", "3", "+3", "-"],
  ]);
  const text = await page.$eval(".about-table", (about) => about.innerText);
  for (const words of ["C# objects held by JavaScript: 1,003", "So far 40 released, 2 collected.", "7 more escaped", "By WeakMap.", "proxy.dispose()"]) assert(text.includes(words), text);
  // Each by itself.
  await page.click("#each-handle");
  await wait(page, () => document.querySelectorAll("#panel tbody tr").length === 5);
  assert.deepStrictEqual(await heads(), ["Managed type", "In JavaScript", "Handle", "Object", "Entries", "Retained"]);
  assert.deepStrictEqual((await rows(page)).slice(0, 2), [
    [type, "ManagedObject (object)", "38", "0x1000", "999", "3.91 KB"],
    [type, "ManagedObject (object)", "46", "0x1000", "1", "3.91 KB"],
  ]);
  // A type leads to what holds it.
  await page.click("#panel tbody button.link");
  await page.waitForSelector('#app[data-ready="paths"]');
  assert.strictEqual(await page.$eval(".result h2", (head) => head.textContent), type);
  // Other tables, by keys; the first snapshot has nothing to be compared with.
  await page.click("#tab-handles");
  await page.waitForSelector('#app[data-ready="handles"]');
  await page.focus('#panel .choice[aria-selected="true"]');
  await press(page, "End");
  await wait(page, (title) => document.querySelector(".about-table h2").textContent.startsWith(title), "IJSObjectReference");
  await page.click("#each-handle");
  assert.deepStrictEqual(await rows(page), [["(none known) Chart", "Chart (object)", "60", "+60"]]);
  // The first snapshot has one table, and nothing to be compared with.
  await page.select("#snapshot", "0");
  await wait(page, () => document.querySelectorAll("#panel .choice").length === 1);
  assert.deepStrictEqual(await rows(page), [[type, "ManagedObject (object)", "100"]]);
};

exports.references = async ({ open, job, assert }) => {
  // The summary names what was not disposed: what grew most first.
  const page = await open(job.pages.interop, "summary");
  const { type } = job.expected.interop;
  const first = await page.$eval("#snapshot option", (option) => option.textContent);
  const found = await page.$$eval("[data-table]", (list) => list.map((item) => [item.dataset.table, item.querySelector("p").textContent]));
  assert.deepStrictEqual(found, [
    ["js_proxy", `referencesJavaScript holds 1,000 C# objects ${type} +900 since ${first}`],
    ["js_object_reference", "references60 IJSObjectReference not disposed: Chart +60 since " + first],
  ]);
  await page.click('[data-table="js_object_reference"] .link:last-child');
  await page.waitForSelector('#app[data-ready="handles"]');
  assert((await page.$eval(".about-table h2", (head) => head.textContent)).startsWith("IJSObjectReference: 60"));
  // A recording without such tables says nothing of them.
  const plain = await open(job.pages.held, "summary");
  assert.strictEqual(await plain.$('[aria-label="Undisposed references"]'), null);
  assert.strictEqual(await plain.$("#tab-handles"), null);
};
