# SPDX-License-Identifier: MIT
"""heapshot export --format pprof: by a strict reader of profile.proto, and by pprof
itself, where Go is there or can be had."""
import functools

import pprof

from exported import *


def profile(directory, source):
    with open(export(directory, "pprof", source), "rb") as file:
        return pprof.parse(file.read())


def live_types(source, snapshot="last"):
    """Live objects and bytes by the name of their type."""
    rows = read_json("retained", source, "--part", "types", "--snapshot", str(snapshot), "--limit", "0")["types"]
    return add_counts([row for row in rows if row["count"]], "type", "count", "bytes")


@test("objects and bytes at the ends of stacks are those of the live types")
def totals(directory):
    for args in PROGRAMS:
        source = recorded(args)
        seen = {}
        for stack, values in profile(directory, source).samples:
            seen[stack[-1]] = tuple(map(sum, zip(seen.get(stack[-1], (0, 0)), values)))
        assert seen == live_types(source), (args, set(seen.items()) ^ set(live_types(source).items()))


@test("the stacks are those of folded, the time is that of the snapshot")
def same_stacks(directory):
    for args in ("Events.exe leak 500", "Domains.exe alive 2 100", "Generics.exe several"):
        source = recorded(args)
        found = profile(directory, source)
        assert found.types == [("objects", "count"), ("space", "bytes")] and found.default == "space", found[:1]
        with open(export(directory, "folded", source), encoding="utf-8") as file:
            lines = [line.rstrip("\n").rsplit(" ", 1) for line in file]
        assert {";".join(name.replace(";", ",") for name in stack): values[1]
                for stack, values in found.samples} == {path: int(size) for path, size in lines}
        assert abs(found.time_ns / 1e9 - os.path.getmtime(source)) < 3600, found.time_ns


@test("gzip takes the file, also one of several blocks; standard output gets the same bytes")
def compressed(directory):
    source = recorded("Generics.exe several")
    path = export(directory, "pprof", source)
    assert run(["gzip", "-t", path]).status == 0
    pprof.parse(assert_streams(directory, "pprof", source))
    # Names of 60 bytes each: more than one block of 64 KB.
    path = export(directory, "pprof", synthetic("names", "3000"))
    assert os.path.getsize(path) > 3 * 65536 and run(["gzip", "-t", path]).status == 0
    with open(path, "rb") as file:
        assert len(pprof.parse(file.read()).samples) == 3000


@test("names that are no valid text become valid text; what nothing holds makes an empty profile")
def odd(directory):
    source = synthetic("hostile-names")
    assert {stack[-1] for stack, _ in profile(directory, source).samples} == {row["type"] for row in top(source)}
    assert profile(directory, synthetic("huge")).samples == []


@test("2^63 bytes are refused in one line")
def too_large(directory):
    source = synthetic("wide", str(1 << 61))
    result = heapshot("export", "--format", "pprof", "-o", directory + "/out", source)
    assert result.status == IO, result.status
    assert_lines(result.err, 1, "format pprof", "2^63 - 1")
    assert os.listdir(directory) == []
    found = profile(directory, synthetic("wide", str(1 << 60)))
    assert sum(values[1] for _, values in found.samples) == 5 << 60


# ---- pprof itself -------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def program():
    return pprof.tool(os.path.join(BUILD, "tests", "export", "tools"))


def call(directory, *options):
    """What pprof prints; skips where there is none."""
    if program() is None:
        skip("pprof is missing (go, or apt-get to have it from golang-go)")
    result = run(program() + list(options), timeout=60, env={"HOME": directory, "PPROF_TMPDIR": directory})
    assert result.status == 0, result.err
    return result.out


def amount(text):
    return int(text[:-1]) if text.endswith("B") else int(text)


def shown(directory, *options):
    """Rows of -top: {name: (flat, cumulated)}."""
    out = call(directory, "-top", "-trim=false", "-unit=B", *options)
    rows = re.findall(r"^ *(-?\d+B?) +\S+ +\S+ +(-?\d+B?) +\S+  (.*)$", out, re.M)
    assert len({name for _, _, name in rows}) == len(rows)
    return {name: (amount(flat), amount(cumulated)) for flat, cumulated, name in rows}


@test("pprof -top: flat are objects and bytes of the types, cumulated is what they retain")
def real_top(directory):
    for args in PROGRAMS:
        source = recorded(args)
        path = export(directory, "pprof", source)
        told = read_json("retained", source)
        space, objects = shown(directory, "-sample_index=space", path), shown(directory, "-sample_index=objects", path)
        expected = live_types(source)
        for rows, place in ((objects, 0), (space, 1)):
            assert {name: flat for name, (flat, _) in rows.items() if flat} == \
                {name: sums[place] for name, sums in expected.items() if sums[place]}, args
        names = [row["type"] for row in told["types"]]
        for row in told["types"]:
            if names.count(row["type"]) == 1:
                assert space[row["type"]][1] == row["retained"], (args, row, space[row["type"]])
        for row in told["kinds"]:
            name = "(%s)" % row["kind"]
            assert space.get(name, (0, 0))[1] == row["retained"], (args, row, space.get(name))
        # The default is the bytes.
        assert shown(directory, path) == space


@test("pprof leaves generic arguments in names")
def real_names(directory):
    path = export(directory, "pprof", recorded("Generics.exe several"))
    rows = shown(directory, "-sample_index=objects", path)
    for name in ("T.Box<System.String>", "T.Box<T.Box<System.String>>", "T.OuterOf.InnerOf<System.String,System.Object>",
                 "T.Box<System.String>[]"):
        assert rows[name][0] == 10, (name, sorted(rows))


@test("pprof -traces and -raw show all stacks")
def real_traces(directory):
    source = recorded("Events.exe leak 500")
    path = export(directory, "pprof", source)
    expected = {(values, stack) for stack, values in profile(directory, source).samples}
    traces = call(directory, "-traces", "-unit=B", "-sample_index=space", path).split("-----------+")[1:]
    seen = set()
    for trace in traces[:-1]:
        size, *stack = [line.strip() for line in trace.split("\n")[1:] if line.strip()]
        size, innermost = size.split(None, 1)
        seen.add((amount(size), (innermost, *stack)[::-1]))
    assert seen == {(values[1], stack) for values, stack in expected}, seen ^ {(v[1], s) for v, s in expected}
    raw = call(directory, "-raw", path)
    assert "objects/count space/bytes[dflt]" in raw, raw[:300]
    rows = re.findall(r"^ +(\d+) +(\d+): [\d ]+$", raw, re.M)
    assert sorted((int(count), int(size)) for count, size in rows) == sorted(values for values, _ in expected)


@test("pprof -base shows what grew between two snapshots")
def real_difference(directory):
    source = synthetic("good")
    shutil.move(export(directory, "pprof", source + "@1"), directory + "/first")
    shutil.move(export(directory, "pprof", source + "@2"), directory + "/second")
    before, after = live_types(source, 1), live_types(source, 2)
    for index, place in (("objects", 0), ("space", 1)):
        rows = shown(directory, "-sample_index=" + index, "-base", directory + "/first", directory + "/second")
        grown = {name: sums[place] - before.get(name, (0, 0))[place] for name, sums in after.items()}
        assert grown["T.Node"] > 0
        assert {name: flat for name, (flat, _) in rows.items() if flat} == \
            {name: n for name, n in grown.items() if n}, (rows, grown)


check_refusals("pprof", can_stream=True)
main()
