# SPDX-License-Identifier: MIT
"""contrib/browser/heapshot.mjs on the real runtimes, in node, and in a page and a worker of
Chromium: what it hands out is read by the native command line."""
import glob

from mjs import *
from browser import node_tools

FILE = "mjs_scenarios.mjs"
COUNT = 20000


def check_take(place, runtime, result):
    """The scenario `take`, wherever it ran."""
    assert result["version"] == result["runtimeVersion"] == version(runtime), result
    assert result["heapshotVersion"] == "1.0" and result["title"] == "the test", result
    assert result["type"] == "application/x-heapshot" and result["said"] == [], result
    for name, labels, count in (("one", ["one"], COUNT), ("two", ["two"], 2 * COUNT), ("three", ["from C#"], 2 * COUNT)):
        path = os.path.join(place, name + ".hs")
        assert is_whole(path, *labels) == "extracted", path
        of_node(path, count)
        all_reached(path) if name != "three" else graph(path)
        assert json.loads(heapshot("verify", path, "--json").out)["issues"] == [], path
    labels = ["one", "two", "from C#"]
    for name in ("all", "end"):
        path = os.path.join(place, name + ".hs")
        assert is_whole(path, *labels) == ("extracted" if name == "all" else "stopped"), path
    # What follows is put behind it by who wants to.
    open_one = os.path.join(place, "open.hs")
    check_file(open_one, verify=(INCOMPLETE,))
    with open(open_one, "rb") as file, open(os.path.join(place, "end.hs"), "rb") as whole:
        assert whole.read().startswith(file.read()), result
    assert read_json("list", path)["left_out_frames"] == 0, result
    assert [line["label"] for line in records(path) if line["record"] == "marker"] == ["between"], result
    assert [s["label"] for s in result["heard"]] == [s["label"] for s in result["snapshots"]] == labels, result
    assert [s["objects"] for s in result["snapshots"]] == [s["objects"] for s in snapshots(path)], result
    sizes = [each["bytes"] for each in result["progress"]]
    assert sizes == sorted(sizes) and [each["frames"] for each in result["progress"]] == list(range(1, len(sizes) + 1)), result
    assert len(sizes) >= 3 and sizes[-1] < os.path.getsize(os.path.join(place, "one.hs")), result
    seen, seen_at_end = result["frames"]
    assert seen == seen_at_end >= 10, result
    assert result["isSame"] and result["keys"] == [], result
    assert result["after"]["message"] == "heapshot: nothing is being recorded", result


@on_each("each snapshot is a recording by itself, and all of them are one")
def take(directory, runtime):
    check_take(directory, runtime, in_node(FILE, directory, "take", runtime, COUNT))


@on_each("a runtime that records from its start is taken over")
def take_over(directory, runtime):
    result = in_node(FILE, directory, "takeOver", runtime, COUNT)
    assert result["waiting"] >= 4 and result["left"] == 0, result
    assert [s["label"] for s in result["taken"]] == ["before"], result
    is_whole(os.path.join(directory, "part.hs"), "")
    is_whole(os.path.join(directory, "all.hs"), "before", "")
    header = records(os.path.join(directory, "all.hs"))[0]
    assert "quiet" in header["options"] and not header.get("late_start"), header
    of_node(os.path.join(directory, "part.hs"), COUNT)


@on_each("what is recorded lies in Blobs of a megabyte; linear memory does not grow")
def blobs(directory, runtime):
    count = 1000000
    result = in_node(FILE, directory, "blobs", runtime, count)
    assert len(result["memory"]) >= 10 and len(set(result["memory"])) == 1, result
    *pieces, last = result["made"]
    # A piece is full at a megabyte, with the frame that fills it.
    assert len(pieces) >= 2 and all(1 << 20 <= each["size"] < 3 << 20 for each in pieces), result
    assert last["size"] == result["size"] and last["parts"] > len(pieces), result
    # What was no Blob yet: less than a piece each of the snapshot, of the names and of the events.
    assert last["loose"] < 3 << 20 and last["loose"] < last["size"] // 2, result
    path = os.path.join(directory, "a.hs")
    is_whole(path, "")
    assert count_of(path, "T.Linked") == count
    all_reached(path)


def check_cancel(place, result):
    why = result["why"]
    assert why["before"]["name"] == "AbortError", why
    assert why["message"]["message"] == "a message said so", why
    assert result["saidBefore"] == 0, result
    assert why["middle"]["name"] == "AbortError" and result["called"] == 3, result
    assert why["thrown"] == {"name": "RangeError", "message": "a mistake"}, why
    # Each that was begun has its one line.
    assert result["saidAfter"] == 2 and all("is given up" in line[1] for line in result["said"]), result
    assert [s["label"] for s in result["snapshots"]] == result["heard"] == ["whole"], result
    for name in ("part.hs", "all.hs"):
        is_whole(os.path.join(place, name), "whole")
        of_node(os.path.join(place, name), COUNT)


@on_each("a cancelled snapshot is gone, and the recording is whole")
def cancel(directory, runtime):
    check_cancel(directory, in_node(FILE, directory, "cancel", runtime, COUNT))


@test("mistakes of listeners, and runtimes that cannot be recorded")
def mistakes(directory):
    result = in_node(FILE, directory, "mistakes", "10.0", COUNT)
    assert result["errors"] == 1, result
    of_node(os.path.join(directory, "a.hs"), COUNT)
    assert "is not in this runtime" in result["stock"]["message"], result
    assert "this is no .NET runtime" in result["nothing"]["message"], result
    assert "the frames so far went there" in result["taken"]["message"], result


@test("options that are refused")
def refused(directory):
    result = in_node(FILE, directory, "refused", "10.0")
    assert result["why"]["message"] == "heapshot does not record; refused: heapshot:snapshot=none,nonsense=1", result
    assert "takeSnapshot" not in result["keys"] and result["isSame"], result
    is_whole(os.path.join(directory, "a.hs"), "")


def check_stats(place, result):
    path = os.path.join(place, "a.hs")
    rows = {row["type"]: (row["count"], row["bytes"]) for row in top(path)}
    stats = {row["type"]: (row["count"], row["bytes"]) for row in result["types"]}
    assert stats["T.Node"] == (COUNT, COUNT * NODE_BYTES), stats
    assert [row["bytes"] for row in result["types"]] == sorted((row["bytes"] for row in result["types"]), reverse=True)
    # Between the two some objects of the runtime's interop came and went.
    same = [name for name in rows if stats.get(name) == rows[name]]
    assert len(same) >= 0.8 * len(rows), (stats, rows)
    later = {row["type"]: row["count"] for row in result["later"]}
    assert later["T.Node"] == 2 * COUNT, later
    memory = result["memory"]
    assert memory["live"] + memory["free"] + memory["native"] == memory["total"], memory
    assert COUNT * NODE_BYTES < memory["live"] and memory["free"] >= 0 and memory["native"] > 1 << 20, memory
    assert memory["total"] <= memory["linear"] <= result["length"] <= memory["maximum"] == 2 << 30, result
    table, line = result["said"]
    assert table[0] == "table" and len(json.loads(table[1])) == 5 < result["rows"] == len(result["types"]), result
    assert line[0] == "log" and re.fullmatch(
        r"heapshot: live managed [\d.]+ MB, free in the managed heap [\d.]+ MB, native [\d.]+ MB, "
        r"total [\d.]+ MB of at most 2147.5 MB", line[1]), line
    # Statistics are nobody's snapshots.
    assert result["heard"] == 1 and [s["label"] for s in result["snapshots"]] == ["the same"], result
    is_whole(os.path.join(place, "all.hs"), "the same")


@on_each("types and memory without the graph")
def stats(directory, runtime):
    check_stats(directory, in_node(FILE, directory, "stats", runtime, COUNT))


@test("snapshots that are dropped give back their bytes")
def forget(directory):
    result = in_node(FILE, directory, "forget", "10.0", COUNT)
    assert result["empty"] < result["before"] and result["left"] == 0, result
    is_whole(os.path.join(directory, "two.hs"), "two")
    is_whole(os.path.join(directory, "all.hs"), "three")
    of_node(os.path.join(directory, "all.hs"), COUNT)


@test("recording ends and begins again")
def again(directory):
    result = in_node(FILE, directory, "again", "10.0", COUNT)
    assert result["taken"] == [["one.hs"], ["two.hs"]] and result["left"] == "undefined", result
    for name in ("one.hs", "two.hs"):
        assert is_whole(os.path.join(directory, name), name) == "stopped"
        of_node(os.path.join(directory, name), COUNT)


def check_quiet(result):
    assert result["imported"] == result["module"] == result["attached"] == result["own"] == result["said"] == [], result
    assert result["opened"] == [] and result["isSame"] and result["left"] == [], result
    assert result["exposedKeys"] == ["takeSnapshot", "downloadMemoryDump", "logMemoryStats", "enableDiagnosticChannel"], result


@test("importing does nothing; only what is asked for is there")
def quiet(directory):
    check_quiet(in_node(FILE, directory, "quiet", "10.0"))


@test("downloadMemoryDump writes a file in node")
def download(directory):
    assert in_node(FILE, directory, "download", "10.0", COUNT, "mine.hs")["why"] is None
    of_node(os.path.join(directory, "mine.hs"), COUNT)
    assert in_node(FILE, directory, "download", "10.0", COUNT)["why"] is None
    path, = glob.glob(os.path.join(directory, "mjs_node.mjs-*.hs"))
    assert re.search(r"-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.hs$", path), path
    of_node(path, COUNT)


@on_each("the same in a page and in a worker of Chromium")
def chromium(directory, runtime):
    jobs = [(scenario, where, COUNT) for where in ("page", "worker") for scenario in ("take", "cancel", "stats")]
    jobs += [("quiet", "page"), ("quiet", "worker"), ("download", "page", COUNT, "mine.hs"), ("download", "worker", COUNT),
             ("channel", "page")]
    results = in_tabs(FILE, directory, runtime, *jobs)
    for result in (results[0], results[3]):
        check_take(result["place"], runtime, result)
    for result in (results[1], results[4]):
        check_cancel(result["place"], result)
    for result in (results[2], results[5]):
        check_stats(result["place"], result)
    for result in results[6:8]:
        check_quiet(result)
    page, worker, channel = results[8:]
    assert "detach() was called" in channel["why"]["message"], channel
    assert page["why"] is None, page
    of_node(os.path.join(page["place"], "mine.hs"), COUNT)
    assert "a worker has no downloads" in worker["why"]["message"], worker


@test("heapshot.d.mts: a program in TypeScript compiles, and declared is what is there")
def types(directory):
    why = node_tools.missing("typescript")
    if why:
        skip(why)
    place = os.path.join(HERE, "types")
    compiler = os.path.join(node_tools.MODULES, "typescript", "bin", "tsc")
    done = run(["node", compiler, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext",
                "--lib", "es2023,dom", os.path.join(place, "sample.mts")], cwd=directory)
    assert done.status == 0, done.out
    done = run(["node", os.path.join(place, "check.mjs"), os.path.join(node_tools.MODULES, "typescript"), BROWSER])
    assert done.status == 0, done.err
    found = json.loads(done.out)
    assert found["declared"] == found["present"], found


main()
