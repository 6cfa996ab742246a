// SPDX-License-Identifier: MIT
// node shots.cjs PAGE FOLDER: pictures of the views of a report's page, as they
// stand in doc/report.md.
"use strict";
const path = require("node:path");
const puppeteer = require("puppeteer-core");

const [, , file, folder] = process.argv;
const SMALL = { width: 800, height: 600 };
const WIDE = { width: 1040, height: 640 };

const click = (selector) => async (page) => {
  await page.click(selector);
};
const SHOTS = [
  { name: "summary", view: "summary", size: WIDE },
  { name: "types", view: "types", size: WIDE, scheme: "dark" },
  { name: "treemap", view: "treemap", size: WIDE },
  {
    name: "flame",
    view: "flame",
    size: WIDE,
    scheme: "dark",
    before: (page) => page.evaluate(() => document.querySelector('.box[data-name="static Chat.Lobby.Posted"]').click()),
  },
  { name: "paths", view: "paths", size: SMALL, before: click('.choice[title="System.String"]') },
  { name: "diff", view: "diff", size: SMALL, scheme: "dark", before: click('#panel th[data-key="retained"] button') },
  { name: "timeline", view: "timeline", size: WIDE },
];

async function main() {
  const browser = await puppeteer.launch({
    executablePath: process.env.CHROMIUM,
    headless: true,
    args: process.env.CHROMIUM_FLAGS.split(" "),
  });
  for (const shot of SHOTS) {
    const page = await browser.newPage();
    await page.setViewport(shot.size);
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: shot.scheme || "light" }]);
    await page.goto("file://" + path.resolve(file) + "#" + shot.view);
    await page.waitForSelector(`#app[data-ready="${shot.view}"]`);
    if (shot.before) await shot.before(page);
    await new Promise((done) => setTimeout(done, 300));
    // A pointer and a focus would be in the way.
    await page.evaluate(() => document.activeElement && document.activeElement.blur());
    await page.mouse.move(0, 0);
    await page.screenshot({ path: path.join(folder, `report-${shot.name}.png`) });
    await page.close();
  }
  await browser.close();
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
