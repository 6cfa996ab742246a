# SPDX-License-Identifier: MIT
"""Counters in the wasm module: the jiterpreter's, and how full memory is."""
from wasm import *


def counters_of(path):
    return {counter["name"]: counter for counter in read_json("report", path)["recordings"][0]["counters"]}


@on_each("counters of the jiterpreter are the runtime's own")
def jiterpreter(directory, runtime):
    result = node(directory, "countersOfJiterpreter", runtime, 3000)
    path = os.path.join(directory, "a.hs")
    check_file(path)
    counters = [counter for counter in counters_of(path).values() if counter["section"] == "jiterpreter"]
    # 9.0 has two fewer, and ends where it is asked for them.
    assert len(counters) == len(result["told"]) == {"9.0": 13, "10.0": 15}[runtime], counters
    for i, counter in enumerate(counters):
        assert counter["unit"] == ("time_100ns" if i in (11, 12) else "bytes" if i == 6 else "count"), counter
        told = int(result["told"][i] * (1e4 if i in (11, 12) else 1))
        # Nothing runs between the snapshot's end and the question but what was compiled long before.
        assert 0 <= counter["value"][-1] <= told, (counter, told)
    assert counters[0]["name"] == "Trace candidates" and counters[0]["value"][-1] > 0, counters
    assert counters[1]["name"] == "Traces compiled" and counters[1]["value"][-1] > 0, counters
    assert counters[6]["name"] == "Bytes generated" and counters[6]["value"][-1] > 100, counters


@on_each("one line tells how full memory is, in JavaScript and of a recording")
def memory(directory, runtime):
    count = 50000
    # A node, its string and its array.
    least = count * (NODE_BYTES + 24 + 36)
    result = node(directory, "memoryLine", runtime, count)
    start, full, collected, cleared = result["seen"]
    for seen in result["seen"]:
        assert seen["live"] > 0 and seen["free"] >= 0 and seen["native"] > 0, seen
        assert seen["live"] + seen["free"] + seen["native"] == seen["total"] == seen["taken"], seen
        assert seen["total"] <= seen["linear"] <= seen["maximum"] == 2 << 30, seen
        numbers = [float(text) for text in re.findall(r"[0-9.]+(?= MB)", seen["line"])]
        assert numbers == [round(seen[name] / 1e6 + 1e-9, 1) for name in ("live", "free", "native", "total", "maximum")], seen
        assert re.match(r"live managed .* MB, free in the managed heap .* MB, native .* MB, total .* MB of at most .* MB$", seen["line"]), seen
    # Those in the nursery count when they have outlived a collection.
    assert full["live"] > start["live"] + least / 2 and collected["live"] > least > start["live"], result
    assert collected["live"] - cleared["live"] > least, result

    # And in the recording, exactly, of what was there when the world stood.
    path = os.path.join(directory, "a.hs")
    check_file(path)
    first, second = snapshots(path)
    for snapshot in (first, second):
        told = snapshot["memory"]
        assert told["live"] == snapshot["bytes"] and told["maximum"] == 2 << 30, snapshot
        assert told["live"] + told["free"] + told["native"] == told["total"] <= told["maximum"], snapshot
    assert first["memory"]["live"] - second["memory"]["live"] > least, (first, second)
    assert abs(first["memory"]["live"] - collected["live"]) < 0.1 * collected["live"], (first, collected)
    text = heapshot("list", path).out
    assert re.search(r"^snapshot 2: [0-9,]+ bytes live managed, [0-9,]+ free in the managed heap, "
                     r"[0-9,]+ native; [0-9,]+ of at most 2,147,483,648$", text, re.M), text
    assert " of at most 2,147,483,648" in heapshot(path).out


main()
