// SPDX-License-Identifier: MIT
// What is checked on the page; see page.cjs.  job.pages are files, job.expected
// is what the other commands print of the recordings.
"use strict";
const { tryAll } = require("../node-tools/policy.cjs");

const number = (text) => Number(text.replace(/,/g, "").replace("−", "-").replace("+", ""));
const wait = (page, condition, ...values) => page.waitForFunction(condition, { timeout: 30000 }, ...values);
/** Rows of the table: the text and the title of each cell. */
const rows = (page) =>
  page.$$eval("#panel .table tbody tr", (list) =>
    list.map((row) => [...row.children].map((cell) => ({ text: cell.textContent, title: cell.title })))
  );
const heads = (page) => page.$$eval("#panel .table thead button", (list) => list.map((button) => button.textContent));
const active = (page) => page.evaluate(() => document.activeElement.getAttribute("data-name") || document.activeElement.textContent);
const boxes = (page) =>
  page.$$eval("#panel .box", (list) =>
    list.map((box) => ({
      name: box.dataset.name,
      words: box.getAttribute("aria-label"),
      x: parseFloat(box.style.left),
      y: parseFloat(box.style.top),
      w: parseFloat(box.style.width),
      h: parseFloat(box.style.height),
    }))
  );
const crumbs = (page) => page.$$eval(".crumbs li", (list) => list.map((item) => item.textContent));
const line = (page) => page.$eval("#panel .line", (element) => element.textContent);
/** "12,345 bytes" in a title or a sentence. */
const exact = (text) => number(/(−?[\d,]+) bytes/.exec(text)[1]);

// ---- The views ----

exports.summary = async ({ open, job, assert }) => {
  const page = await open(job.pages.events, "summary");
  const text = await page.$eval("#panel", (panel) => panel.innerText);
  assert(text.includes("T.Pub.Ev"), text);
  const { leaks } = job.expected.events;
  const found = await page.$$eval(".finding", (list) =>
    list.map((item) => [item.dataset.type, item.querySelector("p").innerText, item.querySelector(".path") ? item.querySelector(".path").textContent : null])
  );
  const expected = [...leaks.suspects, ...leaks.growth, ...leaks.waste];
  assert.deepStrictEqual(found.map((row) => row[0]), expected.map((row) => row.type));
  found.forEach((row, i) => {
    assert(row[1].replace(/\s+/g, " ").endsWith(expected[i].text), row[1] + " / " + expected[i].text);
    if (expected[i].path) assert.strictEqual(row[2], expected[i].path.text.replace(/ -> /g, "→"));
  });
  assert(expected.some((row) => row.kind === "event"));
  const commands = await page.$$eval(".command code", (list) => list.map((code) => code.textContent));
  assert(commands.some((command) => /^heapshot path \S+@\d+ /.test(command)), commands);
  assert((await page.title()).startsWith("Events.exe"));
  // A suspect leads to what holds its objects.
  await page.click(".finding .link");
  await page.waitForSelector('#app[data-ready="paths"]');
  assert.strictEqual(await page.$eval(".result h2", (head) => head.textContent), expected[0].type);
};

exports.types = async ({ open, job, assert }) => {
  const page = await open(job.pages.events, "types");
  const { top } = job.expected.events;
  const byName = new Map(top.map((row) => [row.type + " " + (row.assembly || "-"), row]));
  const shown = await rows(page);
  assert.strictEqual(shown.length, top.length);
  for (const row of shown) {
    const expected = byName.get(row[0].text + " " + row[1].text);
    assert(expected, row[0].text);
    assert.strictEqual(number(row[2].text), expected.count);
    assert.strictEqual(exact(row[3].title), expected.bytes);
    assert.strictEqual(exact(row[4].title), expected.retained);
    assert.strictEqual(exact(row[5].title), expected.bytes - (job.expected.events.first[row[0].text + " " + row[1].text] || 0));
    // A number has a unit, and stands to the right.
    assert(/ (B|KB|MB|GB)$/.test(row[3].text), row[3].text);
  }
  assert.strictEqual(await page.$eval("#panel td.n", (cell) => getComputedStyle(cell).textAlign), "right");
  // Each column, both ways.
  const titles = await heads(page);
  assert.deepStrictEqual(titles, ["Type", "Assembly", "Objects", "Size", "Retained", "Change"]);
  for (let i = 0; i < titles.length; i++) {
    for (let turn = 0; turn < 2; turn++) {
      await page.click(`#panel thead th:nth-child(${i + 1}) button`);
      const direction = await page.$eval(`#panel thead th:nth-child(${i + 1})`, (head) => head.getAttribute("aria-sort"));
      const cells = (await rows(page)).map((row) => row[i]);
      const values = cells.map((cell) => (i < 2 ? cell.text : i === 2 ? number(cell.text) : exact(cell.title)));
      const sorted = values.slice().sort((a, b) => (i < 2 ? a.localeCompare(b) : a - b));
      assert.deepStrictEqual(values, direction === "descending" ? sorted.reverse() : sorted, titles[i] + " " + direction);
      assert.strictEqual(await page.$$eval("#panel th[aria-sort]", (list) => list.length), 1);
    }
  }
  // Searched, by all words.
  await page.type('#panel input[type="search"]', "t. HAND");
  await wait(page, () => document.querySelectorAll("#panel tbody tr").length < 10);
  const found = await rows(page);
  assert.deepStrictEqual(found.map((row) => row[0].text), top.map((row) => row.type).filter((name) => /t\./i.test(name) && /hand/i.test(name)).sort());
  assert((await page.$eval("#panel output", (output) => output.textContent)).startsWith(`${found.length} of `));
  await page.click("#panel tbody button.link");
  await page.waitForSelector('#app[data-ready="paths"]');
  assert.strictEqual(await page.$eval(".result h2", (head) => head.textContent), found[0][0].text);
};

exports.treemap = async ({ open, job, assert }) => {
  const page = await open(job.pages.events, "treemap");
  const { retained } = job.expected.events;
  let shown = await boxes(page);
  assert.strictEqual(exact(await line(page)), retained.live.bytes);
  const [all] = shown;
  // What stands in it lies in it, and areas are to each other as sizes are.
  for (const box of shown) assert(box.x >= all.x && box.y >= all.y && box.x + box.w <= all.w + 1 && box.y + box.h <= all.h + 1);
  for (const kind of retained.kinds.filter((one) => one.retained > retained.live.bytes / 20)) {
    const box = shown.find((one) => one.name === kind.kind);
    assert(box, kind.kind);
    const part = (box.w * box.h) / (all.w * (all.h - 18));
    assert(Math.abs(part - kind.retained / retained.live.bytes) < 0.03, `${kind.kind} ${part}`);
  }
  // In by a click, at once to what is pointed at; out by the way, and by Escape.
  const name = "static T.Pub.Ev";
  assert(shown.some((box) => box.name === name));
  const corner = await page.$eval(`.box[data-name="${name}"]`, (box) => [box.getBoundingClientRect().left, box.getBoundingClientRect().top]);
  await page.mouse.move(corner[0] + 10, corner[1] + 5);
  assert((await line(page)).startsWith(name));
  await (await page.$(`.box[data-name="${name}"]`)).click({ offset: { x: 10, y: 5 } });
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 3);
  assert.deepStrictEqual(await crumbs(page), ["All that lives", "static", name]);
  shown = await boxes(page);
  assert.strictEqual(shown[0].name, name);
  assert(shown.some((box) => box.name === "T.Handler"));
  assert(Math.abs(shown[0].w * shown[0].h - all.w * all.h) < 1);
  await page.keyboard.press("Escape");
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 2);
  assert.strictEqual((await boxes(page))[0].name, "static");
  await page.click(".crumbs button");
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 1);
  assert.strictEqual((await boxes(page))[0].name, "All that lives");
  // A type leads to its paths.
  await (await page.$('.box[data-name="T.Handler"]')).click({ offset: { x: 8, y: 5 } });
  await wait(page, () => !document.querySelector(".action").hidden);
  await page.click(".action");
  await page.waitForSelector('#app[data-ready="paths"]');
  assert.strictEqual(await page.$eval(".result h2", (head) => head.textContent), "T.Handler");
};

exports.flame = async ({ open, job, assert }) => {
  const page = await open(job.pages.events, "flame");
  const { retained } = job.expected.events;
  let shown = await boxes(page);
  const all = shown[0];
  assert.strictEqual(exact(await line(page)), retained.live.bytes);
  for (const kind of retained.kinds.filter((one) => one.retained > retained.live.bytes / 50)) {
    const box = shown.find((one) => one.name === kind.kind && one.y === 22);
    assert(Math.abs((box.w + 1) / (all.w + 1) - kind.retained / retained.live.bytes) < 0.005, kind.kind);
  }
  // Below each box only what it holds.
  for (const box of shown) {
    if (box === all) continue;
    assert(shown.some((one) => one.y === box.y - 22 && one.x <= box.x + 0.01 && one.x + one.w >= box.x + box.w - 1.6), box.name);
  }
  await page.click('.box[data-name="static T.Pub.Ev"]');
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 3);
  shown = await boxes(page);
  const zoomed = shown.find((box) => box.name === "static T.Pub.Ev");
  assert(Math.abs(zoomed.w - all.w) < 2 && zoomed.y === 44);
  assert(shown.some((box) => box.name === "T.Handler" && box.w > all.w / 20));
  // Those above lead back.
  await page.click('.box[data-name="All that lives"]');
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 1);
  assert.deepStrictEqual((await boxes(page)).map((box) => box.name).sort(), (await boxes(page)).map((box) => box.name).sort());
  await page.click('.box[data-name="static"]');
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 2);
  await page.keyboard.press("Escape");
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 1);
};

exports.paths = async ({ open, job, assert }) => {
  const page = await open(job.pages.events, "paths");
  const { paths } = job.expected.events;
  await page.type('.side input[type="search"]', "T.Handler");
  await wait(page, () => document.querySelectorAll(".choice").length < 4);
  await page.click('.choice[title="T.Handler"]');
  await wait(page, () => document.querySelector(".result h2").textContent === "T.Handler");
  const shown = await page.$$eval(".path-card", (list) =>
    list.map((card) => [card.querySelector(".under").innerText, [...card.querySelectorAll(".chain li")].map((item) => item.textContent)])
  );
  assert.strictEqual(shown.length, Math.min(8, paths.paths.length));
  shown.forEach(([head, chain], i) => {
    const expected = paths.paths[i];
    assert.strictEqual(number(/([\d,]+) object/.exec(head)[1]), expected.count);
    const text = expected.text.split(" -> ");
    assert.strictEqual(chain[0], expected.root.kind + expected.root.name);
    assert.deepStrictEqual(chain.slice(1), text.slice(1).map((step) => step.replace(/ \((again and again|[\d,]+ times)\)$/, " $1")));
  });
  assert.strictEqual(shown[0][1][0], "staticT.Pub.Ev");
  // By keys, to the next type.
  await page.focus('.choice[aria-selected="true"]');
  await page.evaluate(() => {
    document.querySelector(".side input").value = "";
    document.querySelector(".side input").dispatchEvent(new Event("input"));
  });
  await page.focus('.choice[aria-selected="true"]');
  await page.keyboard.press("Home");
  await wait(page, () => document.querySelector(".choice").getAttribute("aria-selected") === "true");
  const first = await page.$eval(".choice", (choice) => choice.title);
  await wait(page, (name) => document.querySelector(".result h2").textContent === name, first);
  // A type whose paths are not there: what to type is said.
  assert((await page.$eval(".result .command code", (code) => code.textContent)).startsWith("heapshot path "));
};

exports.diff = async ({ open, job, assert }) => {
  const page = await open(job.pages.events, "diff");
  const { ids } = job.expected.events;
  const check = async (diff) => {
    const shown = await rows(page);
    assert.deepStrictEqual(
      shown.map((row) => [row[0].text, number(row[2].text), exact(row[3].title), exact(row[4].title), number(row[5].text)]).sort(),
      diff.types.map((row) => [row.type, row.count, row.bytes, row.retained, row.after.count]).sort()
    );
    const bytes = shown.map((row) => exact(row[3].title));
    assert.deepStrictEqual(bytes, bytes.slice().sort((a, b) => b - a));
  };
  await check(job.expected.events.diff);
  assert(job.expected.events.diff.types.some((row) => row.type === "T.Handler"));
  const options = await page.$$eval("#diff-from option", (list) => list.map((option) => option.value));
  // Any two, chosen by the lists.
  await page.select("#diff-from", options[1]);
  await page.select("#diff-to", options[options.length - 2]);
  await wait(page, (a, b) => document.querySelector("#panel caption").textContent.includes(a) && document.querySelector("#panel caption").textContent.includes("to #" + b), "#" + ids[1], ids[ids.length - 2]);
  await check(job.expected.events.diffMiddle);
  // The other way round.
  await page.click(".choose button");
  await wait(page, (id) => document.querySelector("#panel caption").textContent.includes("to #" + id), ids[1]);
  const turned = await rows(page);
  const back = new Map(job.expected.events.diffMiddle.types.map((row) => [row.type, row]));
  for (const row of turned) assert(Math.abs(number(row[2].text)) === Math.abs(back.get(row[0].text).count));
  for (let i = 2; i <= 4; i++) {
    await page.click(`#panel thead th:nth-child(${i + 1}) button`);
    const values = (await rows(page)).map((row) => (i === 2 ? number(row[2].text) : exact(row[i].title)));
    const direction = await page.$eval(`#panel thead th:nth-child(${i + 1})`, (head) => head.getAttribute("aria-sort"));
    const sorted = values.slice().sort((a, b) => a - b);
    assert.deepStrictEqual(values, direction === "descending" ? sorted.reverse() : sorted);
  }
  await page.type('#panel input[type="search"]', "T.Handler");
  await wait(page, () => [...document.querySelectorAll("#panel tbody button.link")].every((button) => button.textContent.includes("T.Handler")));
};

exports.timeline = async ({ open, job, assert }) => {
  const page = await open(job.pages.events, "timeline");
  const { events, list, ids } = job.expected.events;
  const marks = await page.$$eval(".mark", (found) => found.map((mark) => [mark.dataset.snapshot, mark.getAttribute("role"), parseFloat(mark.querySelector("line").getAttribute("x1"))]));
  assert.deepStrictEqual(marks.map((mark) => Number(mark[0])), list.snapshots.map((snapshot) => snapshot.id));
  const end = Math.max(events.summary.duration_ns, ...list.snapshots.map((snapshot) => snapshot.time_ns));
  const [left, right] = await page.$eval(".grid", (grid) => [Number(grid.getAttribute("x1")), Number(grid.getAttribute("x2"))]);
  marks.forEach((mark, i) => assert(Math.abs(mark[2] - (left + ((right - left) * list.snapshots[i].time_ns) / end)) < 0.5));
  assert.strictEqual((await page.$$(".pause")).length, events.collections.length);
  assert.strictEqual((await page.$$("rect.pause.major")).length, events.summary.major);
  const text = await page.$eval("#panel", (panel) => panel.innerText);
  assert(text.includes(`${events.summary.collections} collections (${events.summary.minor} nursery, ${events.summary.major} major)`), text);
  // Collections one by one, by keys and by the pointer.
  await page.$eval(".chart svg", (chart) => chart.focus());
  await page.keyboard.press("ArrowRight");
  assert((await line(page)).startsWith("Collection 1 at "));
  await page.keyboard.press("End");
  assert((await line(page)).startsWith(`Collection ${events.collections.length} at `));
  const place = await page.$eval(".chart", (chart) => {
    const box = chart.getBoundingClientRect();
    return [box.left, box.top];
  });
  await page.mouse.move(place[0] + left + 1, place[1] + 60);
  assert((await line(page)).startsWith("Collection 1 at "));
  // A mark chooses its snapshot, by a click and by Enter.
  await page.$eval(`.mark[data-snapshot="${ids[0]}"]`, (mark) => mark.dispatchEvent(new MouseEvent("click", { bubbles: true })));
  await wait(page, () => document.querySelector("#snapshot").value === "0");
  assert.strictEqual(await page.$eval(".mark.chosen", (mark) => mark.dataset.snapshot), String(ids[0]));
  await page.$eval(`.mark[data-snapshot="${ids[1]}"]`, (mark) => mark.focus());
  await page.keyboard.press("Enter");
  await wait(page, () => document.querySelector("#snapshot").value === "1");
  await page.click("#panel .snapshots button.link");
  await wait(page, () => document.querySelector("#snapshot").value === "0");
};

exports.snapshots = async ({ open, job, assert }) => {
  // The list of snapshots changes all views.
  const page = await open(job.pages.events, "types");
  await page.select("#snapshot", "0");
  await wait(page, (n) => document.querySelectorAll("#panel tbody tr").length === n, Object.keys(job.expected.events.first).length);
  const shown = await rows(page);
  for (const row of shown) assert.strictEqual(exact(row[3].title), job.expected.events.first[row[0].text + " " + row[1].text]);
  await page.click("#tab-treemap");
  await page.waitForSelector('#app[data-ready="treemap"]');
  assert.strictEqual(exact(await line(page)), job.expected.events.firstLive);
  // Back and forth in the browser's history.
  await page.goBack();
  await page.waitForSelector('#app[data-ready="types"]');
};

// ---- Other recordings ----

exports.twoFiles = async ({ open, job, assert }) => {
  const page = await open(job.pages.both, "diff");
  const titles = await page.$$eval("#diff-from option", (list) => list.map((option) => option.textContent));
  assert.deepStrictEqual(titles.map((title) => title.split(" ").slice(0, 2).join(" ")), ["held.hs #1", "good.hs #1", "good.hs #2", "good.hs #3"]);
  const shown = await rows(page);
  assert.deepStrictEqual(
    shown.map((row) => [row[0].text, row[1].text, number(row[2].text), exact(row[3].title), exact(row[4].title)]).sort(),
    job.expected.both.types.map((row) => [row.type, row.assembly || "-", row.count, row.bytes, row.retained]).sort()
  );
  assert(shown.length > 0);
  // The summary is that of the recording whose snapshot is chosen.
  for (const [index, file] of [["0", "held.hs"], ["3", "good.hs"]]) {
    await page.select("#snapshot", index);
    await page.click("#tab-summary");
    await wait(page, (name) => (document.querySelector(".about") || { textContent: "" }).textContent.includes(name), file);
  }
};

exports.oneSnapshot = async ({ open, job, assert }) => {
  const page = await open(job.pages.held, "diff");
  assert((await page.$eval("#panel", (panel) => panel.innerText)).includes("one snapshot"));
  await page.click("#tab-types");
  await page.waitForSelector('#app[data-ready="types"]');
  assert.deepStrictEqual(await heads(page), ["Type", "Assembly", "Objects", "Size", "Retained"]);
  await page.click("#tab-summary");
  await page.waitForSelector('#app[data-ready="summary"]');
  assert((await page.$eval("#panel", (panel) => panel.innerText)).includes("There is one snapshot"));
};

exports.noSnapshot = async ({ open, job, assert }) => {
  for (const name of ["none", "ring"]) {
    const file = job.pages[name];
    const page = await open(file, "timeline");
    const views = job.expected.hasCounters[name] ? ["Summary", "Counters", "Timeline"] : ["Summary", "Timeline"];
    assert.deepStrictEqual(await page.$$eval('[role="tab"]', (list) => list.map((tab) => tab.textContent)), views);
    assert.strictEqual(await page.$("#snapshot"), null);
    assert((await page.$eval("#panel", (panel) => panel.innerText)).includes("No snapshot is in this recording"));
    await page.click("#tab-summary");
    await page.waitForSelector('#app[data-ready="summary"]');
    assert((await page.$eval("#panel", (panel) => panel.innerText)).includes("Heap over time"));
    // A view that has nothing to show is not there.
    const other = await open(file, "treemap", { expect: "summary" });
    assert.strictEqual(await other.$(".treemap"), null);
  }
  const ring = await open(job.pages.ring, "timeline");
  assert.strictEqual((await ring.$$(".pause")).length > 0, true);
};

exports.damaged = async ({ open, job, assert }) => {
  const page = await open(job.pages.damaged, "summary");
  const notes = await page.$$eval(".notes li", (list) => list.map((item) => item.textContent));
  assert(notes.some((note) => note.includes("damaged")), notes);
  for (const view of ["types", "treemap", "flame", "paths", "timeline"]) {
    await page.click("#tab-" + view);
    await page.waitForSelector(`#app[data-ready="${view}"]`);
  }
  const stats = await open(job.pages.stats, "treemap");
  assert((await stats.$eval("#panel", (panel) => panel.innerText)).includes("types and counts only"));
  await stats.click("#tab-types");
  await stats.waitForSelector('#app[data-ready="types"]');
  assert(!(await heads(stats)).includes("Retained"));
};

exports.hostile = async ({ open, job, assert }) => {
  // Names that are markup and scripts stand there as text; page.cjs sees dialogs and requests.
  for (const view of ["summary", "types", "treemap", "flame", "paths", "diff", "timeline"]) {
    const page = await open(job.pages.hostile, view);
    assert.strictEqual(await page.$$eval("img, iframe, a, object, embed", (list) => list.length), 0);
    assert.strictEqual(await page.$$eval("script", (list) => list.length), 2);
    const text = await page.$eval("#panel", (panel) => panel.innerHTML);
    if (view === "types") assert(text.includes("&lt;img src=x onerror=") && text.includes("&lt;/script&gt;"), text.slice(0, 500));
  }
  const page = await open(job.pages.hostile, "summary");
  assert.strictEqual(await page.evaluate(() => window.touched), undefined);
};

exports.policy = async ({ open, job, assert }) => {
  // What the page itself would try in vain.
  const page = await open(job.pages.events, "summary");
  const { isScriptRun, refused } = await page.evaluate(tryAll);
  assert.strictEqual(isScriptRun, false);
  for (const what of ["fetch", "script-src-elem", "img-src"]) assert(refused.includes(what), refused.join(" "));
  // These were of our own making.
  assert(page.wrong.every((text) => text.startsWith("console:")), page.wrong);
  page.wrong.length = 0;
};

exports.large = async ({ open, job, assert }) => {
  // 3,000 types and a tree of 20,000 nodes.
  const page = await open(job.pages.large, "types", { width: 1920, height: 1080 });
  assert((await page.$eval("#panel output", (output) => output.textContent)).startsWith("3,000 types"));
  assert.strictEqual((await rows(page)).length, 500);
  await page.click("#panel button.more");
  await wait(page, () => document.querySelectorAll("#panel tbody tr").length === 1000);
  await page.type('#panel input[type="search"]', "Type2999");
  await wait(page, () => document.querySelectorAll("#panel tbody tr").length === 1);
  for (const view of ["treemap", "flame"]) {
    await page.click("#tab-" + view);
    await page.waitForSelector(`#app[data-ready="${view}"]`);
    const shown = await boxes(page);
    assert(shown.length > 100 && shown.length < 3000, String(shown.length));
    assert(shown.some((box) => box.name === "other"));
    // With what is put together as "other", the largest box is full.
    const size = (box) => (view === "flame" ? box.w + 1 : (box.w + 1) * (box.h + 1));
    const inside = shown.filter((box) => (view === "flame" ? box.y === 22 : box !== shown[0] && !shown.some((one) => one !== box && one !== shown[0] && one.x <= box.x && one.y <= box.y && one.x + one.w >= box.x + box.w && one.y + one.h >= box.y + box.h)));
    const full = view === "flame" ? size(shown[0]) : (shown[0].w - 4) * (shown[0].h - 20);
    const sum = inside.reduce((all, box) => all + size(box), 0);
    assert(Math.abs(sum / full - 1) < 0.02, `${view}: ${sum} of ${full}`);
    // Into the depth, and out again.
    for (let depth = 2; depth <= 6; depth++) {
      await page.evaluate(() => document.querySelectorAll("#panel .box")[document.querySelectorAll(".crumbs li").length === 1 ? 1 : [...document.querySelectorAll("#panel .box")].findIndex((box, i, all) => i > 0 && box.dataset.name !== all[0].dataset.name && !document.querySelector(".crumbs").textContent.includes(box.textContent.split(" ")[0]))].click());
      await new Promise((done) => setTimeout(done, 50));
    }
    await page.evaluate(() => document.querySelector(".crumbs button") && document.querySelector(".crumbs button").click());
    await wait(page, () => document.querySelectorAll(".crumbs li").length === 1);
  }
};

// ---- Keys, sizes, colours ----

exports.keyboard = async ({ open, job, assert }) => {
  // From the top of the page with keys alone.
  const page = await open(job.pages.events, "summary");
  const press = async (...keys) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  const focusedId = () => page.evaluate(() => document.activeElement.id);
  await press("Tab");
  assert.strictEqual(await focusedId(), "snapshot");
  await press("Tab");
  assert.strictEqual(await focusedId(), "tab-summary");
  await press("ArrowRight");
  await page.waitForSelector('#app[data-ready="types"]');
  assert.strictEqual(await focusedId(), "tab-types");
  // The field, the titles, the first row; then rows by arrows.
  await press("Tab");
  assert.strictEqual(await page.evaluate(() => document.activeElement.type), "search");
  await press("Tab", "Tab", "Tab", "Enter");
  assert.strictEqual(await page.$eval("th[aria-sort]", (head) => head.dataset.key), "count");
  await press("Tab", "Tab", "Tab", "Tab");
  const names = (await rows(page)).map((row) => row[0].text);
  assert.strictEqual(await active(page), names[0]);
  await press("ArrowDown", "ArrowDown");
  assert.strictEqual(await active(page), names[2]);
  await press("End");
  assert.strictEqual(await active(page), names[names.length - 1]);
  await press("Home", "PageDown");
  assert(names.indexOf(await active(page)) > 3);
  await press("Home", "ArrowDown", "Enter");
  await page.waitForSelector('#app[data-ready="paths"]');
  assert.strictEqual(await page.$eval(".result h2", (head) => head.textContent), names[1]);
  // The treemap: in, across, out.
  await page.focus("#tab-paths");
  await press("ArrowLeft", "ArrowLeft");
  await page.waitForSelector('#app[data-ready="treemap"]');
  await press("Tab");
  assert.strictEqual(await active(page), "All that lives");
  await press("ArrowDown");
  const second = await active(page);
  assert(second !== "All that lives");
  await press("ArrowDown", "ArrowDown");
  const third = await active(page);
  await press("Enter");
  await wait(page, (name) => document.querySelector(".box").dataset.name === name, third);
  assert.strictEqual(await active(page), third);
  await press("Escape");
  await wait(page, (name) => document.querySelector(".box").dataset.name !== name, third);
  // The box that was left has the focus again.
  assert.strictEqual(await active(page), third);
  // What has the focus is seen.
  assert(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none"));
  await page.focus("#tab-treemap");
  await press("ArrowRight");
  await page.waitForSelector('#app[data-ready="flame"]');
  await press("Tab", "ArrowDown", "ArrowDown", "Enter");
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 3);
  await press("Backspace");
  await wait(page, () => document.querySelectorAll(".crumbs li").length === 2);
};

exports.layout = async ({ open, job, assert }) => {
  for (const [width, height] of [[800, 600], [1920, 1080]]) {
    const other = await open(job.pages.interop, "summary", { width, height });
    const events = await open(job.pages.events, "summary", { width, height });
    for (const view of ["summary", "types", "treemap", "flame", "paths", "diff", "timeline", "handles", "counters"]) {
      const page = view === "handles" || view === "counters" ? other : events;
      await page.bringToFront();
      await page.click("#tab-" + view);
      await page.waitForSelector(`#app[data-ready="${view}"]`);
      const seen = await page.evaluate(() => {
        const root = document.documentElement;
        const panel = document.querySelector("#panel").getBoundingClientRect();
        return [root.scrollWidth <= innerWidth, root.scrollHeight <= innerHeight, Math.round(panel.bottom) <= innerHeight, panel.height > innerHeight / 2];
      });
      assert.deepStrictEqual(seen, [true, true, true, true], `${view} at ${width}x${height}`);
      // Nothing moves because something is pointed at.
      const places = () => page.$$eval("header, nav, .tools, .area, .scroll, .result, .line, .chart", (list) => list.map((element) => JSON.stringify(element.getBoundingClientRect())));
      const before = await places();
      await page.mouse.move(width / 2, height / 2);
      await page.mouse.move(width / 3, height / 1.5);
      assert.deepStrictEqual(await places(), before, view);
    }
    // A window that becomes smaller gets other boxes.
    const page = events;
    await page.bringToFront();
    await page.click("#tab-treemap");
    await page.waitForSelector('#app[data-ready="treemap"]');
    const [before] = await boxes(page);
    await page.setViewport({ width: width - 100, height });
    await wait(page, (w) => parseFloat(document.querySelector(".box").style.width) < w, before.w);
  }
};

exports.colours = async ({ open, job, assert }) => {
  // One type has one colour everywhere; largest types have different ones.
  const seen = new Map();
  for (const view of ["types", "treemap", "flame", "paths", "diff"]) {
    const page = await open(job.pages.events, view);
    const found = await page.evaluate(() => {
      const list = [];
      const hue = (element) => (/\bhue\d\b/.exec(element.className) || [null])[0];
      for (const box of document.querySelectorAll(".box")) if (hue(box) && !box.dataset.name.endsWith(" itself")) list.push([box.dataset.name, hue(box)]);
      for (const row of document.querySelectorAll(".table tbody tr")) list.push([row.querySelector(".link").textContent, hue(row.querySelector(".swatch"))]);
      for (const choice of document.querySelectorAll(".choice")) list.push([choice.title, hue(choice.querySelector(".swatch"))]);
      return list;
    });
    assert(found.length > 0, view);
    for (const [name, hue] of found) {
      assert(!seen.has(name) || seen.get(name) === hue, `${name} in ${view}`);
      seen.set(name, hue);
    }
  }
  const largest = job.expected.events.top.slice().sort((a, b) => Math.max(b.bytes, b.retained) - Math.max(a.bytes, a.retained)).slice(0, 8);
  assert.strictEqual(new Set(largest.map((row) => seen.get(row.type))).size, 8);
};

exports.contrast = async ({ open, job, assert }) => {
  // axe leaves out text that may lie below something else: boxes are measured here.
  for (const scheme of ["light", "dark"])
    for (const view of ["treemap", "flame"]) {
      const page = await open(job.pages.large, view, { scheme });
      const least = await page.evaluate(() => {
        const light = (colour) => {
          const parts = /(\d+), (\d+), (\d+)/.exec(colour).slice(1).map((text) => {
            const part = Number(text) / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
        };
        const seen = {};
        for (const box of document.querySelectorAll("#panel .box")) {
          const style = getComputedStyle(box);
          const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
          seen[/hue\d|root|rest/.exec(box.className)[0]] = (a + 0.05) / (b + 0.05);
        }
        return seen;
      });
      assert(Object.keys(least).length >= 10, JSON.stringify(least));
      for (const [kind, ratio] of Object.entries(least)) assert(ratio >= 4.5, `${kind} in ${view}, ${scheme}: ${ratio}`);
    }
};

exports.accessible = async ({ open, job, assert, axe }) => {
  const source = require("node:fs").readFileSync(axe, "utf8");
  for (const scheme of ["light", "dark"])
    for (const [width, height] of [[800, 600], [1920, 1080]]) {
      // In short runs each colour scheme and each size once.
      if (!job.isLong && (scheme === "light") !== (width === 800)) continue;
      const events = await open(job.pages.events, "summary", { scheme, width, height });
      const other = await open(job.pages.interop, "summary", { scheme, width, height });
      for (const page of [events, other]) {
        // The page forbids scripts but its own; puppeteer's world is another.
        const client = await page.createCDPSession();
        await client.send("Runtime.evaluate", { expression: source });
      }
      for (const view of ["summary", "types", "treemap", "flame", "paths", "diff", "timeline", "handles", "counters"]) {
        const page = view === "handles" || view === "counters" ? other : events;
        await page.bringToFront();
        await page.click("#tab-" + view);
        await page.waitForSelector(`#app[data-ready="${view}"]`);
        const result = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
        const violations = result.violations.map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + " " + node.failureSummary.slice(0, 300)).join(" | ")}`);
        assert.deepStrictEqual(violations, [], `${view}, ${scheme}, ${width}x${height}`);
        assert(result.passes.length > 10);
      }
    }
};
