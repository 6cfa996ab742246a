# SPDX-License-Identifier: MIT
"""The wasm module in .NET's browser-wasm runtimes, linked anew, in node: what they
stream to JavaScript is read by the native command line."""
from wasm import *


def of_node(path, snapshot, count):
    """The program's chain: COUNT nodes, which nothing else changes."""
    rows = {row["type"]: row for row in top(path, snapshot)}
    node = rows["T.Node"]
    assert (node["count"], node["bytes"]) == (count, count * NODE_BYTES), node
    # Each has a string and an array of its own, and refers to the next, but the last.
    assert node["edges"] == 3 * count - 1, node
    return rows


def on_each(name):
    def decorate(function):
        for runtime in RUNTIMES:
            test("%s (.NET %s)" % (name, runtime))(lambda directory, runtime=runtime: function(directory, runtime))
    return decorate


@on_each("exact counts, from JavaScript and from C#; all objects are reached from the roots")
def exact(directory, runtime):
    result = node(directory, "one", runtime, 1000)
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


@on_each("counters of linear memory")
def counters(directory, runtime):
    node(directory, "three", runtime, 20000)
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


@on_each("three snapshots in a row")
def three(directory, runtime):
    result = node(directory, "three", runtime, 20000)
    assert result["taken"] == [1, 2, 3] and result["said"] == [], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    for number in (1, 2, 3):
        of_node(path, number, 20000 * number)
    assert len(graph(path)) == 3
    all_reached(path)


@on_each("linear memory that grows in the callback leaves the chunks whole")
def grows(directory, runtime):
    result = node(directory, "grows", runtime, 50000)
    assert result["taken"] == 1, result
    # So much that it grew in the middle of the snapshot.
    assert len(result["sizes"]) >= 2 and result["sizes"][-1] > result["sizes"][0], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    of_node(path, 1, 50000)
    all_reached(path)


@on_each("a callback that throws ends that snapshot with one line, and the recording goes on whole")
def throws(directory, runtime):
    for kind in ("begin", "body", "end"):
        place = os.path.join(directory, kind)
        os.mkdir(place)
        result = node(place, "throws", runtime, 50000, kind)
        path = os.path.join(place, "a.hs")
        assert result["thrown"] >= 1, result
        assert len(result["said"]) == 1 and result["later"] == [], result
        assert "Module.heapshot.write threw RangeError: no room for it; a snapshot that this interrupts is given up" in \
            result["said"][0], result["said"]
        assert result["taken"][1:] == [2, 3], result
        if kind != "end":
            # -7: begun and not finished.
            assert result["taken"][0] == -7 and result["why"], result
        check_file(path, verify=(INCOMPLETE,) if kind != "end" else (OK,))
        lz4 = run(["lz4", "-t", path])
        assert lz4.status == 0, lz4.err
        for number in (2, 3):
            of_node(path, number, 50000)
        all_reached(path)


@on_each("during a snapshot nothing of ours is allocated in linear memory")
def memory(directory, runtime):
    for count, options in ((1000, ""), (300000, ""), (50000, "memory=2m"), (50000, "memory=12m")):
        place = os.path.join(directory, "%d-%s" % (count, options))
        os.mkdir(place)
        result = node(place, "memory", runtime, count, options)
        assert result["taken"] == [1, 2], result
        begins = [at for at, frame in enumerate(result["seen"]) if frame[0] == 3]
        assert len(begins) == 2, result["seen"]
        for first, last in ((begins[0], begins[1]), (begins[1], len(result["seen"]))):
            frames = result["seen"][first:last]
            assert len(frames) >= 3 and len({tuple(frame[1:]) for frame in frames}) == 1, frames
        path = os.path.join(place, "a.hs")
        check_file(path)
        of_node(path, 2, count)


# The interpreter of 9.0 finds no memory there for the methods that it goes on with, and ends.
@test("at the limit of memory, after an OutOfMemoryException (.NET 10.0)")
def full(directory, runtime="10.0"):
    block = 1 << 20
    result = node(directory, "full", runtime, block, link=("--fast", "--memory", "67108864"))
    assert result["n"] >= 5 and result["length"] == 64 << 20, result
    assert result["taken"] == [2, 3, 4, 5] and result["said"] == [], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    of_blocks = [sum(row["bytes"] for row in top(path, number) if row["type"] == "System.Byte[]") for number in (2, 3, 4)]
    assert of_blocks[0] == of_blocks[1] > result["n"] * block, of_blocks
    assert of_blocks[2] < 1 << 20, of_blocks
    of_node(path, 5, 1000)
    all_reached(path)


MEMORY = ("67108864",) if not IS_LONG else ("67108864", "134217728", "2147483648")


@on_each("snapshot=oom: an OutOfMemoryException is thrown")
def out_of_memory(directory, runtime):
    for bytes_at_most in MEMORY:
        for block in (1 << 20, 1 << 24):
            place = os.path.join(directory, "%s-%d" % (bytes_at_most, block))
            os.mkdir(place)
            result = node(place, "fill", runtime, block, "snapshot=oom,quiet", status=None, link=("--fast", "--memory", bytes_at_most))
            # The snapshot comes first: afterwards the interpreter may lack memory for the program's handler.
            n = result.get("n", 1)
            assert n >= 1, result
            path = os.path.join(place, "a.hs")
            # The program goes on, and the recording has not ended.
            check_file(path, verify=(INCOMPLETE, OK))
            assert [(s["trigger"], s["complete"]) for s in snapshots(path, status=(OK, INCOMPLETE))] == [("oom", True)]
            blocks = [row["bytes"] for row in top(path) if row["type"] == "System.Byte[]"]
            assert sum(blocks) >= n * block, (blocks, result)


@on_each("at=N%: the runtime ends at the limit, a snapshot was taken before")
def near_the_limit(directory, runtime):
    for bytes_at_most in MEMORY:
        place = os.path.join(directory, bytes_at_most)
        os.mkdir(place)
        result = node(place, "fill", runtime, "small", "snapshot=none,at=75%,quiet", status=None,
                      link=("--fast", "--memory", bytes_at_most))
        path = os.path.join(place, "a.hs")
        check_file(path, verify=(INCOMPLETE, OK))
        taken = snapshots(path)
        assert [(s["trigger"], s["complete"]) for s in taken] == [("at", True)], (taken, result)
        # The chain itself makes most of the heap.
        assert count_of(path, "T.Node") * 3 > 0.9 * taken[0]["objects"], taken
        line, = graph(path)
        note("%s: %d objects, %d reached" % (bytes_at_most, line["objects"], line["reached"]))
        assert line["reached"] > 0.9 * line["objects"], line


@on_each("linked and not asked for, it does nothing")
def unused(directory, runtime):
    result = node(directory, "unused", runtime)
    assert result["taken"] == -2 and not result["isRecording"], result
    assert result["keys"] == [] and result["said"] == [], result


@test("mistakes in the options are said, and the program goes on")
def options(directory):
    root = serve(directory, "10.0", "--fast")
    for text, word in (("nonsense=1", "nonsense"), ("output=a.hs", "Module.heapshot.write"), ("ring=1m", "ring"),
                       ("memory=1", "memory")):
        result = node(directory, "options", "10.0", text, root=root)
        assert result["taken"] == -2, result
        assert len(result["said"]) == 1 and word in result["said"][0], result
        assert result["said"][0].endswith("Nothing is recorded"), result
    assert node(directory, "options", "10.0", "", root=root)["taken"] == 1


@test("frames wait until there is a callback")
def late(directory):
    result = node(directory, "late", "10.0", 1000)
    assert result["taken"] == [1, 2] and result["waiting"] >= 4 and result["left"] == 0, result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    of_node(path, 1, 1000)
    of_node(path, 2, 1000)
    all_reached(path)


@test("recording begins and ends in the running program")
def restarted(directory):
    result = node(directory, "restarted", "10.0", 1000)
    assert result["taken"] == [1, 1] and result["said"] == [], result
    for name in ("a.hs", "b.hs"):
        path = os.path.join(directory, name)
        check_file(path)
        of_node(path, 1, 1000)
        all_reached(path)


main()
