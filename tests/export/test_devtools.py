# SPDX-License-Identifier: MIT
"""heapshot export --format heapsnapshot in the code of Chromium's own Memory panel,
which a headless Chromium runs: its retained sizes against ours."""
import csv

from exported import *
import node_tools  # in a folder that exported adds

NEEDED = node_tools.missing("puppeteer-core", browser=True)
if NEEDED:
    say("1..0 # SKIP " + NEEDED)
    sys.exit(0)

PROGRAMS = ("Events.exe leak 500", "Weak.exe alive 100", "Handles.exe kinds 100", "Ephemerons.exe links 50",
            "Domains.exe alive 2 100", "Dynamic.exe collectible 5")


def id_of(address):
    return address // 8 % (1 << 31) * 2 + 1


def in_devtools(directory, sources, edges_of=(), pairs=()):
    files = []
    for number, source in enumerate(sources):
        files.append("%s/%d.heapsnapshot" % (directory, number))
        os.rename(export(directory, "heapsnapshot", source), files[-1])
    return node_tools.in_browser(os.path.join(os.path.dirname(__file__), "devtools.cjs"), directory, files=files,
                                 edges_of=edges_of, pairs=pairs)


def table(directory, name, source):
    result = heapshot("export", "--format=csv", "--table", name, "-o", directory + "/table", "--overwrite", source)
    assert result.status == OK, result.err
    with open(directory + "/table", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@test("DevTools' classes, retained sizes of classes and of single objects are ours, and so are the roots")
def sizes(directory):
    sources = [recorded(args) for args in PROGRAMS]
    *answers, held = in_devtools(directory, sources + [synthetic("held")])["files"]
    for source, answer in zip(sources, answers):
        found = read_json("retained", source)
        # Objects that no root leads to count as dominated by the root there.
        assert found["unreached"]["objects"] == 0, source
        classes = answer["classes"]
        names = [row["type"] for row in found["types"]]
        alone = [row for row in found["types"] if names.count(row["type"]) == 1]
        assert len(alone) > 20, len(alone)
        for row in alone:
            assert classes[row["type"]] == [row["count"], row["bytes"], row["retained"]], (source, row, classes[row["type"]])
        totals = add_counts(top(source), "type", "count", "bytes")
        assert {name: tuple(sums[:2]) for name, sums in classes.items()} == totals, set(classes) ^ set(totals)
        assert answer["total"] == found["live"]["bytes"], (answer["total"], found["live"])
        ours = {id_of(row["address"]): (row["type"], row["bytes"], row["retained"]) for row in read_json(
            "retained", source, "--part=objects", "--limit=0")["objects"]}
        theirs = {number: (name, size, kept) for number, name, size, kept, _ in answer["objects"]}
        assert theirs == ours, (source, set(theirs.items()) ^ set(ours.items()))
        # Below the root node, a kind and a source.
        assert all(distance >= 3 for *_, distance in answer["objects"])
        listed, expected = {}, {}
        for kind_type, kind, source_type, _, edge, target in answer["roots"]:
            assert kind_type == source_type == "synthetic"
            listed[kind, target] = listed.get((kind, target), 0) + 1
        for row in roots(source):
            key = "(%s)" % row["kind"], row["type"]
            expected[key] = expected.get(key, 0) + row["count"]
        assert listed == expected, (source, set(listed.items()) ^ set(expected.items()))
    # What the runtime reports of a ConditionalWeakTable holds nothing by itself.
    assert {root[1]: root[4] for root in held["roots"]} == {
        "(ephemeron)": "weak", "(finalizer_queue)": "element", "(stack)": "element", "(static)": "element"}, held["roots"]
    assert any(root[3] == "(static T.Pub.Ev)" and root[5] == "System.EventHandler" for root in answers[0]["roots"])


@test("references have the names of fields and the indexes of elements")
def names_of_edges(directory):
    answer, entries = in_devtools(directory, [recorded("Events.exe leak 500"), recorded("Dynamic.exe collectible 5")],
                                  ["T.Handler", "System.EventHandler", "System.Delegate[]"])["files"]
    edges = answer["edges"]
    assert edges["T.Handler"] == [["property", "Payload", "T.Octet[]"]] * 500, edges["T.Handler"][:3]
    assert sum(edge[0] == "property" and edge[1] in ("m_target", "_target") and edge[2] == "T.Handler"
               for edge in edges["System.EventHandler"]) == 500, edges["System.EventHandler"][:3]
    assert [edge[:2] for edge in edges["System.Delegate[]"]][:500] == [["element", str(i)] for i in range(500)], \
        edges["System.Delegate[]"][:3]


@test("its Comparison of two snapshots finds what came and went by addresses")
def comparison(directory):
    source = recorded("Lists.exe shared 1000")
    last = snapshots(source)[-1]["id"]
    pairs = [(source + "@%d" % (last - 1), source + "@%d" % last), (synthetic("good") + "@1", synthetic("good") + "@3")]
    answers = in_devtools(directory, [file for pair in pairs for file in pair], pairs=[(0, 1), (2, 3)])["pairs"]
    for pair, answer in zip(pairs, answers):
        names = {row["id"]: row["name"] for row in table(directory, "types", pair[1])}
        before, after = ({(id_of(int(row["address"])), names[row["type"]]): int(row["bytes"])
                          for row in table(directory, "objects", one)} for one in pair)
        expected = {}
        for key in set(before) ^ set(after):
            sums = expected.setdefault(key[1], [0, 0, 0, 0])
            which = 0 if key in after else 1
            sums[which] += 1
            sums[which + 2] += after[key] if key in after else before[key]
        seen = {name: sums for name, sums in answer.items() if any(sums)}
        assert seen == expected, (pair, seen, expected)
    assert answers[1]["T.Node"][:2] == [9000, 0], answers[1]["T.Node"]


main()
