# SPDX-License-Identifier: MIT
"""heapshot-bench read: that it runs, and what its JSON looks like.  Nothing here
depends on how long anything took."""
import json
import math
import sys

from harness import *

for place in ("contrib/bench", "tests/node-tools"):
    sys.path.insert(0, os.path.join(SOURCE, place))
from heapbench import figures
import node_tools

BENCH = os.path.join(BUILD, "heapshot-bench")


def bench(directory, *words, timeout=120):
    if not shutil.which("mcs"):
        skip("mcs is missing")
    if os.environ.get("HEAPSHOT_SANITIZERS", "no") not in ("no", ""):
        skip("a reader with sanitizers is not what is to be measured")
    path = os.path.join(directory, "a.json")
    result = run([BENCH, "read", "--quick", "--rounds", "1", "--json", path, "--directory", directory] + list(words),
                 env={"HEAPSHOT_NODE_TOOLS": node_tools.TOOLS}, timeout=timeout)
    assert result.status == 0, result.out + result.err
    with open(path) as file:
        found = json.load(file)
    assert [name for name in os.listdir(directory) if name.startswith("heapshot-bench.")] == []
    for row in found["rows"]:
        assert set(row) == {"name", "what", "where", "unit", "bar", "beyond", "more_is_better", "value", "least",
                            "most", "n", "verdict", "note"}
        if row["value"] is None:
            # A tool that is not there.
            assert row["note"] and row["note"] in result.out, row
            continue
        assert row["value"] > 0 and math.isfinite(row["value"]), row
        assert row["verdict"] == figures.verdict(row["value"], row["bar"], row["beyond"], row["more_is_better"])
        assert row["n"] == 0 or row["least"] <= row["value"] <= row["most"]
        assert row["what"] in result.out and row["where"] in result.out
    return found


def by_part(found, part):
    return next(one for one in found["runs"] if one["part"] == part)


@test("a small run: list, top, the steps of the graph, the large file")
def small(directory):
    found = bench(directory, "--only", "list,top,graph,huge", "--objects", "30k", "--seed", "7")
    assert found["version"] == 1 and found["seed"] == 7 and found["rounds"] == 1
    assert {"processor", "kernel", "mono", "memory_mb", "load"} <= set(found["machine"])
    names = {row["name"] for row in found["rows"]}
    assert {"list", "top command", "top memory", "mprof/top", "gcdump/top", "totals", "decode", "graph", "dominators",
            "sums", "graph memory", "retained", "retained memory", "huge memory"} <= names, names
    one = by_part(found, "graph")
    assert one["objects"] > 20000 and one["references"] > 20000 and one["live_objects"] <= one["objects"]
    assert one["graph_bytes"] > 20 * one["objects"] and one["dominators_bytes"] >= 20 * one["objects"]
    assert all(len(one[step]) == 1 for step in ("totals", "decode", "graph", "dominators", "sums"))
    row = next(row for row in found["rows"] if row["name"] == "graph")
    assert math.isclose(row["value"], one["objects"] / 1e6 / one["graph"][0][0])
    took = by_part(found, "top")["top"][0]
    assert took["peak_rss_bytes"] > 1 << 20 and took["cpu_s"] > 0 and took["wall_s"] > 0
    ratio = next(row for row in found["rows"] if row["name"] == "mprof/top")
    if ratio["value"] is not None:
        assert math.isclose(ratio["value"], by_part(found, "top")["mprof"][0]["cpu_s"] / took["cpu_s"])


@test("what is not there is said, and left out")
def missing(directory):
    path = os.path.join(directory, "a.json")
    if not shutil.which("mcs"):
        skip("mcs is missing")
    empty = os.path.join(directory, "none")
    os.mkdir(empty)
    result = run([BENCH, "read", "--quick", "--only", "devtools", "--json", path, "--directory", directory],
                 env={"HEAPSHOT_NODE_TOOLS": empty}, timeout=120)
    assert result.status == 0, result.err
    with open(path) as file:
        row, = json.load(file)["rows"]
    assert row["value"] is None and row["verdict"] == "-" and (
        "contrib/node-tools" in row["note"] or "not installed" in row["note"]), row
    assert row["note"] in result.out


@test("beside DevTools' own loader")
def devtools(directory):
    long_only()
    reason = node_tools.missing("puppeteer-core", browser=True)
    if reason:
        skip(reason)
    found = bench(directory, "--only", "devtools", "--devtools-objects", "30k", timeout=300)
    one = by_part(found, "devtools")
    assert one["devtools"][0]["objects"] > 20000 and one["devtools"][0]["cpu_s"] > 0
    assert {row["name"] for row in found["rows"]} == {"devtools/retained", "devtools memory"}
    assert all(row["value"] is not None for row in found["rows"])


@test("mistakes on the command line")
def mistakes(directory):
    for words in (["--only", "nothing"], ["--objects", "many"], ["--huge-objects", "5x"], ["--heap", "mix:5k"]):
        result = run([BENCH, "read"] + words)
        assert result.status == 2 and "heapshot-bench read: error: " in result.err, result.err


main()
