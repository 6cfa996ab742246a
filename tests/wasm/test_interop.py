# SPDX-License-Identifier: MIT
"""The tables of what C# and JavaScript hold of each other: heapshot.prepare() on the real
runtimes, in node and in Chromium."""
from mjs import *

FILE = "interop_scenarios.mjs"
COUNT = 1000
AT_REST = {"object Promise": 2}


def check_suite(found, runtime):
    """What the program answers, by itself; so that two wrong answers are not two equal ones."""
    for name in ("plain", "instance", "array", "map", "error", "proxy", "arrow", "asynchronous", "bound", "bare"):
        assert found[name] == [True, True, True, True], (name, found[name])
    for name in ("frozen", "sealed"):
        assert found[name] == [False, True, True, True], (name, found[name])
    # .NET 9 marks these.
    for name in ("named", "type"):
        assert found[name] == [runtime == "9.0", True, True, True], (name, found[name])
    assert found["object"] == [7, False, "ManagedObject"] and found["disposed"][0], found
    assert found["disposed"][1].endswith("ObjectDisposedException"), found
    assert (found["action"], found["func"], found["bytes"]) == (1, 7, [64, 2, 128]), found
    assert (found["task"], found["promise"], found["rejected"]) == (5, 5, "Error: it was refused"), found
    assert "C# failed" in found["thrown"] and found["increment"] == [4, "disposed"] and found["global"] == "function", found
    assert found["build"] == version(runtime), found


@on_each("the program answers the same without the hooks, with them, and after them")
def suite(directory, runtime):
    results = {}
    for how in ("stock", "prepared", "removed"):
        place = os.path.join(directory, how)
        os.mkdir(place)
        results[how] = in_node(FILE, place, "suite", runtime, how)
    stock, = results["stock"]["found"]
    check_suite(stock, runtime)
    # The runtime takes a copy for the original whose mark was copied; with the hooks there is none to copy.
    assert not stock.pop("copy") and results["prepared"]["found"][0].pop("copy"), results
    assert [found.pop("copy") for found in results["removed"]["found"]] == [True, False], results
    assert results["prepared"] == {"found": [stock], "notes": []}, results
    assert results["removed"] == {"found": [stock, stock], "notes": []}, results


def check_leak(place, seen, is_node):
    nothing = {"counts": {}, "released": 0, "collected": 0}
    assert seen["before"]["proxies"] == nothing and seen["before"]["objects"]["counts"] == AT_REST, seen
    first = seen["before"]["objects"]["released"]
    held = {"object ManagedObject": COUNT, "function delegate": COUNT // 2}
    all_made = COUNT + COUNT // 2
    assert seen["leaked"]["proxies"] == {"counts": held, "released": 0, "collected": 0}, seen
    objects = seen["leaked"]["objects"]
    assert objects == {"counts": {**AT_REST, "object Foo": COUNT}, "escaped": 0, "released": first, "note": ""}, seen
    assert seen["disposed"]["proxies"] == {"counts": {}, "released": all_made, "collected": 0}, seen
    objects = seen["disposed"]["objects"]
    assert objects == {"counts": AT_REST, "escaped": 0, "released": first + COUNT, "note": ""}, seen
    collected = 0
    if is_node:
        collected = all_made
        assert seen["again"]["proxies"]["counts"] == held, seen
        assert seen["dropped"]["proxies"] == {"counts": {}, "released": all_made, "collected": all_made}, seen
        assert seen["dropped"]["objects"]["counts"] == AT_REST, seen
        assert seen["dropped"]["objects"]["released"] == first + 2 * COUNT, seen
    assert seen["pending"]["proxies"]["counts"] == {"object Promise": 10}, seen
    assert seen["pending"]["objects"]["counts"] == {"object Promise": 12}, seen
    assert seen["settled"]["proxies"] == {"counts": {}, "released": all_made + 10, "collected": collected}, seen
    assert seen["settled"]["objects"]["counts"] == AT_REST, seen
    # The managed side says the same.
    for name, count in (("leaked", COUNT), ("disposed", 0)):
        path = os.path.join(place, name + ".hs")
        is_whole(path, name)
        counts = {row["type"]: row["count"] for row in top(path)}
        assert counts.get("T.Payload", 0) == count, counts
        objects = counts.get("System.Runtime.InteropServices.JavaScript.JSObject", 0)
        assert count <= objects <= count + 8, counts
        check_joined(path, count)


def check_joined(path, count):
    """What the native command line makes of the tables: each handle leads to its managed object."""
    found = json.loads(heapshot("handles", "--objects", "--json", path).out)
    tables = {table["name"]: table for table in found["tables"]}
    proxies = tables["js_proxy"]["entries"]
    payloads = [entry for entry in proxies if entry["type"] == "T.Payload"]
    assert [(entry["js_type"], entry["js_name"]) for entry in payloads] == [("object", "ManagedObject")] * count, payloads[:3]
    assert len({entry["address"] for entry in payloads}) == len({entry["handle"] for entry in payloads}) == count
    delegates = [entry for entry in proxies if entry["js_name"] == "delegate"]
    assert len(delegates) == count // 2 and all(entry["type"] for entry in delegates), delegates[:3]
    objects = [entry for entry in tables["js_object"]["entries"] if entry["js_name"] == "Foo"]
    assert [entry["type"] for entry in objects] == ["System.Runtime.InteropServices.JavaScript.JSObject"] * count, objects[:3]
    assert len({entry["address"] for entry in objects}) == count
    assert tables["js_object"]["escaped"] == 0 and tables["js_object"]["note"] == "", tables["js_object"]["note"]


@on_each("1,000 references that are not disposed of show as such, and vanish when they are")
def leak(directory, runtime):
    result = in_node(FILE, directory, "leak", runtime, COUNT)
    assert result["notes"] == [] and result["error"] == [True, True], result
    check_leak(directory, result["seen"], True)


def check_escapes(result, runtime):
    def note_of(sort, count):
        what = "not extensible" if sort in ("frozen", "sealed", "fixed", "error") else "functions or classes"
        return "without a known handle: %d %s" % (count, what) if count else ""
    released = result["start"]["released"]
    for sort, found in result["found"].items():
        marked = {"arrow": "function ", "proxy": "object Object", "bare": "object "}
        if runtime == "9.0":
            marked.update(named="function named", type="function Type")
        # One that has a mark is one handle, however often it is given.
        for step, known, escaped, gone in (("held", 10, 10, 0), ("six", 6, 6, 4), ("more", 7, 8, 4), ("none", 0, 0, 12)):
            at = found[step]
            if sort in marked:
                gone = 0 if sort == "bare" else min(gone, 11)
                expected = {**AT_REST, **({marked[sort]: known} if known else {})}
                assert (at["counts"], at["escaped"], at["note"]) == (expected, 0, ""), (sort, step, at)
            else:
                assert (at["counts"], at["escaped"], at["note"]) == (AT_REST, escaped, note_of(sort, escaped)), (sort, step, at)
            assert at["released"] - released == gone, (sort, step, at, released)
        released = found["none"]["released"]


@on_each("what escapes is counted: frozen, sealed, functions, classes")
def escapes(directory, runtime):
    check_escapes(in_node(FILE, directory, "escapes", runtime), runtime)


def check_removed(result):
    assert result["isOne"] and result["isAnother"], result
    # In between it is seen, of course: so the comparison can fail.
    assert "objectPrototype got Symbol(wasm cs_owned_js_handle)" in result["between"], result
    assert any("FinalizationRegistry" in each for each in result["between"]), result
    assert any("isExtensible" in each for each in result["between"]), result
    # The registry's class is back as soon as the runtime has made its own.
    assert not any("class" in each for each in result["started"]), result
    assert result["ownBefore"] == 0 and result["isRegistry"] == [True, "FinalizationRegistry"], result
    # getDotnetRuntime is the runtime's.
    assert [each for each in result["left"] + result["end"] if "getDotnetRuntime" not in each] == [], result
    assert result["own"] == ["Symbol(wasm cs_owned_js_handle)"], result
    assert result["isSame"] and result["isBack"] and result["number"] == 3, result


@on_each("remove() leaves no trace, and objects keep their handles")
def removed(directory, runtime):
    check_removed(in_node(FILE, directory, "removed", runtime))


def check_frozen(what, result, runtime):
    words = {"prototype": "Object.prototype is frozen", "object": "Object is frozen",
             "registry": "FinalizationRegistry cannot be replaced"}
    assert len(result["notes"]) == 1 and words[what] in result["notes"][0], result
    assert result["said"][0] == ["warn", "heapshot: " + result["notes"][0]], result
    check_suite(result["found"], runtime)
    proxies, objects = result["seen"]["proxies"], result["seen"]["objects"]
    # Beside what the answers above left.
    assert proxies["counts"].get("object ManagedObject", 0) == (0 if what == "registry" else 10), result
    assert objects["counts"]["object Foo"] == 10 and words[what] in objects["note"], result
    assert "object Foo" not in result["after"]["objects"]["counts"], result


@on_each("where Object.prototype, Object or FinalizationRegistry is locked that is said, and the program works")
def frozen(directory, runtime):
    for what in ("prototype", "object", "registry"):
        place = os.path.join(directory, what)
        os.mkdir(place)
        result = in_node(FILE, place, "frozen", runtime, what)
        check_frozen(what, result, runtime)
        is_whole(os.path.join(place, "a.hs"), "")


@test("what JavaScript has dropped takes no memory, also where nobody reads the tables")
def forgotten(directory):
    assert in_node(FILE, directory, "forgotten", "10.0", 10000)["kept"] <= 3000


@test("after the runtime it is too late, which is said")
def late(directory):
    result = in_node(FILE, directory, "late", "10.0")
    assert len(result["notes"]) == 1 and "the runtime was there before" in result["notes"][0], result
    assert result["said"] == [["warn", "heapshot: " + result["notes"][0]]], result


@on_each("the same in Chromium, in a page and in a worker")
def chromium(directory, runtime):
    results = in_tabs(FILE, directory, runtime, ("suite", "page", "stock"), ("suite", "page", "removed"),
                      ("leak", "page", COUNT), ("escapes", "page"), ("removed", "page"), ("frozen", "page", "prototype"),
                      ("leak", "worker", COUNT))
    stock, = results[0]["found"]
    check_suite(stock, runtime)
    assert [found.pop("copy") for found in (stock, *results[1]["found"])] == [False, True, False], results[:2]
    assert results[1]["found"] == [stock, stock] and results[1]["notes"] == [], results[1]
    check_leak(results[2]["place"], results[2]["seen"], False)
    check_escapes(results[3], runtime)
    check_removed(results[4])
    check_frozen("prototype", results[5], runtime)
    check_leak(results[6]["place"], results[6]["seen"], False)


main()
