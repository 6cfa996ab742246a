# SPDX-License-Identifier: MIT
"""heapshot show and find on a heap whose objects are known, see
tests/data/synthetic_held.c."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402


def find(*options, name="held"):
    return run_json("find", recording(name), *options)["objects"]


def show(address, *options, name="held", **how):
    return run_json("show", recording(name), hex(address), *options, **how)


def only(rows):
    assert len(rows) == 1, rows
    return rows[0]


def facts():
    """Objects of the heap by what they are."""
    known = {"array": only(find("--type=Object[]")), "text": only(find("--type=System.String"))}
    known["first"] = only(find("--type=T.Pub", "--refers-to=%x" % known["array"]["address"]))
    nodes = [only([target for field in show(known["array"]["address"])["fields"]
                   for target in [field["target"]] if field["name"] == name]) for name in ("[0]", "[2]")]
    known["a"], known["b"] = nodes
    targets = {field["name"]: field["target"] for field in show(nodes[0]["address"])["fields"]}
    known["x"] = targets["_next"]
    assert targets["_value"]["address"] == known["text"]["address"]
    return known


@test
def show_json():
    known = facts()
    data = show(known["x"]["address"])
    assert list(data) == [
        "snapshot", "address", "type", "assembly", "bytes", "slot_bytes", "domain", "generation", "live", "text",
        "length", "retained", "dominator", "fields", "references", "referrers", "referrer_count", "roots",
        "root_count", "ephemerons", "path"]
    assert (data["snapshot"], data["type"], data["assembly"], data["bytes"], data["slot_bytes"], data["domain"],
            data["generation"], data["live"], data["text"], data["length"]) == (
        1, "T.Node", "app", 32, 32, "app.exe", 1, True, None, None)
    # Held by two nodes of the array: what dominates it is the array.
    assert data["dominator"] == {"address": known["array"]["address"], "type": "System.Object[]"}
    assert data["retained"] == 32 + 48
    assert [list(field) for field in data["fields"]] == [["name", "offset", "type", "target"]] * 2
    assert [(field["name"], field["offset"], field["type"]) for field in data["fields"]] == [
        ("_next", 16, None), ("_value", 24, None)]
    assert data["fields"][0]["target"] is None and data["fields"][1]["target"]["type"] == "T.Late"
    assert data["references"] == 1
    assert [list(row) for row in data["referrers"]] == [["address", "type", "slot", "live"]] * 3
    assert {(row["type"], row["slot"]) for row in data["referrers"]} == {("T.Node", "_next")}
    assert {row["address"] for row in data["referrers"] if row["live"]} == {
        known["a"]["address"], known["b"]["address"]}
    assert data["referrer_count"] == 3 and sum(not row["live"] for row in data["referrers"]) == 1
    assert data["roots"] == [] and data["root_count"] == 0 and data["ephemerons"] == []
    assert data["path"] == {
        "length": 4,
        "text": "static T.Pub.Root -> T.Pub._items -> System.Object[] [0] -> T.Node._next -> T.Node",
        "root": {"kind": "static", "name": "T.Pub.Root"},
        "steps": [{"address": known["first"]["address"], "type": "T.Pub", "slot": "_items"},
                  {"address": known["array"]["address"], "type": "System.Object[]", "slot": "[0]"},
                  {"address": known["a"]["address"], "type": "T.Node", "slot": "_next"},
                  {"address": known["x"]["address"], "type": "T.Node", "slot": None}]}
    assert data["path"] == {key: value for key, value in run_json(
        "path", recording("held"), hex(known["x"]["address"]))["paths"][0].items() if key in data["path"]}


@test
def arrays_roots_and_ephemerons():
    known = facts()
    array = show(known["array"]["address"])
    assert [(field["name"], field["offset"], field["target"]["type"]) for field in array["fields"]] == [
        ("[0]", 32, "T.Node"), ("[2]", 48, "T.Node")]
    assert array["references"] == 2 and array["referrers"][0]["slot"] == "_items"
    first = show(known["first"]["address"])
    assert [list(root) for root in first["roots"]] == [["kind", "name", "address", "holds"]]
    assert first["roots"][0]["kind"] == "static" and first["roots"][0]["name"] == "T.Pub.Root"
    assert first["roots"][0]["holds"] is True and first["root_count"] == 1
    assert first["dominator"] == {"kind": "static", "name": "T.Pub.Root"}
    (table,) = first["ephemerons"]
    assert list(table) == ["role", "table", "key", "value"] and table["role"] == "table"
    assert table["table"]["address"] == known["first"]["address"]
    key, value = show(table["key"]["address"]), show(table["value"]["address"])
    assert only(key["ephemerons"]) == dict(table, role="key")
    assert only(value["ephemerons"]) == dict(table, role="value")
    # What goes with the key is the key's; a root of kind ephemeron holds nothing.
    assert key["retained"] == 32 + 48 and value["dominator"]["address"] == key["address"]
    assert only(value["roots"])["holds"] is False and only(value["roots"])["kind"] == "ephemeron"
    assert value["path"]["root"]["kind"] == "stack"
    assert [step["slot"] for step in value["path"]["steps"]] == ["(ConditionalWeakTable)", None]


@test
def what_does_not_live():
    dead = find("--unreachable")
    assert [row["type"] for row in dead] == ["T.Node"] * 2 and not any(row["live"] for row in dead)
    data = show(dead[0]["address"])
    assert data["live"] is False and data["retained"] == 0 and data["dominator"] is None and data["path"] is None
    assert "not live: no root leads to it" in run("show", recording("held"), hex(dead[0]["address"])).out


@test
def addresses():
    array = facts()["array"]["address"]
    for text in ("0x%x" % array, "%x" % array, "0X%X" % array):
        assert run_json("show", recording("held"), text)["address"] == array
    # Inside of an object is good enough; between them is not.
    assert show(array + 40)["address"] == array
    assert "0x%x lies 40 bytes into it" % (array + 40) in run("show", recording("held"), hex(array + 40)).out
    for address in ("0", "10", "ffffffffffffffff"):
        result = run("show", recording("held"), address, status=NOT_FOUND)
        assert result.out == "" and "no object at 0x" in result.err and result.err.count("\n") == 1
    # Copied out of the JSON, where it is decimal.
    for words in (["show"], ["path"], ["find", "--refers-to"], ["find", "--referred-by"]):
        place = [recording("held"), str(array)] if len(words) == 1 else [str(array), recording("held")]
        result = run(*words, *place, status=NOT_FOUND)
        assert result.err.endswith("; in hexadecimal it is 0x%x\n" % array), result.err
    for address in ("", "x", "-1", "0x", "10000000000000000", "12 3"):
        result = run("show", recording("held"), address, status=USAGE)
        assert result.out == "" and result.err.count("\n") == 1
    run("show", recording("held"), status=USAGE)
    run("show", status=USAGE)


@test
def tables():
    known = facts()
    out = run("show", recording("held"), hex(known["x"]["address"])).out
    assert re.search(r"^T.Node 0x%x$" % known["x"]["address"], out, re.M), out
    assert "  32 bytes in a slot of 32, generation 1, assembly app, domain app.exe\n" in out
    assert "  live, retains 80 bytes; would go with System.Object[] 0x%x\n" % known["array"]["address"] in out
    assert re.search(r"^ +16  _next +- +-$", out, re.M) and re.search(r"^ +24  _value +- +T.Late 0x", out, re.M), out
    assert "\nreferrers: 3\n" in out and "  T.Node 0x%x _next\n" % known["a"]["address"] in out
    assert "_next (not live)\n" in out
    assert "static T.Pub.Root -> T.Pub._items -> System.Object[] [0] -> T.Node._next -> T.Node\n" in out
    out = run("show", recording("held"), hex(known["x"]["address"]), "-n1").out
    assert "... and 2 more referrers" in out and "... and 1 more fields" in out, out
    out = run("show", recording("held"), hex(known["array"]["address"]), "--limit=1").out
    assert "... and 1 more references" in out
    out = run("show", recording("held"), hex(known["first"]["address"])).out
    assert "roots: 1\n  static T.Pub.Root at 0x" in out and "ephemerons (entries" in out
    assert re.search(r"^  table, key T.Node 0x\w+, value T.Late 0x\w+$", out, re.M), out
    # The end of a list of 20.
    last = max(find("--type=T.Node", "--live"), key=lambda row: show(row["address"])["path"]["length"])
    out = run("show", recording("held"), hex(last["address"])).out
    assert "static T.Pub.List -> T.Pub._items -> T.Node._next (19 times) -> T.Node\n" in out, out


@test
def limits_in_json():
    x = facts()["x"]["address"]
    data = show(x, "--limit=1")
    assert len(data["fields"]) == len(data["referrers"]) == 1 and data["referrer_count"] == 3
    assert len(show(x, "-n0")["referrers"]) == 3


@test
def find_json_and_conditions():
    everything = find()
    data = run_json("find", recording("held"))
    assert list(data) == ["snapshot", "found", "objects"] and data["found"] == len(data["objects"]) == 33
    assert [list(row) for row in everything] == [["address", "type", "assembly", "bytes", "live", "text"]] * 33
    assert everything == sorted(everything, key=lambda row: (-row["bytes"], row["address"]))
    assert sum(row["bytes"] for row in everything if row["live"]) == 1116 and sum(
        row["bytes"] for row in everything) == 1180
    known = facts()

    def addresses(*options):
        return {row["address"] for row in find(*options)}
    assert addresses("--refers-to=%x" % known["x"]["address"], "--live") == {
        known["a"]["address"], known["b"]["address"]}
    assert addresses("--referred-by=%x" % known["a"]["address"]) == {
        known["x"]["address"], known["text"]["address"]}
    assert addresses("--referred-by=%x" % known["a"]["address"], "--type=T.*") == {known["x"]["address"]}
    assert {row["bytes"] for row in find("--min-size=48", "--max-size=64")} == {48, 64}
    assert {row["type"] for row in find("--min-size=100")} == {"T.Huge"}
    assert len(find("--root-kind=static")) == 2 and {row["type"] for row in find("--root-kind=static")} == {"T.Pub"}
    assert {row["type"] for row in find("--root-kind", "finalizer_queue")} == {"T.Huge"}
    assert {row["assembly"] for row in find("--assembly=mscorlib")} == {"mscorlib"}
    assert len(find("--limit=3")) == 3 and run_json("find", recording("held"), "-n3")["found"] == 33
    assert len(find("--live")) == 31 and len(find("--unreachable")) == 2
    assert len(find(name="good")) == 13203
    assert run_json("find", recording("good") + "@1")["found"] == 3303


@test
def find_table():
    out = run("find", recording("held"), "--type=T.*").out
    assert "31 objects\n" in out and re.search(r"^0x\w+ +100  live  T.Huge$", out, re.M), out
    assert re.search(r"^0x\w+ +32  -     T.Node$", out, re.M), out
    assert "... and 28 more objects (--limit 0" in run("find", recording("held"), "--type=T.*", "-n3").out


@test
def find_nothing():
    held = recording("held")
    for options in (["--type=Nowhere"], ["--min-size=1g"], ["--refers-to=10"], ["--referred-by=0"],
                    ["--root-kind=gc_handle"], ["--root-kind=nonsense"], ["--string=x"], ["--max-size=1"],
                    ["--type=T.Late", "--root-kind=static"], ["--assembly=nowhere"]):
        result = run("find", held, *options, status=NOT_FOUND)
        assert result.out == "" and result.err.count("\n") == 1, result.err
    for options in (["--live", "--unreachable"], ["--min-size=x"], ["--min-size"], ["--refers-to=x"],
                    ["--max-size=-1"], ["--refers-to=-1"]):
        result = run("find", held, *options, status=USAGE)
        assert result.out == "" and result.err.count("\n") == 1, result.err


@test
def damage_and_what_is_missing():
    killed = recording("killed")
    number = run_json("find", killed + "@3", status=INCOMPLETE)["found"]
    assert 0 < number <= 113
    address = run_json("find", killed + "@3", "-n1", status=INCOMPLETE)["objects"][0]["address"]
    run("show", killed + "@3", hex(address), status=INCOMPLETE)
    for command in (["find"], ["show"]):
        operands = [hex(address)] if command == ["show"] else []
        run(*command, killed, *operands)
        assert "no graph" in run(*command, recording("stats"), *operands, status=NOT_FOUND).err
        run(*command, recording("none"), *operands, status=NOT_FOUND)
        run(*command, recording("version"), *operands, status=NOT_RECORDING)
        run(*command, os.path.join(cli.folder, "nowhere.hs"), *operands, status=IO)
        small = run(*command, recording("many", "400000"), *operands, "--memory=16M", status=IO)
        assert "--memory" in small.err and small.out == ""
    varied = recording("varied")
    flipped = bytearray(read(varied))
    flipped[len(flipped) * 3 // 4] ^= 0x40
    assert run("find", write("flipped.hs", bytes(flipped)), "-n1", status=DAMAGED).out


@test
def what_goes_round():
    # Structs that hold themselves, a base class of itself, one object that is a whole ephemeron.
    node, pub = [only(find("--type=" + name, name="round"))["address"] for name in ("T.Node", "T.Pub")]
    for options in ([], ["--limit=1"]):
        data = show(node, *options, name="round")
        assert len(data["ephemerons"]) == (1 if options else 3)
    assert [edge["role"] for edge in show(node, name="round")["ephemerons"]] == ["key", "value", "table"]
    assert show(pub, name="round")["path"]["length"] == 2
    run("show", recording("round"), hex(pub))
    run("diff", recording("round"), recording("held"), "--holders", "--retained")


@test
def names_are_masked():
    hostile = recording("hostile-names")
    address = run_json("find", hostile)["objects"][0]["address"]
    for arguments in (["find", hostile], ["show", hostile, hex(address)]):
        for options in ([], ["--json"]):
            out = run(*arguments, *options).out
            assert "\x1b" not in out and "\u202e" not in out, out
    assert json.loads(run("show", hostile, hex(address), "--json").out)["type"].startswith("T.Esc\x1b")


sys.exit(main())
