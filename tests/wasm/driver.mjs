// SPDX-License-Identifier: MIT
// Starts the published test program, in node or in a page, and gives a test what it works with.

// ROOT: the published folder as a URL.  OPTIONS: of the module, or null: not asked for.  HEAPSHOT: what
// Module.heapshot is from the start.  IS_CHECKED: files are held against the hashes that the publish wrote down.
export async function start(root, options, heapshot = {}, isChecked = false) {
    const said = [];
    const error = console.error;
    console.error = (...words) => { said.push(words.join(' ')); error(...words); };
    const { dotnet } = await import(new URL('_framework/dotnet.js', root).href);
    let builder = dotnet.withModuleConfig({ heapshot });
    if (!isChecked)
        builder = builder.withConfig({ disableIntegrityCheck: true });
    if (options !== null)
        builder = builder.withRuntimeOptions(['--profile=heapshot' + (options ? ':' + options : '')]);
    const api = await builder.create();
    const exports = await api.getAssemblyExports('app.dll');
    const Module = api.Module;
    await api.runMain('app.dll', []);
    return {
        api, Module, said, app: exports.T.App,
        take: (label = '') => Number(Module.ccall('heapshot_take', 'number', ['string'], [label])),
        stop: () => Module._heapshot_stop(),
    };
}

// A function for Module.heapshot.write that keeps what it gets in CHUNKS.
export function collector() {
    const chunks = [];
    return { chunks, write: chunk => { chunks.push(chunk); } };
}

// Kinds of frames, which their tags carry: the byte at 13.
export const kinds = { metadata: 1, events: 2, begin: 3, body: 4, end: 5, last: 6 };
