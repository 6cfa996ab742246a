# SPDX-License-Identifier: MIT
"""The Blazor sample in Chromium, as contrib/wasm/heapshot.targets publishes it, with fingerprints
and integrity checks: its leaks are named by the native command line."""
from blazor import *
from browser import in_chromium

LEAKED = 200
REFERENCES = {"dotnet": "Microsoft.JSInterop.DotNetObjectReference<BlazorLeak.Listener>",
              "js": "Microsoft.JSInterop.WebAssembly.WebAssemblyJSObjectReference"}


def assert_published_as_ours(root, runtime):
    """The files are ours, under the names and hashes that the SDK gave them."""
    for name in ("dotnet.native.js", "dotnet.native.wasm"):
        stem, ending = name.rsplit(".", 1)
        found = glob.glob(os.path.join(root, "_framework", "%s*.%s" % (stem, ending)))
        assert len(found) == 1, found
        assert hash_of(found[0]) == hash_of(os.path.join(blazor_runtime(runtime), name)), found
        is_fingerprinted = os.path.basename(found[0]) != name
        assert is_fingerprinted == (runtime != "9.0"), found


@on_each("the event, JS object references and DotNetObjectReferences that were left")
def leaks(directory, runtime):
    root = blazor(runtime)
    assert_published_as_ours(root, runtime)
    result = in_chromium("blazor/leaks.cjs", directory, root=root, out=directory)
    assert result["taken"] == [1, 2, 3] and result["wrong"] == [], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    header = json.loads(heapshot("dump", path).out.splitlines()[0])
    assert version(runtime) in json.dumps(header), header
    counts = {name: [count_of(path, type_name, number) for number in (1, 2, 3)] for name, type_name in REFERENCES.items()}
    assert counts == {"dotnet": [0, LEAKED, 0], "js": [0, LEAKED, 0]}, counts
    assert [count_of(path, "BlazorLeak.Clock", number) for number in (1, 2, 3)] == [0, LEAKED, LEAKED]
    all_reached(path)

    events = [leak for leak in read_json("leaks", path)["suspects"] if leak["kind"] == "event"]
    assert len(events) == 1 and events[0]["count"] == LEAKED, events
    assert "%d handlers of BlazorLeak.Clock stay subscribed to static BlazorLeak.Ticker.Tick" % LEAKED in events[0]["text"], events
    said = heapshot("path", path, "BlazorLeak.Clock").out
    assert "static BlazorLeak.Ticker.Tick" in said, said
    said = heapshot("path", path, REFERENCES["dotnet"], "--snapshot", "2").out
    assert "_trackedRefsById" in said, said


@on_each("near the limit of memory a snapshot streams out of the page by itself")
def near_the_limit(directory, runtime):
    result = in_chromium("blazor/fill.cjs", directory, root=blazor(runtime), out=directory, options="snapshot=none,at=75%")
    assert result["wrong"] == [] and result["frames"] >= 3, result
    assert 0.75 * MEMORY_BYTES <= result["taken"] <= MEMORY_BYTES, result
    path = os.path.join(directory, "a.hs")
    # The recording goes on.
    check_file(path, verify=(INCOMPLETE, OK))
    taken = snapshots(path, status=(OK, INCOMPLETE))
    assert [(s["trigger"], s["complete"]) for s in taken] == [("at", True)], taken
    notes = count_of(path, "BlazorLeak.App.Note")
    assert 100_000 * (result["presses"] - 1) <= notes <= 100_000 * result["presses"], (notes, result)


main()
