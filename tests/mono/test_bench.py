# SPDX-License-Identifier: MIT
"""heapshot-bench: that it runs, what its JSON looks like, and its arithmetic.
Nothing here depends on how long anything took."""
import json
import math
import struct
import sys

from harness import *

sys.path.insert(0, os.path.join(SOURCE, "contrib", "bench"))
from heapbench import figures, report
from heapbench.programs import LOG_FOLDERS, LOG_MODULE

BENCH = os.path.join(BUILD, "heapshot-bench")
STOPS = [
    {"objects": 10, "references": 20, "took": [["nothing", 100, 200], ["encode", 240, 900], ["nothing", 120, 200],
                                              ["heapshot", 330, 600], ["nothing", 110, 200], ["log", 990, 1]]},
    {"objects": 10, "references": 20, "took": [["nothing", 200, 1], ["encode", 300, 1], ["heapshot", 500, 1]]},
]


@test("ratios: each stop by its own walk")
def ratios(directory):
    assert figures.ratios(STOPS, "encode") == [240 / 110, 1.5]
    assert figures.ratios(STOPS, "heapshot", figures.WALL) == [3, 1]
    assert figures.ratios_between(STOPS, "log", "heapshot") == [3]
    assert figures.ratios_of_sum(STOPS, ("encode", "heapshot")) == [570 / 110, 4]
    assert figures.ratios(STOPS, "none") == [] and figures.median([]) is None
    assert figures.per_object_ns(STOPS, "nothing") == [10, 12, 11, 20]
    assert figures.median([5, 1, 3]) == 3 and figures.median([1, 2]) == 1.5


@test("verdicts: at the bar, beyond, missed, both ways")
def verdicts(directory):
    assert [figures.verdict(value, 3, 2) for value in (2, 3, 3.01)] == ["beyond", "met", "missed"]
    assert [figures.verdict(value, 3, 4, True) for value in (4, 3, 2.99)] == ["beyond", "met", "missed"]
    assert figures.verdict(None, 3, 2) == "-" and figures.verdict(1, None, None) == "-"
    row = report.Row("pause", "x", [2.1, 2.9, 5])
    assert row.value == 2.9 and row.verdict() == "met" and row.json()["least"] == 2.1 and row.json()["most"] == 5


@test("costs of callbacks: what empty probes take is taken off")
def costs(directory):
    lines = [{"probe": "empty", "event": "gc start", "n": 4, "mean_ns": 30.0},
             {"probe": "heapshot", "event": "gc start", "n": 4, "mean_ns": 80.0},
             {"probe": "heapshot", "event": "gc end", "n": 2, "mean_ns": 10.0},
             {"probe": "heapshot", "event": "jit_done", "n": 100, "mean_ns": 5.0}]
    n, total, net = figures.event_cost_ns(lines, "heapshot", "gc ")
    assert (n, total, net) == (6, 4 * 50 + 2 * 10, {"gc start": 50, "gc end": 10}), (n, total, net)


@test("bytes of snapshots by the tags of a recording")
def tags(directory):
    def frame(kind, snapshot, size):
        return struct.pack("<IIIBBHIIQQIIII", figures.TAG_MAGIC, 48, 0x47545348, 1, kind, 0, 9, snapshot, 0, 0, size,
                           0, 0, 0) + bytes(size)
    data = frame(1, 0, 100) + frame(3, 1, 10) + frame(4, 1, 1000) + frame(2, 0, 7) + frame(4, 2, 5) + frame(5, 1, 20)
    snapshots, metadata = figures.snapshot_bytes(data)
    assert snapshots == {1: 1030 + 3 * 56, 2: 5 + 56} and metadata == 156


def bench(directory, *words):
    if not shutil.which("mcs"):
        skip("mcs is missing")
    if os.environ.get("HEAPSHOT_SANITIZERS", "no") not in ("no", ""):
        skip("a module with sanitizers is not what is to be measured")
    path = os.path.join(directory, "a.json")
    result = run([BENCH, "--quick", "--rounds", "1", "--json", path, "--directory", directory] + list(words))
    assert result.status == 0, result.out + result.err
    with open(path) as file:
        found = json.load(file)
    assert [name for name in os.listdir(directory) if name.startswith("heapshot-bench.")] == []
    return found, result.out


@test("a small run: walks, snapshots, sizes, the stream of events")
def small(directory):
    found, text = bench(directory, "--only", "module,gc,pause,fork", "--heap", "mix:20k,nulls:5k", "--seed", "7")
    assert found["version"] == 1 and found["seed"] == 7 and found["rounds"] == 1
    assert {"processor", "kernel", "mono", "memory_mb"} <= set(found["machine"])
    names = {(row["name"], row["where"].split(" ")[0]) for row in found["rows"]}
    assert {("module", ""), ("gc", "churn"), ("encode", "mix"), ("encode nulls", "nulls"), ("pause", "mix"),
            ("bytes mix", "mix"), ("fork", "mix")} <= names, names
    for row in found["rows"]:
        assert set(row) == {"name", "what", "where", "unit", "bar", "beyond", "more_is_better", "value", "least",
                            "most", "n", "verdict", "note"}
        if row["value"] is None:
            assert row["note"], row
            continue
        assert row["value"] >= 0 and math.isfinite(row["value"])
        assert row["verdict"] == figures.verdict(row["value"], row["bar"], row["beyond"], row["more_is_better"])
        assert row["n"] == 0 or row["least"] <= row["value"] <= row["most"]
        assert row["what"] in text and row["where"] in text
    stops = next(one for one in found["runs"] if one["part"] == "pause")["probe"]
    stop = next(line for line in stops if "took" in line)
    assert stop["bytes"] == stop["encoded_bytes"]
    assert 15000 < stop["objects"] < 60000 and {took[0] for took in stop["took"]} >= {
        "nothing", "encode", "compress", "heapshot", "heapshot after", "heapshot threads"}
    pauses = next(row for row in found["rows"] if row["name"] == "pause" and row["where"] == "mix 20 k")
    assert pauses["value"] == figures.median(figures.ratios([stop], "heapshot", figures.WALL))
    one = {(row["name"], row["where"]): row["value"] for row in found["rows"]}
    assert one["pause cpu", "mix 20 k"] < one["cpu", "mix 20 k"]
    mallocs = next(row for row in found["rows"] if row["name"] == "mallocs")
    assert mallocs["value"] == 0


@test("beside the log profiler of Mono")
def beside_log(directory):
    if not any(os.path.exists(os.path.join(folder, LOG_MODULE)) for folder in LOG_FOLDERS):
        skip("libmono-profiler is not installed")
    found, _ = bench(directory, "--only", "pause,size", "--heap", "mix:20k")
    rows = {row["name"]: row for row in found["rows"] if not row["where"].endswith("wall")}
    stop = next(line for line in found["runs"][0]["probe"] if "took" in line)
    assert rows["log"]["value"] == figures.median(figures.ratios([stop], "log"))
    assert rows["log/pause"]["value"] == figures.times(stop, "log", figures.WALL)[0] / figures.times(
        stop, "heapshot", figures.WALL)[0]
    assert rows["log/bytes"]["value"] > rows["zip/bytes"]["value"] > 1


@test("sizes that the walk finds are those that the runtime states")
def sizes(directory):
    path = os.path.join(directory, "probe.jsonl")
    for words in (["mono", "--profile=heapprobe:front", compiled("Sizes")],
                  ["mono", "--profile=heapprobe:front", compiled("Names")],
                  ["mono", "--profile=heapprobe:front", program("Arrays"), "lengths"],
                  ["mono", "--profile=heapprobe:front", program("Strings"), "distinct", "5000"]):
        result = run(words, env={"HEAPPROBE_FILE": path}, cwd=directory)
        assert result.status == 0, result.err
        with open(path) as file:
            stops = [line for line in map(json.loads, file) if "took" in line]
        os.unlink(path)
        assert stops, words
        for stop in stops:
            assert stop["bytes"] == stop["encoded_bytes"] > 0, (words, stop)


@test("mistakes on the command line")
def mistakes(directory):
    for words in (["--only", "nothing"], ["--heap", "pile:5"], ["--heap", "5x"]):
        result = run([BENCH] + words)
        assert result.status == 2 and "heapshot-bench: error: " in result.err, result.err


main()
