# SPDX-License-Identifier: MIT
"""`heapshot path` on a heap whose paths are known: see tests/data/synthetic_held.c."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403

SHARED = "static T.Pub.Root -> T.Pub._items -> System.Object[] "


def texts(*arguments, **options):
    return [entry["text"] for entry in run_json("path", *arguments, **options)["paths"]]


@test
def to_an_object():
    path = recording("held")
    expected = SHARED + "[0] -> T.Node._next -> T.Node._value -> T.Late"
    for address in ("0x7f00000000e0", "7f00000000e0", "0x7f00000000e8", "0x7F00000000E0"):
        assert texts(path, address) == [expected], address
    out = run("path", path, "0x7f00000000e0").out.splitlines()
    assert out[1:] == [expected], out
    data = run_json("path", path + "@1", "0x7f00000000e0")
    assert list(data) == ["snapshot", "target", "objects", "reached", "paths"], list(data)
    assert data["snapshot"] == 1 and data["objects"] == 1 and data["reached"] == 1
    entry = data["paths"][0]
    assert list(entry) == ["count", "bytes", "longest", "length", "text", "root", "steps"], list(entry)
    assert entry["count"] == 1 and entry["bytes"] == 48 and entry["length"] == entry["longest"] == 5
    assert entry["root"] == {"kind": "static", "name": "T.Pub.Root"}
    assert [(step["type"], step["slot"]) for step in entry["steps"]] == [
        ("T.Pub", "_items"), ("System.Object[]", "[0]"), ("T.Node", "_next"), ("T.Node", "_value"), ("T.Late", None)]
    assert entry["steps"][-1]["address"] == 0x7f00000000e0


@test
def to_the_objects_of_a_type():
    path = recording("held")
    data = run_json("path", path, "T.Node")
    assert data["objects"] == 26 and data["reached"] == 24
    assert [(entry["count"], entry["longest"], entry["text"]) for entry in data["paths"]] == [
        (19, 21, "static T.Pub.List -> T.Pub._items -> T.Node._next -> T.Node"),
        (2, 3, SHARED + "[*] -> T.Node"),
        (1, 1, "stack main -> T.Node"),
        (1, 2, "static T.Pub.List -> T.Pub._items -> T.Node"),
        (1, 4, SHARED + "[0] -> T.Node._next -> T.Node")], data["paths"]
    assert sum(entry["bytes"] for entry in data["paths"]) == 24 * 32
    table = run("path", path, "T.Node", "--limit", "2").out.splitlines()
    assert table[1] == "26 objects of T.Node, 24 of them reached"
    assert table[2] == ("19 objects, 608 bytes: static T.Pub.List -> T.Pub._items -> T.Node._next -> T.Node "
                        "(up to 18 steps longer)"), table
    assert table[-1] == "... and 3 more paths (--limit 0 shows all)"
    # Not the name of a type: what contains or matches it.
    assert sum(entry["count"] for entry in run_json("path", path, "T.*")["paths"]) == 29
    many = run_json("path", recording("held", "20000"), "T.Late")["paths"][0]
    assert many["count"] == 20000 and many["text"] == (
        "static T.Pub.More -> System.Object[] [*] -> T.Pub._items -> T.Late"), many


@test
def a_long_way_is_short_to_read():
    last = "0x%x" % (0x7f0000000220 + 19 * 32)
    assert texts(recording("held"), last) == [
        "static T.Pub.List -> T.Pub._items -> T.Node._next (19 times) -> T.Node"]
    # Of a way of thousands of steps the JSON has the ends.
    path = recording("many", "30000")
    address = "0x%x" % (0x7f0000010000 + 29999 * 32)
    entry = run_json("path", path, address, "--exclude", "stack")["paths"][0]
    assert entry["length"] > 29000 and len(entry["steps"]) == 1001 and entry["steps"][500] is None
    assert re.search(r"-> T.Node \+16 \(15 times\) -> \.\.\. [0-9,]+ more \.\.\. -> T.Node", entry["text"]), entry["text"]
    assert entry["text"].count("->") == 41, entry["text"]
    assert run("path", path, address, "--exclude", "stack").out.splitlines()[1] == entry["text"]


@test
def distinct_paths():
    path = recording("held")
    shared = "0x7f0000000098"  # a T.Node that two others refer to, and garbage
    assert texts(path, shared, "--all", "0") == [SHARED + "[0] -> T.Node._next -> T.Node",
                                                 SHARED + "[2] -> T.Node._next -> T.Node"]
    assert len(texts(path, shared, "--all", "1")) == 1
    # The value of an ephemeron: by its key only; the runtime's own root holds nothing.
    assert texts(path, "0x7f0000000170", "--all", "5") == ["stack main -> T.Node (ConditionalWeakTable) -> T.Late"]
    lines = run("path", path, "T.Late", "--all", "0").out.splitlines()[1:]
    assert len(lines) == 3 and sorted(lines, key=lambda line: line.count("->")) == lines, lines


@test
def excluded_roots():
    path = recording("held")
    value = "0x7f0000000170"
    for excluded in ("stack", "weak", "finalizer,weak", "static+stack", "ephemeron,thread_static,stack"):
        result = run("path", path, value, "--exclude", excluded, status=NOT_FOUND)
        assert "nothing but %s holds" % excluded in result.err and result.out == "", result.err
    assert texts(path, value, "--exclude", "static,finalizer")
    run("path", path, "T.Huge", "--exclude", "finalizer", status=NOT_FOUND)
    assert texts(path, "T.Huge") == ["finalizer_queue -> T.Huge"]
    result = run("path", path, value, "--exclude", "stak", status=USAGE)
    assert result.err.count("\n") == 1 and "'stak'" in result.err


@test
def not_found():
    path = recording("held")
    for target, words in (("T.None", "no object of type"), ("0x10", "no object lies at"), ("T.Node+", "no object of type"),
                          ("0x7f0000000110", "it is garbage")):
        result = run("path", path, target, status=NOT_FOUND)
        assert words in result.err and result.err.count("\n") == 1 and result.out == "", result.err
    run("path", path, status=USAGE)
    run("path", path, "T.Node", "more", status=USAGE)
    run("path", path + "@7", "T.Node", status=NOT_FOUND)
    run("path", recording("stats"), "T.Node", status=NOT_FOUND)
    run("path", write("text", b"text"), "T.Node", status=NOT_RECORDING)
    run("path", recording("many", "1000000"), "T.Node", "--memory", "16M", status=IO)


@test
def what_is_there_of_an_incomplete_snapshot():
    result = run("path", recording("killed") + "@3", "T.Node", status=INCOMPLETE)
    assert "incomplete" in result.err


@test
def names_are_masked():
    for line in run("path", recording("hostile-names"), "T.*").out.split("\n"):
        assert line.isprintable(), line


sys.exit(main())
