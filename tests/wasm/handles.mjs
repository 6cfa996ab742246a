// SPDX-License-Identifier: MIT
// Scenarios of scenarios.mjs that are about tables of handles.
import { start, collector, kinds } from './driver.mjs';

// Where the runtime writes the numbers.
const proxyHandle = Symbol.for('wasm js_owned_gc_handle');
const objectHandle = Symbol.for('wasm cs_owned_js_handle');

async function record(place, tables) {
    const kept = collector();
    const heapshot = { write: kept.write };
    const hs = await start(place.root, 'snapshot=none,quiet', heapshot);
    if (tables)
        heapshot.tables = tables;
    const exports = await hs.api.getAssemblyExports('app.dll');
    return { hs, kept, heapshot, handles: exports.T.Handles };
}

class Kept0 {}
class Kept1 {}

export const handleScenarios = {
    // Five objects to JavaScript, three to C#; one of each is unknown to the tables.
    async handlesJoined(place) {
        const proxies = [];
        const objects = [new Kept0(), new Kept1(), Object.freeze({ isFrozen: true })];
        let calls = 0;
        const tables = () => {
            calls++;
            return [
                {
                    name: 'js_proxy', released: 2, collected: 3, note: 'of a test',
                    entries: proxies.map((proxy, i) => ({ handle: proxy[proxyHandle], type: typeof proxy, name: calls === 1 ? `Given${i}` : 'G' })),
                },
                {
                    name: 'js_object', escaped: 1,
                    entries: objects.filter(object => object[objectHandle] !== undefined)
                        .map(object => ({ handle: object[objectHandle], type: typeof object, name: object.constructor.name })),
                },
                { name: 'empty', entries: [] },
                { name: 'other', entries: [{ handle: -5, type: '', name: '\ud83d\ude00\ud800' }, { handle: 2 ** 40, type: 'bigint' },
                    { handle: 1.5, type: 'no handle' }, { handle: 'x' }] },
            ];
        };
        const { hs, kept, handles } = await record(place, tables);
        for (let i = 0; i < 5; i++)
            proxies.push(handles.Give(i, i === 3));
        objects.forEach((object, i) => handles.Hold(i, object));
        const numbers = objects.map(object => object[objectHandle]);
        const given = proxies.map(proxy => proxy[proxyHandle]);
        const taken = [hs.take('held')];
        handles.Dispose();
        proxies.splice(0, 3).forEach(proxy => proxy.dispose());
        taken.push(hs.take('given back'));
        // Statistics have no objects, and so no handles of them.
        hs.Module.ccall('heapshot_take_stats', 'number', ['string'], ['statistics']);
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, calls, given, numbers, said: hs.said };
    },

    // Many, so that a table stands in several records.
    async handlesMany(place, n) {
        const objects = [];
        const tables = () => [{
            name: 'js_object',
            entries: objects.map((object, i) => ({ handle: object[objectHandle], type: 'object', name: `name ${i}` })),
        }];
        const seen = [];
        const { hs, kept, heapshot, handles } = await record(place, tables);
        const write = heapshot.write;
        heapshot.write = chunk => {
            write(chunk);
            if (chunk[13] >= kinds.begin && chunk[13] <= kinds.end)
                seen.push([hs.Module._sbrk(0), hs.Module.HEAPU8.length]);
        };
        for (let i = 0; i < Number(n); i++) {
            objects.push({});
            handles.Hold(0, objects[i]);
        }
        const taken = hs.take();
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, seen, handles: objects.map(object => object[objectHandle]), said: hs.said };
    },

    // What the function must not be: it throws, then returns nonsense, then is good.
    async handlesThrow(place) {
        let what = 0;
        const answers = [
            () => { throw new RangeError('no\ntables'); },
            () => 17,
            () => [null],
            () => [{ name: 'js_object', entries: [{ handle: 99, type: 'object', name: 'Lost' }] }],
            () => { throw new Error('again'); },
            () => { throw new Error('and again'); },
            () => [],
            () => { throw Object.create(null); },
            () => { hs.Module.heapshot = { write: kept.write }; return []; },
        ];
        const { hs, kept } = await record(place, () => answers[what]());
        const taken = [];
        const said = [];
        for (what = 0; what < answers.length; what++) {
            const before = hs.said.length;
            taken.push(hs.take());
            said.push(hs.said.slice(before));
        }
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, said };
    },

    async handlesNone(place) {
        const { hs, kept, handles } = await record(place, null);
        handles.Hold(0, {});
        const taken = hs.take();
        hs.stop();
        place.save('a.hs', kept.chunks);
        return { taken, said: hs.said };
    },
};
