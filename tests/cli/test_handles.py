# SPDX-License-Identifier: MIT
"""Tables of handles and counters of memory: what the commands tell of them."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402

NODES = 0x7f0000010000
PUBS = NODES + 96


def tables(path, *words):
    return {table["name"]: table for table in run_json("handles", path, *words)["tables"]}


def rows(table, *keys):
    return [tuple(entry[key] for key in keys) for entry in table["entries"]]


@test
def each_handle_with_its_object():
    found = tables(recording("handles"), "--objects")
    assert list(found) == ["js_proxy", "js_object", "released"], found
    proxies = found["js_proxy"]
    keys = ("handle", "js_type", "js_name", "type", "address", "bytes", "retained")
    assert rows(proxies, *keys) == [
        (22, "object", "Customer", "T.Node", NODES, 32, 96),
        (24, "object", "Customer", "T.Node", NODES + 32, 32, 64),
        (26, "function", "", "T.Pub", PUBS, 24, 24),
        (28, "object", "Customer", None, 0x7f0000800000, 0, 0)], proxies
    assert [proxies[key] for key in ("handles", "unknown", "escaped", "released", "collected", "note")] == \
        [4, 0, 0, 2, 1, "of a test"], proxies
    objects = found["js_object"]
    assert rows(objects, *keys) == [
        (1, "object", "Promise", "T.Pub", PUBS + 24, 24, 24),
        (2, "", "", "T.Node", NODES + 64, 32, 32),
        (-3, "object", "Array", None, None, 0, 0)], objects
    assert [objects[key] for key in ("handles", "unknown", "escaped")] == [3, 1, 1], objects
    assert found["released"]["entries"] == [] and found["released"]["released"] == 7


@test
def those_that_are_alike_are_one_row():
    found = tables(recording("handles", "5000"))["js_proxy"]
    keys = ("type", "js_type", "js_name", "count", "objects", "bytes", "retained")
    # What T.Node 0 holds counts once, and one T.Pub with many handles is one object.
    assert rows(found, *keys) == [
        ("T.Node", "object", "Customer", 2, 2, 64, 96),
        ("T.Pub", "function", "", 5001, 1, 24, 24),
        (None, "object", "Customer", 1, 0, 0, 0)], found
    assert found["handles"] == 5004
    assert len(tables(recording("handles", "5000"), "--objects")["js_proxy"]["entries"]) == 5004
    text = run("handles", recording("handles", "5000")).out
    assert "js_proxy: managed objects that JavaScript holds: 5,004, 2 released so far, 1 collected so far\nof a test\n" in text
    assert re.search(r"^ *5,001 +24 +24 +T\.Pub +function$", text, re.M), text
    assert re.search(r"^ *1 +32 +32 +T\.Node +\(not known\)$", text, re.M), text
    assert "js_object: JavaScript objects that managed code holds: 3, 1 known from the managed side alone, 1 escaped\n" in text
    assert "released: released: 0, 7 released so far\n" in text
    text = run("handles", "--objects", recording("handles")).out
    assert re.search(r"^ *22 +32 +96 +T\.Node +0x7f0000010000 +object Customer$", text, re.M), text


@test
def limit_and_filter():
    path = recording("handles")
    assert len(tables(path, "--limit", "1")["js_proxy"]["entries"]) == 1
    assert "and 2 more rows" in run("handles", path, "--limit", "1").out
    assert [len(table["entries"]) for table in tables(path, "--filter", "T.Pub").values()] == [1, 1, 0]
    assert rows(tables(path, "--filter", "Arr*")["js_object"], "handle") == [(-3,)]
    assert "no handle's type matches --filter Nothing" in run("handles", path, "--filter", "Nothing", status=NOT_FOUND).err


@test
def without_tables():
    assert tables(recording("held")) == {}
    assert "no tables of handles" in run("handles", recording("held")).out


@test
def totals_are_checked():
    run("verify", recording("handles", "5000"))
    for number, check in (("1", "handle_tables"), ("2", "handles")):
        path = recording("handles-differ", number)
        problems = run_json("verify", path, status=INCOMPLETE)["snapshots"][0]["problems"]
        assert [problem["check"] for problem in problems] == [check], problems
        assert "its end says" in run("handles", path, status=INCOMPLETE).err


@test
def copies_keep_them():
    path, out = recording("handles", "5000"), os.path.join(cli.folder, "copy.hs")
    wanted = tables(path, "--objects")
    for command in ("extract", "recompress"):
        run(command, path, "--overwrite", "-o", out)
        assert tables(out, "--objects") == wanted, command
        run("verify", out)


@test
def names_are_anonymized():
    out = os.path.join(cli.folder, "anonymous.hs")
    run("anonymize", recording("handles"), "--overwrite", "-o", out)
    assert b"Customer" not in run("dump", out, "--json").out.encode()
    found, before = tables(out, "--objects"), tables(recording("handles"), "--objects")
    names = {}
    assert list(found)[:2] == ["js_proxy", "js_object"] and "released" not in found, found
    for new, table in zip(found.values(), before.values()):
        assert rows(new, "handle", "address", "retained") == rows(table, "handle", "address", "retained")
        for (kind, hidden), (old_kind, old) in zip(rows(new, "js_type", "js_name"), rows(table, "js_type", "js_name")):
            # What typeof says is everybody's; Promise and Array are, too.
            assert kind == old_kind and names.setdefault(old, hidden) == hidden, (kind, hidden, old)
    assert names["Customer"] not in ("", "Customer") and (names["Promise"], names["Array"]) == ("Promise", "Array"), names
    assert found["js_proxy"]["note"] != "of a test"
    held = [root["name"] for root in run_json("roots", out)["roots"] if root["kind"] == "gc_handle"]
    assert sorted(held) == ["JavaScript object " + names["Customer"], "normal"], held


@test
def dump_shows_each():
    lines = [line for line in map(json.loads, run("dump", recording("handles"), "--objects").out.splitlines())
             if line["record"] == "handle"]
    assert [(line["table"], line["handle"], line["js_type"], line["js_name"], line["object"]) for line in lines] == [
        ("js_proxy", 22, "object", "Customer", NODES), ("js_proxy", 24, "object", "Customer", NODES + 32),
        ("js_object", 1, "object", "Promise", PUBS + 24), ("js_object", 2, "", "", NODES + 64),
        ("js_object", -3, "object", "Array", 0),
        ("js_proxy", 26, "function", "", PUBS), ("js_proxy", 28, "object", "Customer", 0x7f0000800000)], lines


@test
def in_a_report():
    small, large = recording("handles"), recording("handles", "5000")
    report = run_json("report", small)
    found = {table["name"]: table for table in report["snapshots"][0]["handles"]}
    keys = ("handle", "js_type", "js_name", "type", "object", "retained", "count")
    assert rows(found["js_proxy"], *keys)[:2] == [
        (22, "object", "Customer", "T.Node", "0x7f0000010000", 96, 1), (24, "object", "Customer", "T.Node", "0x7f0000010020", 64, 1)]
    assert rows(found["js_proxy"], *keys)[3] == (28, "object", "Customer", None, "0x7f0000800000", None, 1)
    assert rows(found["js_object"], *keys)[2] == (-3, "object", "Array", None, None, None, 1)
    assert found["js_proxy"]["title"] == "managed objects that JavaScript holds" and found["js_proxy"]["other"] == 0
    assert (found["js_proxy"]["released"], found["js_object"]["escaped"]) == (2, 1)
    # So many are put together.
    many = {table["name"]: table for table in run_json("report", large)["snapshots"][0]["handles"]}
    assert rows(many["js_proxy"], "type", "count") == [("T.Node", 2), ("T.Pub", 5001), (None, 1)]
    assert run_json("report", recording("held"))["snapshots"][0]["handles"] is None
    counters = {counter["name"]: counter for counter in report["recordings"][0]["counters"]}
    assert counters["Memory taken"]["value"] == [1000, 1200] and counters["Memory maximum"]["value"] == [1 << 31] * 2
    assert counters["GC heap"]["section"] == "gc" and counters["GC heap"]["unit"] == "bytes"
    for counter in counters.values():
        assert len(counter["time_ns"]) == 2 and counter["time_ns"] == sorted(counter["time_ns"])


@test
def how_full_memory_was():
    # Of the sample behind the snapshot.
    line = "144 bytes live managed, 256 free in the managed heap, 800 native; 1,200 of at most 2,147,483,648\n"
    path = recording("handles")
    assert "\nsnapshot 1: " + line in run("list", path).out
    assert line in run(path).out
    assert run_json("list", path)["snapshots"][0]["memory"] == {
        "live": 144, "free": 256, "native": 800, "total": 1200, "maximum": 1 << 31}
    assert run_json("list", recording("good"))["snapshots"][0]["memory"] is None
    assert "of at most" not in run("list", recording("good")).out


@test
def a_name_ends_at_a_nul():
    # A second table of the same name would be written over the end of the first.
    path = recording("handles-differ", "3")
    proxies = [table for table in run_json("handles", path, "--objects")["tables"] if table["name"].startswith("js_proxy")]
    assert [(table["name"], table["handles"]) for table in proxies] == [("js_proxy", 14)], proxies
    out = path + ".mono-heap"
    assert run("export", "--format", "mono-heap", "-o", out, path).returncode == 0
    os.remove(out)


sys.exit(main())
