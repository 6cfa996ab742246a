# SPDX-License-Identifier: MIT
"""heapshot anonymize on recordings of real programs: nothing of the program's own is
left in the file, in any encoding, and everything but the names is."""
import collections
import functools
import os
import shutil
import subprocess
import sys

from harness import *

EVENTS = "events=gc+types+jit+methods+counters+threads,methods=code,strings=40"
READER = os.path.join(SOURCE, "tests", "format", "heapshot_reader.py")
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
with open(os.path.join(SOURCE, "schema", "heapshot.proto")) as file:
    TEXTS = set(re.findall(r"(?:string|bytes) (\w+) = ", file.read())) - {"data"}
# Words of C# for types.
KEYWORDS = set("void bool byte sbyte char short ushort int uint long ulong single double string object intptr "
               "uintptr".split())
# What compilers put into names of their own, which stays.
TAILS = ("c__AnonStorey", "c__Iterator", "c__DisplayClass", "k__BackingField", "f__AnonymousType")
# Threads of the runtime itself.
THREADS = ("Finalizer", "Main", "Timer-Scheduler", "Domain unloader")
# In names, all but identifiers.
STRUCTURE = re.compile(r"[^./+:<>\[\](),&*` ]+")


@functools.lru_cache(maxsize=4)
def records(path):
    result = heapshot("dump", path)
    assert result.status == OK, result.err
    return [json.loads(line) for line in result.out.splitlines()]


def objects(path):
    """All that is recorded of objects, roots and ephemerons, without names."""
    result = heapshot("dump", path, "--objects")
    assert result.status == OK, result.err
    found = []
    for record in map(json.loads, result.out.splitlines()):
        if record["record"] in ("object", "ephemeron"):
            found.append({key: value for key, value in record.items() if key != "type"})
        elif record["record"] == "root":
            found.append({key: value for key, value in record.items() if key != "name"})
    return found


def content(path):
    return subprocess.run(["lz4", "-dc", path], stdout=subprocess.PIPE, check=True).stdout


def texts(record):
    """All strings of a record, those in messages within it too."""
    for key, value in record.items():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield from texts(item)
            elif isinstance(item, str) and key in TEXTS:
                yield key, item


def record_kinds_of(path):
    """Of a ring that is being written."""
    return record_kinds(path) if os.path.exists(path) and heapshot("dump", path).status == OK else {}


def anonymized(path, *flags):
    out = path + ".anonymous"
    result = heapshot("anonymize", path, "-o", out, "--overwrite", *flags)
    assert result.status == OK and result.err == "", result.err
    check_file(out)
    return out


class Names:
    """What the program is called and calls things, and what everybody does."""
    def __init__(self, path, framework):
        rows = records(path)
        images = {r["id"]: r["name"] for r in rows if r["record"] == "image" and r["name"]}
        theirs = {number for number, name in images.items() if name in framework}
        types = {r["id"]: r for r in rows if r["record"] == "type"}
        own, common = set(), set(TAILS + THREADS)
        self.contents = set()
        for r in rows:
            kind = r["record"]
            if kind == "type":
                (common if r["image"] in theirs else own).add(r["name"])
            elif kind == "type_layout":
                is_theirs = types.get(r["type"], {}).get("image") in theirs
                (common if is_theirs else own).update(f["name"] for f in r["field"])
            elif kind == "jit_method":
                is_theirs = r["image"] in theirs and not r["wrapper"] and not r["is_dynamic"]
                (common if is_theirs else own).add(r["name"])
                own.add(r["signature"])
                common.add(r["wrapper"])
            elif kind == "string_batch":
                self.contents.update(s["text"] for s in r["string"])
            elif kind == "image":
                (common if r["name"] in framework else own).update((r["name"], r["file"]))
            elif kind in ("domain", "thread"):
                own.add(r["name"])
            elif kind == "header":
                own.update(r[key] for key in ("host_name", "command_line"))
                common.update(r[key] for key in ("writer", "runtime", "architecture", "system", "options"))
            else:
                common.update(text for _, text in texts(r))
        # Arguments of a framework's generic type are the program's.
        own |= {found for name in common for found in re.findall(r"(?<=\w)<.*>", name)}
        self.common = "\n".join(re.sub(r"(?<=\w)<.*>", "", name) for name in common)
        words = {word for name in own | self.contents for word in IDENTIFIER.findall(name)}
        everybody = set(IDENTIFIER.findall(self.common)) | {"dll", "exe"} | KEYWORDS
        self.words = {word for word in words if len(word) > 2 and word not in everybody and
                      not re.fullmatch(r"n\d+|[a-z]?_*\d*_*[0-9A-F]*|c__(AnonStorey|Iterator|DisplayClass)[0-9A-F_]+", word)}


def check_nothing_is_left(path, out, n_least):
    framework = {r["name"] for r in records(out) if r["record"] == "image"}
    names = Names(path, {name for name in framework if name.startswith(("System", "Mono.", "mscorlib"))})
    assert len(names.words) >= n_least, len(names.words)
    # As words of any text of the records,
    kept = {word for r in records(out) for _, text in texts(r) for word in IDENTIFIER.findall(text)}
    made = {word for word in kept if len(word) < 3}
    left = (names.words & kept) - made
    assert not left, sorted(left)[:20]
    # and as bytes of any part of the file, in one byte a letter or two; shorter ones would be met by chance.
    data = content(out)
    letters = set(re.findall(rb"[A-Za-z0-9_]{6,}", data))
    letters |= {found.replace(b"\0", b"") for found in re.findall(rb"(?:[A-Za-z0-9_]\0){6,}", data)}
    letters = b"\n".join(letters).decode().lower()
    common = names.common.lower()
    searched = [word for word in names.words if len(word) > 6 and word.lower() not in common]
    left = [word for word in searched if word.lower() in letters]
    assert len(searched) >= n_least // 4 and not left, (len(searched), left[:20])
    # Contents of strings as a whole, also those that are no words.
    for text in names.contents:
        if len(text) > 7 and any(word not in names.common for word in IDENTIFIER.findall(text) or [text]):
            assert text.encode() not in data and text.encode("utf-16-le") not in data, text
    return names


def check_shape(path, out):
    before, after = records(path), records(out)
    assert [r["record"] for r in before] == [r["record"] for r in after]
    assert [r["time_ns"] for r in before] == [r["time_ns"] for r in after]
    assert objects(path) == objects(out)
    assert snapshots(path) == snapshots(out)
    given, back = {}, {}
    for a, b in zip(before, after):
        if a["record"] == "type":
            key, value = (a["name"], a["image"]), (b["name"], b["image"])
            assert given.setdefault(key, value) == value and back.setdefault(value, key) == key, (key, value)
            if not re.search(r"[<.]<", a["name"]) and not a["name"].startswith("<"):
                assert STRUCTURE.sub("x", a["name"]) == STRUCTURE.sub("x", b["name"]), (a["name"], b["name"])
            if a["name"].startswith(a["name_space"] + "."):
                assert b["name"].startswith(b["name_space"] + "."), b
        # Numbers are the same but for hashes and what is said to be left out.
        for key, value in a.items():
            if isinstance(value, (int, float)) and key not in ("name_hash", "il_hash", "pid", "wall_start_unix_ns"):
                assert b[key] == value, (a["record"], key)
    # Counts, bytes and edges of each type.
    types = {(a["name"], a["image"]): (b["name"], b["image"]) for a, b in zip(before, after) if a["record"] == "type"}
    of_name = {a: b for (a, _), (b, _) in types.items()}
    rows = [collections.Counter(), collections.Counter()]
    for number, (name, mapped) in enumerate(((path, of_name), (out, None))):
        for row in top(name):
            rows[number][mapped.get(row["type"], row["type"]) if mapped else row["type"],
                         row["count"], row["bytes"], row["edges"]] += 1
    assert rows[0] == rows[1]


def record_several(directory, args, options=""):
    path = os.path.join(directory, "secret-place-%s.hs" % args.split()[0])
    recorded = mono(args, "output=%s,overwrite,quiet,snapshot=shutdown,%s%s" % (path, EVENTS, options), cwd=directory)
    assert recorded.status == 0 and recorded.err == "", recorded.err
    return path


@test("programs of all sorts: the shape stays, the names do not")
def programs(directory):
    for args, n_least in (("Generics.exe several", 20), ("Events.exe leak 500", 10), ("Domains.exe unload 3 100", 10),
                          ("Dynamic.exe methods 50", 10), ("Roots.exe workers 4", 10)):
        path = record_several(directory, args)
        out = anonymized(path)
        check_shape(path, out)
        check_nothing_is_left(path, out, n_least)


@test("a ring: the same events under other names, also of a program that was killed")
def ring(directory):
    path = os.path.join(directory, "a.hs")
    process = subprocess.Popen(["mono", "--profile=heapshot:output=%s,quiet,ring=1m,snapshot=none,%s" % (path, EVENTS),
                                compiled("Ring"), "events"], env=environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=directory)
    process.stdout.readline()
    wait_for("a ring with events", lambda: record_kinds_of(path + ".ring").get("marker", 0) > 20)
    end(process)
    listed = read_json("list", path + ".ring")
    out = os.path.join(directory, "b.hs")
    result = heapshot("anonymize", path + ".ring", "-o", out)
    assert result.status == OK, result.err
    after = read_json("list", out, status=(INCOMPLETE,))
    assert listed["ring"] and not after["ring"] and after["dropped_frames"] == listed["dropped_frames"]
    check_file(out, verify=(INCOMPLETE,))
    before = Names(path + ".ring", {"mscorlib"})
    assert "Piece" in before.words or "Round" in before.words, sorted(before.words)[:50]
    kept = {word for r in records(out) for _, text in texts(r) for word in IDENTIFIER.findall(text)}
    assert not before.words & kept, sorted(before.words & kept)[:20]
    assert [r["time_ns"] for r in records(out)] == [r["time_ns"] for r in records(path + ".ring")]


@test("a compiler: thousands of names")
def compiler(directory):
    long_only()
    mcs = "/usr/lib/mono/4.5/mcs.exe"
    if not os.path.exists(mcs):
        skip(mcs + " is not there")
    source = os.path.join(directory, "Small.cs")
    with open(source, "w") as file:
        file.write("class P { static void Main() { System.Console.WriteLine(1); } }")
    path = os.path.join(directory, "a.hs")
    result = run(["mono", "--profile=heapshot:output=%s,quiet,%s" % (path, EVENTS.replace("40", "16")), mcs, "-nologo", source], cwd=directory)
    assert result.status == 0, result.out + result.err
    out = anonymized(path)
    check_shape(path, out)
    check_nothing_is_left(path, out, 2000)


main()
