# SPDX-License-Identifier: MIT
"""heapshot export --format sqlite, held against what the other commands say and
against dominators by the plainest way; the documented queries."""
import sqlite3

from exported import *

if run([HEAPSHOT, "export", "--format", "sqlite", "-o", "/dev/null/x", "/dev/null"]).err.count("in this build"):
    say("1..0 # SKIP heapshot was built without libsqlite3")
    sys.exit(0)


def database(directory, source, *options, **how):
    out = export(directory, "sqlite", source, *options, **how)
    base = sqlite3.connect("file:%s?mode=ro" % out, uri=True)
    assert base.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return base


def check_totals(base, source, snapshot="last"):
    rows = top(source, snapshot)
    expected = {(row["type"], row["assembly"]): (row["count"], row["bytes"]) for row in rows}
    seen = {(name, assembly): (count, size) for name, assembly, count, size in base.execute(
        "SELECT type, assembly, count(*), sum(bytes) FROM objects_named GROUP BY type, assembly")}
    assert seen == expected, set(seen.items()) ^ set(expected.items())
    stored = {(name, assembly): (count, size) for name, assembly, count, size in base.execute(
        "SELECT type, assembly, objects, bytes FROM type_totals")}
    assert stored == expected, set(stored.items()) ^ set(expected.items())
    edges = {(row["type"], row["assembly"]): row["edges"] for row in rows if row["edges"]}
    seen = {(name, assembly): count for name, assembly, count in base.execute(
        "SELECT o.type, o.assembly, count(*) FROM refs r JOIN objects_named o ON o.id = r.source GROUP BY 1, 2")}
    assert seen == edges, set(seen.items()) ^ set(edges.items())
    stated = base.execute("SELECT objects, refs, bytes, slot_bytes, roots, ephemerons FROM snapshots"
                          " WHERE exported").fetchall()
    counted = base.execute("SELECT (SELECT count(*) FROM objects), (SELECT count(*) FROM refs),"
                           " (SELECT sum(bytes) FROM objects), (SELECT sum(slot_bytes) FROM objects),"
                           " (SELECT count(*) FROM roots), (SELECT count(*) FROM ephemerons)").fetchall()
    assert stated == counted, (stated, counted)


def check_roots(base, source, snapshot="last"):
    rows = roots(source, snapshot)
    expected = add_counts(rows, "kind", "count")
    seen = {kind: (count,) for kind, count in base.execute("SELECT kind, roots FROM roots_by_kind")}
    assert seen == expected, (seen, expected)
    expected = sorted((row["kind"], row["name"], row["type"], row["count"]) for row in rows)
    seen = sorted(base.execute("SELECT kind, name, type, count(*) FROM roots_named GROUP BY 1, 2, 3"))
    assert seen == expected, set(seen) ^ set(expected)


@test("objects, bytes and references by type are those of top, roots those of roots")
def totals(directory):
    for args in PROGRAMS:
        base = database(directory, recorded(args))
        check_totals(base, recorded(args))
        check_roots(base, recorded(args))


@test("the same for each snapshot of a file, named as FILE@N")
def each_snapshot(directory):
    source = synthetic("good")
    for number in (1, 2, 3):
        base = database(directory, "%s@%d" % (source, number))
        check_totals(base, source, number)
        check_roots(base, source, number)
        assert base.execute("SELECT id FROM snapshots WHERE exported").fetchall() == [(number,)]
        assert base.execute("SELECT count(*) FROM snapshots").fetchone() == (3,)
        assert base.execute("SELECT DISTINCT snapshot FROM objects").fetchall() == [(number,)]


class Heap:
    """The graph, out of the tables alone."""

    def __init__(self, base):
        self.size = dict(base.execute("SELECT id, bytes FROM objects"))
        self.out = {}
        for source, target in base.execute("SELECT source, target FROM refs"):
            self.out.setdefault(source, []).append(target)
        self.roots = base.execute("SELECT object, source FROM roots WHERE holds").fetchall()
        self.pairs = base.execute("SELECT holder, source, target FROM ephemerons").fetchall()

    def reach(self, without=None, without_source=None, pairs=()):
        """What is reached when an object or a root source is not there."""
        known, queue = set(), []

        def add(item):
            if item != without and item not in known:
                known.add(item)
                queue.append(item)
        for item, source in self.roots:
            if source != without_source:
                add(item)
        changes = True
        while changes:
            while queue:
                for item in self.out.get(queue.pop(), ()):
                    add(item)
            before = len(known)
            for holder, key, value in pairs:
                if holder in known and key in known:
                    add(value)
            changes = len(known) > before or queue
        return known


@test("what lives, and what objects and roots retain, is what is found by leaving them out")
def retained(directory):
    for args in ("Events.exe leak 500", "Roots.exe statics", "Handles.exe kinds 100", "Weak.exe alive 100",
                 "Ephemerons.exe links 50", "Domains.exe alive 2 100", "Finalizers.exe queue 100"):
        base = database(directory, recorded(args))
        heap = Heap(base)
        live = heap.reach(pairs=heap.pairs)
        assert live == {row[0] for row in base.execute("SELECT id FROM objects WHERE live")}, args
        assert live == {row[0] for row in base.execute("SELECT object FROM dominators")}, args
        # An entry of a table counts as a reference from the key to the value, once both live.
        for holder, key, value in heap.pairs:
            if holder in live and key in live:
                heap.out.setdefault(key, []).append(value)
        rows = base.execute("SELECT object, dominator, retained FROM dominators ORDER BY retained DESC").fetchall()
        for item, dominator, size in rows[:12] + rows[::max(1, len(rows) // 12)]:
            gone = live - heap.reach(without=item)
            assert size == sum(heap.size[other] for other in gone), (args, item, size)
            if dominator is not None:
                assert item not in heap.reach(without=dominator), (args, item, dominator)
        for source, size in base.execute("SELECT id, retained FROM root_sources ORDER BY retained DESC LIMIT 8"):
            gone = live - heap.reach(without_source=source)
            assert size == sum(heap.size[other] for other in gone), (args, source, size)


@test("weak handles and values of ephemerons do not hold")
def not_holding(directory):
    base = database(directory, recorded("Weak.exe alive 100"))
    weak = base.execute("SELECT count(*) FROM roots_named WHERE handle_type LIKE 'weak%' AND holds").fetchone()[0]
    assert weak == 0
    base = database(directory, recorded("Ephemerons.exe links 50"))
    assert base.execute("SELECT count(*) FROM ephemerons").fetchone()[0] >= 50
    assert base.execute("SELECT count(*) FROM ephemerons e JOIN refs r USING (source, target)").fetchone()[0] == 0


@test("fields have names, in structs and elements of arrays too")
def fields(directory):
    base = database(directory, recorded("Events.exe leak 500"))
    named = base.execute("SELECT source_type, field, target_type, count(*) FROM refs_named"
                         " WHERE target_type LIKE 'T.%' GROUP BY 1, 2, 3").fetchall()
    by_pair = {(source, field, target): count for source, field, target, count in named}
    assert by_pair[("T.Handler", "Payload", "T.Octet[]")] == 500, named[:5]
    assert 500 in (by_pair.get(("System.EventHandler", name, "T.Handler")) for name in ("m_target", "_target")), named[:5]
    handlers = base.execute("SELECT item FROM refs r JOIN objects_named o ON o.id = r.source"
                            " WHERE o.type = 'System.Delegate[]' ORDER BY item").fetchall()
    assert [row[0] for row in handlers][:500] == list(range(500)), handlers[:5]
    # Entries of a Dictionary: an array of structs.
    base = database(directory, recorded("Dynamic.exe collectible 5"))
    names = base.execute("SELECT DISTINCT field FROM refs_named WHERE source_type LIKE '%.Entry<%[]'").fetchall()
    assert {re.sub(r"[0-9]+", "0", row[0]) for row in names} >= {"[0].key", "[0].value"}, names
    total, unknown = base.execute("SELECT count(*), sum(f.name LIKE '+%') FROM refs r"
                                  " JOIN fields f ON f.id = r.field").fetchone()
    assert unknown * 20 < total, "%d of %d references have no name" % (unknown, total)


@test("strings have the text that was recorded, and their length")
def strings(directory):
    for args, most in (("Strings.exe distinct 1000", 5), ("Strings.exe same 1000", 50)):
        source = recorded(args, ",strings=%d" % most)
        base = database(directory, source)
        rows = base.execute("SELECT o.address, s.length, s.cut, s.text FROM strings s JOIN objects_named o"
                            " ON o.id = s.object WHERE o.type = 'System.String'").fetchall()
        assert {address: (length, text) for address, length, _, text in rows} == recorded_strings(source), args
        assert all(cut == (length > most) for _, length, cut, _ in rows)
        assert len(rows) == base.execute("SELECT count(*) FROM strings").fetchone()[0] > 100
    assert database(directory, recorded("Strings.exe distinct 1000")).execute("SELECT * FROM strings").fetchall() == []


@test("collections are those of heapshot events, and so are the rest of the events")
def events(directory):
    source = recorded("Garbage.exe replace 1")
    base = database(directory, source)
    expected = read_json("events", source)
    rows = [(row["number"], row["time_ns"], row["generation"], row["kind"], int(row["serial"]), row["pause_ns"])
            for row in expected["collections"]]
    seen = base.execute("SELECT * FROM collections").fetchall()
    assert seen == rows, (seen[:3], rows[:3])
    kinds = dict(base.execute("SELECT kind, count(*) FROM events GROUP BY kind"))
    assert kinds.get("heap_size", 0) == expected["summary"]["resizes"], kinds
    assert kinds.get("jit_chunk", 0) == expected["summary"]["jit_chunks"], kinds
    assert kinds.get("thread", 0) == expected["summary"]["threads"], kinds
    samples = base.execute("SELECT count(*) FROM counter_samples s JOIN counters c ON c.id = s.counter").fetchone()[0]
    assert samples > 10, samples
    base = database(directory, synthetic("good"))
    assert base.execute("SELECT text FROM events WHERE kind = 'marker'").fetchall(), "no marker"


@test("the recording and its snapshots stand in tables of their own")
def recording_table(directory):
    source = recorded("Events.exe leak 500")
    base = database(directory, source)
    row = base.execute("SELECT file, word_bytes, runtime, exporter FROM recording").fetchall()
    assert len(row) == 1 and row[0][0] == source and row[0][1] == 8 and row[0][2].startswith("Mono"), row
    listed = [(s["id"], s["trigger"], s["time_ns"], s["objects"], s["references"], s["bytes"], int(s["complete"]))
              for s in snapshots(source)]
    seen = base.execute("SELECT id, cause, time_ns, objects, refs, bytes, complete FROM snapshots").fetchall()
    assert seen == listed, (seen, listed)


@test("every query of doc/export-sqlite.md runs and finds something")
def documented(directory):
    with open(os.path.join(SOURCE, "doc", "export-sqlite.md")) as file:
        text = file.read()
    base = database(directory, recorded("Events.exe leak 500"))
    blocks = re.findall(r"^```sql\n(.*?)^```", text, re.M | re.S)
    queries = [query for block in blocks for query in block.split(";\n") if query.strip()]
    assert len(queries) >= 12, len(queries)
    results = {}
    for query in queries:
        results[query.split("\n")[0]] = rows = base.execute(query).fetchall()
        assert rows, "nothing found by: " + query
    chain = next(rows for query, rows in results.items() if "RECURSIVE chain" in query)
    assert chain[0][2] == "T.Handler" and chain[-1][4:] == ("static", "T.Pub.Ev"), chain
    path = next(rows for query, rows in results.items() if "RECURSIVE" in query and "chain" not in query)
    assert path[0][0].startswith("static T.Pub.Ev -> System.EventHandler."), path
    # Each table and view, and each column, is there as it is told.
    for table, columns in re.findall(r"^\| (`[a-z_`, ]+) \| [^|]* \| (.*) \|$", text, re.M):
        for name in re.findall(r"`([a-z_]+)`", table):
            known = {row[1] for row in base.execute("PRAGMA table_info(%s)" % name)}
            assert known, "no table " + name
            if "," not in table:
                told = set(re.findall(r"`([a-z_]+)`", re.sub(r"\([^)]*\)", "", columns)))
                assert known == told, (name, known ^ told)
    assert base.execute("PRAGMA user_version").fetchone() == (1,)
    # Two snapshots.
    command = re.search(r"sqlite3 b.db (.*?)\n```", text, re.S).group(1)
    first, second = (export(os.path.join(directory), "sqlite", "%s@%d" % (recorded("Events.exe leak 500"), n))
                     for n in (1, 1))
    base = sqlite3.connect(second)
    attach, query = re.findall(r'"(.*?)"', command, re.S)
    base.execute(attach.replace("a.db", first))
    assert all(row[1:] == (0, 0) for row in base.execute(query))


@test("numbers that SQLite has no room for are refused in one line")
def too_large(directory):
    result = heapshot("export", "--format", "sqlite", "-o", directory + "/out", synthetic("huge"))
    assert result.status == IO, result.status
    assert_lines(result.err, 1, "format sqlite", "2^63")
    assert os.listdir(directory) == []


@test("names that are no valid text, or would drive a terminal, are text in the database")
def hostile(directory):
    source = synthetic("hostile-names")
    base = database(directory, source)
    seen = {row[0] for row in base.execute("SELECT type FROM type_totals")}
    assert {row["type"] for row in top(source)} == seen, seen


check_refusals("sqlite", can_stream=False)
main()
