# SPDX-License-Identifier: MIT
"""Publishing a program with the linked runtime: contrib/wasm/heapshot.targets, and
the runtime with globalization; the size that heapshot adds.  Each publish takes
tens of seconds, so all of it is long."""
import glob

from browser import need_chromium
from wasm import *

TARGETS = os.path.join(SCRIPTS, "heapshot.targets")


def published(directory, runtime, folder, *properties):
    publish(directory, runtime, "HeapshotTargets=" + TARGETS, "HeapshotRuntime=" + folder, *properties)
    return os.path.join(directory, "out", "wwwroot")


@test("the targets publish the linked runtime with fingerprints and integrity checks")
def targets(directory):
    long_only()
    need()
    for runtime in RUNTIMES:
        place = os.path.join(directory, runtime)
        os.mkdir(place)
        folder = linked(runtime, "--fast")
        # The SDK of .NET 10 leaves all assemblies out of a fingerprinted 9.0, the stock one too.
        plain = ("WasmFingerprintAssets=false",) if runtime == "9.0" else ()
        root = published(place, runtime, folder, *plain)
        for name in ("dotnet.native.*.js", "dotnet.native.*.wasm"):
            name = name.replace(".*", "") if plain else name
            found = glob.glob(os.path.join(root, "_framework", name))
            assert len(found) == 1, found
            ours = os.path.join(folder, name.replace(".*", ""))
            assert hash_of(found[0]) == hash_of(ours), found
        # The driver leaves the checks on where it is told to.
        result = node(place, "checked", runtime, 1000, root=root)
        assert result["taken"] == 1 and result["version"] == version(runtime), result
        check_file(os.path.join(place, "a.hs"))
        assert count_of(os.path.join(place, "a.hs"), "T.Node") == 1000


@test("the targets refuse a runtime of another version, and a folder without one")
def refused(directory):
    long_only()
    need()
    folder = os.path.join(directory, "runtime")
    shutil.copytree(linked("10.0", "--fast"), folder)
    with open(os.path.join(folder, "heapshot-runtime.txt"), "w") as file:
        file.write("10.0.1\n")
    for given, word in ((folder, "is runtime 10.0.1, and the program is built for " + version("10.0")),
                        (directory, "there is no runtime in")):
        said = publish(directory, "10.0", "HeapshotTargets=" + TARGETS, "HeapshotRuntime=" + given, expect=1)
        assert word in said, said
        assert not os.path.exists(os.path.join(directory, "out", "wwwroot")), given


@test("without HeapshotRuntime the targets change nothing")
def without(directory):
    long_only()
    need()
    publish(directory, "10.0", "HeapshotTargets=" + TARGETS, "WasmFingerprintAssets=false")
    stock = os.path.join(PACKS, "10.0", "runtimes", "browser-wasm", "native", "dotnet.native.wasm")
    assert hash_of(os.path.join(directory, "out", "wwwroot", "_framework", "dotnet.native.wasm")) == hash_of(stock)


@test("the runtime with globalization and time zones")
def globalization(directory):
    long_only()
    need()
    for runtime in RUNTIMES:
        place = os.path.join(directory, runtime)
        os.mkdir(place)
        root = published(place, runtime, linked(runtime, "--fast", "--icu"), "InvariantGlobalization=false",
                         "WasmFingerprintAssets=false")
        assert glob.glob(os.path.join(root, "_framework", "icudt*")), root
        result = node(place, "checked", runtime, 1000, root=root)
        assert result["taken"] == 1, result
        check_file(os.path.join(place, "a.hs"))
        all_reached(os.path.join(place, "a.hs"))


@test("heapshot adds at most 120 KB to the runtime")
def size(directory):
    long_only()
    need()
    for runtime in RUNTIMES:
        with_it, plain = (os.path.getsize(os.path.join(linked(runtime, *options), "dotnet.native.wasm"))
                          for options in ((), ("--plain",)))
        note("%s: %d bytes with heapshot, %d without: %d more" % (version(runtime), with_it, plain, with_it - plain))
        assert with_it - plain <= 120 << 10, with_it - plain


@test("contrib/wasm/bench measures what a snapshot costs")
def bench(directory):
    long_only()
    need_chromium()
    out = build([os.path.join(SCRIPTS, "bench"), "--objects", "3000", "--rounds", "3", "--only", "chain", "--json",
                 directory + "/bench.json"])
    with open(directory + "/bench.json") as file:
        measured = json.load(file)
    assert sorted(measured) == ["chain, %s, .NET %s" % (where, runtime) for where in ("Chromium", "node") for runtime in RUNTIMES]
    for rounds in measured.values():
        assert len(rounds) >= 5 and all(each["objects"] > 3000 and each["bytes"] > 0 and each["snapshot"] > 0 for each in rounds), rounds
    assert len([line for line in out.splitlines() if line.startswith("| snapshot / walk")]) == 4, out


main()
