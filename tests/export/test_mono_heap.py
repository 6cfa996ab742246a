# SPDX-License-Identifier: MIT
"""heapshot export --format mono-heap: by a checker of the format that refuses what
its description does not allow, and by what the other commands say."""
import struct

import mono_heap

from exported import *

ALL = PROGRAMS + ("Arrays.exe lengths", "Handles.exe null 100", "Dynamic.exe collectible 50")
# A small heap by hand: two classes, three objects, a root of two kinds, a handle.
SMALL = {
    "CNTR": [("pstr f64", "snapshot/version", 1), ("pstr f64", "snapshot/num-strings", 6),
             ("pstr f64", "snapshot/num-objects", 3), ("pstr f64", "snapshot/num-refs", 3),
             ("pstr f64", "snapshot/num-roots", 2), ("pstr f64", "snapshot/num-classes", 3),
             ("pstr f64", "snapshot/num-assemblies", 1), ("pstr f64", "mono/Working Set", 4096.0)],
    "STBL": [("uleb pstr", 0, ""), ("uleb pstr", 1, "def"), ("uleb pstr", 2, "array"), ("uleb pstr", 3, "T"),
             ("uleb pstr", 4, "Node"), ("uleb pstr", 5, "normal")],
    "ASSM": [("u32 pstr", 7, "app")],
    "TYPE": [("u32 u32 u32 u32 uleb uleb uleb uleb uleb", 1, 0, 0, 7, 0, 1, 3, 4, 0),
             ("u32 u32 u32 u32 uleb uleb uleb uleb uleb", 2, 1, 0, 7, 2, 2, 3, 4, 0),
             ("u32 u32 u32 u32 uleb uleb uleb uleb uleb", 3, 0, 1, 0, 0, 1, 0, 4, 0)],
    "OBJH": [("u32 u32 uleb", 100, 1, 24), ("u32 u32 uleb", 200, 2, 300), ("u32 u32 uleb", 300, 3, 0)],
    "REFS": [("u32 uleb u32 u32", 100, 2, 200, 100), ("u32 uleb u32", 200, 1, 300)],
    "ROOT": [("uleb uleb u32 u32", 5, 1, 100, 100), ("uleb uleb u32 u32", 3, 1, 7000, 200)],
    "GCHL": [("uleb u32", 5, 100)],
}


def uleb(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytearray([value]))


def encode(record):
    """A record from a description of its parts and their values; bytes stay as they are."""
    if isinstance(record, bytes):
        return record
    out = b""
    for part, value in zip(record[0].split(), record[1:]):
        if part == "u32":
            out += struct.pack("<I", value)
        elif part == "f64":
            out += struct.pack("<d", value)
        elif part == "uleb":
            out += uleb(value)
        else:
            out += uleb(len(value.encode())) + value.encode()
    return out


def build(content):
    """A file of the chunks of CONTENT, a dictionary or a list of pairs."""
    out = b""
    for name, records in content.items() if isinstance(content, dict) else content:
        payload = b"".join(map(encode, records))
        out += name.encode() + struct.pack("<I", len(payload)) + payload
    return out


def changed(chunk, place, *record, more=()):
    """SMALL with a record replaced (place beyond the last: added), and others too."""
    content = {name: list(records) for name, records in SMALL.items()}
    for name, index, *values in [(chunk, place, *record), *more]:
        values = values[0] if isinstance(values[0], bytes) else tuple(values)
        if index < len(content[name]):
            content[name][index] = values
        else:
            content[name].append(values)
    return build(content)


def refused(data):
    """Why the checker refuses DATA."""
    try:
        mono_heap.parse(data)
    except mono_heap.Refused as why:
        return str(why)
    raise AssertionError("the checker takes it")


COUNT = "pstr f64"
CLASS = "u32 u32 u32 u32 uleb uleb uleb uleb uleb"
MISTAKES = [
    ("version", changed("CNTR", 0, COUNT, "snapshot/version", 2)),
    ("but the counter", changed("CNTR", 1, COUNT, "snapshot/num-strings", 5)),
    ("but the counter", changed("CNTR", 2, COUNT, "snapshot/num-objects", 4)),
    ("but the counter", changed("CNTR", 3, COUNT, "snapshot/num-refs", 2)),
    ("but the counter", changed("CNTR", 4, COUNT, "snapshot/num-roots", 3)),
    ("but the counter", changed("CNTR", 5, COUNT, "snapshot/num-classes", 2)),
    ("but the counter", changed("CNTR", 6, COUNT, "snapshot/num-assemblies", 0)),
    ("no counter num-objects", changed("CNTR", 2, b"")),
    ("twice", changed("CNTR", 7, COUNT, "snapshot/version", 1)),
    ("no number", changed("CNTR", 7, COUNT, "mono/x", float("nan"))),
    ("counter", changed("CNTR", 7, COUNT, "snapshot/more", 1)),
    ("counter", changed("CNTR", 7, COUNT, "x", 1)),
    ("no string 0", changed("STBL", 0, b"")),
    ("string 0 is", changed("STBL", 0, "uleb pstr", 0, "x")),
    ("twice", changed("STBL", 5, "uleb pstr", 4, "normal")),
    ("UTF-8", changed("STBL", 5, b"\5\1\xff")),
    ("behind its chunk", changed("STBL", 5, b"\5\7normal")),
    ("more than 32 bits", changed("STBL", 5, b"\xff\xff\xff\xff\xff\1\0")),
    ("longer than it must be", changed("STBL", 5, b"\x85\0\6normal")),
    ("assembly 0", changed("ASSM", 0, "u32 pstr", 0, "app")),
    ("twice", changed("ASSM", 1, "u32 pstr", 7, "other")),
    ("no name", changed("ASSM", 0, "u32 pstr", 7, "")),
    ("class 1 is there twice", changed("TYPE", 2, CLASS, 1, 0, 0, 0, 0, 1, 0, 4, 0)),
    ("class 0", changed("TYPE", 2, CLASS, 0, 0, 0, 0, 0, 1, 0, 4, 0)),
    ("of element", changed("TYPE", 1, CLASS, 2, 9, 0, 7, 2, 2, 3, 4, 0)),
    ("in class", changed("TYPE", 2, CLASS, 3, 0, 9, 0, 0, 1, 0, 4, 0)),
    ("nested in itself", changed("TYPE", 2, CLASS, 3, 0, 3, 0, 0, 1, 0, 4, 0)),
    ("of assembly", changed("TYPE", 0, CLASS, 1, 0, 0, 8, 0, 1, 3, 4, 0)),
    ("has rank 0", changed("TYPE", 1, CLASS, 2, 1, 0, 7, 0, 2, 3, 4, 0)),
    ("has rank 1", changed("TYPE", 0, CLASS, 1, 0, 0, 7, 1, 1, 3, 4, 0)),
    ("of kind", changed("TYPE", 0, CLASS, 1, 0, 0, 7, 0, 4, 3, 4, 0)),
    ("no string 9", changed("TYPE", 0, CLASS, 1, 0, 0, 7, 0, 1, 3, 9, 0)),
    ("has arguments", changed("TYPE", 0, CLASS + " u32", 1, 0, 0, 7, 0, 1, 3, 4, 1, 2)),
    ("has argument 9", changed("TYPE", 1, CLASS + " u32", 2, 1, 0, 7, 2, 2, 3, 4, 1, 9)),
    ("behind its chunk", changed("TYPE", 2, CLASS, 3, 0, 1, 0, 0, 1, 0, 4, 1)),
    ("object 0", changed("OBJH", 2, "u32 u32 uleb", 0, 3, 0)),
    ("object 100 is there twice", changed("OBJH", 2, "u32 u32 uleb", 100, 3, 0)),
    ("of class", changed("OBJH", 2, "u32 u32 uleb", 300, 4, 0)),
    ("bytes", changed("OBJH", 2, "u32 u32 uleb", 300, 3, 1 << 31)),
    ("objects of class 1", changed("OBJH", 0, "u32 u32 uleb", 100, 1, (1 << 31) - 1, more=[
        ("OBJH", 1, "u32 u32 uleb", 200, 1, (1 << 31) - 1), ("OBJH", 2, "u32 u32 uleb", 300, 1, 2)])),
    ("references of", changed("REFS", 1, "u32 uleb u32", 201, 1, 300)),
    ("a reference to", changed("REFS", 1, "u32 uleb u32", 200, 1, 301)),
    ("a reference to", changed("REFS", 1, "u32 uleb u32", 200, 1, 0)),
    ("0 references", changed("REFS", 1, "u32 uleb", 200, 0)),
    ("129 references", changed("REFS", 1, b"\xc8\0\0\0" + uleb(129) + struct.pack("<I", 300) * 129)),
    ("behind its chunk", changed("REFS", 1, "u32 uleb u32", 200, 2, 300)),
    ("no string", changed("ROOT", 1, "uleb uleb u32 u32", 6, 1, 7000, 200)),
    ("of no kind", changed("ROOT", 1, "uleb uleb u32 u32", 0, 1, 7000, 200)),
    ("no roots", changed("ROOT", 1, "uleb uleb", 3, 0)),
    ("a root to", changed("ROOT", 1, "uleb uleb u32 u32", 3, 1, 7000, 201)),
    ("a root at", changed("ROOT", 1, "uleb uleb u32 u32", 3, 1, 300, 200)),
    ("a root at", changed("ROOT", 1, "uleb uleb u32 u32", 3, 1, 0, 200)),
    ("finalizer queue", changed("OBJH", 2, "u32 u32 uleb", 2, 3, 0, more=[("REFS", 1, "u32 uleb u32", 200, 1, 2)])),
    ("a handle of type", changed("GCHL", 0, "uleb u32", 1, 100)),
    ("a handle to", changed("GCHL", 0, "uleb u32", 5, 101)),
    ("the first chunk", build(dict(reversed(list(SMALL.items()))))),
    ("two chunks STBL", build([*SMALL.items(), ("STBL", [])])),
    ("two chunks CNTR", build([*SMALL.items(), ("CNTR", [])])),
    ("a chunk", build([*SMALL.items(), ("XXXX", [])])),
    ("head of a chunk", build(SMALL) + b"GC"),
    ("the file ends in chunk", build(SMALL) + b"JSOB\1\0\0\0"),
    ("proxy 5", build([*SMALL.items(), ("CSOB", [("u32 uleb uleb", 5, 1, 1), ("u32 uleb uleb", 5, 1, 1)])])),
    ("proxy 0", build([*SMALL.items(), ("JSOB", [("u32 uleb uleb", 0, 1, 1)])])),
]


@test("the checker takes a file made by hand, and refuses it with any of its mistakes")
def checker(directory):
    heap = mono_heap.parse(build(SMALL))
    assert heap.objects == {100: (1, 24), 200: (2, 300), 300: (3, 0)} and heap.references[100] == [200, 100]
    assert [mono_heap.full_name(heap, entry) for entry in heap.classes.values()] == \
        ["T.Node", "T.Node[,]", "T.Node.Node"]
    mono_heap.parse(build([*SMALL.items(), ("CSOB", [("u32 uleb uleb", 5, 1, 1)])]))
    for why, data in MISTAKES:
        assert why in refused(data), (why, refused(data))
    for name in mono_heap.REQUIRED[1:]:
        assert "no chunk" in refused(build({key: SMALL[key] for key in SMALL if key != name})), name


@test("the checker refuses what we wrote once a byte of it is gone or another")
def damaged(directory):
    with open(export(directory, "mono-heap", synthetic("small")), "rb") as file:
        data = file.read()
    whole = mono_heap.parse(data)
    for n in range(len(data)):
        # Between two chunks that need not be there it is a whole file of less.
        try:
            assert mono_heap.parse(data[:n]).handles != whole.handles or n == data.index(b"GCHL"), n
        except mono_heap.Refused:
            pass
    n_refused = 0
    for n in range(len(data)):
        try:
            assert mono_heap.parse(data[:n] + bytes([data[n] ^ 1]) + data[n + 1:]) != whole, n
        except mono_heap.Refused:
            n_refused += 1
    # What is left are values that could be others: sizes, letters of names, addresses of roots.
    assert n_refused > len(data) / 3, (n_refused, len(data))


# ---- what we write --------------------------------------------------------------

def dumped(directory, source):
    with open(export(directory, "mono-heap", source), "rb") as file:
        return mono_heap.parse(file.read())


def addresses(heap):
    """{id: address}, as the counters tell."""
    base, unit = heap.counters["heapshot/address-base"], heap.counters["heapshot/address-unit"]
    assert unit > 0
    return {key: int(base) + key * int(unit) for key in heap.objects}


def rows_of(source, *records):
    number = snapshots(source)[-1]["id"]
    rows = [json.loads(line) for line in heapshot("dump", source, "--objects", "--snapshot", str(number)).out.splitlines()]
    return [row for row in rows if row["record"] in records]


@test("objects and bytes by type and assembly are those of top")
def totals(directory):
    compiled("Sizes")
    sources = [recorded(args) for args in ALL + ("Sizes.exe",)] + ["%s@%d" % (synthetic("good"), n) for n in (1, 2, 3)]
    for source in sources + [synthetic("held"), synthetic("round"), synthetic("unknown")]:
        heap, seen = dumped(directory, source), {}
        for kind, size in heap.objects.values():
            entry = heap.classes[kind]
            key = (mono_heap.full_name(heap, entry), heap.assemblies.get(entry.assembly, ""))
            seen[key] = (seen.get(key, (0, 0))[0] + 1, seen.get(key, (0, 0))[1] + size)
        path, _, number = source.partition("@")
        expected = add_counts([dict(row, key=(row["type"], row["assembly"])) for row in top(path, number or "last")],
                              "key", "count", "bytes")
        assert seen == expected, (source, set(seen.items()) ^ set(expected.items()))


@test("references are those of dump --objects, ephemerons lead from the key to the value")
def references(directory):
    for args in ("Ephemerons.exe links 50", "Arrays.exe holes 1000", "Domains.exe alive 2 100", "Events.exe leak 500",
                 "Generics.exe several", "Weak.exe alive 100"):
        source = recorded(args)
        heap, expected, values = dumped(directory, source), {}, {}
        at = addresses(heap)
        for row in rows_of(source, "object", "ephemeron"):
            if row["record"] == "object":
                expected.setdefault(row["address"], []).extend(edge["target"] for edge in row["references"])
            else:
                values.setdefault(row["key"], []).append(row["value"])
        assert sorted(at.values()) == sorted(expected), args
        for key, address in at.items():
            seen = [at[target] for target in heap.references.get(key, [])]
            n = len(expected[address])
            assert seen[:n] == expected[address], (args, hex(address))
            assert sorted(seen[n:]) == sorted(values.get(address, [])), (args, hex(address))
        assert args[:3] != "Eph" or len(values) >= 50, len(values)


@test("roots by kind are those of roots, handles by type too")
def root_kinds(directory):
    for args in ALL:
        source = recorded(args)
        heap = dumped(directory, source)
        seen = {}
        for kind, address, target in heap.roots:
            seen[kind] = seen.get(kind, 0) + 1
            assert address == target
        rows = roots(source)
        assert seen == {kind: n for kind, (n,) in add_counts(rows, "kind", "count").items()}, (args, seen)
        at = addresses(heap)
        objects = {address: heap.objects[key][0] for key, address in at.items()}
        held = {}
        for kind, _, target in heap.roots:
            key = (kind, mono_heap.full_name(heap, heap.classes[objects[at[target]]]))
            held[key] = held.get(key, 0) + 1
        assert held == {key: n for key, (n,) in add_counts(
            [dict(row, key=(row["kind"], row["type"])) for row in rows], "key", "count").items()}, args
        handles = {}
        for kind, _ in heap.handles:
            handles[kind] = handles.get(kind, 0) + 1
        assert handles == {name: n for name, (n,) in add_counts(
            [row for row in rows if row["kind"] == "gc_handle"], "name", "count").items()}, (args, handles)
    heap = dumped(directory, recorded("Handles.exe kinds 100"))
    kinds = [kind for kind, target in heap.handles if heap.classes[heap.objects[target][0]].name in ("ByNormal", "ByPinned")]
    assert kinds.count("normal") == kinds.count("pinned") == 100, kinds
    # Words of the runtime's own stay as they are.
    assert "marshal cache" in {kind for kind, _, _ in dumped(directory, synthetic("good")).roots}


@test("types have their namespace, assembly, kind, rank and element")
def details(directory):
    for name in ("Sizes", "Names"):
        compiled(name)
    for args in ("Sizes.exe", "Names.exe", "Generics.exe several", "Events.exe leak 500"):
        source = recorded(args)
        heap = dumped(directory, source)
        types = {}
        for line in heapshot("dump", source).out.splitlines():
            row = json.loads(line)
            if row["record"] == "type":
                types[row["id"]] = row
        by_name = {}
        for row in types.values():
            by_name.setdefault(row["name"], row)
        kinds = set()
        for entry in heap.classes.values():
            row = by_name[mono_heap.full_name(heap, entry)]
            kinds.add(entry.kind)
            assert entry.space == row["name_space"], (entry, row)
            # Brackets of another lower bound are none that viewers could write.
            is_array = row["kind"] == "array" and not row["name"].endswith("[*]")
            assert entry.rank == (row["rank"] if is_array else 0), (entry, row)
            assert (entry.kind == "array") == is_array, (entry, row)
            assert (entry.kind == "unknown") == (row["kind"] == "array" and not is_array), (entry, row)
            assert (entry.kind == "ginst") == (row["generic_definition"] != 0), (entry, row)
            assert (entry.element != 0) == (row["kind"] == "array"), (entry, row)
            if entry.element:
                element = heap.classes[entry.element]
                assert mono_heap.full_name(heap, element) == types[row["element"]]["name"], (entry, element, row)
            assert entry.assembly, entry
        assert kinds <= {"def", "ginst", "array", "pointer"} | ({"unknown"} if args == "Sizes.exe" else set()), kinds
        names = {mono_heap.full_name(heap, entry): entry for entry in heap.classes.values()}
        if args.startswith("Sizes"):
            assert [names["System.Int32" + tail].rank for tail in ("[]", "[,]", "[,,]", "[][]")] == [1, 2, 3, 1]
            assert names["System.Int32[][]"].name == "Int32[]"
        if args.startswith("Generics"):
            assert names["T.Box<System.String>"].kind == "ginst" and names["T.Outer.Inner"].kind == "def"


@test("counters are those of the last sample before the snapshot's end")
def counters(directory):
    source = recorded("Events.exe leak 500")
    heap, last = dumped(directory, source), snapshots(source)[-1]
    names, values = {}, {}
    for line in heapshot("dump", source).out.splitlines():
        row = json.loads(line)
        if row["record"] == "counter":
            names[row["id"]] = row["name"]
        elif row["record"] == "snapshot_end" and row["id"] == last["id"]:
            capacity = row["heap_bytes"]
            break
        elif row["record"] == "counter_sample":
            for value in row["value"]:
                values[value["counter"]] = next((value[key] for key in value if key.endswith("_value")), None)
    expected = {"mono/" + names[key]: float(value) for key, value in values.items() if not isinstance(value, str)}
    seen = {name: value for name, value in heap.counters.items() if name.startswith("mono/")}
    assert len(seen) > 50 and "mono/Working Set" in seen, sorted(seen)
    assert seen == expected, set(seen.items()) ^ set(expected.items())
    assert heap.counters["sgen/heap-capacity"] == capacity > 0
    assert dumped(directory, synthetic("good") + "@1").counters["mono/Working Set"] == -5


@test("ids are words of the heap, addresses where they fit, else numbers; the same in every file")
def ids(directory):
    heap = dumped(directory, synthetic("apart", str(64)))
    assert heap.counters["heapshot/address-unit"] == 8
    assert sorted(heap.objects) == [16 + 8 * i for i in range(5)], sorted(heap.objects)
    low = dumped(directory, synthetic("low"))
    assert low.counters["heapshot/address-unit"] == 1 and low.counters["heapshot/address-base"] == 0
    assert sorted(low.objects) == [0x10000 + 64 * i for i in range(5)], sorted(low.objects)
    # 32 GB in all, and a word more.
    most = ((1 << 32) - 1 - 16) * 8 // 4
    last = dumped(directory, synthetic("apart", str(most // 8 * 8)))
    assert last.counters["heapshot/address-unit"] == 8 and max(last.objects) > 0xFFFFFFF0, last.objects
    far = dumped(directory, synthetic("apart", str(most // 8 * 8 + 8)))
    assert far.counters["heapshot/address-unit"] == 0
    assert sorted(far.objects) == list(range(16, 21)), sorted(far.objects)
    for heap in (low, last, far):
        order = sorted(heap.objects)
        assert [heap.references.get(key) for key in order] == [[key] for key in order[1:]] + [None]
    source = recorded("Events.exe leak 500")
    with open(export(directory, "mono-heap", source), "rb") as file:
        first = file.read()
    with open(export(directory, "mono-heap", source), "rb") as file:
        assert file.read() == first


@test("standard output gets the same bytes; progress is for terminals")
def stream(directory):
    mono_heap.parse(assert_streams(directory, "mono-heap", synthetic("good")))


@test("names that are no valid text become valid text; objects that nothing holds are there")
def hostile(directory):
    heap = dumped(directory, synthetic("hostile-names"))
    assert {mono_heap.full_name(heap, entry) for entry in heap.classes.values()} == \
        {row["type"] for row in top(synthetic("hostile-names"))}
    with open(export(directory, "mono-heap", synthetic("inconsistent"), status=INCOMPLETE), "rb") as file:
        heap = mono_heap.parse(file.read())
    assert heap.counters["heapshot/dropped-refs"] == 1 and heap.counters["heapshot/dropped-roots"] == 1
    assert not heap.roots and len(heap.objects) == 3


def refusal(directory, source, *words):
    result = heapshot("export", "--format", "mono-heap", "-o", directory + "/out", source)
    assert result.status == IO, (result.status, result.err)
    assert_lines(result.err, 1, "format mono-heap has no room", *words)
    assert os.listdir(directory) == []


@test("objects of 2 GB, and more than 4 GB in all, are refused in one line")
def limits(directory):
    refusal(directory, synthetic("huge"), "an object of", "2^31 - 1")
    refusal(directory, synthetic("wide", str(1 << 31)), "an object of 2147483648 bytes", "2^31 - 1")
    refusal(directory, synthetic("wide", str(1 << 30)), "objects take 5368709120 bytes", "2^32 - 1")
    heap = dumped(directory, synthetic("wide", str((1 << 32) // 5)))
    assert sum(size for _, size in heap.objects.values()) == (1 << 32) // 5 * 5


@test("what JavaScript and the runtime hold of each other")
def javascript(directory):
    heap = dumped(directory, synthetic("handles"))
    # A type that is not known has a word, too; negative numbers are those of 32 bits.
    assert heap[-2:] == ({22: ("object", "Customer"), 24: ("object", "Customer"), 26: ("function", ""), 28: ("object", "Customer")},
                         {1: ("object", "Promise"), 2: ("unknown", ""), 0xFFFFFFFD: ("object", "Array")}), heap[-2:]
    assert len(dumped(directory, synthetic("handles", "5000"))[-2]) == 5004
    assert dumped(directory, synthetic("held"))[-2:] == ({}, {})


check_refusals("mono-heap", can_stream=True)
main()
