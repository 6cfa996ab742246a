# SPDX-License-Identifier: MIT
"""`heapshot FILE`, `heapshot overview` and `heapshot leaks` on recordings made by
hand: damaged, hostile, without a graph, large."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403


@test
def a_file_instead_of_a_command():
    path = recording("held")
    result = run(path)
    assert result.out == run("overview", path).out and len(result.out.splitlines()) <= 14, result.out
    assert "No suspects" in result.out and "heapshot leaks " + path in result.out, result.out
    assert run(path + "@1").out.startswith(path + ", snapshot 1"), run(path + "@1").out
    assert run_json(path) == run_json("leaks", path) == run_json("overview", path)
    assert run_json(path)["suspects"] == []
    result = run("nonsense.hs", status=USAGE)
    assert "neither a command nor a file" in result.err, result.err
    assert "did you mean 'list'" in run("lsit", status=USAGE).err
    run(path + "@7", status=NOT_FOUND)
    run(path, path, status=USAGE)
    assert "is a file" not in run(write("text", b"no recording"), status=NOT_RECORDING).err


@test
def growth_of_a_series():
    path = recording("good")
    data = run_json("leaks", path)
    assert (data["first"], data["snapshot"]) == (1, 3), data
    tops = [{t["type"]: t for t in run_json("top", path + at)["types"]} for at in ("@1", "@3")]
    assert data["growth"][0]["type"] == "T.Node", data["growth"]
    for row in data["growth"]:
        before, after = (types[row["type"]] for types in tops)
        assert (row["before"], row["after"], row["steps"]) == (before["count"], after["count"], 2), row
        assert row["count"] == after["count"] - before["count"], row
        assert row["bytes"] == after["bytes"] - before["bytes"], row
    lines = run(path).out.splitlines()
    assert len(lines) <= 14 and "since snapshot 1: grew T.Node by 9,000, System.String by 900" in lines[1], lines
    # Long sentences and paths lose their middle.
    assert all(len(line) <= 165 for line in lines if not line.startswith("  heapshot")), lines


@test
def no_graph():
    for command in ((), ("leaks",)):
        assert "no graph" in run(*command, recording("stats"), status=NOT_FOUND).err
        run(*command, recording("overflow"), status=DAMAGED)
        run(*command, recording("killed") + "@3", status=INCOMPLETE)
        result = run(*command, recording("many", "1000000"), "--memory", "16M", status=IO)
        assert "give more by --memory" in result.err, result.err


@test
def names_are_masked():
    for line in (run("leaks", recording("hostile-names")).out + run(recording("hostile-names")).out).split("\n"):
        assert line.isprintable(), line


@test
def many_objects_and_a_limit():
    path = recording("many", "300000")
    data = run_json("leaks", path, "--limit", "1")
    assert len(data["suspects"]) <= 1 and len(data["waste"]) <= 1
    assert len(run_json("leaks", path, "--limit", "0")["suspects"]) == len(run_json("leaks", path)["suspects"])


sys.exit(main())
