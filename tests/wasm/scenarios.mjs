// SPDX-License-Identifier: MIT
// What the tests of the wasm module do inside the runtime.  Each scenario gets the PLACE that it runs in
// (in_node.mjs, in_page.mjs) and the words of the test:
//     place.root                  the published program, a URL
//     place.save(name, chunks)    makes a file
//     place.append(name, chunk)   the same, a piece at a time
//     place.version               of the runtime, which record() finds out
import { counterScenarios } from './counters.mjs';
import { start, collector, kinds } from './driver.mjs';
import { handleScenarios } from './handles.mjs';

const isOfSnapshot = chunk => chunk[13] >= kinds.begin && chunk[13] <= kinds.end;

// What was taken of linear memory, what it is, and what malloc has given away (probe.c).
const memoryOf = ({ Module }) => [Module._sbrk(0), Module.HEAPU8.length, Module._probe_malloc_used()];

// A recorded run; WRITE(kept, chunk, hs) is the callback, or else all is kept.
async function record(place, options, write) {
    const kept = collector();
    let hs = null;
    hs = await start(place.root, options, { write: write ? chunk => write(kept, chunk, hs) : kept.write });
    place.version = hs.app.Version();
    return { hs, kept };
}

// Three snapshots, of which the callback refuses the first: REFUSE tells it.
function refuseOne(hs, refuse) {
    refuse(true);
    const taken = [hs.take('first')];
    const why = hs.Module.UTF8ToString(hs.Module._heapshot_error());
    const said = [...hs.said];
    refuse(false);
    taken.push(hs.take('second'), hs.take('third'));
    hs.stop();
    return { taken, said, why, later: hs.said.slice(said.length) };
}

export const scenarios = {
    ...counterScenarios,
    ...handleScenarios,

    // One snapshot from JavaScript, one from C#.
    async one(place, n) {
        const { hs, kept } = await record(place, 'snapshot=none');
        hs.app.Build(Number(n));
        hs.app.Hold();
        const result = { isRecording: hs.app.IsRecording(), javascript: hs.take('from js') };
        result.csharp = hs.app.Take('from C#');
        hs.stop();
        result.isRecordingAfter = hs.app.IsRecording();
        result.after = hs.take('too late');
        place.save('a.hs', kept.chunks);
        return { ...result, said: hs.said };
    },

    async three(place, n) {
        const { hs, kept } = await record(place, 'snapshot=none,quiet');
        const taken = [];
        for (let i = 0; i < 3; i++) {
            hs.app.Build(Number(n));
            taken.push(hs.take('number ' + i));
        }
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, said: hs.said };
    },

    // The callback makes linear memory grow: the chunks before and after stay whole.
    async grows(place, n) {
        const sizes = [];
        const { hs, kept } = await record(place, 'snapshot=none,quiet', (kept, chunk, hs) => {
            kept.write(chunk);
            if (hs && kinds.body === chunk[13]) {
                hs.Module._malloc(24 << 20);
                sizes.push(hs.Module.HEAPU8.length);
            }
        });
        hs.app.Build(Number(n));
        const taken = hs.take();
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, sizes, said: hs.said };
    },

    // The callback throws while the bodies of the first snapshot come, or from its begin on.
    async throws(place, n, kind) {
        let isThrowing = false;
        let thrown = 0;
        const { hs, kept } = await record(place, 'snapshot=none,quiet', (kept, chunk) => {
            if (isThrowing && chunk[13] === kinds[kind]) {
                thrown++;
                throw new RangeError('no room\nfor it');
            }
            kept.write(chunk);
        });
        hs.app.Build(Number(n));
        const told = refuseOne(hs, isOn => { isThrowing = isOn; });
        place.save('a.hs', kept.chunks);
        return { ...told, thrown };
    },

    // Reading the callback throws, and what has it is frozen.
    async unreadable(place, n) {
        let isThrowing = false;
        let thrown = 0;
        const kept = collector();
        const heapshot = Object.freeze({
            get write() {
                if (isThrowing) {
                    thrown++;
                    throw new RangeError('no room\nfor it');
                }
                return kept.write;
            },
        });
        const hs = await start(place.root, 'snapshot=none,quiet', heapshot);
        hs.app.Build(Number(n));
        const told = refuseOne(hs, isOn => { isThrowing = isOn; });
        place.save('a.hs', kept.chunks);
        return { ...told, thrown };
    },

    // What malloc had given, and what the memory was, at each frame of a snapshot.
    async memory(place, n, options) {
        const seen = [];
        const { hs, kept } = await record(place, 'snapshot=none,quiet' + (options ? ',' + options : ''), (kept, chunk, hs) => {
            kept.write(chunk);
            if (hs && isOfSnapshot(chunk))
                seen.push([chunk[13], ...memoryOf(hs)]);
        });
        hs.app.Build(Number(n));
        const taken = [hs.take(), hs.take()];
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, seen, said: hs.said };
    },

    // Memory is full of large arrays, an OutOfMemoryException was thrown: a snapshot all the same.
    async full(place, bytes) {
        const { hs, kept } = await record(place, 'snapshot=none,quiet');
        // The interpreter needs memory for each method that it meets first.
        hs.app.Build(1);
        hs.app.Clear();
        hs.take('warm');
        const n = hs.app.Fill(Number(bytes));
        const taken = [hs.take('full'), hs.take('again')];
        hs.app.Clear();
        taken.push(hs.take('cleared'));
        hs.app.Build(1000);
        taken.push(hs.take('goes on'));
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { n, length: hs.Module.HEAPU8.length, taken, said: hs.said };
    },

    // Memory is filled until nothing more goes, which small objects end the runtime with: what comes is
    // written at once, and what the memory was at each frame of a snapshot.
    async fill(place, what, options) {
        const { hs } = await record(place, options, (kept, chunk, hs) => {
            place.append('a.hs', chunk);
            if (hs && isOfSnapshot(chunk))
                place.append('seen', JSON.stringify([chunk[13], ...memoryOf(hs)]) + '\n');
        });
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
    async unused(place) {
        const heapshot = {};
        const hs = await start(place.root, null, heapshot);
        hs.app.Build(1000);
        return { taken: hs.take(), isRecording: hs.app.IsRecording(), keys: Object.keys(heapshot), said: hs.said };
    },

    // Everything that C# may call: recording, then not.
    async managed(place) {
        const { hs, kept } = await record(place, 'snapshot=none,quiet');
        hs.app.Build(1000);
        const during = hs.app.Managed();
        hs.stop();
        const after = hs.app.Managed();
        place.save('a.hs', kept.chunks);
        return { during, after, said: hs.said };
    },

    // In the stock runtime, which has no heapshot.
    async stock(place) {
        const hs = await start(place.root, null);
        return { version: hs.app.Version(), managed: hs.app.Managed(), said: hs.said };
    },

    // Options that are refused, or end the program; it goes on all the same.
    async options(place, text) {
        const hs = await start(place.root, text, {});
        hs.app.Build(10);
        return { taken: hs.take(), said: hs.said };
    },

    // No callback yet: frames wait outside of linear memory, and come in order.
    async late(place, n) {
        const heapshot = {};
        const kept = collector();
        const hs = await start(place.root, 'snapshot=none,quiet', heapshot);
        hs.app.Build(Number(n));
        const taken = [hs.take('before')];
        const waiting = heapshot.waiting.length;
        heapshot.write = kept.write;
        taken.push(hs.take('after'));
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, waiting, left: heapshot.waiting.length, said: hs.said };
    },

    // As it was published, integrity checks and all.
    async checked(place, n) {
        const kept = collector();
        const hs = await start(place.root, 'snapshot=none,quiet', kept, true);
        hs.app.Build(Number(n));
        const taken = hs.take();
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, version: hs.app.Version(), said: hs.said };
    },

    // Recording begins in the running program, twice.
    async restarted(place, n) {
        const heapshot = {};
        const hs = await start(place.root, null, heapshot);
        hs.app.Build(Number(n));
        const taken = [];
        for (const name of ['a.hs', 'b.hs']) {
            const kept = collector();
            heapshot.write = kept.write;
            hs.Module.ccall('mono_profiler_init_heapshot', null, ['string'], ['heapshot:snapshot=none,quiet']);
            taken.push(hs.take(name));
            hs.stop();
            place.save(name, kept.chunks);
        }
        return { taken, said: hs.said };
    },

    // For contrib/wasm/bench: in each round a walk, a snapshot and a walk in one stop of the world.
    async bench(place, heap, objects, rounds) {
        const heapshot = {};
        const hs = await start(place.root, null, heapshot);
        let bytes = 0;
        heapshot.write = chunk => { bytes += chunk.length; };
        if (heap === 'mix')
            hs.app.BuildMix(Number(objects));
        else
            hs.app.Build(Number(objects) / 3);
        hs.Module._bench_install();
        hs.Module.ccall('mono_profiler_init_heapshot', null, ['string'], ['heapshot:snapshot=none,quiet']);
        hs.Module._bench_install();
        const taken = [], measured = [];
        for (let round = 0; round < rounds; round++) {
            hs.Module._bench_want();
            taken.push(hs.take());
            const [before, snapshot, behind, objects, references] = [0, 1, 2, 3, 4].map(i => hs.Module._bench_value(i));
            measured.push({ before, snapshot, behind, objects, references, bytes });
            bytes = 0;
        }
        hs.stop();
        return { taken, rounds: measured, said: hs.said };
    },
};
