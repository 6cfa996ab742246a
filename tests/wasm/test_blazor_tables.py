# SPDX-License-Identifier: MIT
"""The tables of Blazor's own references, of heapshot.prepare(), in the sample that leaks them."""
from blazor import *
from browser import in_chromium

BROWSER = os.path.join(SOURCE, "contrib", "browser")
LEAKED = 200
PROXY, OBJECT = "object DotNetObject", "object Widget"


def check(place, result, is_early):
    assert result["wrong"] == [], result
    names = ["js_proxy", "js_object", "dotnet_object_reference", "js_object_reference"]
    seen = {when: {table["name"]: table for table in tables} for when, tables in result["seen"].items()}
    assert all(list(tables) == names for tables in seen.values()), seen
    # Blazor has some of its own.
    rest = {name: seen["before"][name]["counts"] for name in names}
    assert rest["js_object_reference"].get(OBJECT, 0) == 0, rest
    proxies_at_rest = rest["dotnet_object_reference"].get(PROXY, 0)
    assert proxies_at_rest <= 2, rest

    def count(when, name, what):
        return seen[when][name]["counts"].get(what, 0)
    for when, objects in (("leaked", LEAKED), ("disposed", 0), ("again", LEAKED)):
        assert count(when, "js_object_reference", OBJECT) == objects, seen
        assert seen[when]["js_object_reference"]["note"] == "", seen
    assert seen["disposed"]["js_object_reference"]["released"] - seen["leaked"]["js_object_reference"]["released"] == LEAKED, seen
    # JavaScript keeps its proxies, whatever C# disposed of.
    for when, proxies in (("leaked", 1), ("disposed", 1), ("again", 2)):
        assert count(when, "dotnet_object_reference", PROXY) == proxies_at_rest + proxies * LEAKED, seen
    for tables in seen.values():
        for table in tables.values():
            assert len(set(table["handles"])) == len(table["handles"]), table

    left = result["left"]
    assert left["isStock"] and left["notes"] == [], left
    assert json.loads(left["kind"]) == {"value": 0, "writable": True, "enumerable": True, "configurable": True}, left
    assert left.get("hadDotNet") == (False if is_early else None), left

    # The native command line finds the managed objects that they stand for.
    for name, expected in (("leaked", LEAKED), ("disposed", 0)):
        path = os.path.join(place, name + ".hs")
        check_file(path)
        found = json.loads(heapshot("handles", "--objects", "--json", path).out)
        tables = {table["name"]: table["entries"] for table in found["tables"]}
        references = [entry for entry in tables["js_object_reference"] if entry["js_name"] == "Widget"]
        assert len(references) == expected, references[:3]
        assert all((entry["type"] or "").endswith("JSObjectReference") for entry in references), references[:3]
        proxies = [entry for entry in tables["dotnet_object_reference"] if entry["js_name"] == "DotNetObject"]
        known = [entry for entry in proxies if entry["type"] and "DotNetObjectReference<BlazorLeak.Listener>" in entry["type"]]
        assert len(known) == expected, (len(proxies), proxies[:3])
        assert len(proxies) >= LEAKED, proxies[:3]


@on_each("undisposed IJSObjectReferences and DotNetObjectReferences show by class and number, and vanish")
def tables(directory, runtime):
    for is_early in (False, True):
        place = os.path.join(directory, "early" if is_early else "late")
        os.mkdir(place)
        result = in_chromium("blazor/tables.cjs", place, root=blazor(runtime), browserFolder=BROWSER, out=place, isEarly=is_early)
        check(place, result, is_early)


main()
