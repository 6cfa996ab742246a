// SPDX-License-Identifier: MIT
// A worker with the test program: {title, nodes} starts it.
import { runtime } from "./real_pages.mjs";

onmessage = async ({ data }) => {
  try {
    await runtime(data.title, data.nodes);
    postMessage("ready");
  } catch (error) {
    postMessage(String(error.stack || error));
  }
};
