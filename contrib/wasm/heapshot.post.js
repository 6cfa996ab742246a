// SPDX-License-Identifier: MIT
// `dotnet.withRuntimeOptions(['--profile=heapshot:OPTIONS'])`: Mono itself looks for
// a library of that name, finds none, and says nothing.  So the option is taken out
// here, when C can be called and before the runtime starts.
addOnInit(() => {
    const options = (Module["config"] || {}).runtimeOptions || [];
    const at = options.findIndex(option => /^--profile=heapshot(:|$)/.test(option));
    if (at < 0)
        return;
    const [option] = options.splice(at, 1);
    ccall("mono_profiler_init_heapshot", null, ["string"], [option.slice("--profile=".length)]);
});
