// SPDX-License-Identifier: MIT
// Scenarios of scenarios.mjs that are about counters.
import { start, collector } from './driver.mjs';

// What Module._heapshot_memory tells, by name.
function memoryOf({ Module }) {
    const at = Module._heapshot_memory() >> 3;
    const [live, free, native, total, linear, maximum] = Module.HEAPF64.subarray(at, at + 6);
    return { live, free, native, total, linear, maximum, taken: Module._sbrk(0), line: Module.UTF8ToString(Module._heapshot_memory_line()) };
}

export const counterScenarios = {
    // Counters of the jiterpreter beside what the runtime itself says of them.
    async countersOfJiterpreter(place, n) {
        const kept = collector();
        const hs = await start(place.root, 'snapshot=none,quiet', kept);
        // Often enough for what is interpreted to be compiled.
        for (let i = 0; i < 20; i++)
            hs.app.Build(Number(n));
        hs.take('hot');
        const count = hs.app.Version().startsWith('9.') ? 13 : 15;
        const told = Array.from({ length: count }, (_, i) => hs.Module.wasmExports.mono_jiterp_get_counter(i));
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { told, said: hs.said };
    },

    // Not recorded, then with objects, then without them.
    async memoryLine(place, n) {
        const kept = collector();
        const hs = await start(place.root, null, {});
        const seen = [memoryOf(hs)];
        hs.app.Build(Number(n));
        seen.push(memoryOf(hs));
        hs.Module.heapshot = kept;
        hs.Module.ccall('mono_profiler_init_heapshot', null, ['string'], ['heapshot:snapshot=none,quiet']);
        hs.take('full');
        seen.push(memoryOf(hs));
        hs.app.Clear();
        hs.take('cleared');
        seen.push(memoryOf(hs));
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { seen, said: hs.said };
    },
};
