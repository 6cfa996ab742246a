# SPDX-License-Identifier: MIT
"""The panel in headless Chromium, with a real program in another tab; what it saves is read by the
native command line, and by the checkers of the formats.  What the tabs do stands in panel/*.cjs."""
import atexit

from browser import *
from wasm import *

sys.path.insert(0, os.path.join(HERE, "..", "export"))
import gcdump  # noqa: E402
import heapsnapshot  # noqa: E402
import mono_heap  # noqa: E402

MAKE = os.path.join(BUILD, "tests", "data", "make_recording")
CHECKS = {
    "take": "a runtime is listed, snapshots are taken, seen and compared; the leaking event is named",
    "counters": "counters over time",
    "handles": "references between C# and JavaScript, undisposed ones named, gone when they are disposed",
    "saved": "snapshots are saved in four formats",
    "cancelled": "a snapshot that is cancelled",
    "gone": "tabs that go, at rest and in the middle",
    "token": "a channel with a name and a token",
    "files": "files alone: broken ones, several, compared, dropped",
    "several": "two panels; the program and a panel are loaded anew",
    "statistics": "live statistics",
    "followed": "what a runtime records, followed",
    "disk": "opened from a disk, it says what to do",
    "keyboard": "all of it by keys alone",
    "layout": "800x600 and 1920x1080: all is in reach, and nothing jumps",
    "accessible": "axe finds nothing, light and dark, small and large",
    "policy": "the page may load nothing from elsewhere and run nothing else",
}


def synthetic(directory, variant):
    path = os.path.join(directory, variant + ".hs")
    done = run([MAKE, variant, path])
    assert done.status == 0, done.err
    return path


def read_json(*arguments):
    done = heapshot(*arguments, "--json")
    assert done.status == OK, done.err
    return json.loads(done.out)


def title(name, runtime):
    return "%s (.NET %s)" % (CHECKS[name], runtime)


@functools.lru_cache(None)
def answers(runtime):
    """All wanted checks with a program of RUNTIME, in one browser."""
    why = node_tools.missing("puppeteer-core", "axe-core", browser=True)
    if why:
        skip(why)
    folder = tempfile.mkdtemp(prefix="hs-panel.")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    files = {name: synthetic(folder, name) for name in ("good", "held", "none")}
    out = os.path.join(folder, "out")
    os.mkdir(out)
    wanted = [name for name in CHECKS if not sys.argv[1:] or any(word in title(name, runtime) for word in sys.argv[1:])]
    return in_chromium(
        os.path.join("panel", "run.cjs"), folder, timeout=1800, root=serve(folder, runtime, "--fast"), panel=panel_folder(), out=out,
        files=files, checks=wanted, nodeBytes=NODE_BYTES, isLong=IS_LONG,
        expected={"good": read_json("top", files["good"])["types"], "held": read_json("top", files["held"])["types"],
                  "diff": read_json("diff", files["good"] + "@3", files["held"])["types"]})


def saved(result):
    """What was saved, by the native command line and the checkers of the formats."""
    check_file(result["hs"])
    assert count_of(result["hs"], "T.Node") == 2000
    (line,) = all_reached(result["hs"])
    (snapshot,) = snapshots(result["hs"])
    assert snapshot["label"] == "to be saved", snapshot
    with open(result["mono-heap"], "rb") as file:
        heap = mono_heap.parse(file.read())
    assert len(heap.objects) == line["objects"], (len(heap.objects), line)
    nodes = {number for number, entry in heap.classes.items() if mono_heap.full_name(heap, entry) == "T.Node"}
    assert sum(kind in nodes for kind, _ in heap.objects.values()) == 2000
    with open(result["gcdump"], "rb") as file:
        dump = gcdump.parse(file.read())
    assert sum(dump.types[node.type][0] == "T.Node" for node in dump.nodes) == 2000
    with open(result["heapsnapshot"]) as file:
        nodes = heapsnapshot.parse(file.read())
    assert sum(node.name == "T.Node" for node in nodes) == 2000


def add(name, runtime):
    @test(title(name, runtime))
    def check(directory):
        if runtime != "10.0":
            long_only()
        need_chromium()
        answer = answers(runtime)[name]
        assert answer["error"] is None, answer["error"]
        if name == "saved":
            saved(answer["result"])
        note("%d ms" % answer["ms"])


for each_runtime in RUNTIMES:
    for each_name in CHECKS:
        add(each_name, each_runtime)
main()
