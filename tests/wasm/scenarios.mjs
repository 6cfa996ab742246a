// SPDX-License-Identifier: MIT
// What the tests of the wasm module do inside the runtime:
//     node scenarios.mjs SCENARIO ROOT DIRECTORY [WORD...]
import fs from 'node:fs';
import path from 'node:path';
import { start, collector, save, tell, kinds } from './driver.mjs';

const [, , scenario, root, directory, ...words] = process.argv;
const file = name => path.join(directory, name);

// What is known of each result, whatever the scenario.
async function record(options, write) {
    const kept = collector();
    const hs = await start(root, options, { write: write ? chunk => write(kept, chunk, hs) : kept.write });
    return { hs, kept };
}

const scenarios = {
    // One snapshot from JavaScript, one from C#.
    async one(n) {
        const { hs, kept } = await record('snapshot=none');
        hs.app.Build(Number(n));
        hs.app.Hold();
        const result = { version: hs.app.Version(), isRecording: hs.app.IsRecording(), javascript: hs.take('from js') };
        result.csharp = hs.app.Take('from C#');
        hs.stop();
        result.isRecordingAfter = hs.app.IsRecording();
        result.after = hs.take('too late');
        save(file('a.hs'), kept.chunks);
        return { ...result, said: hs.said };
    },

    async three(n) {
        const { hs, kept } = await record('snapshot=none,quiet');
        const taken = [];
        for (let i = 0; i < 3; i++) {
            hs.app.Build(Number(n));
            taken.push(hs.take('number ' + i));
        }
        hs.stop();
        save(file('a.hs'), kept.chunks);
        return { taken, said: hs.said };
    },

    // The callback makes linear memory grow: the chunks before and after stay whole.
    async grows(n) {
        const sizes = [];
        const { hs, kept } = await record('snapshot=none,quiet', (kept, chunk, hs) => {
            kept.write(chunk);
            if (hs && kinds.body === chunk[13]) {
                hs.Module._malloc(24 << 20);
                sizes.push(hs.Module.HEAPU8.length);
            }
        });
        hs.app.Build(Number(n));
        const taken = hs.take();
        hs.stop();
        save(file('a.hs'), kept.chunks);
        return { taken, sizes, said: hs.said };
    },

    // The callback throws while the bodies of the first snapshot come, or from its begin on.
    async throws(n, kind) {
        let isThrowing = true;
        let thrown = 0;
        const { hs, kept } = await record('snapshot=none,quiet', (kept, chunk) => {
            if (isThrowing && chunk[13] === kinds[kind]) {
                thrown++;
                throw new RangeError('no room\nfor it');
            }
            kept.write(chunk);
        });
        hs.app.Build(Number(n));
        const taken = [hs.take('first')];
        const why = hs.Module.UTF8ToString(hs.Module._heapshot_error());
        const said = [...hs.said];
        isThrowing = false;
        taken.push(hs.take('second'), hs.take('third'));
        hs.stop();
        save(file('a.hs'), kept.chunks);
        return { taken, thrown, said, why, later: hs.said.slice(said.length) };
    },

    // What malloc had given, and what the memory was, at each frame of a snapshot.
    async memory(n, options) {
        const seen = [];
        const { hs, kept } = await record('snapshot=none,quiet' + (options ? ',' + options : ''), (kept, chunk, hs) => {
            kept.write(chunk);
            if (hs && chunk[13] >= kinds.begin && chunk[13] <= kinds.end)
                seen.push([chunk[13], hs.Module._sbrk(0), hs.Module.HEAPU8.length]);
        });
        hs.app.Build(Number(n));
        const taken = [hs.take(), hs.take()];
        hs.stop();
        save(file('a.hs'), kept.chunks);
        return { taken, seen, said: hs.said };
    },

    // Memory is full of large arrays, an OutOfMemoryException was thrown: a snapshot all the same.
    async full(bytes) {
        const { hs, kept } = await record('snapshot=none,quiet');
        // The interpreter needs memory for each method that it meets first.
        hs.app.Build(1);
        hs.app.Clear();
        hs.take('warm');
        const n = hs.app.Fill(Number(bytes));
        const before = hs.Module._sbrk(0);
        const taken = [hs.take('full'), hs.take('again')];
        const after = hs.Module._sbrk(0);
        hs.app.Clear();
        taken.push(hs.take('cleared'));
        hs.app.Build(1000);
        taken.push(hs.take('goes on'));
        hs.stop();
        save(file('a.hs'), kept.chunks);
        return { n, before, after, length: hs.Module.HEAPU8.length, taken, said: hs.said };
    },

    // Memory is filled until nothing more goes, which small objects end the runtime with:
    // what comes is written at once.
    async fill(what, options) {
        const { hs } = await record(options, (kept, chunk) => fs.appendFileSync(file('a.hs'), chunk));
        const result = {};
        try {
            if (what === 'small')
                hs.app.Build(2 ** 30);
            else
                result.n = hs.app.Fill(Number(what));
        } catch (error) {
            result.error = String(error).split('\n')[0];
        }
        return { ...result, said: hs.said };
    },

    // Not asked for: nothing happens.
    async unused() {
        const heapshot = {};
        const hs = await start(root, null, heapshot);
        hs.app.Build(1000);
        return { taken: hs.take(), isRecording: hs.app.IsRecording(), keys: Object.keys(heapshot), said: hs.said };
    },

    // Options that are refused, or end the program; it goes on all the same.
    async options(text) {
        const hs = await start(root, text, {});
        hs.app.Build(10);
        return { taken: hs.take(), said: hs.said };
    },

    // No callback yet: frames wait outside of linear memory, and come in order.
    async late(n) {
        const heapshot = {};
        const kept = collector();
        const hs = await start(root, 'snapshot=none,quiet', heapshot);
        hs.app.Build(Number(n));
        const taken = [hs.take('before')];
        const waiting = heapshot.waiting.length;
        heapshot.write = kept.write;
        taken.push(hs.take('after'));
        hs.stop();
        save(file('a.hs'), kept.chunks);
        return { taken, waiting, left: heapshot.waiting.length, said: hs.said };
    },

    // As it was published, integrity checks and all.
    async checked(n) {
        const kept = collector();
        const hs = await start(root, 'snapshot=none,quiet', kept, true);
        hs.app.Build(Number(n));
        const taken = hs.take();
        hs.stop();
        save(file('a.hs'), kept.chunks);
        return { taken, version: hs.app.Version(), said: hs.said };
    },

    // Recording begins in the running program, twice.
    async restarted(n) {
        const heapshot = {};
        const hs = await start(root, null, heapshot);
        hs.app.Build(Number(n));
        const taken = [];
        for (const name of ['a.hs', 'b.hs']) {
            const kept = collector();
            heapshot.write = kept.write;
            hs.Module.ccall('mono_profiler_init_heapshot', null, ['string'], ['heapshot:snapshot=none,quiet']);
            taken.push(hs.take(name));
            hs.stop();
            save(file(name), kept.chunks);
        }
        return { taken, said: hs.said };
    },
};

tell(await scenarios[scenario](...words));
