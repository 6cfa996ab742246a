# SPDX-License-Identifier: MIT
"""Handle tables: what JavaScript and the runtime hold of each other, with a function
Module.heapshot.tables of the test's own, on the real runtimes in node."""
from wasm import *


def tables_of(path, snapshot, *words):
    """The tables by name; entries are single handles."""
    found = json.loads(heapshot("handles", "--objects", "--json", "--snapshot", str(snapshot), *words, path).out)
    assert found["snapshot"] == snapshot
    return {table["name"]: table for table in found["tables"]}


def referred_by(path, snapshot, kind):
    """Addresses that the one object of a type refers to."""
    found = json.loads(heapshot("find", "--snapshot", str(snapshot), "--type", kind, "--json", path).out)
    assert len(found["objects"]) == 1, found
    shown = json.loads(heapshot("show", "--snapshot", str(snapshot), "--json", path, "%x" % found["objects"][0]["address"]).out)
    return {field["target"]["address"] for field in shown["fields"] if field["target"]}


def held_by_handles(path, snapshot):
    """Names of the handles that hold objects of the test's types."""
    held = {}
    for root in roots(path, snapshot):
        if root["kind"] == "gc_handle" and root["type"].startswith("T.Given"):
            held.setdefault(root["type"], []).append(root["name"])
    return held


@on_each("handles lead to the objects that they stand for")
def joined(directory, runtime):
    result = node(directory, "handlesJoined", runtime)
    assert result["taken"] == [1, 2] and result["calls"] == 2 and result["said"] == [], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    tables = tables_of(path, 1)
    assert list(tables)[:4] == ["js_proxy", "js_object", "empty", "other"], tables

    # Each type has one object, and its handle.
    proxies = tables["js_proxy"]
    assert [proxies[count] for count in ("released", "collected", "escaped", "unknown", "note")] == [2, 3, 0, 0, "of a test"]
    assert [(entry["handle"], entry["js_type"], entry["js_name"]) for entry in proxies["entries"]] == \
        [(handle, "object", "Given%d" % i) for i, handle in enumerate(result["given"])], proxies
    for i, entry in enumerate(proxies["entries"]):
        assert entry["type"] == "T.Given%d" % i and (entry["count"], entry["objects"]) == (1, 1), entry
        only, = json.loads(heapshot("find", "--snapshot", "1", "--type", "T.Given%d" % i, "--json", path).out)["objects"]
        assert entry["address"] == only["address"] and entry["retained"] == entry["bytes"] == only["bytes"], (entry, only)

    # Each JSObject is that of the holder whose object of JavaScript it is; what escaped is there without a name.
    objects = tables["js_object"]
    assert objects["escaped"] == 1 and objects["unknown"] >= 1, objects
    numbers = {entry["handle"]: entry for entry in objects["entries"]}
    assert len(numbers) == len(objects["entries"]), objects
    for i in (0, 1):
        entry = numbers[result["numbers"][i]]
        assert (entry["js_type"], entry["js_name"]) == ("object", "Kept%d" % i), entry
        assert entry["type"] == "System.Runtime.InteropServices.JavaScript.JSObject", entry
        assert entry["address"] in referred_by(path, 1, "T.Holder%d" % i), entry
    assert result["numbers"][2] is None, result
    frozen = [entry for entry in objects["entries"] if entry["address"] in referred_by(path, 1, "T.Holder2")]
    assert len(frozen) == 1 and frozen[0]["js_type"] == frozen[0]["js_name"] == "", objects
    assert frozen[0]["handle"] not in result["numbers"], (frozen, result)

    assert tables["empty"]["entries"] == [] and tables["empty"]["title"] == "empty"
    assert [(entry["handle"], entry["js_type"], entry["js_name"], entry["address"]) for entry in tables["other"]["entries"]] == \
        [(-5, "", "\U0001f600\ufffd", None), (1 << 40, "bigint", "", None)], tables["other"]

    # Roots say that JavaScript holds them; the one that a handle of the program's holds, too, has both.
    assert held_by_handles(path, 1) == {"T.Given%d" % i: ["JavaScript object Given%d" % i] + ["normal"] * (i == 3) for i in range(5)}
    # A name that is shorter in the next snapshot has nothing of the one before.
    assert held_by_handles(path, 2) == {"T.Given3": ["JavaScript object G", "normal"], "T.Given4": ["JavaScript object G"]}

    # Disposed, they are gone.
    after = tables_of(path, 2)
    assert [entry["type"] for entry in after["js_proxy"]["entries"]] == ["T.Given3", "T.Given4"], after
    assert not [entry for entry in after["js_object"]["entries"] if entry["handle"] in result["numbers"] + [frozen[0]["handle"]]], after

    # What a snapshot states of them is what is there.
    assert heapshot("verify", path).status == OK
    grouped = json.loads(heapshot("handles", "--json", "--snapshot", "1", path).out)["tables"]
    assert sum(entry["count"] for entry in grouped[1]["entries"]) == grouped[1]["handles"] == len(objects["entries"])


@on_each("many handles, in several records; nothing is allocated in linear memory")
def many(directory, runtime):
    count = 3000
    result = node(directory, "handlesMany", runtime, count)
    assert result["taken"] == 1 and result["said"] == [], result
    assert len(result["seen"]) >= 3 and len({tuple(frame) for frame in result["seen"]}) == 1, result["seen"]
    path = os.path.join(directory, "a.hs")
    check_file(path)
    table = tables_of(path, 1)["js_object"]
    named = {entry["handle"]: entry for entry in table["entries"] if entry["js_name"]}
    assert [named[handle]["js_name"] for handle in result["handles"]] == ["name %d" % i for i in range(count)]
    addresses = {entry["address"] for entry in named.values()}
    assert len(addresses) == count and {entry["type"] for entry in named.values()} == {
        "System.Runtime.InteropServices.JavaScript.JSObject"}
    dumped = [json.loads(line) for line in heapshot("dump", path).out.splitlines()]
    assert len([line for line in dumped if line["record"] == "handle_table" and line["name"] == "js_object"]) > 3


@on_each("a function that throws, or returns nonsense, costs one line and not the snapshot")
def throws(directory, runtime):
    result = node(directory, "handlesThrow", runtime)
    assert result["taken"] == [1, 2, 3, 4, 5, 6, 7, 8, 9], result
    # Once, and anew when it was good in between.
    assert [len(said) for said in result["said"]] == [1, 0, 1, 0, 1, 0, 0, 1, 0], result
    assert "threw an error without a text;" in result["said"][7][0], result
    assert result["said"][0][0].endswith(
        "Module.heapshot.tables threw RangeError: no tables; the snapshot has no tables of handles"), result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    for number in (1, 2, 3, 5, 6, 8, 9):
        assert tables_of(path, number) == {}, number
    lost = tables_of(path, 4)["js_object"]["entries"]
    assert [(entry["handle"], entry["js_name"], entry["type"], entry["address"]) for entry in lost if entry["handle"] == 99] == \
        [(99, "Lost", None, None)], lost
    graph(path)


@test("without such a function there are no tables")
def none(directory):
    result = node(directory, "handlesNone", "10.0")
    assert result["taken"] == 1 and result["said"] == [], result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    assert tables_of(path, 1) == {}
    assert "no tables of handles" in heapshot("handles", path).out
    assert {root["name"] for root in roots(path, 1) if root["kind"] == "gc_handle"} <= {"normal", "pinned"}


main()
