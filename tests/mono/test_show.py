# SPDX-License-Identifier: MIT
"""heapshot show and find on the real Mono: objects of which programs say, or
expected.tsv does, what they are."""
import os

from harness import *


def recorded(directory, args, options=""):
    if args.startswith("Known"):
        compiled("Known")
    path = os.path.join(directory, "a.hs")
    result = mono(args, "output=%s,snapshot=gc,quiet%s" % (path, options), cwd=directory)
    assert result.status == 0, result.err
    return path


def find(path, *options):
    return read_json("find", path, *options)["objects"]


def show(path, address, *options):
    return read_json("show", path, hex(address), *options)


def fields(data):
    return {field["name"]: field for field in data["fields"]}


def words(data):
    """"static T.Pub.Root", "T.Holder._items", ..., as a list."""
    root = "%s %s" % (data["path"]["root"]["kind"], data["path"]["root"]["name"])
    return [root] + [step["type"] + ("." + step["slot"] if step["slot"] else "") for step in data["path"]["steps"]]


@test("a forgotten event handler: its fields, and the way to it")
def event(directory):
    path = recorded(directory, "Events.exe leak 200")
    handlers = find(path, "--type=T.Handler")
    assert len(handlers) == 200 and all(row["live"] and row["bytes"] == 24 for row in handlers)
    data = show(path, handlers[0]["address"])
    payload = fields(data)["Payload"]
    assert payload["offset"] == 16 and payload["target"]["type"] == "T.Octet[]", payload
    assert data["retained"] == 24 + find(path, "--type=T.Octet[]", "-n1")[0]["bytes"]
    (way,) = data["referrers"]
    assert (way["type"], way["slot"]) == ("System.EventHandler", "m_target"), way
    assert data["dominator"] == {"address": way["address"], "type": way["type"]}
    steps = words(data)
    assert steps[:2] + steps[3:] == ["static T.Pub.Ev", "System.EventHandler.delegates", "System.EventHandler.m_target",
                                     "T.Handler"], steps
    assert re.match(r"System\.Delegate\[\]\.\[\d+\]$", steps[2]), steps
    # A delegate's fields are those of its bases; one refers to the handler.
    delegate = show(path, way["address"])
    assert fields(delegate)["m_target"]["target"]["address"] == handlers[0]["address"]
    assert fields(delegate)["delegates"]["target"] is None
    # From the other side.
    assert [row["address"] for row in find(path, "--refers-to=%x" % handlers[0]["address"])] == [way["address"]]
    assert {row["address"] for row in find(path, "--referred-by=%x" % way["address"])} == {handlers[0]["address"]}


@test("inherited fields, structs in place, elements of arrays of structs")
def known_fields(directory):
    path = recorded(directory, "Known.exe facts", ",strings=64")
    (child,) = find(path, "--type=K.Child")
    data = show(path, child["address"])
    assert [root["name"] for root in data["roots"]] == ["K.Shape.Held"] and data["roots"][0]["kind"] == "static"
    assert set(fields(data)) == {"A", "B", "C", "D", "E", "F.X", "F.Y", "F.Z", "G", "Last"}, data["fields"]
    assert (fields(data)["F.Z"]["type"], fields(data)["G"]["type"]) == ("System.Object", "System.String")
    # A dictionary's entries.
    entries = [row for row in find(path, "--type=Dictionary.Entry<System.String,") if row["type"].endswith("[]")]
    slots = [slot for row in entries for slot in show(path, row["address"])["fields"]]
    assert slots and all(re.match(r"\[\d+\]\.(key|value)$", slot["name"]) for slot in slots), slots
    assert {slot["target"]["type"] for slot in slots if slot["name"].endswith(".key")} == {"System.String"}
    # An array of 1,000.
    thousand = [row for row in find(path, "--type=K.Item[]") if row["bytes"] == 8032]
    data = show(path, thousand[0]["address"])
    assert [field["name"] for field in data["fields"]] == ["[%d]" % i for i in range(1000)]
    assert data["references"] == 1000 and len(show(path, thousand[0]["address"], "-n9")["fields"]) == 9


@test("strings by their text, where it was recorded")
def strings(directory):
    path = recorded(directory, "Known.exe facts", ",strings=10")
    found = find(path, "--string=known k*")
    assert len(found) == 13 and {row["type"] for row in found} == {"System.String"}
    assert {row["text"] for row in found} == {"known kkk", "known kkkk"}, found
    longest = found[0]
    data = show(path, longest["address"])
    assert data["text"] == "known kkkk" and data["length"] == 45 and data["bytes"] == longest["bytes"]
    out = heapshot("show", path, hex(longest["address"])).out
    assert "length 45, text \"known kkkk\"..." in out, out
    assert "System.String \"known kkkk\"..." in heapshot("find", path, "--string=known k").out
    os.rename(path, path + ".old")
    plain = recorded(directory, "Leak.exe rounds 1")
    result = heapshot("find", plain, "--string=known")
    assert result.status == NOT_FOUND
    assert_lines(result.err, 1, "no texts were recorded")


@test("ephemerons: table, key and value, and whose the value is")
def ephemerons(directory):
    path = recorded(directory, "Ephemerons.exe live 100")
    values = of_type(find(path, "--type=T.Val"), "T.Val")
    assert len(values) == 100
    data = show(path, values[0]["address"])
    (edge,) = data["ephemerons"]
    assert edge["role"] == "value" and edge["key"]["type"] == "T.Key"
    assert data["referrers"] == [] and data["dominator"] == edge["key"]
    assert words(data)[-2:] == ["T.Key.(ConditionalWeakTable)", "T.Val"]
    key = show(path, edge["key"]["address"])
    assert key["retained"] == 48 and [other["role"] for other in key["ephemerons"]] == ["key"]
    table = show(path, edge["table"]["address"])
    assert len([other for other in table["ephemerons"] if other["role"] == "table"]) >= 100


@test("objects by the kind of their roots")
def kinds(directory):
    path = recorded(directory, "Handles.exe kinds 50")
    rows = find(path, "--root-kind=gc_handle", "--type=T.By*")
    counts = {name: len(of_type(rows, name)) for name in ("T.ByNormal", "T.ByPinned")}
    assert counts == {"T.ByNormal": 50, "T.ByPinned": 50}, counts
    data = show(path, of_type(rows, "T.ByNormal")[0]["address"])
    assert [root["holds"] for root in data["roots"]] == [True] and data["dominator"]["kind"] == "gc_handle"


main(jobs=2)
