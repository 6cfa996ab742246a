// SPDX-License-Identifier: MIT
// A scenario in a worker, or in a page, that mjs_chromium.cjs opened.
export async function run({ file, scenario, words, where }) {
  const place = {
    base: location.origin + "/",
    heapshot: location.origin + "/heapshot/heapshot.mjs",
    save: async (name, blob) => {
      const answer = await fetch("/out/" + name, { method: "POST", body: blob });
      if (!answer.ok) throw new Error(await answer.text());
      await answer.text();
    },
    where,
  };
  const { scenarios } = await import("/tests/" + file);
  return scenarios[scenario](place, ...words);
}

if (globalThis.WorkerGlobalScope)
  onmessage = async ({ data }) => {
    try {
      postMessage({ result: await run(data) });
    } catch (error) {
      postMessage({ error: String(error.stack || error) });
    }
  };
