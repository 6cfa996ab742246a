# SPDX-License-Identifier: MIT
"""heapshot diff on synthetic recordings: what changed, checks, exit statuses."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402


def pair(variant="good", first="1", second="2"):
    return recording(variant) + "@" + first, recording(variant) + "@" + second


def by_name(data):
    return {row["type"]: row for row in data["types"]}


def values(count, size, retained=None):
    return {"count": count, "bytes": size, "retained": retained}


@test
def json_keys_and_numbers():
    data = run_json("diff", *pair())
    assert list(data) == ["before", "after", "types", "holders", "checks"] and data["holders"] is None
    for side, number in (("before", 1), ("after", 2)):
        whole = run_json("list", recording("good"))["snapshots"][number - 1]
        assert data[side] == {"file": recording("good"), "snapshot": number, "label": whole["label"],
                              "time_ns": whole["time_ns"], "objects": whole["objects"],
                              "bytes": whole["bytes"], "references": whole["references"]}
        assert list(data[side]) == ["file", "snapshot", "label", "time_ns", "objects", "bytes", "references"]
    assert [list(row) for row in data["types"]] == [
        ["type", "assembly", "count", "bytes", "retained", "before", "after"]] * 2
    # Both domains' T.Node are one row; what did not change is left out.
    # What needs the graph is null unless it is asked for.
    assert data["types"][0] == {
        "type": "T.Node", "assembly": "app", "count": 3000, "bytes": 96000, "retained": None,
        "before": values(3000, 96000), "after": values(6000, 192000)}
    assert data["types"][1] == {
        "type": "System.String", "assembly": "mscorlib", "count": 300, "bytes": 36300, "retained": None,
        "before": values(300, 36300), "after": values(600, 72600)}
    assert data["checks"] == []


@test
def both_ways():
    there, back = run_json("diff", *pair("good", "1", "3")), run_json("diff", *pair("good", "3", "1"))
    assert there["before"] == back["after"] and there["after"] == back["before"]
    # What grew most is first, what shrank most is last.
    assert [row["type"] for row in there["types"]] == [row["type"] for row in back["types"]][::-1]
    for name, row in by_name(there).items():
        assert row["bytes"] == -by_name(back)[name]["bytes"] > 0
        assert row["count"] == -by_name(back)[name]["count"] > 0
    same = run_json("diff", *pair("good", "2", "-2"))
    assert same["types"] == [] and same["before"] == same["after"]
    assert "no type changed" in run("diff", *pair("good", "2", "2")).out


@test
def two_files():
    # A copy is another file: read by a reader of its own.
    copy = write("copy.hs", read(recording("good")))
    data, one = run_json("diff", recording("good") + "@1", copy + "@2"), run_json("diff", *pair())
    assert data["types"] == one["types"] and data["after"]["file"] == copy
    # Types that only one of them has.
    data = run_json("diff", recording("good"), recording("huge"))
    assert by_name(data)["T.Huge"]["before"] == values(0, 0)
    assert by_name(data)["T.Huge"]["count"] == 3 and by_name(data)["T.Huge"]["bytes"] == (1 << 63) - 1
    assert by_name(data)["T.Huge"]["after"]["bytes"] == 3 << 62
    assert by_name(data)["T.Pub"]["after"] == values(0, 0)
    assert by_name(data)["T.Node"]["count"] == 1 - 12000
    assert data["types"][0]["type"] == "T.Huge" and data["types"][-1]["type"] == "System.String"


@test
def types_without_names():
    # Their ids mean the same thing within one recording only.
    lost = recording("inconsistent")
    assert run_json("diff", lost, lost)["types"] == []
    assert "type#5" in by_name(run_json("diff", recording("hostile-names"), lost))


@test
def table():
    out = run("diff", *pair()).out
    assert re.search(r"^before: .*good.hs, snapshot 1 \"start\"", out, re.M), out
    assert re.search(r"^after:  .*good.hs, snapshot 2 \"after login\"", out, re.M), out
    assert "objects 3,303 -> 6,603 (+3,300), bytes 134,796 -> 267,096 (+132,300)" in out
    assert re.search(r"^\+96,000 +\+3,000 +192,000 +6,000 +app +T.Node$", out, re.M), out
    out = run("diff", *pair("good", "2", "1")).out
    assert re.search(r"^-96,000 +-3,000 +96,000 +3,000 +app +T.Node$", out, re.M), out
    assert "+9,223,372,036,854,775,807" in run("diff", recording("good"), recording("huge")).out


@test
def options():
    def types(*options):
        return [row["type"] for row in run_json("diff", *pair(), *options)["types"]]
    assert types("--filter=Node") == ["T.Node"] and types("--assembly=mscorlib") == ["System.String"]
    assert types("--filter=T.P*") == [], "nothing changed, but there is such a type"
    assert types("--limit=1") == ["T.Node"] and types("-n0") == types()
    assert "... and 1 more types" in run("diff", *pair(), "-n", "1").out
    huge = recording("good"), recording("huge")
    assert run_json("diff", *huge, "--sort=count", "-n1")["types"][0]["type"] == "T.Huge"
    assert run_json("diff", *huge, "--sort=count")["types"][-1]["type"] == "T.Node"
    assert run_json("diff", *huge, "--sort=bytes")["types"][-1]["type"] == "System.String"
    for option in ("--filter=Nowhere", "--assembly=nowhere"):
        result = run("diff", *pair(), option, status=NOT_FOUND)
        assert result.out == "" and "matches " + option.replace("=", " ") in result.err


HOLD = ("T.Node.count > 0", "T.Node.count>=3000", "T.Node.count == 3000",
        "T.Node.bytes > 93k", "T.Node.bytes<94k", "T.Node.count.before < 3001", "T.Node.count.after >= 6000",
        "T.Node.bytes.after==192000", "T.Nobody.count == 0", "T.Nobody.bytes.after<=0", "T.Pub.count != 1",
        "T.Pub.count > -1", "*.bytes == 132300", "*.count.after != 0", " T.Node.count >  -5g ",
        "System.Str?ng.count > 299", "T.*.count >= 3000")
DO_NOT = ("T.Node.count > 3000", "T.Node.count < 0", "T.Node.bytes > 1m", "T.Nobody.count > 0",
          "T.Node.count.before > 3000", "Node.count > 0", "T.Nod.count > 0", "T.Pub.count != 0",
          "*.count == 0", "S?g.count > 0")


@test
def retained_sizes():
    data = run_json("diff", *pair(), "--retained")
    # A chain of nodes, the first of them held by more than what holds the others.
    row = by_name(data)["T.Node"]
    assert row["retained"] == row["after"]["retained"] - row["before"]["retained"] > 0
    assert row["before"]["retained"] <= data["before"]["bytes"]
    for check, status in (("T.Node.retained == %d" % row["retained"], CHECK_FAILED), ("T.Nobody.retained != 0", OK),
                          ("T.Node.retained.after == %d" % row["after"]["retained"], CHECK_FAILED),
                          ("*.retained.before > %d" % data["before"]["bytes"], OK),
                          ("T.*.retained.after >= %d" % row["after"]["retained"], CHECK_FAILED)):
        result = run("diff", *pair(), "--fail-if", check, status=status)
        assert ("retained" in result.err) == (status == CHECK_FAILED)
    # Asked for by each of three ways.
    assert run_json("diff", *pair(), "--sort=retained")["types"] == data["types"]
    assert run_json("diff", *pair(), "--fail-if=T.Nobody.retained > 0")["types"] == data["types"]
    out = run("diff", *pair(), "-r").out
    assert re.search(r"^ *\+RETAINED +RETAINED +\+BYTES +\+COUNT +BYTES +COUNT +ASSEMBLY +TYPE$", out, re.M), out
    assert "live " in out


@test
def holders():
    data = run_json("diff", *pair(), "--holders")
    assert [list(row) for row in data["holders"]][0] == [
        "type", "assembly", "count", "bytes", "before", "after", "root", "path"]
    for row in data["holders"]:
        assert list(row["before"]) == list(row["after"]) == ["count", "bytes"]
        assert [list(step) for step in row["path"]] == [["type", "slot"]] * len(row["path"])
        assert row["path"][-1] == {"type": row["type"], "slot": None}
        assert row["count"] == row["after"]["count"] - row["before"]["count"]
        assert row["bytes"] == row["after"]["bytes"] - row["before"]["bytes"]
    assert data["holders"] == sorted(data["holders"], key=lambda row: (-row["bytes"], -row["count"]))
    # Each object counts once: the sums are those of the types.
    for name, row in by_name(data).items():
        ways = [way for way in data["holders"] if way["type"] == name]
        assert sum(way["count"] for way in ways) == row["count"], name
        assert sum(way["bytes"] for way in ways) == row["bytes"], name
    # Strings of this heap hang on nothing.
    (strings,) = [way for way in data["holders"] if way["type"] == "System.String"]
    assert strings["root"] is None and len(strings["path"]) == 1 and strings["count"] == 300
    assert [way["type"] for way in run_json("diff", *pair(), "--holders", "--filter=String")["holders"]] == [
        "System.String"]
    assert len(run_json("diff", *pair(), "-H", "--limit=1")["holders"]) == 1
    by_count = run_json("diff", *pair(), "--holders", "--sort=count")["holders"]
    assert by_count == sorted(by_count, key=lambda row: (-row["count"], -row["bytes"]))
    out = run("diff", *pair(), "--holders").out
    assert "change by what holds the objects" in out and " objects: nothing -> System.String\n" in out, out
    assert "more ways (--limit 0" in run("diff", *pair(), "--holders", "-n1").out
    assert "nothing changed in what holds objects" in run("diff", *pair("good", "2", "2"), "--holders").out
    assert "\x1b" not in run("diff", recording("good"), recording("hostile-names"), "--holders").out


@test
def holders_of_known_ways():
    # Five pairs of T.Pub and T.Late more, in an array, see tests/data/synthetic_held.c.
    data = run_json("diff", recording("held"), recording("held", "5"), "--holders", "--retained")
    assert [(way["type"], way["count"], way["bytes"], way["root"], way["path"]) for way in data["holders"]] == [
        ("T.Late", 5, 240, "static T.Pub.More", [
            {"type": "System.Object[]", "slot": "[*]"}, {"type": "T.Pub", "slot": "_items"},
            {"type": "T.Late", "slot": None}]),
        ("T.Pub", 5, 120, "static T.Pub.More", [
            {"type": "System.Object[]", "slot": "[*]"}, {"type": "T.Pub", "slot": None}]),
        ("System.Object[]", 1, 72, "static T.Pub.More", [{"type": "System.Object[]", "slot": None}])]
    assert {row["type"]: row["retained"] for row in data["types"]} == {
        "T.Late": 5 * 48, "T.Pub": 5 * 72, "System.Object[]": 72 + 5 * 72}
    assert ("+240 bytes,          +5 objects: static T.Pub.More -> System.Object[] [*] -> T.Pub._items -> T.Late\n"
            in run("diff", recording("held"), recording("held", "5"), "--holders").out)
    # The chain of 20 nodes is one way.
    data = run_json("diff", recording("small"), recording("held"), "--holders")
    chains = [way for way in data["holders"] if way["root"] == "static T.Pub.List" and way["type"] == "T.Node"]
    assert [(way["count"], len(way["path"])) for way in chains] == [(20, 2)], chains


@test
def checks_that_hold_and_that_do_not():
    for check in HOLD:
        result = run("diff", *pair(), "--fail-if", check, status=CHECK_FAILED)
        assert "T.Node" in result.out, "the table comes too"
        assert result.err.count("\n") == 1 and result.err.startswith("heapshot: failed: " + check), result.err
    for check in DO_NOT:
        assert run("diff", *pair(), "--fail-if=" + check).err == "", check
    # Several: a line for each that holds.
    words = [word for check in HOLD + DO_NOT for word in ("--fail-if", check)]
    data = run("diff", *pair(), *words, "--json", status=CHECK_FAILED)
    assert data.err.count("\n") == len(HOLD), data.err
    checks = json.loads(data.out)["checks"]
    assert [list(check) for check in checks] == [["check", "type", "value", "failed"]] * len(HOLD + DO_NOT)
    assert [check["failed"] for check in checks] == [True] * len(HOLD) + [False] * len(DO_NOT)
    assert [check["check"] for check in checks] == list(HOLD + DO_NOT)
    assert checks[0]["type"] == "T.Node" and checks[0]["value"] == 3000
    # What the numbers were stands in the line.
    err = run("diff", *pair(), "-F", "T.Node.count > 0", status=CHECK_FAILED).err
    assert err == "heapshot: failed: T.Node.count > 0: count 3,000 -> 6,000 (+3,000)\n", err


@test
def checks_see_all_types():
    for options in (["--filter=String"], ["--assembly=mscorlib"], ["-n1"], ["--filter=Nobody"]):
        run("diff", *pair(), "--fail-if", "T.Node.count > 0", *options, status=CHECK_FAILED)
    # A filter that no type passes is what a test wants to see.
    assert "no type changed" in run("diff", *pair(), "--filter=Nobody", "--fail-if", "T.Nobody.count > 0").out


@test
def checks_of_no_type_are_said():
    # A misspelt name would pass for ever.
    for check, said in (("T.Nod.count > 0", "T.Nod"), ("S?g.count > 0", "S?g"), ("T.Nobody.retained > 0", "T.Nobody")):
        result = run("diff", *pair(), "--fail-if", check)
        assert result.out.endswith("\nneither snapshot has a type %s; it counts as 0 in --fail-if\n" % said), result.out
    assert "neither" not in run("diff", *pair(), "--fail-if", "T.Node.count < 0", "--fail-if", "*.count == 0").out


@test
def names_with_operators_in_them():
    lost = recording("hostile-names")
    name = run_json("top", lost)["types"][0]["type"]
    assert "<" in name and "\x1b" in name
    result = run("diff", lost, lost, "--fail-if", "T.Esc*<*>.count.after == 1", status=CHECK_FAILED)
    assert "\x1b" not in result.err + result.out and result.err.count("\n") == 1
    assert "\x1b" not in run("diff", recording("good"), lost).out
    assert name in by_name(run_json("diff", recording("good"), lost))


@test
def wrong_checks_are_2_in_one_line():
    for check, what in (("", "operator"), ("T.Node", "operator"), ("T.Node.count", "operator"),
                        ("T.Node.count > ", "number"), ("T.Node.count > x", "number"),
                        ("T.Node.count > 5x", "number"), ("T.Node.count > 1.5", "number"),
                        ("T.Node.count > --1", "number"), ("T.Node.count > 99999999999999999999", "number"),
                        ("T.Node.count > 9223372036854775808", "number"), ("T.Node.count > 5 5", "number"),
                        ("T.Node.count > " + "1" * 50, "number"), ("T.Node.count = 5", "operator"),
                        ("T.Node.count => 5", "operator"), ("T.Node.count <> 5", "operator"),
                        ("T.Node.count >>> 5", "operator"), ("T.Node.count ! 5", "operator"),
                        ("T.Node > 5", "TYPE.count"), ("count > 5", "TYPE.count"), (".count > 5", "TYPE.count"),
                        ("T.Node.size > 5", "TYPE.count"), ("T.Node.before > 5", "TYPE.count"),
                        ("> 5", "TYPE.count")):
        result = run("diff", *pair(), "--fail-if", check, status=USAGE)
        assert result.out == "" and result.err.count("\n") == 1 and what in result.err, (check, result.err)
    many = ["--fail-if=T.Node.count > 5000"] * 64
    run("diff", *pair(), *many)
    assert "too often" in run("diff", *pair(), *many, many[0], status=USAGE).err
    for arguments in ([], [recording("good")], [recording("good")] * 3, [*pair(), "--sort=size"],
                      [recording("good") + "@x", recording("good")]):
        assert run("diff", *arguments, status=USAGE).err.count("\n") == 1


@test
def damage_and_what_is_missing():
    good, killed = recording("good"), recording("killed")
    # A finished snapshot of a killed program is whole; the note comes once for one file.
    result = run("diff", killed + "@1", killed + "@2")
    assert result.err.count("no end record") == 1
    assert "INCOMPLETE" in run("diff", killed + "@3", killed + "@1", status=INCOMPLETE).out
    assert "INCOMPLETE" in run("diff", good, killed + "@3", status=INCOMPLETE).out
    # On a part of a snapshot a check says little.
    run("diff", good, killed + "@3", "--fail-if=*.count < 0", status=INCOMPLETE)
    run("diff", good + "@4", good, status=NOT_FOUND)
    assert "no snapshot 4" in run("diff", good, good + "@4", status=NOT_FOUND).err
    run("diff", good, recording("none"), status=NOT_FOUND)
    run("diff", good, os.path.join(cli.folder, "nowhere.hs"), status=IO)
    run("diff", write("text.hs", b"hello"), good, status=NOT_RECORDING)
    run("diff", good, recording("version"), status=NOT_RECORDING)
    assert "passes 2^64; refused" in run("diff", good, recording("overflow"), status=DAMAGED).err
    varied = recording("varied")
    flipped = bytearray(read(varied))
    flipped[len(flipped) * 3 // 4] ^= 0x40
    result = run("diff", varied + "@1", write("flipped.hs", bytes(flipped)), status=DAMAGED)
    assert "is lost" in result.err and result.out, result.err
    # Counts only: enough for types.
    assert by_name(run_json("diff", good, recording("stats")))["T.Node"]["after"] == values(5, 160)
    for option in ("--retained", "--holders", "--fail-if=T.Node.retained > 0", "--sort=retained"):
        assert "no graph" in run("diff", good, recording("stats"), option, status=NOT_FOUND).err


@test
def standard_input():
    good = recording("good")
    for operands in (("-@1", "-@2"), (good + "@1", "-@2"), ("-@1", good + "@2")):
        with open(good, "rb") as file:
            out = run("diff", "--json", "--", *operands, stdin=file).out
        assert json.loads(out)["types"] == run_json("diff", *pair())["types"]
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            assert "cannot write" in run("diff", *pair(), stdout=full, status=IO).err


sys.exit(main())
