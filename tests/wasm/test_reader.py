# SPDX-License-Identifier: MIT
"""The reader in WebAssembly: it tells of a recording what the native command tells, byte for
byte, in node and in a worker of Chromium."""
import atexit
import resource
import tempfile

from browser import *
from wasm import *

MAKE_RECORDING = os.path.join(BUILD, "tests", "data", "make_recording")
# As in contrib/browser/panel/reader_data.js.
REPORT_BYTES = "64M"
FORMATS = ("gcdump", "mono-heap", "heapsnapshot")


def panel():
    if not os.path.exists(os.path.join(BUILD, "heapshot")):
        skip("heapshot is not built")
    return panel_folder()


def in_node(path, *steps, name=None, pages=None):
    done = run(["node", os.path.join(HERE, "reader.mjs"), panel(),
                json.dumps({"file": path, "name": name, "steps": steps, "pages": pages})], timeout=600)
    assert done.status == 0, done.err[-3000:]
    return json.loads(done.out)


def answer(path, *steps, **how):
    result = in_node(path, *steps, **how)
    assert result["error"] is None, result["error"]
    return result["answers"]


def content(path):
    with open(path, "rb") as file:
        return file.read()


def native(directory, path, snapshot=1):
    """What the native command writes: the report, and a snapshot in each format."""
    name = os.path.basename(path)
    report = run([HEAPSHOT, "report", "--json", "--max-size=" + REPORT_BYTES, name], cwd=directory)
    files = {}
    for each in ("hs",) + FORMATS:
        files[each] = os.path.join(directory, "native." + each)
        command = ["extract"] if each == "hs" else ["export", "--format", each]
        done = run([HEAPSHOT] + command + ["%s@%d" % (name, snapshot), "--overwrite", "--output", files[each]], cwd=directory)
        assert done.status == report.status or not json.loads(report.out)["snapshots"], (each, done.err, report.err)
    return report, files


def compare(directory, path, place=0, snapshot=1):
    """PLACE of SNAPSHOT among those of the report."""
    report, files = native(directory, path, snapshot)
    if not json.loads(report.out)["snapshots"]:
        files = {}
    ours = {each: os.path.join(directory, "wasm." + each) for each in files}
    told = os.path.join(directory, "wasm.json")
    answers = answer(path, ["report", told], *(["export", place, each, ours[each]] for each in files))
    assert content(told) == report.out.encode(), (path, content(told)[:500], report.out[:500])
    for each, (_, written) in zip(files, zip(answers, answers[1:])):
        assert content(ours[each]) == content(files[each]), "%s: %s differs" % (path, each)
        assert written["size"] == os.path.getsize(files[each]), written
        assert (written["type"] == "application/json") == (each == "heapsnapshot"), written
    return json.loads(report.out)


def make(directory, variant, *words):
    path = os.path.join(directory, variant + ".hs")
    done = run([MAKE_RECORDING, variant, path] + [str(word) for word in words])
    assert done.status == 0, done.err
    return path


# Each shows readers something that they must bear.
WHOLE = ("good", "small", "varied", "unknown", "methods", "code", "held", "round", "apart", "low", "names", "long-name")
PARTLY = ("killed", "huge", "inconsistent", "hostile-names", "hostile-host", "abandoned", "differs", "stats")
REFUSED = ("none", "version")


@test("synthetic recordings: the report and all exports are those of the native command, byte for byte")
def synthetic(directory):
    panel()
    for variant in WHOLE:
        compare(directory, make(directory, variant))


@test("recordings that are not whole: the same report, with the same notes")
def partly(directory):
    panel()
    for variant in PARTLY:
        path = make(directory, variant, *((1,) if variant == "differs" else ()))
        report = run([HEAPSHOT, "report", "--json", "--max-size=" + REPORT_BYTES, os.path.basename(path)], cwd=directory)
        told = os.path.join(directory, "wasm.json")
        result = in_node(path, ["report", told])
        if report.out:
            assert result["error"] is None, (variant, result["error"])
            assert content(told) == report.out.encode(), variant
        else:
            assert result["error"]["message"] == said(report), (variant, result, report.err)


def said(done):
    """The reason, which comes last."""
    line = done.err.splitlines()[-1]
    assert line.startswith("heapshot: "), done.err
    return line[len("heapshot: "):]


@test("what is no recording, or damaged, or cut, or empty: the native command's sentence")
def foreign(directory):
    good = content(make(directory, "good"))
    cases = {
        "text.hs": b"once upon a time\n" * 100,
        "empty.hs": b"",
        "picture.png": b"\x89PNG\r\n\x1a\n" + bytes(5000),
        "cut.hs": good[:30],
        "cut-later.hs": good[:len(good) // 2],
        "changed.hs": good[:1500] + bytes(100) + good[1600:],
        "behind.hs": good + b"more",
        "a@1.hs": b"no",
        "name with blanks.hs": b"no",
    }
    for variant in REFUSED:
        cases[variant + ".hs"] = content(make(directory, variant))
    for name, data in cases.items():
        path = os.path.join(directory, name)
        with open(path, "wb") as file:
            file.write(data)
        report = run([HEAPSHOT, "report", "--json", "--max-size=" + REPORT_BYTES, name], cwd=directory)
        told = os.path.join(directory, "wasm.json")
        result = in_node(path, ["report", told])
        if report.out:
            assert result["error"] is None and content(told) == report.out.encode(), (name, result)
            continue
        assert result["error"] is not None, (name, report.err)
        assert (result["error"]["name"], result["error"]["message"]) == ("ReaderError", said(report)), (name, result, report.err)
        assert "\n" not in result["error"]["message"]


@functools.lru_cache(None)
def events():
    """A recording of a real program, made once."""
    place = tempfile.mkdtemp(prefix="hs-reader.")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    path = os.path.join(place, "events.hs")
    done = mono("Events.exe leak 500", "quiet,output=" + path)
    assert done.status == 0, done.err
    return path


@test("a real recording: the same report and exports")
def real(directory):
    path = shutil.copy(events(), os.path.join(directory, "events.hs"))
    data = compare(directory, path, place=len(snapshots(path)) - 1, snapshot=snapshots(path)[-1]["id"])
    assert any("T.Pub.Ev" in row["text"] for row in data["recordings"][0]["suspects"]["suspects"])


@test("paths to types that the report leaves out, and the tree without a cut, are those of the native command")
def on_demand(directory):
    path = events()
    _, info, root, types = answer(path, ["report", os.path.join(directory, "report.json")], ["info"], ["root", 0], ["pathTypes", 0])
    assert info["snapshots"][0]["hasGraph"] and root["retained"] == info["snapshots"][0]["liveBytes"], info
    # All types of which something lives.
    live = {row["type"]: row for row in read_json("retained", path, "--part", "types", "--limit", "0")["types"] if row["retained"] > 0}
    assert {row["name"] for row in types} == set(live), set(live) ^ {row["name"] for row in types}
    paths_of(path, 0, types, 1)
    walk(path, root)
    # Reports have less of snapshots before the last.
    path = os.path.join(directory, "several.hs")
    done = mono("Snapshots.exe many 3 2000", "quiet,snapshot=gc,output=" + path)
    assert done.status == 0 and len(complete_snapshots(path)) >= 2, done.err
    types, = answer(path, ["pathTypes", 0])
    assert paths_of(path, 0, types, complete_snapshots(path)[0]["id"]) > 0


def paths_of(path, place, types, snapshot):
    """Compares paths that are made with those of the report, else with those of `heapshot path`; the number of the latter."""
    reported = answer(path, *(["reported", place, row["type"]] for row in types))
    asked = answer(path, *(["asked", place, row["type"], 8] for row in types))
    all_of_them = answer(path, *(["paths", place, row["type"]] for row in types))
    assert sum(each is not None for each in reported) > 10
    for row, known, made, all_made in zip(types, reported, asked, all_of_them):
        assert known is None or known == made, (row, known, made)
        assert all_made["paths"][:8] == made["paths"] and len(all_made["paths"]) == min(50, made["all"]), (row, all_made)
        assert sum(each["count"] for each in all_made["paths"]) == made["reached"] or made["all"] > 50
    others = [(row, made) for row, known, made in zip(types, reported, asked) if known is None]
    for row, made in others[:20]:
        told = read_json("path", path, row["name"], "--snapshot", str(snapshot), "--limit", "8")
        if told["objects"] != row["count"]:
            continue  # another type has the same name
        assert (made["objects"], made["reached"]) == (told["objects"], told["reached"]), (row, made, told)
        # Ways of equal length may differ between those that prefer certain roots and those that do not.
        assert sorted(each["count"] for each in made["paths"])[-1] > 0
        for each in made["paths"]:
            assert each["parts"][-1]["type"] == row["name"], each
    return len(others)


def walk(path, root):
    """All nodes of the tree: each retains what it has and what those below it retain."""
    waiting, seen, roots_seen = [root], 0, {}
    while waiting:
        level = answer(path, *(["children", node] for node in waiting))
        following = []
        for node, children in zip(waiting, level):
            seen += 1
            assert sum(child["retained"] for child in children) in (node["retained"], 0), (node, children)
            assert not any(child["kind"] == "other" for child in children), node
            assert [c["retained"] for c in children if c["kind"] != "own"] == sorted(
                (c["retained"] for c in children if c["kind"] != "own"), reverse=True)
            roots_seen.update({child["name"]: child["retained"] for child in children if child["kind"] == "root"})
            following += [child for child in children if child["hasChildren"]]
        waiting = following
    assert seen > 50
    native_roots = read_json("retained", path, "--part", "roots", "--limit", "0")["roots"]
    event = next(row for row in native_roots if row["name"] == "T.Pub.Ev")
    assert roots_seen["static T.Pub.Ev"] == event["retained"] > 500 * 1024, roots_seen


@test("several snapshots: questions on each; the graph in memory is that of the one asked last")
def several(directory):
    path = make(directory, "good")
    order = (2, 0, 1, 1, 0, 2)
    roots = dict(zip(order, answer(path, *(["root", number] for number in order))))
    info, *answers = answer(path, ["info"], *(["children", roots[number]] for number in order))
    live = [info["snapshots"][number]["liveBytes"] for number in order]
    assert [sum(child["retained"] for child in children) for children in answers] == live
    assert live[0] > live[2] > live[1] > 0, live
    # Of a type that has more objects in each.
    types, = answer(path, ["pathTypes", 2])
    most = max(types, key=lambda row: row["count"])["type"]
    counts = [paths["objects"] for paths in answer(path, *(["paths", number, most] for number in order))]
    assert counts[0] > counts[2] == counts[3] > counts[1] == counts[4] > 0, counts


@test("questions that make no sense are answered by a sentence, and the reader goes on")
def nonsense(directory):
    path = make(directory, "good")
    for step in (["export", 0, "sqlite", "x"], ["export", 7, "gcdump", "x"], ["children", {"snapshot": 0, "id": 99999999, "kind": "type"}],
                 ["paths", 99, 0]):
        error = in_node(path, step)["error"]
        assert error is not None and error["message"] and "\n" not in error["message"], (step, error)


def cpu_of(command, directory):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(command, cwd=directory)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.status == 0, done.err
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def middle(values):
    return sorted(values)[len(values) // 2]


@test("a real heap of a million objects: the same report and export; how long, and how much memory")
def million(directory):
    long_only()
    exe = os.path.join(directory, "Heap.exe")
    done = run(["mcs", "-nologo", "-out:" + exe, os.path.join(SOURCE, "contrib", "bench", "Heap.cs")])
    assert done.status == 0, done.out + done.err
    path = os.path.join(directory, "heap.hs")
    done = run(["mono", "--profile=heapshot:quiet,output=" + path, exe, "mix", "1000000", "1"])
    assert done.status == 0, done.err
    written = os.path.join(directory, "wasm.heapsnapshot")
    told = os.path.join(directory, "wasm.json")
    rounds = []
    for _ in range(5):
        result = in_node(path, ["report", told], ["export", 0, "heapsnapshot", written])
        assert result["error"] is None, result["error"]
        took = dict(result["took"])
        native_report = cpu_of(["sh", "-c", 'exec "$@" >native.json', "sh", HEAPSHOT, "report", "--json", "--max-size=" + REPORT_BYTES, "heap.hs"], directory)
        native_export = cpu_of([HEAPSHOT, "export", "--format=heapsnapshot", "--overwrite", "-o", "native.heapsnapshot", "heap.hs"], directory)
        rounds.append((took["open"], native_report, took["export"], native_export))
    assert content(told) == content(os.path.join(directory, "native.json"))
    assert content(written) == content(os.path.join(directory, "native.heapsnapshot"))
    with open(told) as file:
        objects = json.load(file)["snapshots"][0]["objects"]
    assert objects >= 1000000, objects
    note("%d objects, %d bytes of file; wasm memory %d MB, %.0f bytes an object" %
         (objects, os.path.getsize(path), result["memoryBytes"] >> 20, result["memoryBytes"] / objects))
    note("report: %.0f ms in node, %.0f native: %.2fx" % (middle([r[0] for r in rounds]), middle([r[1] for r in rounds]), middle([r[0] / r[1] for r in rounds])))
    note("heapsnapshot, the graph being there: %.0f ms in node, %.0f native with the graph made: %.2fx" %
         (middle([r[2] for r in rounds]), middle([r[3] for r in rounds]), middle([r[2] / r[3] for r in rounds])))
    # The graph takes 60 bytes at most, dominators and ways a part of them.
    assert result["memoryBytes"] < 200 * objects, result["memoryBytes"]


@test("out of memory: one sentence, whatever was being made")
def too_large(directory):
    path = make(directory, "many", 300000)
    whole, = answer(path, ["info"])
    assert whole["snapshots"][0]["liveObjects"] > 0
    sentence = "many.hs: the browser has too little memory for this; the heapshot command reads it"
    seen = set()
    # 16 MB are there from the start; from a little more on up to what is enough.
    for pages in range(260, 2000, 60):
        result = in_node(path, ["root", 0], ["children", {"snapshot": 0, "id": 0, "kind": "heap"}],
                         ["export", 0, "heapsnapshot", os.path.join(directory, "x")], pages=pages)
        if result["error"] is None:
            break
        assert (result["error"]["name"], result["error"]["message"]) == ("ReaderError", sentence), (pages, result["error"])
        seen.add(len(result["answers"]))
    assert result["error"] is None and seen >= {0}, (seen, result)
    note("enough: %d MB" % (result["memoryBytes"] >> 20))


@test("more objects than memory could number, as a damaged file may claim")
def claims(directory):
    path = make(directory, "differs", 41)
    real, = answer(path, ["info"])
    objects = real["snapshots"][0]["objects"]
    # 4 bytes an object, and one object more, are 2^32, and 4 more.
    for claimed in ((1 << 30) - 1, 1 << 30, (1 << 30) + 1, (1 << 29), (1 << 31) - 2):
        path = make(directory, "differs", claimed - objects)
        report = run([HEAPSHOT, "report", "--json", "--max-size=" + REPORT_BYTES, "differs.hs"], cwd=directory)
        told = os.path.join(directory, "wasm.json")
        result = in_node(path, ["report", told])
        assert result["error"] is None, (claimed, result["error"])
        assert content(told) == report.out.encode(), claimed


# ---- In a worker ----

def in_worker(directory, path, **job):
    out = os.path.join(directory, "out")
    os.makedirs(out, exist_ok=True)
    result = in_chromium("worker.cjs", directory, panel=panel(), data=os.path.dirname(path), out=out,
                         name=os.path.basename(path), **job)
    assert result["wrong"] == [], result["wrong"]
    assert result["workers"] == 0, result
    return result


@test("in Chromium, in a worker, of a Blob: the same answers and exports")
def chromium(directory):
    panel()
    path = shutil.copy(events(), os.path.join(directory, "events.hs"))
    last = snapshots(path)[-1]
    _, files = native(directory, path, last["id"])
    place = len(snapshots(path)) - 1
    steps = [["info"], ["types", place], ["pathTypes", place], ["suspects", 0], ["events", 0], ["counters", 0],
             ["handles", place], ["root", place]]
    result = in_worker(directory, path, steps=steps + [["exportAs", place, each, "worker." + each] for each in files])
    assert "error" not in result, result["error"]
    assert result["answers"][:len(steps)] == answer(path, *steps)
    for each in files:
        assert content(os.path.join(directory, "out", "worker." + each)) == content(files[each]), each
    assert result["seen"]["reading"] > 0, result["seen"]
    text = os.path.join(directory, "text.hs")
    with open(text, "w") as file:
        file.write("once upon a time\n" * 100)
    told = run([HEAPSHOT, "report", "--json", "text.hs"], cwd=directory)
    assert in_worker(directory, text, steps=[])["error"] == {"name": "ReaderError", "message": said(told)}


@test("in Chromium: an aborted signal ends the worker at once; later calls begin anew; closed is closed")
def cancelled(directory):
    panel()
    path = make(directory, "many", 300000)
    told = in_worker(directory, path, what="cancel")
    assert (told["opening"], told["writing"], told["before"]) == ("AbortError",) * 3, told
    assert told["objects"] == told["again"] >= 300000, told
    assert told["closed"] == "the recording was closed", told


main()
