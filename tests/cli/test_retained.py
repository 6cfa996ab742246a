# SPDX-License-Identifier: MIT
"""`heapshot retained` (alias `dominators`) and `top --retained`, on a heap whose
dominators are known: see tests/data/synthetic_held.c."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403

TYPES = [  # type, assembly, count, bytes, retained
    ("T.Pub", "app", 2, 48, 936), ("T.Node", "app", 24, 768, 904), ("System.Object[]", "mscorlib", 1, 64, 248),
    ("T.Huge", "app", 1, 100, 100), ("T.Late", "app", 2, 96, 96), ("System.String", "mscorlib", 1, 40, 40)]


def row(*values):
    return dict(zip(("type", "assembly", "count", "bytes", "retained"), values))


@test
def retained_json():
    path = recording("held")
    data = run_json("retained", path)
    assert list(data) == ["snapshot", "live", "unreached", "types", "objects", "tree", "kinds", "roots", "assemblies",
                          "domains"], list(data)
    assert data["snapshot"] == 1
    assert data["live"] == {"objects": 31, "bytes": 1116} and data["unreached"] == {"objects": 2, "bytes": 64}
    assert data["types"] == [row(*values) for values in TYPES], data["types"]
    assert data["kinds"] == [
        {"kind": "static", "count": 2, "retained": 936}, {"kind": "finalizer_queue", "count": 1, "retained": 100},
        {"kind": "stack", "count": 1, "retained": 80}, {"kind": "ephemeron", "count": 1, "retained": 0}], data["kinds"]
    assert data["roots"][:2] == [
        {"kind": "static", "name": "T.Pub.List", "count": 1, "retained": 664},
        {"kind": "static", "name": "T.Pub.Root", "count": 1, "retained": 272}], data["roots"]
    # Objects of an assembly below others of it do not count twice.
    assert data["assemblies"] == [
        {"assembly": "app", "count": 29, "bytes": 1012, "retained": 1116},
        {"assembly": "mscorlib", "count": 2, "bytes": 104, "retained": 248}], data["assemblies"]
    assert data["domains"] == [{"domain": "app.exe", "id": 1, "count": 31, "bytes": 1116, "retained": 1116}]
    assert run_json("dominators", path) == data


@test
def objects_and_their_dominators():
    data = run_json("retained", recording("held"), "--part", "objects")
    assert list(data) == ["snapshot", "live", "unreached", "objects"]
    objects = {entry["address"] & 0xffff: entry for entry in data["objects"]}
    assert len(data["objects"]) == 31
    sizes = [entry["retained"] for entry in data["objects"]]
    assert sizes == sorted(sizes, reverse=True)
    first = objects[0]
    assert first["type"] == "T.Pub" and first["bytes"] == 24 and first["retained"] == 272
    assert first["dominator"] == {"kind": "static", "name": "T.Pub.Root"}
    array = objects[0x18]
    assert array["retained"] == 248 and array["dominator"]["type"] == "T.Pub"
    # What two nodes refer to is neither's: the array dominates it.
    shared = objects[0x98]
    assert shared["retained"] == 80 and shared["dominator"]["address"] == array["address"]
    # The value of an ephemeron goes with its key.
    key = objects[0x150]
    assert key["retained"] == 80 and key["dominator"] == {"kind": "stack", "name": "main"}
    assert objects[0x170]["dominator"]["address"] == key["address"]


@test
def the_tree_is_cut_at_a_share():
    def tree(*options):
        return run_json("retained", recording("held"), "--part", "tree", *options)["tree"]

    rows = tree("--share", "10")
    assert [(r["depth"], r["kind"] if "kind" in r else r["type"], r["retained"], r["alike"]) for r in rows] == [
        (0, None, 1116, 0), (1, "static", 936, 0), (2, "static", 664, 0), (3, "T.Pub", 664, 0), (4, "T.Node", 640, 16),
        (2, "static", 272, 0), (3, "T.Pub", 272, 0), (4, "System.Object[]", 248, 0)], rows
    # Without a share a list still is one row.
    rows = tree("--share", "0")
    assert [r["alike"] for r in rows if r.get("type") == "T.Node" and r["alike"]] == [19], rows
    assert len(tree("--limit", "3")) == 3
    # Each row but the first retains no more than the one it hangs below.
    last = []
    for r in rows:
        del last[r["depth"]:]
        assert not last or r["retained"] <= last[-1], r
        last.append(r["retained"])
    assert "from 25 % of all on" in run("retained", recording("held"), "--share", "25").out


@test
def types_that_are_asked_for():
    path = recording("held")
    data = run_json("retained", path, "--type", "T.*e")
    assert [t["type"] for t in data["types"]] == ["T.Node", "T.Huge", "T.Late"]
    assert {entry["type"] for entry in data["objects"]} == {"T.Node", "T.Huge", "T.Late"}
    data = run_json("retained", path, "--assembly", "mscorlib", "--limit", "1")
    assert data["types"] == [row(*TYPES[2])] and len(data["objects"]) == 1
    for arguments in (("--type", "T.None"), ("--assembly", "none")):
        result = run("retained", path, *arguments, status=NOT_FOUND)
        assert result.err.count("\n") == 1 and arguments[1] in result.err and result.out == ""
        run("retained", path, *arguments, "--json", status=NOT_FOUND)


@test
def tables():
    path = recording("held")
    text = run("retained", path).out
    for word in ("31 objects live, 1,116 bytes", "left out: 2 that no root reaches, 64 bytes", "\nTYPES\n", "\nOBJECTS\n",
                 "and 19 alike below it", "static T.Pub.List", "83.9 %", "... and 23 more"):
        assert word in text, word
    assert "ASSEMBLIES" not in text
    for part, words in (("types", "TYPE"), ("objects", "DOMINATED BY"), ("tree", "all roots"), ("kinds", "KIND"),
                        ("roots", "NAME"), ("assemblies", "ASSEMBLY"), ("domains", "DOMAIN")):
        assert words in run("retained", path, "--part", part).out, part
    run("retained", path, "--part", "none", status=USAGE)
    run("retained", path, "--share", "101", status=USAGE)


@test
def top_retained():
    data = run_json("top", recording("held"), "--retained")
    retained = {entry["type"]: entry["retained"] for entry in data["types"]}
    assert retained == {values[0]: values[4] for values in TYPES}
    # Counts are those of all objects, retained sizes of those that live.
    assert {entry["type"]: entry["count"] for entry in data["types"]}["T.Node"] == 26
    assert "retained" not in run_json("top", recording("held"))["types"][0]
    table = run("top", recording("held"), "--retained").out.splitlines()
    assert table[2].split() == ["RETAINED", "BYTES", "COUNT", "EDGES", "ASSEMBLY", "TYPE"], table


@test
def no_graph():
    for command in (("retained",), ("top", "--retained")):
        result = run(*command, recording("stats"), status=NOT_FOUND)
        assert "no graph" in result.err, result.err
        run(*command, recording("overflow"), status=DAMAGED)
        run(*command, recording("killed") + "@3", status=INCOMPLETE)
        result = run(*command, recording("many"), "--memory", "16M", status=OK)
        result = run(*command, recording("many", "1000000"), "--memory", "16M", status=IO)
        assert "give more by --memory" in result.err, result.err


@test
def names_are_masked():
    for line in run("retained", recording("hostile-names")).out.split("\n"):
        assert line.isprintable(), line


@test
def lists_of_millions_and_a_limit():
    path = recording("many", "300000")
    data = run_json("retained", path, "--limit", "5")
    assert len(data["types"]) <= 5 and len(data["objects"]) == 5
    assert run_json("retained", path, "--part", "tree")["tree"][0]["retained"] == data["live"]["bytes"]


sys.exit(main())
