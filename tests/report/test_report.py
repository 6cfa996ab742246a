# SPDX-License-Identifier: MIT
"""The data of `heapshot report`, held against what the other commands say of the
same recordings; what is cut, what is damaged, how large it gets."""
import base64
import hashlib
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
from cli import *  # noqa: E402,F403

RECORDINGS = (("good",), ("held",), ("round",), ("small",), ("many", "20000"), ("varied", "3000"), ("two",), ("huge",),
              ("hostile-names",))


def columns(table, *keys):
    """Rows of a table that is columns."""
    return list(zip(*(table[key] for key in keys)))


def type_rows(data, snapshot):
    table = data["snapshots"][snapshot]["types"]
    assert table["other"] == {"types": 0, "count": 0, "bytes": 0}
    name, assembly = (lambda number, key=key: data["names"][data["types"][key][number]] for key in ("name", "assembly"))
    return [(name(number), assembly(number)) + tuple(values)
            for number, *values in columns(table, *(key for key in table if key != "other"))]


def clean(text):
    """What the report does with names that are very long."""
    raw = text.encode()
    return text if len(raw) <= 1000 else None


@test
def keys():
    data = run_json("report", recording("good"))
    assert list(data) == ["version", "cut", "recordings", "snapshots", "types", "names"]
    assert list(data["cut"]) == ["tree_share", "tree_depth", "tree_nodes", "types", "suspects"]
    assert list(data["recordings"][0]) == [
        "file", "command_line", "runtime", "architecture", "system", "host", "options", "pid", "wall_start_ms", "ring",
        "notes", "summary", "collections", "counters", "snapshots", "snapshots_all", "suspects_of", "suspects"]
    assert list(data["recordings"][0]["collections"]) == [
        "per_row", "time_ns", "count", "major", "pause_ns", "max_pause_ns", "heap_bytes", "kind"]
    assert [list(mark) for mark in data["recordings"][0]["snapshots"]] == [
        ["id", "label", "trigger", "time_ns", "bytes", "complete", "shown"]] * 3
    assert [list(snapshot) for snapshot in data["snapshots"]] == [[
        "recording", "id", "label", "trigger", "time_ns", "complete", "note", "objects", "bytes", "live_objects",
        "live_bytes", "pause_ns", "types", "tree", "paths", "handles"]] * 3
    assert list(data["snapshots"][0]["types"]) == ["type", "count", "bytes", "retained", "other"]
    assert list(data["snapshots"][0]["tree"]) == ["parent", "name", "objects", "bytes", "all_objects", "retained"]
    assert list(data["snapshots"][0]["paths"][0]) == ["type", "objects", "reached", "all", "paths"]
    assert list(data["snapshots"][0]["paths"][0]["paths"][0]) == ["count", "bytes", "longest", "kind", "root", "parts"]
    assert list(data["types"]) == ["name", "assembly"]
    recorded = data["recordings"][0]
    assert recorded["runtime"] == "Mono 6.8.0.105" and recorded["pid"] == 4711 and not recorded["ring"]
    assert recorded["file"] == recording("good") and recorded["wall_start_ms"] == 1767225600000
    assert [(mark["id"], mark["label"], mark["shown"]) for mark in recorded["snapshots"]] == [
        (1, "start", 0), (2, "after login", 1), (3, "", 2)]


@test
def types_are_those_of_top():
    for variant in RECORDINGS:
        path = recording(*variant)
        data = run_json("report", path)
        for number, snapshot in enumerate(data["snapshots"]):
            top = run_json("top", "%s@%d" % (path, snapshot["id"]), "--retained")["types"]
            expected = [(row["type"], row["assembly"], row["count"], row["bytes"], row["retained"]) for row in top]
            rows = type_rows(data, number)
            if variant == ("hostile-names",):  # cut, in the middle
                rows, expected = ([row[2:] for row in list] for list in (rows, expected))
            assert sorted(rows) == sorted(expected), (variant, number)
            assert [row[-2] for row in rows] == sorted((row[-2] for row in rows), reverse=True)
            assert snapshot["objects"] == sum(row["count"] for row in top)
            assert snapshot["bytes"] == sum(row["bytes"] for row in top)
        # What is largest in any snapshot has the smallest number.
        most = {}
        for snapshot in data["snapshots"]:
            for number, size, retained in columns(snapshot["types"], "type", "bytes", "retained"):
                most[number] = max(most.get(number, 0), size, retained)
        assert [most[number] for number in sorted(most)] == sorted(most.values(), reverse=True), variant


@test
def changes_are_those_of_diff():
    for path, before, after in ((recording("good"), 0, 2), (recording("round"), 0, 1), (recording("two"), 0, 1)):
        data = run_json("report", path)
        if len(data["snapshots"]) < 2:
            continue
        ids = [data["snapshots"][i]["id"] for i in (before, after)]
        diff = run_json("diff", "%s@%d" % (path, ids[0]), "%s@%d" % (path, ids[1]), "--retained")
        sides = [{row[:2]: row[2:] for row in type_rows(data, i)} for i in (before, after)]
        changes = {key: tuple(b - a for a, b in zip(sides[0].get(key, (0, 0, 0)), sides[1].get(key, (0, 0, 0))))
                   for key in {**sides[0], **sides[1]}}
        assert {key: change for key, change in changes.items() if any(change)} == {
            (row["type"], row["assembly"]): (row["count"], row["bytes"], row["retained"]) for row in diff["types"]}
        assert diff["types"]


def folded(path, snapshot):
    """Sums of the tree of `export --format folded`, by the names on the way."""
    out = run("export", "--format=folded", "%s@%d" % (path, snapshot), "-o", "-").out
    sums = {}
    for line in out.splitlines():
        names, size = line.rsplit(" ", 1)
        names = names.split(";")
        for i in range(len(names) + 1):
            key = tuple(names[:i])
            sums[key] = sums.get(key, 0) + int(size)
    return sums


@test
def the_tree_is_that_of_dominators():
    for variant in (("held",), ("good",), ("many", "20000"), ("round",), ("names", "3000")):
        path = recording(*variant)
        data = run_json("report", path)
        for snapshot in data["snapshots"]:
            at = "%s@%d" % (path, snapshot["id"])
            retained = run_json("retained", at)
            nodes = columns(snapshot["tree"], "parent", "name", "objects", "bytes", "all_objects", "retained")
            assert nodes[0][5] == retained["live"]["bytes"] == snapshot["live_bytes"]
            assert nodes[0][4] == retained["live"]["objects"] == snapshot["live_objects"]
            below = [0] * len(nodes)
            ways = [()]
            for number, (parent, name, _, size, _, all_bytes) in enumerate(nodes):
                if number == 0:
                    continue
                assert parent < number and nodes[parent][5] >= all_bytes >= size
                below[parent] += all_bytes
                ways.append(ways[parent] + (data["names"][name].replace(";", ","),))
            # With what is shown as "other" the sums are right.
            assert all(node[3] + sum_below <= node[5] for node, sum_below in zip(nodes, below))
            expected = folded(path, snapshot["id"])
            assert {way: node[5] for way, node in zip(ways, nodes)}.items() <= expected.items(), variant
            least = max(1, int(retained["live"]["bytes"] * data["cut"]["tree_share"]))
            left_out = {way: size for way, size in expected.items() if way not in set(ways)}
            assert all(size < least or len(way) > 60 for way, size in left_out.items()), left_out
            kinds = {row["kind"]: row["retained"] for row in retained["kinds"] if row["retained"]}
            assert {way[0][1:-1]: node[5] for way, node in zip(ways, nodes)
                    if len(way) == 1 and way[0] != "(several roots)"} == kinds


def path_text(data, path):
    """A path in the words of `heapshot path`."""
    name = data["names"]
    text = name[path["kind"]] + (" " + name[path["root"]] if name[path["root"]] else "")
    for kind, slot, times in path["parts"]:
        if kind is None:
            text += " -> ... %d more ..." % times
            continue
        text += " -> " + name[kind]
        if slot is not None:
            text += (" " if name[slot][0] in "[+(" else ".") + name[slot]
        if times > 1:
            text += " (again and again)" if path["count"] > 1 else " (%d times)" % times
    return text


@test
def paths_are_those_of_path():
    for variant in (("held",), ("good",), ("round",), ("many", "20000")):
        path = recording(*variant)
        data = run_json("report", path)
        for snapshot in data["snapshots"]:
            for found in snapshot["paths"]:
                wanted = data["names"][data["types"]["name"][found["type"]]]
                expected = run_json("path", "%s@%d" % (path, snapshot["id"]), wanted)
                if expected["objects"] != found["objects"]:
                    continue  # the same name in several assemblies
                assert found["reached"] == expected["reached"] and found["all"] == len(expected["paths"])
                assert len(found["paths"]) == min(8, len(expected["paths"])) > 0
                for ours, theirs in zip(found["paths"], expected["paths"]):
                    assert (ours["count"], ours["bytes"]) == (theirs["count"], theirs["bytes"])
                    assert ours["longest"] == theirs["longest"] - theirs["length"]
                    assert path_text(data, ours).replace(",", "") == theirs["text"].replace(",", ""), theirs
        assert data["snapshots"][-1]["paths"]


@test
def suspects_are_those_of_leaks():
    for variant in (("good",), ("held",), ("many", "20000"), ("round",)):
        path = recording(*variant)
        recorded = run_json("report", path)["recordings"][0]
        expected = run_json("leaks", path, "--limit", "20")
        for row in expected["growth"] + expected["suspects"] + expected["waste"]:
            if row["path"] is not None:
                del row["path"]["steps"]
        assert recorded["suspects"] == expected, variant
        assert recorded["suspects_of"] == expected["snapshot"]


@test
def events_are_those_of_events():
    for variant in ("good", "small", "none"):
        events = run_json("events", recording(variant), status=None)
        recorded = run_json("report", recording(variant), status=None)["recordings"][0]
        assert recorded["summary"] == events["summary"]
        rows = columns(recorded["collections"], "time_ns", "pause_ns", "max_pause_ns", "heap_bytes", "kind", "count", "major")
        assert rows == [(row["time_ns"], row["pause_ns"], row["pause_ns"], row["heap_bytes"] or 0, row["kind"], 1,
                         int(row["generation"] != 0)) for row in events["collections"]]


@test
def chosen_snapshots():
    path = recording("good")

    def ids(*arguments):
        return [(snapshot["recording"], snapshot["id"]) for snapshot in run_json("report", *arguments)["snapshots"]]

    assert ids(path) == ids(path, "--all") == [(0, 1), (0, 2), (0, 3)]
    assert ids(path + "@2") == ids(path, "--snapshot=2") == [(0, 2)]
    # Of one file twice, and of two files.
    assert ids(path + "@3", path + "@1") == [(0, 1), (0, 3)]
    held = recording("held")
    assert ids(held, path + "@2", path) == [(0, 1), (1, 1), (1, 2), (1, 3)]
    assert [mark["shown"] for mark in run_json("report", held, path + "@2")["recordings"][1]["snapshots"]] == [None, 1, None]
    assert len(run_json("report", held, path)["recordings"]) == 2
    run("report", path + "@9", "--json", status=NOT_FOUND)
    run("report", path, folder + "/nothing.hs", "--json", status=IO)
    # Types of both files have one number.
    data = run_json("report", recording("round") + "@1", path + "@1")
    assert len(set(zip(data["types"]["name"], data["types"]["assembly"]))) == len(data["types"]["name"])


def page_of(path, *arguments, status=OK):
    out = os.path.join(folder, "page.html")
    result = run("report", path, "-o", out, "--overwrite", *arguments, status=status)
    return result, read(out).decode()


@test
def the_page_is_whole_and_alone():
    result, page = page_of(recording("good"))
    assert re.match(r"\S+page.html: 3 snapshots, [\d,]+ bytes written; open it in a browser\n$", result.out), result.out
    assert page.startswith("<!doctype html>") and page.endswith("</html>\n")
    # No address of anything elsewhere but the name space of SVG.
    assert set(re.findall(r"https?:[^\"']*", page)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<(link|iframe|img|object)|\bsrc=|@import|\burl\(|\bimport\(|\bfetch\(|XMLHttpRequest|WebSocket|eval\(", page)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    hashes = {}
    for tag in ("script", "style"):
        text = re.search(r"<%s>(.*?)</%s>" % (tag, tag), page, re.S).group(1)
        hashes[tag] = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    assert policy == "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'" % (hashes["script"], hashes["style"])
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
    assert json.loads(data) == run_json("report", recording("good"))
    assert os.stat(os.path.join(folder, "page.html")).st_mode & 0o777 == 0o600
    assert run("report", recording("good"), "-o", "-").out == page


@test
def hostile_names_are_data_only():
    _, page = page_of(recording("hostile-names"))
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
    # Nothing in it could end the script, or begin anything.
    assert not re.search(r"[<>&\u2028\u2029]", data)
    assert json.loads(data)["types"]["name"] == run_json("report", recording("hostile-names"))["types"]["name"]
    assert page.count("</script>") == 2


@test
def files_are_kept():
    out = write("mine.html", b"mine")
    result = run("report", recording("good"), "-o", out, status=IO)
    assert "exists" in result.err and result.err.count("\n") == 1 and read(out) == b"mine"
    result = run("report", recording("good"), "-o", folder + "/no/out.html", status=IO)
    assert "No such file" in result.err


@test
def one_snapshot_and_none():
    result, _ = page_of(recording("held"))
    assert ": 1 snapshot, " in result.out
    for variant in ("none",):
        data = run_json("report", recording(variant), status=None)
        assert data["snapshots"] == [] and data["recordings"][0]["suspects"] is None
        assert len(data["types"]["name"]) == 0


@test
def statistics_only():
    data = run_json("report", recording("stats"))
    for snapshot in data["snapshots"]:
        if snapshot["tree"] is None:
            assert "types and counts only" in snapshot["note"] and snapshot["live_bytes"] is None
            assert list(snapshot["types"]) == ["type", "count", "bytes", "other"] and snapshot["types"]["type"]
            break
    else:
        raise AssertionError("no snapshot of statistics")


@test
def what_is_damaged_is_said():
    result, page = page_of(recording("killed"), status=None)
    assert result.returncode in (OK, INCOMPLETE) and "truncated" in result.err, result.err
    data = run_json("report", recording("killed"), status=None)
    assert [snapshot["id"] for snapshot in data["snapshots"]] == [1, 2]
    assert [mark["complete"] for mark in data["recordings"][0]["snapshots"]] == [True, True, False]
    assert any("truncated" in note for note in data["recordings"][0]["notes"])
    # An incomplete one only when it is asked for.
    data = run_json("report", recording("killed") + "@3", status=INCOMPLETE)
    assert "incomplete" in data["snapshots"][0]["note"]
    # A flipped byte costs a frame, and not the page.
    good = bytearray(read(recording("good")))
    seen = set()
    for at in range(len(good) // 8, len(good), len(good) // 40):
        bad = bytearray(good)
        bad[at] ^= 0x20
        path = write("bad.hs", bytes(bad))
        out = os.path.join(folder, "bad.html")
        result = run("report", path, "-o", out, "--overwrite", status=None)
        assert result.returncode in (OK, DAMAGED, INCOMPLETE), (at, result.returncode, result.err)
        seen.add(result.returncode)
        data = run_json("report", path, status=None)
        if result.returncode == DAMAGED:
            assert data["recordings"][0]["notes"], at
    assert DAMAGED in seen
    # A sum that no number holds leaves nothing to show, as with the other commands.
    run("report", recording("overflow"), "--json", status=None)


@test
def the_size_is_bounded():
    for variant in (("names", "15000"), ("many", "300000"), ("hostile-names",)):
        path = recording(*variant)
        whole = run_json("report", path)
        if variant[0] == "names":  # more nodes than a tree may have
            assert len(whole["snapshots"][0]["tree"]["parent"]) == 20000
        for limit in (512 << 10, 1 << 20):
            out = os.path.join(folder, "small.html")
            run("report", path, "-o", out, "--overwrite", "--max-size=%d" % limit)
            assert os.path.getsize(out) <= limit
            data = json.loads(re.search(r'id="data">(.*?)</script>', read(out).decode(), re.S).group(1))
            if variant[0] == "names":
                assert len(data["snapshots"][0]["tree"]["parent"]) < 20000
            for ours, full in zip(data["snapshots"], whole["snapshots"]):
                other = ours["types"]["other"]
                assert sum(ours["types"]["count"]) + other["count"] == ours["objects"] == full["objects"]
                assert sum(ours["types"]["bytes"]) + other["bytes"] == ours["bytes"]
                assert len(ours["types"]["type"]) + other["types"] == len(full["types"]["type"])
                # A cut tree is the beginning of the whole one.
                n = len(ours["tree"]["parent"])
                assert n > 0 and ours["tree"]["retained"] == full["tree"]["retained"][:n]
        out = os.path.join(folder, "default.html")
        run("report", path, "-o", out, "--overwrite")
        assert os.path.getsize(out) <= 5 << 20


sys.exit(main())
