# SPDX-License-Identifier: MIT
"""The sample contrib/samples/blazor-leak, published once a runtime for all tests: with the runtime
linked for at most 128 MB, by contrib/wasm/heapshot.targets."""
import functools
import glob

from wasm import *

SAMPLE = os.path.join(SOURCE, "contrib", "samples", "blazor-leak")
MEMORY_BYTES = 128 << 20


def sources():
    found = glob.glob(os.path.join(SAMPLE, "**"), recursive=True)
    return sorted(path for path in found if os.path.isfile(path))


@functools.lru_cache(None)
def blazor_runtime(runtime):
    with Made("blazor-runtime-" + runtime, archive() + version(runtime)) as made:
        if not made.is_whole:
            build([os.path.join(SCRIPTS, "link"), "--fast", "--icu", "--memory", str(MEMORY_BYTES), version(runtime), made.path])
        return made.path


def publish_sample(target, runtime, *properties, command="publish", configuration="Release", expect=0):
    """Publishes the sample into TARGET/out, or builds it; returns what was said."""
    project = os.path.join(target, "project")
    if not os.path.exists(project):
        shutil.copytree(SAMPLE, project)
    # The SDK of .NET 10 leaves all assemblies out of a fingerprinted 9.0, the stock one too.
    plain = [] if runtime != "9.0" else ["-p:WasmFingerprintAssets=false"]
    out = ["-o", os.path.join(target, "out")] if command == "publish" else []
    return build(["dotnet", command, os.path.join(project, "BlazorLeak.csproj"), "-c", configuration, "-v:m", "-nologo",
                  "-p:Framework=net" + runtime, "-p:RuntimeFrameworkVersion=" + version(runtime)] + plain + out +
                 ["-p:" + each for each in properties], timeout=1800, expect=expect)


@functools.lru_cache(None)
def blazor(runtime):
    """The published sample: a folder that a server has as its root."""
    targets = os.path.join(SCRIPTS, "heapshot.targets")
    folder = blazor_runtime(runtime)
    key = hash_of(*sources(), targets, os.path.join(folder, "dotnet.native.js"), os.path.join(folder, "dotnet.native.wasm"))
    with Made("blazor-" + runtime, key) as made:
        if not made.is_whole:
            publish_sample(made.path, runtime, "HeapshotTargets=" + targets, "HeapshotRuntime=" + folder)
        return os.path.join(made.path, "out", "wwwroot")
