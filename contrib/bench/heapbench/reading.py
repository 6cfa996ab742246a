# SPDX-License-Identifier: MIT
"""The parts of `heapshot-bench read`: what reading costs, beside other tools on the same heap."""
import glob
import json
import os
import shutil
import subprocess
import time

from . import figures
from .parts import heap_program, size_name
from .programs import Failed, run
from .report import Row

CHROMIUM_FLAGS = ("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
                  "--disable-background-networking --disable-component-update --disable-sync")


class Missing(Exception):
    """A tool that is not there; what it would have been compared with is left out."""


class Took:
    """What a command took: seconds of processor and wall time, peak of memory."""

    def __init__(self, line):
        status, user, system, wall, peak = line.split()
        self.status, self.cpu_s, self.wall_s, self.peak_rss_bytes = \
            int(status), float(user) + float(system), float(wall), int(peak)

    def json(self):
        return {"cpu_s": self.cpu_s, "wall_s": self.wall_s, "peak_rss_bytes": self.peak_rss_bytes}


def measured(bench, command, env=None, seconds=1800):
    """Runs COMMAND to its end."""
    path, errors = bench.path("took"), bench.path("stderr")
    with open(errors, "wb") as error_file:
        subprocess.run(["timeout", "-k", "5", str(seconds), os.path.join(bench.build, "heapmeasure"), path] + command,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=error_file, cwd=bench.folder,
                       env=dict(bench.environment(), **(env or {})))
    with open(path) as file:
        line = file.read()
    os.unlink(path)
    took = Took(line) if line else None
    if took is None or took.status != 0:
        with open(errors, errors="replace") as file:
            raise Failed("%s: %s" % (" ".join(command), file.read()[-2000:]))
    return took


def heapshot(bench, *words):
    return [os.path.join(bench.build, "heapshot"), *words]


def built(bench, target):
    """A program of the tree that is built when it is wanted."""
    path = os.path.join(bench.build, target)
    result = subprocess.run(["make", "-s", target], cwd=bench.build, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise Failed(result.stdout.decode()[-2000:])
    return path


def several(bench, name, commands, env=None):
    """Rounds of COMMANDS by turns: lists of what each took."""
    taken = [[] for _ in commands]
    for number in range(bench.options.rounds):
        for command, list_of in zip(commands, taken):
            list_of.append(measured(bench, command, env))
        bench.progress("%s: round %d of %d" % (name, number + 1, bench.options.rounds))
    return taken


def ratios(above, below):
    return [a.cpu_s / b.cpu_s for a, b in zip(above, below) if b.cpu_s]


def keep(bench, part, where, **taken):
    bench.runs.append({"part": part, "where": where,
                       **{name: [took.json() for took in list_of] for name, list_of in taken.items()}})


def recording(bench, objects):
    """One snapshot of a real heap, made when first wanted."""
    path = bench.path("mix%d.hs" % objects)
    if not os.path.exists(path):
        several_of = bench.path("all.hs")
        run(bench, [bench.heapshot(several_of, "snapshot=gc")], heap_program(bench, "mix", objects), 1, walks=False)
        # The runtime collects meanwhile by itself; one snapshot is wanted.
        measured(bench, heapshot(bench, "extract", several_of + "@last", "-o", path))
        os.unlink(several_of)
    return path


def log_recording(bench, objects):
    """The same heap by the log profiler: one snapshot, at the end."""
    if not bench.has_log or not shutil.which("mprof-report"):
        raise Missing("libmono-profiler or mprof-report is not installed")
    path = bench.path("mix%d.mlpd" % objects)
    run(bench, ["--profile=log:heapshot=ondemand,heapshot-on-shutdown,output=" + path],
        heap_program(bench, "mix", objects), 1, walks=False)
    return path


def gcdump_tool(bench):
    """dotnet-gcdump: of the environment, of the PATH, or from NuGet."""
    found = os.environ.get("DOTNET_GCDUMP") or shutil.which("dotnet-gcdump")
    if found:
        return found
    place = os.path.join(bench.build, "tests", "export", "tools")
    found = os.path.join(place, "dotnet-gcdump")
    if not os.path.exists(found):
        if shutil.which("dotnet") is None:
            raise Missing("dotnet is not installed")
        result = subprocess.run(["dotnet", "tool", "install", "dotnet-gcdump", "--tool-path", place],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=dict(os.environ, **DOTNET))
        if result.returncode != 0:
            raise Missing("dotnet-gcdump cannot be installed")
    return found


DOTNET = {"DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_NOLOGO": "1"}


def exported(bench, form, objects):
    path = bench.path("mix%d.%s" % (objects, form))
    measured(bench, heapshot(bench, "export", "--format", form, "-o", path, recording(bench, objects)))
    return path


# ---- Parts ----

def top(bench):
    """The report by type, beside mprof-report and dotnet-gcdump."""
    for objects in bench.options.objects:
        where = "mix " + size_name(objects)
        ours = heapshot(bench, "top", recording(bench, objects))
        command, others = [ours], []
        for name, make in (("mprof", lambda: ["mprof-report", "--reports=heapshot", log_recording(bench, objects)]),
                           ("gcdump", lambda: [gcdump_tool(bench), "report", exported(bench, "gcdump", objects)])):
            try:
                command.append(make())
                others.append(name)
            except Missing as missing:
                yield Row(name + "/top", where, [], str(missing))
        taken = several(bench, "top " + where, command, dict(DOTNET, HOME=bench.folder))
        keep(bench, "top", where, top=taken[0], **dict(zip(others, taken[1:])))
        yield Row("top command", where, [took.cpu_s * 1e3 for took in taken[0]])
        yield Row("top memory", where, [took.peak_rss_bytes / 1048576 for took in taken[0]])
        for name, theirs in zip(others, taken[1:]):
            yield Row(name + "/top", where, ratios(theirs, taken[0]), "%.2f s / %.3f s, peak %.0f MB" % (
                figures.median([took.cpu_s for took in theirs]), figures.median([took.cpu_s for took in taken[0]]),
                max(took.peak_rss_bytes for took in theirs) / 1048576))
        for path in glob.glob(bench.path("mix*.mlpd")) + glob.glob(bench.path("mix*.gcdump")):
            os.unlink(path)


def graph(bench):
    """Steps of reading in one process: totals, rows, the graph, dominators."""
    program = built(bench, "tests/bench/graph_bench")
    for objects in bench.options.objects:
        where = "mix " + size_name(objects)
        path = recording(bench, objects)
        result = subprocess.run([program, path, str(bench.options.rounds)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, env=bench.environment())
        if result.returncode != 0:
            raise Failed(result.stderr.decode())
        found = json.loads(result.stdout)
        bench.runs.append({"part": "graph", "where": where, **found})
        n = found["objects"]
        note = "%.2f M objects, %.2f references each" % (n / 1e6, found["references"] / n)
        for name in ("totals", "decode", "graph", "dominators", "sums"):
            yield Row(name, where, [n / 1e6 / cpu for cpu, _ in found[name]], note)
            if name == "graph":
                yield Row("graph wall", where, [n / 1e6 / wall for _, wall in found[name]], note)
                yield Row("graph/decode", where, [
                    graph_cpu / decode_cpu for (graph_cpu, _), (decode_cpu, _) in zip(found["graph"], found["decode"])])
        beside = found["graph_bytes"] - 9 * found["references"]
        yield Row("graph memory", where, [], note, beside / n)
        yield Row("graph memory", where + ", dominators too", [], note, (beside + found["dominators_bytes"]) / n)
        yield from retained(bench, path, where)


def retained(bench, path, where):
    """The whole command."""
    taken, = several(bench, "retained " + where, [heapshot(bench, "retained", path)])
    keep(bench, "retained", where, retained=taken)
    yield Row("retained", where, [took.cpu_s for took in taken])
    yield Row("retained wall", where, [took.wall_s for took in taken])
    yield Row("retained memory", where, [took.peak_rss_bytes / 1048576 for took in taken])


def node_modules(bench):
    return os.path.join(os.environ.get("HEAPSHOT_NODE_TOOLS") or os.path.join(bench.build, "node-tools"), "node_modules")


def load_in_devtools(bench, path):
    """DevTools' loader in a headless Chromium."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None or shutil.which("node") is None:
        raise Missing("chromium or node is not installed")
    if not os.path.isdir(os.path.join(node_modules(bench), "puppeteer-core")):
        raise Missing("puppeteer-core is missing: contrib/node-tools BUILD installs it")
    profile = bench.path("profile")
    result = subprocess.run(["timeout", "-k", "5", "900", "node",
                             os.path.join(bench.source, "contrib/bench/devtools_load.cjs"), path, profile],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=dict(os.environ, NODE_PATH=node_modules(bench), CHROMIUM=chromium,
                                     CHROMIUM_FLAGS=CHROMIUM_FLAGS))
    shutil.rmtree(profile, ignore_errors=True)
    if result.returncode != 0:
        raise Failed("DevTools: %s" % result.stderr.decode(errors="replace")[-2000:])
    return json.loads(result.stdout)


def devtools(bench):
    """The whole of `retained`, beside DevTools' loader on the export."""
    for objects in bench.options.devtools_objects:
        where = "mix " + size_name(objects)
        path = recording(bench, objects)
        snapshot = exported(bench, "heapsnapshot", objects)
        ours, theirs = [], []
        try:
            for number in range(bench.options.devtools_rounds):
                theirs.append(load_in_devtools(bench, snapshot))
                ours.append(measured(bench, heapshot(bench, "retained", path)))
                bench.progress("devtools %s: round %d of %d" % (where, number + 1, bench.options.devtools_rounds))
        except Missing as missing:
            yield Row("devtools/retained", where, [], str(missing))
            continue
        finally:
            os.unlink(snapshot)
        bench.runs.append({"part": "devtools", "where": where, "devtools": theirs, "retained": [took.json() for took in ours]})
        note = "%s, %.1f s of CPU, peak %.0f MB, %d objects" % (
            theirs[0]["version"], figures.median([one["cpu_s"] for one in theirs]),
            max(one["peak_rss_bytes"] for one in theirs) / 1048576, theirs[0]["objects"])
        yield Row("devtools/retained", where, [one["cpu_s"] / took.cpu_s for one, took in zip(theirs, ours)], note)
        yield Row("devtools memory", where,
                  [one["peak_rss_bytes"] / took.peak_rss_bytes for one, took in zip(theirs, ours)], note)


def list_(bench):
    """`list` of a large file with several snapshots."""
    path, wanted = bench.path("large.hs"), bench.options.list_bytes
    objects, collects = bench.options.list_objects, 1
    one = os.path.getsize(recording(bench, objects))
    collects = max(1, round(wanted / one))
    run(bench, [bench.heapshot(path, "snapshot=gc")], heap_program(bench, "mix", objects), collects, walks=False)
    taken, = several(bench, "list", [heapshot(bench, "list", path)])
    where = "%.2f GB" % (os.path.getsize(path) / 1e9)
    keep(bench, "list", where, list=taken)
    os.unlink(path)
    yield Row("list", where, [took.cpu_s * 1e3 for took in taken])
    yield Row("list", where + ", wall", [took.wall_s * 1e3 for took in taken])


def huge(bench):
    """`retained` of 100 million objects: a synthetic file, of a chain and strings."""
    path = bench.path("huge.hs")
    # A tenth of the objects are strings beside the chain.
    measured(bench, [built(bench, "tests/data/make_recording"), "many", path, str(bench.options.huge * 10 // 11)])
    took = measured(bench, heapshot(bench, "retained", "--part", "types", path))
    where = size_name(bench.options.huge)
    bench.runs.append({"part": "huge", "where": where, "retained": [took.json()]})
    os.unlink(path)
    yield Row("huge memory", where, [], "%.1f s of CPU, %.1f s" % (took.cpu_s, took.wall_s), took.peak_rss_bytes / 1e9)
    yield Row("retained", where, [], "", took.cpu_s)


PARTS = {"list": list_, "top": top, "graph": graph, "devtools": devtools, "huge": huge}
