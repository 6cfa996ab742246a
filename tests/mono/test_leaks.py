# SPDX-License-Identifier: MIT
"""heapshot FILE and heapshot leaks on the real Mono: programs whose leak is known,
and ones without any."""
import os

from harness import *


def recorded(directory, args, name="a.hs", options=""):
    path = os.path.join(directory, name)
    result = mono(args, "output=%s,snapshot=gc,quiet%s" % (path, options), cwd=directory,
                  env={"MONO_GC_PARAMS": "nursery-size=64m"})
    assert result.status == 0 and result.err == "", result.err
    return path


def leaks(path, *options):
    data = read_json("leaks", path, *options)
    assert list(data) == ["snapshot", "first", "live", "strings", "growth", "suspects", "waste"], list(data)
    for row in data["growth"] + data["suspects"] + data["waste"]:
        keys = ["kind", "text", "type", "count", "bytes"]
        keys += ["before", "after", "steps", "steps_grown"] if row["kind"] == "growth" else []
        assert list(row) == keys + ["holder", "path"], row
        assert row["path"] is None or list(row["path"]) == ["length", "text", "root", "steps"], row
    return data


def of_kind(rows, kind, name=None):
    return [row for row in rows if row["kind"] == kind and name in (None, row["type"])]


def overview(path):
    """What `heapshot FILE` says: half a screen."""
    result = heapshot(path)
    assert result.status == OK and result.err == "", result.err
    lines = result.out.splitlines()
    assert len(lines) <= 14, result.out
    return lines


@test("an event with forgotten handlers: heapshot FILE names T.Pub.Ev and what it retains")
def events(directory):
    path = recorded(directory, "Events.exe leak 5000")
    (row,) = of_type(retained(path), "T.Handler")
    lines = overview(path)
    at = next(i for i, line in enumerate(lines) if line.startswith("1. "))
    assert "5,000 handlers of T.Handler stay subscribed to static T.Pub.Ev" in lines[at], lines
    assert lines[at + 1].startswith("   static T.Pub.Ev -> System.EventHandler"), lines
    (event,) = of_kind(leaks(path)["suspects"], "event")
    sources = {r["name"]: r for r in read_json("retained", path, "--part", "roots")["roots"]}
    assert event["bytes"] == sources["T.Pub.Ev"]["retained"] >= row["retained"], event
    assert "{:,} bytes".format(event["bytes"]) in lines[at], lines
    assert event["count"] == 5000 and event["type"] == "T.Handler", event
    assert event["path"]["root"] == {"kind": "static", "name": "T.Pub.Ev"}, event
    assert event["holder"]["retained"] == event["bytes"], event
    # The command it ends with works.
    command = next(line for line in lines if line.startswith("  heapshot path "))
    words = command.split("#")[0].split()
    assert words == ["heapshot", "path", path, "T.Handler"], command
    result = heapshot(*words[1:])
    assert result.status == OK and "static T.Pub.Ev" in result.out, result.err
    # The handlers' array is not told again.
    assert not of_kind(leaks(path)["suspects"], "collection"), leaks(path)["suspects"]


@test("what grows round by round, and what it hangs on")
def rounds(directory):
    path = recorded(directory, "Leak.exe rounds 5")
    data = leaks(path)
    assert (data["snapshot"], data["first"]) == (5, 1), data
    rows = data["growth"]
    assert [row["type"] for row in rows] == ["T.Leaked"], rows
    row = rows[0]
    assert (row["count"], row["bytes"], row["before"], row["after"]) == (40, 960, 10, 50), row
    assert (row["steps"], row["steps_grown"]) == (4, 4), row
    assert row["holder"]["type"] == "T.Leaked[]", row
    assert row["path"]["text"].startswith("static T.Pub.Leaks -> ") and row["path"]["text"].endswith(
        "T.Leaked[] [*] -> T.Leaked"), row
    lines = overview(path)
    assert "since snapshot 1: grew T.Leaked by 40" in lines[1], lines
    assert lines[3].startswith("1. T.Leaked grew from 10 to 50 objects"), lines
    # The list has far more room than it needs.
    (row,) = of_kind(data["waste"], "sparse")
    assert row["type"] == "T.Leaked[]" and row["count"] == 1, row
    # (a list rounds its room up, or not)
    assert row["bytes"] >= (65536 - 50) * 8 and "uses 50 of" in row["text"], row
    # One snapshot alone says nothing about growth.
    data = leaks(path + "@5")
    assert data["first"] is None and not data["growth"], data
    lines = overview(path + "@3")
    assert "one snapshot" in lines[1], lines


@test("a program that does not leak is not accused")
def steady(directory):
    path = recorded(directory, "Leak.exe steady 3")
    data = leaks(path)
    assert data["growth"] == data["suspects"] == [], data
    lines = overview(path)
    assert lines[1].endswith("; since snapshot 1: nothing grew"), lines
    assert lines[2] == "No suspects: nothing holds many objects.", lines
    result = heapshot("leaks", path)
    assert "\nNothing grew.\n" in result.out and "\nNo suspects: nothing holds" in result.out, result.out
    # The counts of growth are those of top, more snapshots than are compared too.
    path = recorded(directory, "Leak.exe rounds 30", "b.hs")
    (row,) = leaks(path)["growth"]
    assert (row["before"], row["after"], row["steps"], row["steps_grown"]) == (10, 300, 11, 11), row


@test("handles that were not freed, by kind and type")
def handles(directory):
    data = leaks(recorded(directory, "Handles.exe kinds 1000"))
    rows = {row["type"]: row for row in of_kind(data["suspects"], "handles")}
    assert set(rows) == {"T.ByNormal", "T.ByPinned"}, rows
    for name, kind in (("T.ByNormal", "normal"), ("T.ByPinned", "pinned")):
        row = rows[name]
        assert row["count"] == 1000 and row["bytes"] == 24000, row
        assert row["holder"]["kind"] == "gc_handle" and row["holder"]["name"] == kind, row
        assert row["path"]["text"] == "gc_handle %s -> %s" % (kind, name), row
    # Fewer are nothing to speak of.
    data = leaks(recorded(directory, "Handles.exe kinds 99", "b.hs"))
    assert not of_kind(data["suspects"], "handles"), data


@test("what accumulates below one holder: arrays, lists, trees, rings")
def holders(directory):
    (row,) = of_kind(leaks(recorded(directory, "Arrays.exe refs 20000"))["suspects"], "collection")
    assert (row["type"], row["count"], row["bytes"]) == ("T.Tgt", 20000, 20000 * 24 + 160032), row
    assert row["path"]["text"] == "static T.Pub.Root -> T.Tgt[]", row
    for args, name, count, size in (("chain 5000", "T.Node", 5000, 120000), ("ring 5000", "T.Ring", 5000, 200000),
                                    ("tree 14", "T.Tree", 16383, 524256), ("shared 5000", "T.Holder", 5000, 160032)):
        (row,) = leaks(recorded(directory, "Lists.exe " + args, args.split()[0] + ".hs"))["suspects"]
        assert (row["kind"], row["type"], row["count"], row["bytes"]) == ("structure", name, count, size), row
        assert row["path"]["text"] == "static T.Pub.Head -> T.Head.First -> " + name, row
    # One large object is none.
    assert leaks(recorded(directory, "Arrays.exe bytes 1000003", "c.hs"))["suspects"] == []


@test("arrays with nothing in them, and with no room")
def arrays(directory):
    data = leaks(recorded(directory, "Arrays.exe nulls 100000"))
    assert data["suspects"] == [], data
    (row,) = data["waste"]
    assert (row["kind"], row["type"], row["count"], row["bytes"]) == ("sparse", "T.Tgt[]", 1, 800000), row
    assert row["path"]["text"] == "static T.Pub.Root -> T.Tgt[]", row
    # Half full is not sparse.
    assert leaks(recorded(directory, "Arrays.exe holes 100000", "b.hs"))["waste"] == []
    data = leaks(recorded(directory, "Arrays.exe empty 5000", "c.hs"))
    (row,) = data["waste"]
    assert (row["kind"], row["type"], row["count"], row["bytes"]) == ("empty", "T.Tgt[]", 5000, 160000), row


@test("strings with one text, where texts were recorded")
def strings(directory):
    path = recorded(directory, "Strings.exe distinct 5000", options=",strings=100")
    data = leaks(path)
    assert data["strings"] is True, data
    (row,) = of_kind(data["waste"], "strings")
    assert (row["count"], row["bytes"]) == (5000, 4999 * 34) and 'read "xxxxxx"' in row["text"], row
    assert row["path"]["text"].endswith("-> T.Text[] [*] -> T.Text.Value -> System.String"), row
    # Cut to two characters, they are said to begin alike.
    data = leaks(recorded(directory, "Strings.exe distinct 5000", "b.hs", ",strings=2"))
    (row,) = of_kind(data["waste"], "strings")
    assert 'of one length begin "xx..."' in row["text"], row
    # One string that many refer to is none; without texts nothing is said of them.
    data = leaks(recorded(directory, "Strings.exe same 5000", "c.hs", ",strings=100"))
    assert data["strings"] is True and not of_kind(data["waste"], "strings"), data
    path = recorded(directory, "Strings.exe distinct 5000", "d.hs")
    assert leaks(path)["strings"] is False and not of_kind(leaks(path)["waste"], "strings")
    assert "were not recorded" in heapshot("leaks", path).out


main(jobs=2)
