# SPDX-License-Identifier: MIT
"""heapshot export --format csv and ndjson: the same rows as sqlite gets, and what
DuckDB makes of a folder with several recordings, by the queries of
doc/export-tables.md, held against what the other commands say."""
import csv
import io
import sqlite3
import time

from exported import *
import node_tools  # in a folder that exported adds

# What is asked in JSON, a list of statements, is answered in JSON, a list of rows for each.
DUCKDB = r"""
const {DuckDBInstance} = require('@duckdb/node-api');
const fs = require('fs');
(async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const answers = [];
  for (const statement of JSON.parse(fs.readFileSync(0, 'utf8'))) {
    try {
      answers.push((await connection.runAndReadAll(statement)).getRows());
    } catch (error) {
      throw new Error(statement + ': ' + error.message);
    }
  }
  fs.writeFileSync(process.argv[2], JSON.stringify(answers,
    (key, value) => typeof value === 'bigint' ? {exact: String(value)} : value));
})();
"""
TABLES = ("recording", "snapshots", "types", "domains", "type_totals", "objects", "refs", "fields", "ephemerons",
          "strings", "root_sources", "roots", "dominators", "events", "counters", "counter_samples")


def duckdb(directory, statements):
    reason = node_tools.missing("@duckdb/node-api")
    if reason:
        skip(reason)
    script = os.path.join(directory, "ask.js")
    with open(script, "w") as file:
        file.write(DUCKDB)
    result = subprocess.run(["node", script, directory + "/answers.json"], input=json.dumps(statements).encode(),
                            env={**os.environ, **node_tools.environment(directory)}, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=120)
    assert result.returncode == 0, result.stderr.decode(errors="replace")[:2000]
    with open(directory + "/answers.json") as file:
        return json.load(file, object_hook=lambda item: int(item["exact"]))


def export_tables(folder, form, source, *options):
    """Adds SOURCE to FOLDER; returns its partition."""
    result = heapshot("export", "--format", form, "-o", folder, source, "--json", *options)
    assert result.status == OK and result.err == "", result.err
    return json.loads(result.out)["partition"]


def part(folder, table, partition, form):
    with open(os.path.join(folder, table, partition, "part." + form), newline="", encoding="utf-8") as file:
        return file.read()


def split_csv(text):
    """Rows of fields, None for those that are empty without quotes, which csv.reader cannot tell."""
    rows, at = [], 0
    field = re.compile(r'(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\n)')
    row = []
    while at < len(text):
        match = field.match(text, at)
        assert match, text[at:at + 80]
        quoted, plain, end = match.groups()
        row.append(quoted.replace('""', '"') if quoted is not None else plain or None)
        if end == "\n":
            rows.append(row)
            row = []
        at = match.end()
    assert row == []
    return rows


def rows_of(folder, table, partition, form):
    """Names of columns and rows, numbers as text in both formats."""
    text = part(folder, table, partition, form)
    if form == "csv":
        rows = split_csv(text)
        again = list(csv.reader(io.StringIO(text, newline="")))
        assert again == [[field or "" for field in row] for row in rows], table
        return rows[0], [tuple(row) for row in rows[1:]]
    names, rows = None, []
    for line in text.split("\n")[:-1]:
        row = json.loads(line, parse_int=str, parse_float=str)
        assert names in (None, list(row)), (names, row)
        names = list(row)
        rows.append(tuple(row.values()))
    return names, rows


def text_of(value):
    return value if value is None or isinstance(value, str) else repr(value)


@test("csv and ndjson have the rows, columns and values of sqlite")
def same_rows(directory):
    sources = [recorded(args) for args in ("Events.exe leak 500", "Ephemerons.exe links 50", "Handles.exe kinds 100",
                                           "Domains.exe alive 2 100")] + [synthetic("good") + "@1",
                                                                          synthetic("hostile-names")]
    for number, source in enumerate(sources):
        folder = "%s/%d" % (directory, number)
        partition = export_tables(folder, "csv", source)
        assert export_tables(folder, "ndjson", source) == partition
        result = heapshot("export", "--format=sqlite", "-o", folder + ".db", source)
        base = sqlite3.connect(folder + ".db") if result.status == OK else None
        assert sorted(os.listdir(folder)) == sorted(TABLES)
        for table in TABLES:
            names, rows = rows_of(folder, table, partition, "csv")
            other_names, others = rows_of(folder, table, partition, "ndjson")
            assert others == rows, (source, table, set(others) ^ set(rows))
            assert other_names in (None, names), (names, other_names)
            if base is None:
                continue
            cursor = base.execute("SELECT * FROM %s ORDER BY rowid" % table)
            assert [column[0] for column in cursor.description] == names, table
            expected = [tuple(map(text_of, row)) for row in cursor]
            if table == "counter_samples":
                rows, expected = ([row[:2] + (float(row[2]),) for row in some] for some in (rows, expected))
            assert sorted(expected, key=repr) == sorted(rows, key=repr), (source, table, set(expected) ^ set(rows))
    if base is None:
        skip("heapshot was built without libsqlite3: csv and ndjson were only held against each other")


@test("numbers of 64 bits are exact, also where SQLite has no room")
def large(directory):
    source = synthetic("huge")
    sizes = sorted(row["bytes"] for row in top(source))
    for form in ("csv", "ndjson"):
        partition = export_tables(directory + "/fleet", form, source)
        names, rows = rows_of(directory + "/fleet", "type_totals", partition, form)
        assert sorted(int(row[names.index("bytes")]) for row in rows) == sizes and sizes[-1] > 1 << 63, rows
    views, _ = document()
    answers = duckdb(directory, in_folder(views[form == "ndjson"] + ["SELECT bytes FROM type_totals"], directory))
    assert sorted(row[0] for row in answers[-1]) == sizes, answers[-1]


def document():
    """The statements of doc/export-tables.md: (those for csv, those for ndjson), queries by their first words."""
    with open(os.path.join(SOURCE, "doc", "export-tables.md"), encoding="utf-8") as file:
        text = file.read()
    blocks = [[statement.strip() for statement in block.rstrip().rstrip(";").split(";\n")]
              for block in re.findall(r"^```sql\n(.*?)^```", text, re.M | re.S)]
    views, for_json, names, *queries = blocks
    return (views + names, views + for_json + names), [query for block in queries for query in block]


def in_folder(statements, directory):
    return [statement.replace("'fleet/", "'%s/fleet/" % directory) for statement in statements]


@test("DuckDB reads two processes in one folder as top, retained and roots say")
def two_processes(directory):
    sources = {}
    for args in ("Events.exe leak 500", "Ephemerons.exe links 50"):
        for form in ("csv", "ndjson"):
            partition = export_tables(directory + "/fleet", form, recorded(args))
        host, pid, when = (word.split("=", 1)[1] for word in partition.split("/"))
        assert host == re.sub(r"[^\w.-]", lambda match: "%%%02X" % ord(match.group()), os.uname().nodename)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z", when), when
        sources[int(pid)] = args
    assert len(sources) == 2, sources
    views, _ = document()
    for number, form in enumerate(("csv", "ndjson")):
        queries = ["SELECT pid, type, assembly, count(*), sum(bytes) FROM objects_named GROUP BY ALL",
                   "SELECT pid, type, assembly, objects, bytes, retained FROM type_totals",
                   "SELECT pid, type, bytes, retained FROM objects_named WHERE live = 1",
                   "SELECT r.pid, s.kind, count(*) FROM roots r JOIN root_sources s ON"
                   " (s.host, s.pid, s.time, s.id) = (r.host, r.pid, r.time, r.source) GROUP BY ALL",
                   "SELECT pid, kind, name, retained FROM root_sources",
                   "SELECT pid, id FROM snapshots", "SELECT pid, host, file FROM recording"]
        counted, totals, objects, by_kind, held, listed, recordings = duckdb(
            directory, in_folder(views[number] + queries, directory))[-len(queries):]
        for pid, args in sources.items():
            source = recorded(args)
            rows = top(source)
            expected = {(row["type"], row["assembly"]): (row["count"], row["bytes"]) for row in rows}
            assert {tuple(row[1:3]): tuple(row[3:]) for row in counted if row[0] == pid} == expected, (form, args)
            assert {tuple(row[1:3]): tuple(row[3:5]) for row in totals if row[0] == pid} == expected, (form, args)
            types = {(row["type"], row["assembly"]): row["retained"] for row in read_json("retained", source)["types"]}
            seen = {tuple(row[1:3]): row[5] for row in totals if row[0] == pid}
            assert {key: seen[key] for key in types} == types and len(types) > 20, (form, args)
            largest = sorted(((row["type"], row["bytes"], row["retained"]) for row in read_json(
                "retained", source, "--part=objects", "--limit=0")["objects"]), key=repr)
            assert sorted((tuple(row[1:]) for row in objects if row[0] == pid), key=repr) == largest, (form, args)
            kinds = {kind: count for kind, (count,) in add_counts(roots(source), "kind", "count").items()}
            assert {row[1]: row[2] for row in by_kind if row[0] == pid} == kinds, (form, args)
            known = {(row["kind"], row["name"]): row["retained"] for row in read_json(
                "retained", source, "--part=roots", "--limit=0")["roots"]}
            mine = [tuple(row[1:]) for row in held if row[0] == pid and row[1] == "static"]
            assert mine and all(known[row[:2]] == row[2] for row in mine), (form, args)
            assert [row[1] for row in listed if row[0] == pid] == [s["id"] for s in snapshots(source)]
            assert [row[1:] for row in recordings if row[0] == pid] == [[os.uname().nodename, source]], recordings


@test("every query of doc/export-tables.md gives what the commands give")
def documented(directory):
    """Each process with its first and its last snapshot."""
    sources = {recorded("Events.exe leak 500"): None, synthetic("good"): None}
    for source in sources:
        for number in (1, "last"):
            for form in ("csv", "ndjson"):
                partition = export_tables(directory + "/fleet", form, "%s@%s" % (source, number))
        sources[source] = int(re.search("pid=([0-9]+)", partition).group(1))
    views, queries = document()
    assert len(queries) == 8, len(queries)
    both = [duckdb(directory, in_folder(some + queries, directory))[-len(queries):] for some in views]
    # The same from both formats, but for rows of the same value.
    for query, ours, theirs in zip(queries, *both):
        assert ours and len(ours) == len(theirs), query
        assert [row[-1] for row in ours] == [row[-1] for row in theirs] or "count(*)" in query, query
    largest, keeping, grown, fields, single, held, static, pauses = both[0]
    host = os.uname().nodename
    sums = {}
    for source in sources:
        for row in top(source):
            count, size, hosts = sums.get((row["type"], row["assembly"]), (0, 0, 0))
            sums[row["type"], row["assembly"]] = count + row["count"], size + row["bytes"], hosts + 1
    assert all(sums[row[0], row[1]] == tuple(row[2:]) for row in largest), largest
    assert [row[3] for row in largest] == sorted((size for _, size, _ in sums.values()), reverse=True)[:10]
    retained = sorted((row["retained"] for source in sources for row in read_json("retained", source)["types"]),
                      reverse=True)
    assert [row[3] for row in keeping] == retained[:10], keeping
    changes = []
    for source, pid in sources.items():
        rows = read_json("diff", source + "@1", source + "@last")["types"]
        changes += [(row["bytes"], pid, row["type"]) for row in rows if row["bytes"] != 0]
    assert [row[4] for row in grown] == [row[0] for row in sorted(changes, reverse=True)[:10]], (grown, changes)
    assert grown[0][4] > 100000 and all((row[4], row[1], row[2]) in changes for row in grown), grown
    assert any(row[0] == "System.EventHandler" and row[1] in ("m_target", "_target") and not row[2] and row[3] >= 500
               for row in fields), fields
    objects = [row["retained"] for source in sources for snapshot in (1, "last") for row in read_json(
        "retained", "%s@%s" % (source, snapshot), "--part=objects", "--limit=10")["objects"]]
    assert [row[4] for row in single] == sorted(objects, reverse=True)[:10], single
    assert {row[0] for row in keeping + grown + single + held + static + pauses} == {host, "unknown"}
    assert ["T.Pub.Ev"] == [row[2] for row in static[:1]], static
    known = {row["name"]: row["retained"] for row in read_json(
        "retained", recorded("Events.exe leak 500"), "--part=roots", "--limit=0")["roots"] if row["kind"] == "static"}
    assert static[0][3] == known["T.Pub.Ev"], (static[0], known["T.Pub.Ev"])
    assert {"static", "stack"} <= {row[2] for row in held}, held
    longest = sorted((row["pause_ns"] / 1e6 for source in sources
                      for row in read_json("events", source)["collections"]), reverse=True)
    for row, expected in zip(pauses, longest):
        assert abs(row[4] - expected) < 1e-6, (pauses, longest[:10])


@test("the columns of the document's views are those of the files, in their order")
def columns(directory):
    partition = export_tables(directory + "/fleet", "csv", synthetic("good"))
    (views, _), _ = document()
    told = {}
    for statement in views:
        for table, names in re.findall(r"FROM part\('(\w+)', \{(.*)\}\)", statement, re.S):
            told[table] = re.findall(r"(\w+): '", names)
    known = {table: rows_of(directory + "/fleet", table, partition, "csv")[0] for table in TABLES}
    assert told == known, [(table, told.get(table), known[table]) for table in TABLES if told.get(table) != known[table]]


@test("hostile names come back from DuckDB byte for byte, a hostile host stays in the folder")
def hostile(directory):
    sources = (synthetic("hostile-names"), synthetic("names"))
    for source in sources + (synthetic("hostile-host"),):
        for form in ("csv", "ndjson"):
            partition = export_tables(directory + "/fleet", form, source)
    assert partition.startswith("host=..%2Fweb%201%2F%25%22%3D%0A%27%"), partition
    assert os.listdir(directory) == ["fleet"]
    expected = {row["type"] for source in sources for row in top(source)}
    labels = {snapshot["label"] for source in sources for snapshot in snapshots(source)}
    assert any("\n" in name for name in expected) and any("\a" in label for label in labels), expected
    views, _ = document()
    for some in views:
        *_, types, stated, hosts = duckdb(directory, in_folder(some + [
            "SELECT DISTINCT type FROM type_totals WHERE host = 'unknown'",
            "SELECT DISTINCT label FROM snapshots WHERE host = 'unknown'",
            "SELECT DISTINCT host FROM objects"], directory))
        assert {row[0] for row in types} == expected, {row[0] for row in types} ^ expected
        assert {row[0] for row in stated} == labels, stated
        assert sorted(row[0] for row in hosts) == ["../web 1/%\"=\n'\ufffd", "unknown"], hosts


@test("one table goes to a stream, with the bytes of the file in the folder")
def streams(directory):
    source = synthetic("good")
    for form in ("csv", "ndjson"):
        partition = export_tables(directory + "/fleet", form, source)
        for table in TABLES:
            result = heapshot("export", "--format", form, "--table", table, "-o", "-", source)
            assert result.status == OK and result.err == "", result.err
            assert result.out == part(directory + "/fleet", table, partition, form), (form, table)
    for options, words in ((("--format=csv", "-o-"), ("several tables", "--table")),
                           (("--format=csv", "--table=object", "-o-"), ("wrong value 'object'", "'objects'")),
                           (("--format=gcdump", "--table=objects", "-o-"), ("no use for --table",))):
        result = heapshot("export", source, *options)
        assert result.status == USAGE
        assert_lines(result.err, 1, *words)


@test("a partition that is there stays, without --overwrite; nothing is left of a failure")
def keeps(directory):
    folder, source = directory + "/fleet", synthetic("good")
    report = json.loads(heapshot("export", "--format=csv", "-o", folder, source, "--json").out)
    assert list(report) == ["output", "partition", "format", "snapshot", "objects", "references", "roots", "bytes"]
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    assert [os.path.basename(name) for name in files] == ["part.csv"] * len(TABLES), files
    assert report["bytes"] == sum(map(os.path.getsize, files))
    assert all(os.stat(name).st_mode & 0o777 == 0o600 for name in files)
    with open(files[3], "w") as file:
        file.write("mine")
    result = heapshot("export", "--format=csv", "-o", folder, source)
    assert result.status == IO
    assert_lines(result.err, 1, "exists", "--overwrite", "part.csv")
    assert open(files[3]).read() == "mine"
    # Another snapshot of the same process, and another format, stand beside it.
    assert export_tables(folder, "csv", source + "@1") != report["partition"]
    export_tables(folder, "ndjson", source)
    assert export_tables(folder, "csv", source, "--overwrite") == report["partition"]
    assert open(files[3]).read() != "mine"
    names = {name for _, _, names in os.walk(folder) for name in names}
    assert names == {"part.csv", "part.ndjson"}, names
    for place, reason in ((directory + "/no/fleet", "No such file"), (files[0], "is no folder")):
        result = heapshot("export", "--format=csv", "-o", place, source)
        assert result.status == IO
        assert_lines(result.err, 1, reason)
    result = heapshot("export", "--format=csv", "-o", directory + "/new", source + "@77")
    assert result.status == NOT_FOUND
    # A table in the way, found before anything is written.
    os.mkdir(directory + "/way")
    open(directory + "/way/roots", "w").close()
    result = heapshot("export", "--format=csv", "-o", directory + "/way", source)
    assert result.status == IO and os.listdir(directory + "/way") == ["roots"], os.listdir(directory + "/way")
    assert sorted(os.listdir(directory)) == ["fleet", "way"]


@test("a disk that is full, and a signal, leave the folder as it was")
def failures(directory):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))
    source = synthetic("many", "1000000")
    os.mkdir(directory + "/old")
    for place in ("old", "new"):
        command = [HEAPSHOT, "export", "--format", "csv", "-o", os.path.join(directory, place), source]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limit,
                                restore_signals=False, universal_newlines=True, timeout=60)
        assert result.returncode == IO, (result.returncode, result.stderr)
        assert_lines(result.stderr, 1, "cannot write", "File too large")
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        end = time.monotonic() + 60
        # The files are begun before the graph is made.
        while not os.path.isdir(os.path.join(directory, place, "counter_samples")):
            assert process.poll() is None and time.monotonic() < end, process.communicate()
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGTERM, process.returncode
        assert os.listdir(directory) == ["old"] and os.listdir(directory + "/old") == [], os.listdir(directory)


@test("rows are written as they come: all tables take as much memory as one small one")
def memory(directory):
    peaks = []
    for options in (("--table=dominators", "-o", directory + "/one"), ("-o", directory + "/fleet")):
        process = subprocess.Popen([HEAPSHOT, "export", "--format=ndjson", synthetic("many", "1000000"), *options],
                                   stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status  # it was waited for
        peaks.append(usage.ru_maxrss >> 10)
        assert status == 0, status
    written = sum(os.path.getsize(os.path.join(place, name))
                  for place, _, names in os.walk(directory) for name in names) >> 20
    assert written > 200 and peaks[1] < peaks[0] + 16, (peaks, written)


@test("what is incomplete is written as far as it is there, and said")
def incomplete(directory):
    result = heapshot("export", "--format", "csv", "-o", directory + "/a", synthetic("killed") + "@3")
    assert result.status == INCOMPLETE and "incomplete" in result.err, result.err
    assert os.path.isdir(directory + "/a/objects")
    result = heapshot("export", "--format", "csv", "-o", directory + "/b", synthetic("stats"))
    assert result.status == NOT_FOUND and not os.path.exists(directory + "/b"), result.err


def check_one_table(form):
    """A single table obeys the rules of all formats."""
    check_refusals(form, can_stream=True, options=("--table=objects",))


check_one_table("csv")
check_one_table("ndjson")
main()
