// SPDX-License-Identifier: MIT
// Runs one of scenarios.mjs in a page, for in_chromium.cjs: returns what it answers, and sends what
// it saves to /out/ of the server that the page came from.
import { scenarios } from './scenarios.mjs';

const send = async (name, chunks) => {
    const answer = await fetch('/out/' + name, { method: 'POST', body: new Blob(chunks) });
    if (!answer.ok)
        throw new Error(await answer.text());
};

export async function run(root, scenario, words) {
    const files = new Map();
    const place = {
        root: new URL(root, location.href),
        save: (name, chunks) => { files.set(name, chunks); },
        append: (name, chunk) => { files.set(name, [...(files.get(name) || []), chunk]); },
    };
    const result = await scenarios[scenario](place, ...words);
    for (const [name, chunks] of files)
        await send(name, chunks);
    return { version: place.version, ...result };
}
