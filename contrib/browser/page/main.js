// SPDX-License-Identifier: MIT
// Starts the page of a report, with the data that are in it.
import { App } from "./app.js";
import { EmbeddedData } from "./embedded.js";

const json = JSON.parse(document.getElementById("data").textContent);
new App(new EmbeddedData(json), document.getElementById("app")).start();
