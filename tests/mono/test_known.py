# SPDX-License-Identifier: MIT
"""What is recorded against what the program itself says of its objects, fields,
roots and handles (tests/mono/Known.cs)."""
import os

from harness import *

WORD = 8
HEADER = 2 * WORD
ARRAY_HEADER = 4 * WORD
# A string's length, and its zero at the end.
STRING_BYTES = HEADER + 4 + 2


def run_known(directory, args, options, **how):
    path = os.path.join(directory, "a.hs")
    command = ["mono", "--profile=heapshot:output=%s,quiet,%s" % (path, options), compiled("Known")]
    result = run(command + args.split(), cwd=directory, timeout=60, **how)
    assert result.status == 0 and result.err == "" and result.out.endswith("done\n"), result.out + result.err
    check_file(path)
    return path, [line.split() for line in result.out.splitlines()]


def dump(path, *options):
    found = {}
    for line in heapshot("dump", path, *options).out.splitlines():
        record = json.loads(line)
        found.setdefault(record["record"], []).append(record)
    return found


class Facts:
    """The program's lines, and the records and rows of its recording."""

    def __init__(self):
        with tempfile.TemporaryDirectory(prefix="hs-known.") as directory:
            self.path, self.lines = run_known(
                directory, "facts", "snapshot=gc,events=gc+types+moves+handles+threads,strings=64")
            self.records = dump(self.path)
            self.last = complete_snapshots(self.path)[-1]["id"]
            rows = dump("%s@%d" % (self.path, self.last), "--objects")
            self.objects, self.roots = rows["object"], rows["root"]
            self.top = top(self.path, self.last)
        self.types = {record["id"]: record for record in self.records["type"]}
        self.by_address = {row["address"]: row for row in self.objects if not row["continuation"]}

    def said(self, word):
        return [line[1:] for line in self.lines if line[0] == word]

    def of(self, name):
        return [row for row in self.objects if row["type"] == name]

    def type(self, name):
        found = [record for record in self.types.values() if record["name"] == name]
        assert len(found) == 1, (name, found)
        return found[0]

    def fields(self, name):
        number = self.type(name)["id"]
        return {field["name"]: field for layout in self.records["type_layout"] if layout["type"] == number
                for field in layout["field"]}

    def roots_of(self, name):
        return [root for root in self.roots
                if root["object"] in self.by_address and self.by_address[root["object"]]["type"] == name]


kept = []


def facts():
    if not kept:
        kept.append(Facts())
    return kept[0]


@test("exact sizes of strings and arrays follow from the lengths that the program says")
def sizes(directory):
    known = facts()
    lengths = [int(length) for length, in known.said("array")]
    assert sorted(row["bytes"] for row in known.of("K.Three[]")) == sorted(
        ARRAY_HEADER + 3 * length for length in lengths)
    assert len(lengths) == 14
    strings = {row["object"]: row for batch in known.records["string_batch"] if batch["snapshot"] == known.last
               for row in batch["string"] if row["text"].startswith("known ")}
    assert sorted(row["length"] for row in strings.values()) == sorted(
        int(length) for length, in known.said("string")), strings
    for address, row in strings.items():
        assert known.by_address[address]["bytes"] == STRING_BYTES + 2 * row["length"], (row, known.by_address[address])
    (name, size), = known.said("size")
    assert {row["bytes"] for row in known.of(name)} == {int(size)}


@test("a slot that is larger than its object: the exact size, and the slack beside it")
def slack(directory):
    known = facts()
    rows = known.of("K.Nine")
    assert len(rows) == 1000 and {row["bytes"] for row in rows} == {HEADER + 9 * WORD}
    # In the old generation objects of one size lie in slots side by side: how far apart says how large.
    old = sorted(row["address"] for row in rows if row["generation"] == 1)
    slot = min(later - earlier for earlier, later in zip(old, old[1:]))
    assert slot > HEADER + 9 * WORD, slot
    seen = [row["slot_bytes"] for row in rows]
    assert seen.count(slot) > 900 and all(slot_bytes in (slot, HEADER + 9 * WORD) for slot_bytes in seen), set(seen)
    end = [record for record in known.records["snapshot_end"] if record["id"] == known.last][0]
    assert end["bytes"] == sum(row["bytes"] for row in known.objects)
    assert end["slot_bytes"] == sum(row["slot_bytes"] for row in known.objects)
    assert end["slot_bytes"] - end["bytes"] >= seen.count(slot) * (slot - HEADER - 9 * WORD)


@test("an array of 1,000 references is one object with 1,000 edges")
def thousand(directory):
    known = facts()
    row, = of_type(known.top, "K.Item[]")
    assert (row["count"], row["bytes"], row["edges"]) == (1, ARRAY_HEADER + 1000 * WORD, 1000), row
    rows = known.of("K.Item[]")
    assert [part["continuation"] for part in rows] == [False] + [True] * (len(rows) - 1)
    assert len({part["address"] for part in rows}) == 1
    references = [reference for part in rows for reference in part["references"]]
    assert [reference["offset"] for reference in references] == [ARRAY_HEADER + i * WORD for i in range(1000)]
    targets = {reference["target"] for reference in references}
    assert targets == {item["address"] for item in known.of("K.Item")} and len(targets) == 1000


@test("a root names its thread, its domain, the kind of its handle; a weak handle is none")
def root_sources(directory):
    known = facts()
    worker, = {record["id"] for record in known.records["thread"]
               if record["state"] == "named" and record["name"] == "k-worker"}
    # The local, which may lie in several places of the stack.
    assert {(root["kind"], root["name"], root["thread"]) for root in known.roots_of("K.Local")} == {
        ("stack", "k-worker", worker)}, known.roots_of("K.Local")
    own, = [root for root in known.roots_of("K.Own") if root["kind"] == "thread_static"]
    assert own["thread"] == worker and own["name"].startswith("k-worker slot "), own
    domains = {record["id"]: record["name"] for record in known.records["domain"]}
    held, = known.roots_of("K.Remote")
    assert (held["kind"], held["name"], domains[held["domain"]]) == ("static", "K.Far.held", "k-second"), held
    assert {domains[row["domain"]] for row in known.of("K.Remote")} == {"k-second"}
    here, = known.roots_of("K.Item[]")
    assert (here["kind"], here["name"], domains[here["domain"]]) == ("static", "K.Pub.Thousand", "Known.exe"), here
    for name, handle_type in (("K.ByNormal", "normal"), ("K.ByPinned", "pinned")):
        found = [(root["kind"], root["handle_type"]) for root in known.roots_of(name) if root["kind"] != "stack"]
        assert found == [("gc_handle", handle_type)] * 10, found
    # Ten weak handles of an object that a static field holds.
    weak = [(root["kind"], root["name"]) for root in known.roots_of("K.ByWeak") if root["kind"] != "stack"]
    assert weak == [("static", "K.Pub.Weakly")], weak


@test("events=handles: each handle that the program made and freed, with its kind and object")
def handles(directory):
    known = facts()
    records = known.records["gc_handle"]
    for word in ("handle", "freed"):
        for kind, number, *place in known.said(word):
            made = [record for record in records if record["handle"] == int(number) and not record["is_deleted"]]
            assert kind in {record["handle_type"] for record in made}, (kind, number, made)
            # Pinned, it has not moved since; the program says where its first field is.
            if place:
                assert int(place[0]) - HEADER in {record["object"] for record in made}, (place, made)
                assert known.by_address[int(place[0]) - HEADER]["type"] == "K.ByPinned"
    kept_ones = [int(number) for _, number, *_ in known.said("handle")]
    assert len(kept_ones) == len(set(kept_ones)) == 30
    # A number is used again, so the last record of it counts.
    is_deleted = {record["handle"]: record["is_deleted"] for record in records}
    assert not any(is_deleted[number] for number in kept_ones)
    deleted = {record["handle"] for record in records if record["is_deleted"]}
    assert {int(number) for _, number in known.said("freed")} <= deleted


@test("events=handles: N handles made and freed are N records of each")
def handles_counted(directory):
    found = {}
    for n in (0, 5000):
        path, _ = run_known(directory, "handles %d" % n, "snapshot=shutdown,overwrite,events=handles", stdin="\n")
        assert heapshot("verify", path).status == OK
        records = dump(path)
        assert "loss" not in records
        found[n] = [sum(record["is_deleted"] is deleted for record in records["gc_handle"])
                    for deleted in (False, True)]
    assert found[5000] == [count + 5000 for count in found[0]], found


@test("events=moves: where an object is found is where the moves say it went")
def moves(directory):
    known = facts()
    pairs = {}
    for record in known.records["gc_moves"]:
        assert len(record["from"]) == len(record["to"])
        for old, new in zip(record["from"], record["to"]):
            pairs.setdefault(old, []).append(new)
    before = dict(known.said("before"))
    after = dict(known.said("after"))
    assert len(before) == len(after) == 100
    moved = [index for index in before if before[index] != after[index]]
    assert len(moved) > 90, len(moved)
    for index in moved:
        assert int(after[index]) in pairs.get(int(before[index]), []), (index, before[index], after[index])
    assert {row["address"] for row in known.of("K.Moved")} == {int(address) for address in after.values()}


@test("events=gc: sizes of the heap hold what the snapshots hold")
def resizes(directory):
    path = os.path.join(directory, "a.hs")
    mono("Lists.exe chain 2000000", "output=%s,quiet,snapshot=gc" % path, cwd=directory)
    sizes, ends = set(), []
    for record in map(json.loads, heapshot("dump", path).out.splitlines()):
        if record["record"] == "gc_resize":
            assert record["heap_bytes"] > 0
            sizes.add(record["heap_bytes"])
        if record["record"] == "snapshot_end":
            ends.append(record)
    assert len(ends) > 1 and len(sizes) > 1
    # The two are different measures: memory in use by the collector, and memory it has reserved.
    assert all(size % 4096 == 0 for size in sizes), sizes
    assert max(sizes) >= max(record["slot_bytes"] for record in ends), (ends, sizes)
    for record in ends:
        assert record["heap_bytes"] >= record["slot_bytes"], record
    shown = read_json("events", path)
    assert shown["summary"]["max_heap_bytes"] == max(sizes), shown["summary"]


@test("fields and offsets, parents, elements, definitions: as reflection and pointers say")
def fields(directory):
    known = facts()
    said = {}
    for owner, name, type_name, kind in known.said("field"):
        said.setdefault(owner, {})[name] = (type_name, kind)
    assert set(said) == {"K.Shape", "K.Child", "K.Inner", "K.Laid", "K.Item"}
    for owner, expected in said.items():
        seen = known.fields(owner)
        assert set(seen) == set(expected), (owner, set(seen) ^ set(expected))
        for name, (type_name, kind) in expected.items():
            field = seen[name]
            assert kind == ("thread_static" if field["is_thread_static"] else
                            "static" if field["is_static"] else "instance"), (owner, field)
            assert field["is_inline"] == (type_name == "K.Inner"), field
            if field["type"]:
                assert known.types[field["type"]]["name"] == type_name, (owner, field, type_name)
            else:
                assert type_name in ("System.Byte", "System.Int16", "System.Int32", "System.Int64",
                                     "System.Double"), (owner, field, type_name)
    assert len(known.said("offset")) == 10
    for owner, name, offset in known.said("offset"):
        assert known.fields(owner)[name]["offset"] == int(offset), (owner, name, offset, known.fields(owner)[name])
    (owner, name, address), = known.said("static")
    storage = {record["address"] for record in known.records["static_storage"]
               if record["type"] == known.type(owner)["id"]}
    assert int(address) - known.fields(owner)[name]["offset"] in storage
    for name, _, token, _, parent in known.said("type"):
        record = known.type(name)
        assert record["token"] == int(token) and known.types[record["parent"]]["name"] == parent, record
        assert record["name_space"] == "K" and record["kind"] == ("struct" if name == "K.Inner" else "class"), record
    for name, rank in (("K.Item[]", 1), ("K.Item[,]", 2)):
        array = known.type(name)
        assert (array["kind"], array["rank"], known.types[array["element"]]["name"]) == ("array", rank, "K.Item")
    instance = known.type("K.Of<System.String>")
    assert known.types[instance["generic_definition"]]["name"] == "K.Of<T>"
    (name, size), = known.said("size")
    layouts = {layout["instance_size_bytes"] for layout in known.records["type_layout"]
               if layout["type"] == known.type(name)["id"]}
    assert layouts == {int(size)}


@test("threads: started, named and stopped, under one id")
def threads(directory):
    records = facts().records["thread"]
    worker, = {record["id"] for record in records if record["name"] == "k-worker" and record["state"] == "named"}
    at = next(i for i, record in enumerate(records) if record["name"] == "k-worker")
    states = [record["state"] for record in records[:at + 1] if record["id"] == worker]
    # Threads that have ended leave their ids to later ones.
    assert states[-2:] == ["started", "named"], states
    later = [record["state"] for record in records[at + 1:] if record["id"] == worker]
    assert later[:1] == ["stopped"], later
    assert {"Main", "Finalizer"} <= {record["name"] for record in records}


@test("roots that are no objects are counted and dropped")
def no_objects(directory):
    path = os.path.join(directory, "a.hs")
    found = {}
    for n in (0, 100):
        recorded = mono("Handles.exe null %d" % n, "output=%s,snapshot=gc,quiet,overwrite" % path, cwd=directory)
        assert recorded.status == 0
        check_file(path)
        ends = dump(path)["snapshot_end"]
        found[n] = ends[-1]["unresolved_roots"]
        for snapshot in read_json("verify", path)["snapshots"]:
            assert snapshot["complete"] and snapshot["references_checked"] and snapshot["problems"] == [], snapshot
        last = "%s@%d" % (path, ends[-1]["id"])
        rows = dump(last, "--objects")
        addresses = {row["address"] for row in rows["object"]}
        assert all(root["object"] in addresses for root in rows["root"])
        assert len(rows["root"]) == ends[-1]["roots"]
    # The hundred pinned handles without an object.
    assert found[100] == found[0] + 100, found


def fnv1a(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value


def long_name(n):
    name, i = ["K."], 0
    while sum(map(len, name)) < n:
        name.append("N%d" % i)
        i += 1
        if i % 1000 == 0:
            name = ["".join(name)]
    return "".join(name)[:n]


@test("a name above 64 KB is cut in the middle, with its length and hash kept; one below is whole")
def name_cut(directory):
    for n, is_cut in ((65000, False), (100000, True)):
        path, _ = run_known(directory, "name %d" % n, "snapshot=gc,overwrite")
        whole = long_name(n)
        record, = [record for record in dump(path)["type"] if record["name"].startswith("K.N0N1")]
        row, = [row for row in top(path) if row["type"].startswith("K.N0N1")]
        assert row["type"] == record["name"] and row["count"] == 1 and row["assembly"] == "Made"
        if not is_cut:
            assert record["name"] == whole and record["name_bytes"] == 0
            continue
        first, _, last = record["name"].partition("\u2026")
        assert whole.startswith(first) and whole.endswith(last) and last, (len(first), len(last))
        assert 64000 < len(record["name"].encode()) <= 65536 and abs(len(first) - len(last)) <= 3
        assert record["name_bytes"] == n and record["name_hash"] == fnv1a(whole.encode())


main()
