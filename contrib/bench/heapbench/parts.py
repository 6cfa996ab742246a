# SPDX-License-Identifier: MIT
"""The parts of the bench.  Each is a function of the bench that yields rows."""
import os
import shutil
import subprocess

from . import figures
from .programs import Failed, probe, run
from .report import Row


def heap_program(bench, kind, objects):
    return [bench.heap_exe, kind, str(objects), str(bench.options.seed)]


def size_name(objects):
    return "%g M" % (objects / 1e6) if objects >= 100000 else "%g k" % (objects / 1e3)


def describe(stops):
    """What was really there at the last stop."""
    last = stops[-1]
    return "%.2f M objects, %.2f references each, no-op walk %.1f ns an object (wall %.1f)" % (
        last["objects"] / 1e6, last["references"] / last["objects"],
        figures.median(figures.per_object_ns(stops, "nothing")),
        figures.median(figures.per_object_ns(stops, "nothing", figures.WALL)))


def walk_rows(kind, where, stops, has_log):
    """What the stops of one program come to."""
    note = describe(stops)
    yield Row("encode nulls" if kind == "nulls" else "encode", where, figures.ratios(stops, "encode"), note)
    yield Row("compress", where, figures.ratios(stops, "compress"), note)
    yield Row("pause", where, figures.ratios(stops, "heapshot", figures.WALL), note)
    yield Row("pause cpu", where, figures.ratios(stops, "heapshot"), note)
    yield Row("after", where, figures.ratios(stops, "heapshot after", figures.WALL), note)
    yield Row("threads", where, figures.ratios(stops, "heapshot threads"), note)
    yield Row("cpu", where, figures.ratios_of_sum(stops, ("heapshot", "heapshot after", "heapshot threads")), note)
    if has_log:
        yield Row("log", where, figures.ratios(stops, "log"), note)
        yield Row("log/pause", where, figures.ratios_between(stops, "log", "heapshot", figures.WALL), note)


def last_snapshot(path, stops):
    """Bytes of the last snapshot, and of the names that it needs, an object."""
    with open(path, "rb") as file:
        snapshots, metadata = figures.snapshot_bytes(file.read())
    last = snapshots[max(snapshots)] + metadata
    return last / stops[-1]["objects"], "%d bytes of snapshot, %d of names and layouts" % (
        snapshots[max(snapshots)], metadata)


def measured(bench, program, collect, with_log, fork="never", snapshot="gc"):
    """Runs PROGRAM with our module and the log profiler between probes."""
    output = bench.path("a.hs")
    profiles = [probe("heapshot"), bench.heapshot(output, "snapshot=" + snapshot, fork=fork)]
    if with_log:
        profiles += [probe("log"), "--profile=log:heapshot,output=/dev/null"]
    outcome = run(bench, profiles + [probe("front")], program, collect)
    stops = outcome.stops
    if not stops:
        raise Failed("no collection was measured: %s" % " ".join(program))
    return outcome, stops, output


def pause(bench):
    """The same heap, stopped: walks, our snapshot, the log profiler's."""
    for kind, objects in bench.options.heaps:
        with_log = bench.has_log and kind != "nulls"
        where = "%s %s" % (kind, size_name(objects))
        outcome, stops, output = measured(bench, heap_program(bench, kind, objects), bench.options.rounds, with_log)
        bench.keep("pause", where, outcome)
        bench.log_ratio[where] = figures.ratios(stops, "log")
        yield from walk_rows(kind, where, stops, with_log)
        value, note = last_snapshot(output, stops)
        yield Row("bytes " + kind, where, [], note, value)
        os.unlink(output)


def mcs(bench):
    """The compiler in the middle of its work; snapshots by its own progress, not by the clock."""
    program = bench.mcs_source(bench.options.mcs_bytes)
    outcome, stops, output = measured(bench, program, 0, bench.has_log,
                                      snapshot="gc+%dgc" % bench.options.mcs_gcs)
    where = "mcs %d MB" % (bench.options.mcs_bytes >> 20)
    bench.keep("mcs", where, outcome)
    most = max(stop["objects"] for stop in stops)
    # Small heaps say little of large ones.
    large = [i for i, stop in enumerate(stops) if stop["objects"] >= most / 8]
    yield from walk_rows("mcs", where, [stops[i] for i in large], bench.has_log)
    with open(output, "rb") as file:
        snapshots, metadata = figures.snapshot_bytes(file.read())
    at = max(large, key=lambda i: stops[i]["objects"])
    size = sorted(snapshots.items())[at][1]
    yield Row("bytes mcs", where, [], "%d bytes of snapshot, %d of names and layouts, %d objects" % (
        size, metadata, stops[at]["objects"]), (size + metadata) / stops[at]["objects"])
    os.unlink(output)


def fork(bench):
    """The pause that a forked child leaves."""
    for kind, objects in bench.options.heaps:
        if kind == "nulls":
            continue
        where = "%s %s" % (kind, size_name(objects))
        if not bench.forks:
            yield Row("fork", where, [], "not built in")
            continue
        outcome, stops, output = measured(bench, heap_program(bench, kind, objects), bench.options.rounds, False,
                                          fork="always")
        bench.keep("fork", where, outcome)
        own = figures.ratios(stops, "heapshot")
        yield Row("fork", where, own, describe(stops))
        yield Row("fork", where + ", wall", figures.ratios(stops, "heapshot", figures.WALL), describe(stops))
        log = bench.log_ratio.get(where)
        if log:
            yield Row("log/fork", where, [], "by way of the walk with nothing done",
                      figures.median(log) / figures.median(own))
        os.unlink(output)


def log_bytes(bench, program, options):
    """Bytes of one snapshot of the log profiler: two collections less one, each once more."""
    sizes = []
    for collect in (1, 3):
        output = bench.path("a.mlpd")
        run(bench, ["--profile=log:heapshot,output=%s%s" % (output, options)], program, collect, walks=False)
        sizes.append(os.path.getsize(output))
        os.unlink(output)
    return (sizes[1] - sizes[0]) / 2


def size(bench):
    """Bytes of the log profiler's snapshot against ours."""
    for kind, objects in bench.options.heaps:
        where = "%s %s" % (kind, size_name(objects))
        if kind == "nulls":
            continue
        if not bench.has_log:
            yield Row("log/bytes", where, [], "libmono-profiler is not installed")
            continue
        program, output = heap_program(bench, kind, objects), bench.path("a.hs")
        run(bench, [bench.heapshot(output, "snapshot=gc")], program, 1, walks=False)
        with open(output, "rb") as file:
            snapshots, metadata = figures.snapshot_bytes(file.read())
        ours = snapshots[max(snapshots)] + metadata
        os.unlink(output)
        for name, options in (("log/bytes", ""), ("zip/bytes", ",zip")):
            theirs = log_bytes(bench, program, options)
            yield Row(name, where, [], "%d / %d bytes" % (theirs, ours), theirs / ours)


def idle(bench):
    """The module loaded, and no snapshot: by callbacks, and by paired runs."""
    program = bench.mcs_source(bench.options.idle_bytes)
    where = "mcs %d MB" % (bench.options.idle_bytes >> 20)
    options = [bench.heapshot("/dev/null", "snapshot=none")]
    plain = run(bench, [], program, walks=False)
    outcome = run(bench, [probe("empty"), probe("heapshot")] + options + [probe("front")], program,
                  events=True, walks=False)
    bench.keep("idle", where, outcome)
    n, total_ns, net = figures.event_cost_ns(outcome.lines, "heapshot")
    own = next(one for one in outcome.end["probes"] if one["name"] == "heapshot")
    total_ns += own["load_cpu_ns"] + own["threads_cpu_ns"]
    yield Row("idle events", where, [], "%d callbacks, %.2f ms in all, %.2f ms of them to load, %.2f ms on threads of our "
              "own; the program takes %.2f s" % (n, total_ns / 1e6, own["load_cpu_ns"] / 1e6,
                                                  own["threads_cpu_ns"] / 1e6, plain.cpu_s),
              1 + total_ns / 1e9 / plain.cpu_s)
    pairs = []
    for i in range(bench.options.pairs):
        # Who is first may have the colder caches: by turns.
        order = [[], options] if i % 2 == 0 else [options, []]
        took = [run(bench, profiles, program, walks=False).cpu_s for profiles in order]
        pairs.append(took[1] / took[0] if i % 2 == 0 else took[0] / took[1])
        bench.progress("idle: pair %d of %d" % (i + 1, bench.options.pairs))
    yield Row("idle paired", where, pairs)


def churned(bench, objects):
    """A program with much garbage: collections, ns in callbacks of ours for them, ns on our threads."""
    # Counters are sampled by the clock, not by collections.
    outcome = run(bench, [probe("empty"), probe("heapshot"),
                          bench.heapshot("/dev/null", "snapshot=none", "events=gc+types+jit+threads"),
                          probe("front")], heap_program(bench, "churn", objects), events=True, walks=False)
    collections = next(line["n"] for line in outcome.lines
                       if line.get("probe") == "heapshot" and line.get("event") == "gc pre_start_world")
    callbacks_ns = sum(figures.event_cost_ns(outcome.lines, "heapshot", kind)[1] for kind in ("gc ", "gc_resize"))
    own = next(one for one in outcome.end["probes"] if one["name"] == "heapshot")
    return outcome, collections, callbacks_ns, own["threads_cpu_ns"]


def gc(bench):
    """What the stream of events costs in one collection."""
    values, notes = [], []
    for _ in range(bench.options.rounds):
        # What many collections take beyond few: the start costs our threads something too.  Their first rounds,
        # a quarter of a second after it, must be in both, so few are not too few.
        _, few, _, few_ns = churned(bench, bench.options.churn // 3)
        outcome, many, callbacks_ns, many_ns = churned(bench, bench.options.churn)
        threads_ns = max(0, many_ns - few_ns) / (many - few)
        values.append((callbacks_ns / many + threads_ns) / 1e3)
        notes.append("%.2f us in callbacks, %.2f us on our threads" % (callbacks_ns / many / 1e3, threads_ns / 1e3))
    bench.keep("gc", "churn", outcome)
    middle = values.index(sorted(values)[len(values) // 2])
    yield Row("gc", "churn", values, "%d collections, %s" % (many, notes[middle]))


def memory(bench):
    """Peak memory with snapshots in process, and without the module."""
    for objects in bench.options.memory_heaps:
        program = heap_program(bench, "list", objects)
        output = bench.path("a.hs")
        differences = []
        for _ in range(bench.options.rounds):
            plain = run(bench, [], program, 2, walks=False)
            recorded = run(bench, [bench.heapshot(output, "snapshot=gc")], program, 2, walks=False)
            differences.append((recorded.peak_rss_bytes - plain.peak_rss_bytes) / 1048576)
        yield Row("memory", "list %s" % size_name(objects), differences,
                  "%.1f MB without the module" % (plain.peak_rss_bytes / 1048576))


def module(bench):
    """What can be counted: size, and calls of malloc."""
    stripped = bench.path("module.so")
    subprocess.run(["strip", "-o", stripped, os.path.join(bench.modules, "libmono-profiler-heapshot.so")], check=True)
    yield Row("module", "", [], "", os.path.getsize(stripped) / 1024)
    counter = os.path.join(bench.modules, "libmono-profiler-stopcount.so")
    if not os.path.exists(counter):
        subprocess.run(["make", "-s", "libmono-profiler-stopcount.la"], cwd=bench.build, check=True)
    output = bench.path("a.hs")
    outcome = run(bench, ["--profile=stopcount", bench.heapshot(output, "snapshot=gc")],
                  heap_program(bench, "mix", 100000), 3, walks=False, preload=counter)
    words = next(line for line in outcome.errors.split("\n") if line.startswith("stopcount:")).split()
    yield Row("mallocs", "%s stops" % words[1], [], "", int(words[3]))


PARTS = {part.__name__: part for part in (module, gc, pause, mcs, fork, size, memory, idle)}
