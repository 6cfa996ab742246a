# SPDX-License-Identifier: MIT
"""heapshot diff on the real Mono: programs that leak known numbers, and ones
that leak nothing."""
import os

from harness import *


def recorded(directory, args, name="a.hs", **how):
    path = os.path.join(directory, name)
    result = mono(args, "output=%s,snapshot=gc,quiet" % path, cwd=directory, **how)
    assert result.status == 0 and result.err == "", result.err
    return path


def diff(before, after, *options, status=(OK,)):
    return read_json("diff", before, after, *options, status=status)


@test("what leaks between two snapshots of a process, round by round")
def rounds(directory):
    path = recorded(directory, "Leak.exe rounds 5")
    for before, after in ((1, 2), (2, 3), (4, 5), (1, 5), (5, 1)):
        rows = of_type(diff("%s@%d" % (path, before), "%s@%d" % (path, after))["types"], "T.Leaked")
        more = 10 * (after - before)
        assert [(row["count"], row["bytes"]) for row in rows] == [(more, 24 * more)], rows
        assert rows[0]["after"] == {"count": 10 * after, "bytes": 240 * after, "retained": None}, rows
    # The numbers are those of top.
    tops = [{(row["type"], row["assembly"]): row for row in top(path, number)} for number in (1, 5)]
    changed = {(row["type"], row["assembly"]): row for row in diff(path + "@1", path + "@5")["types"]}
    for key in set(tops[0]) | set(tops[1]):
        before, after = (rows.get(key, {"count": 0, "bytes": 0}) for rows in tops)
        change = {field: after[field] - before[field] for field in ("count", "bytes")}
        row = changed.get(key, {"count": 0, "bytes": 0})
        assert {field: row[field] for field in change} == change, (key, row, change)


@test("a leak test: status 1 and a line for it, 0 for a program that does not leak")
def leak_test(directory):
    leaks, steady = recorded(directory, "Leak.exe rounds 5"), recorded(directory, "Leak.exe steady 3", "b.hs")
    result = heapshot("diff", leaks + "@2", leaks + "@4", "--fail-if", "T.Leaked.count > 0",
                      "--fail-if", "T.Leaked.count.after > 1k", "--fail-if", "T.Leaked[].count > 0")
    assert result.status == FAILED, result.err
    assert_lines(result.err, 1, "failed: T.Leaked.count > 0: count 20 -> 40 (+20)")
    for number in (1, 2):
        result = heapshot("diff", "%s@%d" % (steady, number), "%s@%d" % (steady, number + 1),
                          "--filter=T.*", "--fail-if", "T.Leaked.count > 0", "--fail-if", "T.Pub.count != 0")
        assert result.status == OK and result.err == "", result.err


@test("two processes of one program are compared by names")
def processes(directory):
    few, many = recorded(directory, "Leak.exe rounds 2"), recorded(directory, "Leak.exe rounds 4", "b.hs")
    data = diff(few + "@2", many + "@4")
    (row,) = of_type(data["types"], "T.Leaked")
    assert (row["count"], row["before"]["count"], row["after"]["count"]) == (20, 20, 40), row
    assert [data[side]["file"] for side in ("before", "after")] == [few, many]
    one, other = recorded(directory, "Events.exe leak 200", "c.hs"), recorded(directory, "Events.exe leak 300", "d.hs")
    rows = diff(one, other)["types"]
    for name, change in (("T.Handler", 100), ("T.Octet[]", 100), ("System.EventHandler", 100)):
        (row,) = of_type(rows, name)
        assert row["count"] == change, row


def ways(data, name):
    return [way for way in data["holders"] if plain_name(way["type"]) == name]


def words(way):
    """"static T.Pub.Root", "T.Holder._items", ..., as a list."""
    return [way["root"]] + [step["type"] + ("." + step["slot"] if step["slot"] else "") for step in way["path"]]


@test("retained sizes: what a list holds grows although the list does not")
def retained(directory):
    path = recorded(directory, "Leak.exe rounds 5")
    data = diff(path + "@1", path + "@4", "--retained")
    for name in ("T.Leaked", "T.Leaked[]", "System.Collections.Generic.List<T.Leaked>"):
        (row,) = of_type(data["types"], name)
        assert row["retained"] == 720 == row["after"]["retained"] - row["before"]["retained"], row
    assert (row["count"], row["bytes"]) == (0, 0), row
    # Several types in one check do not count twice what one holds of the other.
    for check, status in (("T.Leaked*.retained == 720", FAILED), ("*T.Leaked*.retained != 720", OK),
                          ("*List<T.Leaked>.retained > 719", FAILED), ("*List<T.Leaked>.retained.after > 1g", OK)):
        assert heapshot("diff", path + "@1", path + "@4", "--fail-if", check).status == status, check


@test("new objects by what holds them: root, types and slots")
def holders(directory):
    path = recorded(directory, "Leak.exe rounds 5")
    (way,) = ways(diff(path + "@2", path + "@5", "--holders", "--filter=T.Leaked"), "T.Leaked")
    assert (way["count"], way["bytes"], way["before"]["count"], way["after"]["count"]) == (30, 720, 20, 50), way
    assert words(way) == ["static T.Pub.Leaks", "System.Collections.Generic.List<T.Leaked>._items",
                          "T.Leaked[].[*]", "T.Leaked"], way
    out = heapshot("diff", path + "@2", path + "@5", "--holders", "--filter=T.Leaked").out
    assert ("static T.Pub.Leaks -> System.Collections.Generic.List<T.Leaked>._items -> T.Leaked[] [*] -> "
            "T.Leaked\n") in out, out
    steady = recorded(directory, "Leak.exe steady 3", "b.hs")
    assert not [way for way in diff(steady + "@1", steady + "@2", "--holders")["holders"]
                if way["type"].startswith("T.")]


@test("the way to a forgotten event handler, across two processes")
def event(directory):
    one, other = recorded(directory, "Events.exe leak 200", "c.hs"), recorded(directory, "Events.exe leak 300", "d.hs")
    data = diff(one, other, "--holders")
    (way,) = ways(data, "T.Handler")
    assert way["count"] == 100 and words(way) == [
        "static T.Pub.Ev", "System.EventHandler.delegates", "System.Delegate[].[*]",
        "System.EventHandler.m_target", "T.Handler"], way
    (way,) = ways(data, "T.Octet[]")
    assert way["count"] == 100 and words(way)[-2:] == ["T.Handler.Payload", "T.Octet[]"], way


@test("lists and trees are one way, values of ephemerons hang on their keys")
def merged(directory):
    small, large = recorded(directory, "Lists.exe tree 8", "c.hs"), recorded(directory, "Lists.exe tree 10", "d.hs")
    (way,) = ways(diff(small, large, "--holders"), "T.Tree")
    assert way["count"] == 1023 - 255 and words(way) == ["static T.Pub.Head", "T.Head.First", "T.Tree"], way
    live = recorded(directory, "Ephemerons.exe live 100", "e.hs")
    leak = recorded(directory, "Leak.exe rounds 1", "f.hs")
    (way,) = ways(diff(leak, live, "--holders"), "T.Val")
    assert way["count"] == 100 and words(way) == ["static T.Pub.Keys", "T.Key[].[*]", "T.Key.(ConditionalWeakTable)", "T.Val"], way


main(jobs=2)
