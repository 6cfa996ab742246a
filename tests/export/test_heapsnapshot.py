# SPDX-License-Identifier: MIT
"""heapshot export --format heapsnapshot: by a strict reader of what DevTools
demands, against our own retained sizes, and by memlab where npm has brought it."""
import sqlite3

import heapsnapshot

from exported import *
import node_tools  # noqa: E402

MEMLAB = r"""
const {getFullHeapFromFile} = require('@memlab/heap-analysis');
getFullHeapFromFile(process.argv[2]).then(heap => {
  const out = [];
  heap.nodes.forEach(node => {
    out.push([node.id, node.name, node.self_size, node.retainedSize, node.dominatorNode ? node.dominatorNode.id : null]);
  });
  require('fs').writeFileSync(process.argv[3], JSON.stringify(out));
});
"""


def nodes_of(directory, source, *options):
    with open(export(directory, "heapsnapshot", source, *options), encoding="utf-8") as file:
        return heapsnapshot.parse(file.read())


def id_of(address):
    return address // 8 % (1 << 31) * 2 + 1


def tables_of(directory, source):
    """Retained size, and what dominates, by id; skipped without sqlite."""
    result = heapshot("export", "--format=sqlite", "-o", directory + "/db", "--overwrite", source)
    if result.status == USAGE:
        skip("heapshot was built without libsqlite3")
    base = sqlite3.connect(directory + "/db")
    return {id_of(address): (retained, dominator and id_of(dominator)) for address, retained, dominator in base.execute(
        "SELECT o.address, d.retained, p.address FROM objects o LEFT JOIN dominators d ON d.object = o.id"
        " LEFT JOIN objects p ON p.id = d.dominator")}


@test("objects and bytes by type are those of top")
def totals(directory):
    sources = [(recorded(args), "last") for args in PROGRAMS] + [(synthetic("good"), 1), (synthetic("good"), 2)]
    for source, snapshot in sources:
        seen = {}
        for node in nodes_of(directory, source, "--snapshot=%s" % snapshot):
            if node.type != "synthetic":
                count, size = seen.get(node.name, (0, 0))
                seen[node.name] = count + 1, size + node.size
        expected = add_counts(top(source, snapshot), "type", "count", "bytes")
        assert seen == expected, set(seen.items()) ^ set(expected.items())


@test("references are those of dump --objects, with fields and elements")
def references(directory):
    for args in ("Arrays.exe holes 1000", "Events.exe leak 500", "Dynamic.exe collectible 5"):
        source = recorded(args)
        nodes = nodes_of(directory, source)
        by_id = {node.id: node for node in nodes}
        number = snapshots(source)[-1]["id"]
        for line in heapshot("dump", source, "--objects", "--snapshot", str(number)).out.splitlines():
            row = json.loads(line)
            if row["record"] == "object" and not row["continuation"]:
                targets = [nodes[edge.target].id for edge in by_id[id_of(row["address"])].edges
                           if edge.type != "internal"]
                expected = [id_of(edge["target"]) for edge in row["references"]]
                assert targets[:len(expected)] == expected, row
                if not expected or not row["type"].endswith("[]"):
                    continue
                edges = by_id[id_of(row["address"])].edges
                if edges[0].type == "element":
                    indexes = [(edge["offset"] - 32) // 8 for edge in row["references"]]
                    assert [edge.name for edge in edges][:len(indexes)] == indexes, row
    nodes = nodes_of(directory, recorded("Events.exe leak 500"))
    payloads = [edge for node in nodes if node.name == "T.Handler" for edge in node.edges]
    assert len(payloads) == 500 and {(edge.type, edge.name) for edge in payloads} == {("property", "Payload")}
    nodes = nodes_of(directory, recorded("Dynamic.exe collectible 5"))
    names = {re.sub(r"\d+", "0", edge.name) for node in nodes if ".Entry<" in node.name and node.name.endswith("[]")
             for edge in node.edges if edge.type == "property"}
    assert {"[0].key", "[0].value"} <= names, names


@test("root kinds and their sources are synthetic nodes, with the roots of roots --json")
def root_nodes(directory):
    for args in PROGRAMS:
        source = recorded(args)
        nodes = nodes_of(directory, source)
        kinds = {}
        for kind_edge in nodes[0].edges:
            kind = nodes[kind_edge.target]
            kinds[kind.name] = sum(len(nodes[edge.target].edges) for edge in kind.edges)
            for edge in kind.edges:
                assert nodes[edge.target].type == "synthetic"
                assert all(nodes[root.target].type != "synthetic" for root in nodes[edge.target].edges)
        expected = {"(%s)" % kind: count for kind, (count,) in add_counts(roots(source), "kind", "count").items()}
        assert kinds == expected, (args, kinds, expected)
    nodes = nodes_of(directory, recorded("Events.exe leak 500"))
    assert any(node.name == "(static T.Pub.Ev)" for node in nodes)
    nodes = nodes_of(directory, recorded("Weak.exe alive 100"))
    weak = {edge.type for node in nodes if node.name.startswith("(gc_handle weak") for edge in node.edges}
    assert weak <= {"weak"}, weak


@test("what lives and what is retained is what heapshot says")
def retained(directory):
    for args in ("Events.exe leak 500", "Weak.exe alive 100", "Ephemerons.exe links 50", "Handles.exe kinds 100"):
        nodes = nodes_of(directory, recorded(args))
        ours = tables_of(directory, recorded(args))
        live = heapsnapshot.reach(nodes)
        assert {nodes[i].id for i in live if nodes[i].type != "synthetic"} == \
            {number for number, (size, _) in ours.items() if size is not None}, args
        order = sorted((i for i in live if nodes[i].type != "synthetic"), key=lambda i: -ours[nodes[i].id][0])
        for i in order[:12] + order[::max(1, len(order) // 12)]:
            gone = live - heapsnapshot.reach(nodes, without=i)
            assert sum(nodes[j].size for j in gone) == ours[nodes[i].id][0], (args, nodes[i].name)


@test("strings have their recorded text, and what was cut says so; others and other files are as before")
def strings(directory):
    for args, most in (("Strings.exe distinct 1000", 5), ("Strings.exe same 1000", 50), ("Events.exe leak 500", 20)):
        source = recorded(args, ",strings=%d" % most)
        texts = {id_of(address): text + "... (of %d)" % length * (length > most)
                 for address, (length, text) in recorded_strings(source).items()}
        nodes = nodes_of(directory, source)
        assert {node.id: node.name for node in nodes if node.type == "string"} == texts and len(texts) > 100, args
        # All strings of the program, and their bytes.
        (row,) = [row for row in top(source) if row["type"] == "System.String"]
        assert (row["count"], row["bytes"]) == (len(texts), sum(node.size for node in nodes if node.type == "string"))
        assert "System.String" not in {node.name for node in nodes if node.type == "object"}
        assert any("... (of " in text for text in texts.values()) or most > 5, args
    assert not any(node.type == "string" for node in nodes_of(directory, recorded("Strings.exe distinct 1000")))


@test("ids stay between the snapshots of a recording")
def ids(directory):
    source = recorded("Lists.exe shared 1000")
    number = snapshots(source)[-1]["id"]
    first, second = ({node.id for node in nodes_of(directory, "%s@%d" % (source, n)) if node.name.startswith("T.")}
                     for n in (number - 1, number))
    assert len(first & second) * 10 >= len(second) * 9, (len(first), len(second), len(first & second))


@test("objects beyond 4 GB are refused in one line, names are valid text")
def limits(directory):
    result = heapshot("export", "--format", "heapsnapshot", "-o", directory + "/out", synthetic("huge"))
    assert result.status == IO, result.status
    assert_lines(result.err, 1, "format heapsnapshot", "2^32 - 1")
    assert os.listdir(directory) == []
    nodes_of(directory, synthetic("hostile-names"))


@test("standard output gets the same bytes")
def stream(directory):
    source = synthetic("good")
    with open(export(directory, "heapsnapshot", source), "rb") as file:
        expected = file.read()
    result = subprocess.run([HEAPSHOT, "export", "--format=heapsnapshot", "-o", "-", source], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=60)
    assert result.returncode == OK and result.stdout == expected and result.stderr == b"", result.stderr


@test("memlab finds our dominators and retained sizes")
def real_tool(directory):
    reason = node_tools.missing("@memlab/heap-analysis")
    if reason:
        skip(reason)
    script = os.path.join(directory, "read.js")
    with open(script, "w") as file:
        file.write(MEMLAB)
    for args in ("Events.exe leak 500", "Ephemerons.exe links 50", "Weak.exe alive 100", "Arrays.exe holes 1000"):
        source = recorded(args)
        out = export(directory, "heapsnapshot", source)
        result = run(["node", script, out, directory + "/nodes.json"],
                     env=node_tools.environment(directory), timeout=300)
        assert result.status == 0, result.out[-500:] + result.err[-2000:]
        with open(directory + "/nodes.json") as file:
            theirs = {number: (size, dominator) for number, _, _, size, dominator in json.load(file)}
        ours = tables_of(directory, source)
        assert set(ours) <= set(theirs)
        for number, (size, dominator) in ours.items():
            if size is None:
                continue
            assert theirs[number][0] == size, (args, number, theirs[number], size)
            # Others are dominated by synthetic nodes, which have even ids.
            assert theirs[number][1] == dominator if dominator else theirs[number][1] % 2 == 0, (args, number)


@test("memlab takes recorded texts for strings")
def real_strings(directory):
    reason = node_tools.missing("@memlab/heap-analysis")
    if reason:
        skip(reason)
    script = os.path.join(directory, "read.js")
    with open(script, "w") as file:
        file.write(MEMLAB.replace("out.push([", "node.isString && out.push([").replace(
            "node.name", "node.toStringNode().stringValue"))
    source = recorded("Strings.exe same 1000", ",strings=50")
    out = export(directory, "heapsnapshot", source)
    result = run(["node", script, out, directory + "/nodes.json"], env=node_tools.environment(directory), timeout=300)
    assert result.status == 0, result.out[-500:] + result.err[-2000:]
    with open(directory + "/nodes.json") as file:
        theirs = {row[0]: row[1] for row in json.load(file)}
    with open(out, encoding="utf-8") as file:
        ours = {node.id: node.name for node in heapsnapshot.parse(file.read()) if node.type == "string"}
    assert theirs == ours and len(ours) > 100, (len(theirs), len(ours))


check_refusals("heapsnapshot", can_stream=True)
main()
