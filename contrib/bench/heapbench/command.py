# SPDX-License-Identifier: MIT
"""The command line."""
import argparse
import json
import os
import re
import signal
import sys
import time

from . import machine, parts, reading, report
from .programs import Bench, Failed

READ_DESCRIPTION = """Measures what reading costs: heaps of real programs are recorded, and read by heapshot, by its
library in one process, by mprof-report, dotnet-gcdump and DevTools.  Medians, CPU time of all threads unless it says
wall; ratios are of rounds of one run.  What is not installed is left out and said."""

DESCRIPTION = """Measures what recording costs, as ratios taken in one run: snapshots against a walk over the
same heap with nothing done and against the log profiler of Mono, the module without snapshots against the program
without it.  Medians, CPU time unless it says wall."""

FULL_HEAPS = "mix:1M,mix:5M,mix:20M,list:5M,nulls:1M"
QUICK_HEAPS = "mix:50k,list:50k,nulls:20k"


def count(text):
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)", text)
    if not found:
        raise argparse.ArgumentTypeError("%r is no number such as 500k or 5M" % text)
    return int(float(found.group(1)) * {"": 1, "k": 1000, "M": 1000000, "G": 1000000000}[found.group(2)])


def heaps(text):
    result = []
    for item in text.split(","):
        kind, _, objects = item.rpartition(":")
        if kind not in ("", "mix", "list", "nulls"):
            raise argparse.ArgumentTypeError("no kind of heap: %r" % kind)
        result.append((kind or "mix", count(objects)))
    return result


def part_names(known):
    def names_of(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError("no part %r; there are %s" % (name, " ".join(known)))
        return names
    return names_of


def described(known):
    return "Parts: %s" % "; ".join("%s: %s" % (name, part.__doc__.lower().rstrip(".")) for name, part in known.items())


def arguments(words):
    parser = argparse.ArgumentParser(prog="heapshot-bench", description=DESCRIPTION,
                                     epilog=described(parts.PARTS) + "; `heapshot-bench read --help` for what reading costs")
    parser.add_argument("--only", metavar="PART,...", type=part_names(parts.PARTS), default=list(parts.PARTS), help="these parts only")
    parser.add_argument("--heap", metavar="[KIND:]N,...", dest="heaps", type=heaps,
                        help="heaps of mix (usual), list or nulls, such as 5M or list:500k")
    parser.add_argument("--rounds", type=int, help="collections that are measured in each heap (full run: 7)")
    parser.add_argument("--pairs", type=int, help="paired runs of `idle` (full run: 21)")
    parser.add_argument("--seed", type=int, default=1, help="of the heaps (usual: 1)")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it works, not how fast it is")
    parser.add_argument("--json", metavar="FILE", help="write all figures, with those behind them")
    parser.add_argument("--directory", metavar="DIR", help="where recordings go meanwhile (usual: the temporary one)")
    options = parser.parse_args(words)
    quick = options.quick
    options.heaps = options.heaps or heaps(QUICK_HEAPS if quick else FULL_HEAPS)
    options.rounds = options.rounds or (2 if quick else 7)
    options.pairs = options.pairs or (1 if quick else 21)
    options.mcs_bytes, options.mcs_gcs = ((256 << 10), 5) if quick else ((15 << 20), 100)
    options.idle_bytes = (64 << 10) if quick else (1 << 20)
    options.churn = 1000000 if quick else 90000000
    options.memory_heaps = [10000] if quick else [10000, 1000000]
    options.parts = parts.PARTS
    return options


def counts(text):
    return [count(item) for item in text.split(",")]


def read_arguments(words):
    parser = argparse.ArgumentParser(prog="heapshot-bench read", description=READ_DESCRIPTION,
                                     epilog=described(reading.PARTS))
    usual = [name for name in reading.PARTS if name != "huge"]
    parser.add_argument("--only", metavar="PART,...", type=part_names(reading.PARTS), default=usual,
                        help="these parts only (usual: all but huge)")
    parser.add_argument("--objects", metavar="N,...", type=counts, help="of the heaps (usual: 1M,5M,20M)")
    parser.add_argument("--rounds", type=int, help="of each measurement (usual: 5)")
    parser.add_argument("--devtools-objects", metavar="N,...", type=counts, help="of the heaps for DevTools (usual: 1M,5M)")
    parser.add_argument("--devtools-rounds", type=int, help="of DevTools (usual: 3)")
    parser.add_argument("--list-bytes", metavar="N", type=count, help="of the file for `list` (usual: 1G)")
    parser.add_argument("--huge-objects", metavar="N", type=count, dest="huge", help="of `huge` (usual: 100M)")
    parser.add_argument("--seed", type=int, default=1, help="of the heaps (usual: 1)")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it works, not how fast it is")
    parser.add_argument("--json", metavar="FILE", help="write all figures, with those behind them")
    parser.add_argument("--directory", metavar="DIR", help="where recordings go meanwhile (usual: the temporary one)")
    options = parser.parse_args(words)
    quick = options.quick
    options.objects = options.objects or ([50000] if quick else [1000000, 5000000, 20000000])
    options.rounds = options.rounds or (1 if quick else 5)
    options.devtools_objects = options.devtools_objects or ([50000] if quick else [1000000, 5000000])
    options.devtools_rounds = options.devtools_rounds or (1 if quick else 3)
    options.list_bytes = options.list_bytes or (2000000 if quick else 1000000000)
    options.list_objects = 50000 if quick else 5000000
    options.huge = options.huge or (200000 if quick else 100000000)
    options.pairs = 0
    options.parts = reading.PARTS
    return options


def run_parts(bench):
    for name in bench.options.only:
        bench.progress(name)
        try:
            yield from bench.options.parts[name](bench)
        except Failed as failure:
            raise Failed("%s: %s" % (name, failure))


def describe(found, options):
    return ("%(processor)s, %(processors)d processors, %(memory_mb)d MB, Linux %(kernel)s, huge pages %(huge_pages)s, "
            "load %(load).2f\n%(mono)s\n" % found +
            "N = %d rounds%s; seed %d" % (options.rounds, ", %d pairs" % options.pairs if options.pairs else "", options.seed))


def stop(number, frame):
    """The programs under way must not outlive the bench."""
    raise SystemExit(128 + number)


def main(source, build):
    is_reading = sys.argv[1:2] == ["read"]
    options = read_arguments(sys.argv[2:]) if is_reading else arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, stop)
    try:
        bench = Bench(source, build, options)
    except (Failed, OSError) as failure:
        print("heapshot-bench: %s" % failure, file=sys.stderr)
        return 2
    start = time.monotonic()
    bench.runs, bench.log_ratio, rows = [], {}, []
    bench.keep = lambda part, where, outcome: bench.runs.append(
        {"part": part, "where": where, "cpu_s": outcome.cpu_s, "wall_s": outcome.wall_s,
         "peak_rss_bytes": outcome.peak_rss_bytes, "probe": outcome.lines})
    bench.progress = lambda text: print("[%4d s] %s" % (time.monotonic() - start, text), file=sys.stderr, flush=True)
    found = machine.describe()
    try:
        for row in run_parts(bench):
            rows.append(row)
            bench.progress("%s, %s: %s" % (row.what, row.where, report.number(row.value) if row.value is not None else row.note))
    except Failed as failure:
        print("heapshot-bench: %s" % failure, file=sys.stderr)
        return 1
    finally:
        bench.close()
    print(describe(found, options) + "\n\n" + report.table(rows))
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"version": 1, "machine": found, "arguments": sys.argv[1:], "rounds": options.rounds,
                       "pairs": options.pairs, "seed": options.seed, "rows": [row.json() for row in rows],
                       "runs": bench.runs}, file, indent=1)
            file.write("\n")
    return 0
