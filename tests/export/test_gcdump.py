# SPDX-License-Identifier: MIT
"""heapshot export --format gcdump: by a strict reader of the grammar, and by
dotnet-gcdump itself where it is there or can be had."""
import gcdump

from exported import *

GROUPS = {"static": "[static vars]", "thread_static": "[thread static vars]", "stack": "[local vars]"}
HANDLES = {"normal": "[strong Handles]", "pinned": "[pinning Handles]"}


def dumped(directory, source):
    with open(export(directory, "gcdump", source), "rb") as file:
        return gcdump.parse(file.read())


def is_pseudo(dump, node):
    return node.address == 0 and node.size == 0 and dump.types[node.type][2] is None


def check_totals(dump, source, snapshot="last"):
    seen = {}
    for node in dump.nodes:
        name, _, module = dump.types[node.type]
        if not is_pseudo(dump, node):
            count, size = seen.get((name, module), (0, 0))
            seen[name, module] = count + 1, size + node.size
    expected = {}
    for row in top(source, snapshot):
        expected.setdefault(row["type"], []).append((row["count"], row["bytes"]))
    found = {}
    for (name, module), sums in seen.items():
        found.setdefault(name, []).append(sums)
    assert {name: sorted(sums) for name, sums in found.items()} == \
        {name: sorted(sums) for name, sums in expected.items()}
    # What dotnet-gcdump report shows as the bytes of a type.
    for name, size, module in dump.types[1:]:
        assert size == (seen[name, module][1] if (name, module) in seen else 0), (name, size)


@test("objects and bytes by type are those of top, the types carry their sums")
def totals(directory):
    for args in PROGRAMS:
        check_totals(dumped(directory, recorded(args)), recorded(args))
    for number in (1, 2, 3):
        check_totals(dumped(directory, "%s@%d" % (synthetic("good"), number)), synthetic("good"), number)


@test("references are those of dump --objects, ephemerons lead from the key to the value")
def references(directory):
    for args in ("Ephemerons.exe links 50", "Arrays.exe holes 1000", "Domains.exe alive 2 100"):
        source = recorded(args)
        dump = dumped(directory, source)
        by_address, pairs, expected = {}, set(), {}
        number = snapshots(source)[-1]["id"]
        for line in heapshot("dump", source, "--objects", "--snapshot", str(number)).out.splitlines():
            row = json.loads(line)
            if row["record"] == "object":
                expected.setdefault(row["address"], []).extend(edge["target"] for edge in row["references"])
            elif row["record"] == "ephemeron":
                pairs.add((row["key"], row["value"]))
        for node in dump.nodes:
            if node.address:
                by_address[node.address] = [dump.nodes[child].address for child in node.children]
        assert sorted(by_address) == sorted(expected)
        for address, targets in expected.items():
            seen = by_address[address]
            assert seen[:len(targets)] == targets, (args, hex(address))
            assert all((address, value) in pairs for value in seen[len(targets):]), (args, hex(address))
        extra = sum(len(by_address[address]) - len(targets) for address, targets in expected.items())
        assert extra == len(pairs), (args, extra, len(pairs))


def below(dump, node):
    """Edges to objects from a pseudo node and those below it; names on the way."""
    edges, names, queue = [], [], [node]
    while queue:
        at = dump.nodes[queue.pop()]
        names.append(dump.types[at.type][0])
        for child in at.children:
            if is_pseudo(dump, dump.nodes[child]):
                queue.append(child)
            else:
                edges.append(child)
    return edges, names


@test("root kinds are pseudo nodes by the names that viewers know, with the roots of roots --json")
def pseudo_nodes(directory):
    for args in PROGRAMS:
        source = recorded(args)
        dump = dumped(directory, source)
        root = dump.nodes[dump.root]
        assert dump.types[root.type][0] == "[.NET Roots]" and is_pseudo(dump, root)
        counts = add_counts(roots(source), "kind", "count")
        groups = {}
        for child in root.children:
            name = dump.types[dump.nodes[child].type][0]
            groups[name] = len(below(dump, child)[0])
            if name == "[other roots]":
                for inner in dump.nodes[child].children:
                    name = dump.types[dump.nodes[inner].type][0]
                    groups[name] = len(below(dump, inner)[0])
        for kind, (count,) in counts.items():
            if kind in GROUPS:
                assert groups[GROUPS[kind]] == count, (args, kind, groups, count)
            elif kind == "finalizer_queue":
                assert groups["[finalizer Handles]"] == count, (args, groups, count)
            elif kind in ("gc_handle", "handle"):
                assert sum(groups.get(name, 0) for name in list(HANDLES.values()) + ["[other Handles]"]) <= sum(
                    counts.get(name, (0,))[0] for name in ("gc_handle", "handle"))
            elif kind in ("ephemeron", "saved_registers"):
                pass
            else:
                assert groups["[%s]" % kind] == count, (args, kind, groups, count)
    dump = dumped(directory, recorded("Events.exe leak 500"))
    _, names = below(dump, dump.root)
    assert "[static var T.Pub.Ev]" in names, names


@test("what lives is reached from the root, what does not is there all the same")
def reached(directory):
    for args in ("Events.exe leak 500", "Weak.exe alive 100", "Ephemerons.exe links 50", "Finalizers.exe queue 100"):
        source = recorded(args)
        dump = dumped(directory, source)
        known, queue = {dump.root}, [dump.root]
        while queue:
            for child in dump.nodes[queue.pop()].children:
                if child not in known:
                    known.add(child)
                    queue.append(child)
        size = sum(dump.nodes[node].size for node in known)
        retained = read_json("retained", source)["types"]
        assert retained, "no retained sizes"
        lives = sum(row["bytes"] for row in retained)
        assert size == lives, (args, size, lives)


@test("the process, its time and the size of its words are told")
def process(directory):
    source = recorded("Events.exe leak 500")
    dump = dumped(directory, source)
    assert dump.is_64_bit and dump.tool.startswith("heapshot ") and "Events.exe" in dump.process, dump[4:]
    seconds = dump.time / 1e7 - 62135596800
    assert abs(seconds - os.path.getmtime(source)) < 3600, seconds


@test("names that are no valid text become valid text")
def hostile(directory):
    source = synthetic("hostile-names")
    dump = dumped(directory, source)
    assert {row["type"] for row in top(source)} <= {name for name, _, _ in dump.types}


@test("objects beyond 2 GB are refused in one line")
def too_large(directory):
    result = heapshot("export", "--format", "gcdump", "-o", directory + "/out", synthetic("huge"))
    assert result.status == IO, result.status
    assert_lines(result.err, 1, "format gcdump", "2^31 - 1")
    assert os.listdir(directory) == []


@test("standard output gets the same bytes")
def stream(directory):
    source = synthetic("good")
    with open(export(directory, "gcdump", source), "rb") as file:
        expected = file.read()
    result = subprocess.run([HEAPSHOT, "export", "--format=gcdump", "-o", "-", source], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, timeout=60)
    assert result.returncode == OK and result.stdout == expected and result.stderr == b"", result.stderr


def tool(directory):
    """dotnet-gcdump: of the PATH, or installed from NuGet where there is dotnet."""
    found = os.environ.get("DOTNET_GCDUMP") or shutil.which("dotnet-gcdump")
    if found:
        return found
    place = os.path.join(BUILD, "tests", "export", "tools")
    found = os.path.join(place, "dotnet-gcdump")
    if not os.path.exists(found):
        if shutil.which("dotnet") is None:
            skip("dotnet is missing")
        result = run(["dotnet", "tool", "install", "dotnet-gcdump", "--tool-path", place], env=DOTNET, timeout=300)
        if result.status != 0:
            skip("dotnet-gcdump cannot be installed")
    return found


DOTNET = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1", "HOME": FOLDER}


def report(program, path):
    result = run([program, "report", path], env=DOTNET, timeout=300)
    assert result.status == 0, result.out + result.err
    rows = re.findall(r"^ *([\d,.]+) +([\d,.]+)  (.*?)(?:  \[(.*)\])?$", result.out, re.M)
    sums = dict(re.findall(r"^ *([\d,.]+)  GC Heap (bytes|objects)", result.out, re.M))
    plain = {word: int(re.sub(r"\D", "", value)) for value, word in sums.items()}
    return plain, [(name.strip(), int(re.sub(r"\D", "", size)), int(re.sub(r"\D", "", count)))
                   for size, count, name, _ in rows]


@test("dotnet-gcdump report shows the objects and bytes of top")
def real_tool(directory):
    program = tool(directory)
    for args in ("Events.exe leak 500", "Generics.exe several", "Roots.exe statics"):
        source = recorded(args)
        out = export(directory, "gcdump", source)
        dump = dumped(directory, source)
        sums, rows = report(program, out)
        expected = top(source)
        assert sums == {"bytes": sum(row["bytes"] for row in expected), "objects": len(dump.nodes)}, sums
        assert sorted(rows) == sorted((row["type"], row["bytes"], row["count"]) for row in expected), \
            set(rows) ^ {(row["type"], row["bytes"], row["count"]) for row in expected}


@test("more than 10 million nodes open in dotnet-gcdump report")
def many_nodes(directory):
    long_only()
    program = tool(directory)
    source = synthetic("many", "11000000")
    sums, rows = report(program, export(directory, "gcdump", source, timeout=300))
    expected = {(row["type"], row["bytes"], row["count"]) for row in top(source)}
    assert sums["objects"] > 11000000 and set(rows) == expected, (sums, rows)


check_refusals("gcdump", can_stream=True)
main()
