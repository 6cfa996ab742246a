// SPDX-License-Identifier: MIT
// Runs one of scenarios.mjs in node:
//     node in_node.mjs SCENARIO ROOT DIRECTORY [WORD...]
// What it answers is printed behind the word RESULT; what it saves goes to DIRECTORY.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { scenarios } from './scenarios.mjs';

const [, , scenario, root, directory, ...words] = process.argv;
const place = {
    root: pathToFileURL(root + path.sep),
    save: (name, chunks) => fs.writeFileSync(path.join(directory, name), Buffer.concat(chunks)),
    // At once: a runtime without memory ends the process.
    append: (name, chunk) => fs.appendFileSync(path.join(directory, name), chunk),
};

const answer = await scenarios[scenario](place, ...words);
const result = { version: place.version, ...answer };
process.stdout.write('RESULT ' + JSON.stringify(result) + '\n', () => process.exit(0));
