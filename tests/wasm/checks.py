# SPDX-License-Identifier: MIT
"""What holds of the wasm module wherever its runtime runs: checks of what scenarios.mjs
did.  Each gets an empty directory, 10.0 or 9.0, and what plays a scenario there: node()
of wasm.py, or page() of browser.py."""
from wasm import *


def of_node(path, snapshot, count):
    """The program's chain: COUNT nodes, which nothing else changes."""
    rows = {row["type"]: row for row in top(path, snapshot)}
    node = rows["T.Node"]
    assert (node["count"], node["bytes"]) == (count, count * NODE_BYTES), node
    # Each has a string and an array of its own, and refers to the next, but the last.
    assert node["edges"] == 3 * count - 1, node
    return rows


def exact(directory, runtime, play):
    result = play(directory, "one", runtime, 1000)
    assert result["version"] == version(runtime), result
    assert (result["isRecording"], result["isRecordingAfter"]) == (True, False), result
    assert (result["javascript"], result["csharp"]) == (1, 2), result
    # -2: nothing is being recorded.
    assert result["after"] == -2, result
    assert result["said"] == ["heapshot: recording to Module.heapshot.write"], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    assert [(s["trigger"], s["label"]) for s in snapshots(path)] == [("api", "from js"), ("api", "from C#")]
    before, after = of_node(path, 1, 1000), of_node(path, 2, 1000)
    assert before["T.Held"]["count"] == after["T.Held"]["count"] == 1
    from_javascript, from_csharp = graph(path)
    assert from_javascript["reached"] == from_javascript["objects"], from_javascript
    # What the collector finds on the stack is pinned, and not reported as a root.
    assert from_csharp["objects"] - from_csharp["reached"] <= 8, from_csharp
    assert from_javascript["unknown_roots"] == 0, from_javascript
    handle = [root for root in roots(path, 1) if root["kind"] == "gc_handle" and root["type"] == "T.Held"]
    assert len(handle) == 1, handle
    static = [root["name"] for root in roots(path, 1) if root["kind"] == "static" and root["type"] == "T.Node"]
    assert static == ["T.App.first"], static


def counters(directory, runtime, play):
    play(directory, "three", runtime, 20000)
    path = os.path.join(directory, "a.hs")
    lines = [json.loads(line) for line in heapshot("dump", path).out.splitlines()]
    names = {line["id"]: line["name"] for line in lines if line["record"] == "counter"}
    read = {names[value["counter"]]: value["unsigned_value"]
            for line in lines if line["record"] == "counter_sample" for value in line["value"]}
    wanted = ("GC heap used", "GC heap", "Malloc used", "Memory taken", "Linear memory",
              "Memory maximum")
    assert all(name in read for name in wanted), (sorted(read), lines[-5:])
    sizes = [read[name] for name in wanted]
    assert 0 < sizes[0] <= sizes[1] and sizes[2] <= sizes[3] <= sizes[4] <= sizes[5] == 2 << 30, read


def three(directory, runtime, play):
    result = play(directory, "three", runtime, 20000)
    assert result["taken"] == [1, 2, 3] and result["said"] == [], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    for number in (1, 2, 3):
        of_node(path, number, 20000 * number)
    assert len(graph(path)) == 3
    all_reached(path)


def grows(directory, runtime, play):
    result = play(directory, "grows", runtime, 50000)
    assert result["taken"] == 1, result
    # So much that it grew in the middle of the snapshot.
    assert len(result["sizes"]) >= 2 and result["sizes"][-1] > result["sizes"][0], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    of_node(path, 1, 50000)
    all_reached(path)


def throws(directory, runtime, play):
    for kind in ("begin", "body", "end", "unreadable"):
        place = os.path.join(directory, kind)
        os.mkdir(place)
        result = play(place, *(("throws", runtime, 50000, kind) if kind != "unreadable" else (kind, runtime, 50000)))
        path = os.path.join(place, "a.hs")
        assert result["thrown"] >= 1, result
        assert len(result["said"]) == 1 and result["later"] == [], result
        assert "Module.heapshot.write threw RangeError: no room for it; a snapshot that this interrupts is given up" in \
            result["said"][0], result["said"]
        assert result["taken"][1:] == [2, 3], result
        if kind != "end":
            # -7: begun and not finished.
            assert result["taken"][0] == -7 and result["why"], result
        # Of the unreadable one nothing was written, not even that it began.
        check_file(path, verify=(INCOMPLETE,) if kind in ("begin", "body") else (OK,))
        lz4 = run(["lz4", "-t", path])
        assert lz4.status == 0, lz4.err
        for number in (2, 3):
            of_node(path, number, 50000)
        all_reached(path)


def memory(directory, runtime, play):
    for count, options in ((1000, ""), (300000, ""), (50000, "memory=2m"), (50000, "memory=12m")):
        place = os.path.join(directory, "%d-%s" % (count, options))
        os.mkdir(place)
        result = play(place, "memory", runtime, count, options)
        assert result["taken"] == [1, 2], result
        begins = [at for at, frame in enumerate(result["seen"]) if frame[0] == 3]
        assert len(begins) == 2, result["seen"]
        for first, last in ((begins[0], begins[1]), (begins[1], len(result["seen"]))):
            frames = result["seen"][first:last]
            assert len(frames) >= 3 and len({tuple(frame[1:]) for frame in frames}) == 1, frames
        path = os.path.join(place, "a.hs")
        check_file(path)
        of_node(path, 2, count)


ANYWHERE = (
    ("exact counts, from JavaScript and from C#; all objects are reached from the roots", exact),
    ("counters of linear memory", counters),
    ("three snapshots in a row", three),
    ("linear memory that grows in the callback leaves the chunks whole", grows),
    ("a callback that throws ends that snapshot with one line, and the recording goes on whole", throws),
    ("during a snapshot nothing of ours is allocated in linear memory", memory),
)
