# SPDX-License-Identifier: MIT
"""The page of `heapshot report` in headless Chromium, used by pointer and keys; what it
shows is what the other commands print. The checks are in checks.cjs."""
import atexit
import random
import sys
import os

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mono"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "node-tools"))
from harness import *  # noqa: E402,F403
import node_tools  # noqa: E402

MAKE = os.path.join(BUILD, "tests", "data", "make_recording")
HERE = os.path.dirname(os.path.abspath(__file__))
FOLDER = tempfile.mkdtemp(prefix="hs-report.")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

CHECKS = {
    "summary": "the summary names T.Pub.Ev, and has the suspects of leaks",
    "types": "types are those of top --retained, sorted by each column, searched",
    "treemap": "the treemap's areas are retained sizes; in and out by clicks",
    "flame": "the flame graph's widths are retained sizes; in and out by clicks",
    "paths": "paths are those of path",
    "diff": "any two snapshots are compared as by diff",
    "timeline": "the time line has the collections of events, and marks that choose snapshots",
    "counters": "counters as lines, as a table, chosen by keys",
    "handles": "handles by type and one by one, with their change",
    "references": "the summary names undisposed references",
    "snapshots": "another snapshot changes all views; back goes back",
    "twoFiles": "two recordings in one page, compared with each other",
    "oneSnapshot": "one snapshot: what cannot be compared is said",
    "noSnapshot": "a recording without snapshots and a ring: the time line alone",
    "damaged": "damaged recordings and statistics: what is there, with notes",
    "hostile": "hostile names are text",
    "policy": "the page may load nothing and run nothing else",
    "large": "3,000 types and 20,000 nodes",
    "keyboard": "all of it by keys alone",
    "layout": "800x600 and 1920x1080: all is in reach, and nothing jumps",
    "colours": "one type has one colour",
    "contrast": "text in boxes has a contrast of 4.5 at least, light and dark",
    "accessible": "axe finds nothing, light and dark, small and large",
}


def report(name, *arguments, status=(OK,)):
    out = os.path.join(FOLDER, name + ".html")
    result = heapshot("report", "-o", out, *arguments)
    assert result.status in status, "status %d: %s" % (result.status, result.err)
    return out


def synthetic(variant, *arguments):
    path = os.path.join(FOLDER, variant + ".hs")
    result = run([MAKE, variant, path, *arguments])
    assert result.status == 0, result.err
    return path


def hostile_page():
    """A page of names that would be markup, if they were not data."""
    data = json.loads(heapshot("report", "--json", synthetic("held")).out)
    names = ["</script><img src=x onerror=\"window.touched=1;alert(1)\">", "<!--<script>window.touched=1</script>",
             "\"><svg onload=alert(1)>", "'; alert(1); //", "]]><b>", "&lt;b&gt;", "javascript:alert(1)", "\u2028\u2029\u202e",
             "__proto__", "constructor"]
    words = [name for name in data["names"] if not name.startswith("(") and name != "heap"]
    hostile = dict(zip(words, names * 3))
    data["names"] = [hostile.get(name, name.replace("T.Pub", "<img src=x onerror=alert(1)>")) for name in data["names"]]
    recorded = data["recordings"][0]
    for key in ("file", "command_line", "runtime", "system", "host", "options"):
        recorded[key] = names[0]
    recorded["notes"] = names
    data["snapshots"][0]["label"] = names[0]
    return with_data("hostile", data)


def with_data(name, data):
    """A page with other data, escaped as the writer does it."""
    with open(report("plain-" + name, synthetic("held"))) as file:
        page = file.read()
    text = json.dumps(data)
    for sign in "<>&":
        text = text.replace(sign, "\\u%04x" % ord(sign))
    before, rest = page.split('id="data">\n')
    out = os.path.join(FOLDER, name + ".html")
    with open(out, "w") as file:
        file.write(before + 'id="data">\n' + text + rest[rest.index("\n</script>"):])
    return out


def large_page():
    """3,000 types and a tree of 20,000 nodes, from a fixed seed."""
    data = json.loads(heapshot("report", "--json", synthetic("held")).out)
    choice = random.Random(4711)
    names = ["heap"] + ["Company.Product.Area%d.Type%d<System.String>" % (i % 40, i) for i in range(3000)] + ["app"]
    sizes = sorted((choice.randrange(1000, 10 ** 8) for _ in range(3000)), reverse=True)
    snapshot = data["snapshots"][0]
    snapshot["types"] = {"type": list(range(3000)), "count": [1 + size // 1000 for size in sizes], "bytes": sizes,
                         "retained": sizes, "other": {"types": 0, "count": 0, "bytes": 0}}
    tree = {key: [0] for key in ("parent", "name", "objects", "bytes", "all_objects", "retained")}
    tree["retained"][0] = 10 ** 9
    room = [10 ** 9]
    while len(tree["parent"]) < 20000:
        parent = choice.randrange(max(0, len(room) // 50), len(room))
        size = room[parent] * choice.randrange(1, 40) // 100
        if size < 100:
            parent, size = 0, max(1, room[0] // 2000)
        room[parent] -= size
        room.append(size * 9 // 10)
        for key, value in (("parent", parent), ("name", choice.randrange(1, 3001)), ("objects", 1), ("bytes", size // 20),
                           ("all_objects", 1), ("retained", size)):
            tree[key].append(value)
    snapshot["tree"] = tree
    snapshot["paths"] = []
    data["types"] = {"name": list(range(1, 3001)), "assembly": [3001] * 3000}
    data["names"] = names
    return with_data("large", data)


def interop_page():
    """A page with counters and tables of references, as recordings of a browser have them."""
    data = json.loads(heapshot("report", "--json", synthetic("good")).out)
    first, last = data["snapshots"][0], data["snapshots"][-1]
    names = [data["names"][data["types"]["name"][number]] for number in last["types"]["type"]]
    shown = [data["names"][data["types"]["name"][number]] for number in first["types"]["type"]]
    name = next(name for name in names if name in shown and not name.startswith("System."))
    end_ns = max([4 * 10 ** 9, data["recordings"][0]["summary"]["duration_ns"]] +
                 [mark["time_ns"] for mark in data["recordings"][0]["snapshots"]])
    times = [10 ** 9, 2 * 10 ** 9, 4 * 10 ** 9]

    def counter(name, unit, values, wanted, text):
        return {"name": name, "section": "memory", "unit": unit, "time_ns": times, "value": values, "wanted": wanted, "text": text}

    def entry(handle, js_type, js_name, type=None, object=None, retained=None, count=1):
        return {"handle": handle, "js_type": js_type, "js_name": js_name, "type": type, "object": object,
                "retained": retained, "count": count}

    def table(name, *entries, escaped=0, released=0, collected=0, note=None):
        return {"name": name, "title": None, "escaped": escaped, "released": released, "collected": collected,
                "note": note, "entries": list(entries)}
    counters = [counter("Linear memory", "bytes", [33554432, 33554432, 67108864], True, "64.0 MB"),
                counter("Memory taken", "bytes", [20 << 20, 30 << 20, 60 << 20], True, "60.0 MB"),
                counter("Malloc free", "bytes", [0, 1024, 2048], False, "2.00 KB"),
                counter("Traces", "count", [0, 5, 7], False, "7")]
    foo = ("object", "ManagedObject", name, "0x1000", 4000)
    handles = [table("js_proxy", entry(38, *foo, count=999), entry(46, *foo), *(entry(n, "function", "i") for n in (54, 62, 70)),
                     escaped=7, released=40, collected=2, note="By WeakMap"),
               table("js_object", entry(1, "object", "rn"), entry(2, "object", "rn")),
               table("js_object_reference", entry(5, "object", "Chart", count=60))]
    first["handles"] = [table("js_proxy", entry(38, "object", "ManagedObject", name, count=100))]
    last["handles"] = handles
    data["recordings"][0]["counters"] = [{key: value for key, value in row.items() if key not in ("wanted", "text")} for row in counters]
    return with_data("interop", data), {"counters": counters, "handles": handles, "type": name, "endNs": end_ns}


def has_counters(path, status=(OK,)):
    result = heapshot("report", "--json", path)
    assert result.status in status, result.err
    return any(counter["time_ns"] for counter in json.loads(result.out)["recordings"][0]["counters"] or [])


def events_expected(source):
    ids = [snapshot["id"] for snapshot in complete_snapshots(source)]
    at = [("%s@%d" % (source, number)) for number in ids]
    assert len(ids) >= 4, ids
    leaks = read_json("leaks", source, "--limit", "20")

    def types(snapshot):
        return read_json("top", snapshot, "--retained")["types"]
    return {
        "ids": ids, "leaks": leaks, "top": types(at[-1]), "retained": read_json("retained", at[-1]),
        "first": {row["type"] + " " + (row["assembly"] or "-"): row["bytes"] for row in types(at[0])},
        "firstLive": read_json("retained", at[0])["live"]["bytes"],
        "paths": read_json("path", at[-1], "T.Handler"),
        "diff": read_json("diff", at[0], at[-1], "--retained"),
        "diffMiddle": read_json("diff", at[1], at[-2], "--retained"),
        "events": read_json("events", source), "list": read_json("list", source),
    }


def make_job():
    source = os.path.join(FOLDER, "events.hs")
    result = mono("Events.exe leak 4000", "output=%s,snapshot=gc+2gc,quiet" % source, cwd=FOLDER, timeout=60)
    assert result.status == 0, result.err
    ring = os.path.join(FOLDER, "ring.hs")
    result = mono("Events.exe leak 500", "output=%s,ring=1m,snapshot=none,quiet" % ring, cwd=FOLDER, timeout=60)
    assert result.status == 0, result.err
    good = synthetic("good")
    with open(good, "rb") as file:
        damaged = bytearray(file.read())
    damaged[len(damaged) // 3] ^= 0x55
    bad = os.path.join(FOLDER, "bad.hs")
    with open(bad, "wb") as file:
        file.write(damaged)
    stats = synthetic("stats")
    interop, expected_interop = interop_page()
    number = next(s["id"] for s in snapshots(stats) if heapshot("retained", "%s@%d" % (stats, s["id"])).status == NOT_FOUND)
    return {
        "pages": {
            "events": report("events", "--all", source), "held": report("held", synthetic("held")),
            "both": report("both", synthetic("held"), good),
            "none": report("none", synthetic("none"), status=(OK, INCOMPLETE)), "ring": report("ring", ring + ".ring"),
            "damaged": report("damaged", bad, status=(OK, DAMAGED, INCOMPLETE)),
            "stats": report("stats", "%s@%d" % (stats, number)),
            "hostile": hostile_page(), "large": large_page(), "interop": interop,
        },
        "expected": {"events": events_expected(source), "interop": expected_interop,
                     "hasCounters": {"none": has_counters(synthetic("none"), (OK, INCOMPLETE)), "ring": has_counters(ring + ".ring")},
                     "both": read_json("diff", synthetic("held") + "@1", good + "@3", "--retained")},
        "isLong": IS_LONG, "profile": os.path.join(FOLDER, "profile"), "pid": os.path.join(FOLDER, "pid"),
    }




def main_page():
    reason = node_tools.missing("puppeteer-core", "axe-core", browser=True)
    if shutil.which("mono") is None:
        reason = "mono is not installed"
    if reason is None and not os.path.exists(os.path.join(CASES, "Events.exe")):
        reason = "Events.exe is not built (mcs is missing)"
    wanted = [name for name in CHECKS if not sys.argv[1:] or name in sys.argv[1:]]
    if reason is not None:
        say("1..0 # SKIP " + reason)
        return
    say("1..%d" % len(wanted))
    job = make_job()
    job["checks"] = wanted
    path = os.path.join(FOLDER, "job.json")
    with open(path, "w") as file:
        json.dump(job, file)
    try:
        result = run(["node", os.path.join(HERE, "page.cjs"), path], env=node_tools.environment(FOLDER), timeout=900)
    finally:
        node_tools.end_browser(job["pid"], FOLDER)
    found = {}
    for line in result.out.splitlines():
        match = re.match(r"(ok|not ok) (\w+)(?:: (.*))?$", line)
        if match:
            found[match.group(2)] = match.group(1), match.group(3) or ""
    for number, name in enumerate(wanted, 1):
        state, why = found.get(name, ("not ok", "it was not reached: " + result.err[-1000:] + result.out[-1000:]))
        say("%s %d - %s: %s" % (state, number, name, CHECKS[name]))
        note(why)


main_page()
