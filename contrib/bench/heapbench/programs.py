# SPDX-License-Identifier: MIT
"""Running programs under mono with the modules to be measured."""
import json
import os
import shutil
import subprocess
import tempfile
import time

MCS = "/usr/lib/mono/4.5/mcs.exe"
LOG_MODULE = "libmono-profiler-log.so"
LOG_FOLDERS = ("/usr/lib", "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu")
# A program that does not answer is given up.
ANSWER_S = 600


class Failed(Exception):
    pass


class Bench:
    """Where things are, and what the run was asked for."""

    def __init__(self, source, build, options):
        self.source, self.build, self.options = source, build, options
        self.modules = os.path.join(build, ".libs")
        self.folder = tempfile.mkdtemp(prefix="heapshot-bench.", dir=options.directory)
        self.forks = self.help_has("fork")
        self.has_log = any(os.path.exists(os.path.join(folder, LOG_MODULE)) for folder in LOG_FOLDERS)
        self.heap_exe = self.compiled("Heap.exe", [os.path.join(source, "contrib/bench/Heap.cs")])

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def environment(self, **variables):
        env = {name: value for name, value in os.environ.items()
               if name not in ("HEAPSHOT_OPTIONS", "MONO_GC_PARAMS", "MONO_GC_DEBUG", "MONO_OPTIONS")}
        env["LD_LIBRARY_PATH"] = self.modules + ":" + env.get("LD_LIBRARY_PATH", "")
        env.update(variables)
        return env

    def help_has(self, option):
        """Whether the module knows OPTION by more than its name."""
        text = subprocess.run(["mono", "--profile=heapshot:help", "none.exe"], env=self.environment(),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
        if "usage:" not in text:
            raise Failed("mono does not load the module in %s: %s" % (self.modules, text.strip()))
        lines = text.split("\n")
        at = next((i for i, line in enumerate(lines) if line.startswith("  %s=" % option)), None)
        return at is not None and "not in this version" not in lines[at + 1]

    def compiled(self, name, sources):
        path = self.path(name)
        result = subprocess.run(["mcs", "-nologo", "-optimize", "-out:" + path] + sources,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if result.returncode != 0:
            raise Failed(result.stdout.decode())
        return path

    def heapshot(self, output, *more, fork="never"):
        """--profile=heapshot with what every run here has."""
        words = ["output=" + output, "quiet", "overwrite", "control=off"]
        if self.forks:
            words.append("fork=" + fork)
        return "--profile=heapshot:" + ",".join(words + list(more))

    def mcs_source(self, size):
        path = self.path("big%d.cs" % size)
        if not os.path.exists(path):
            script = os.path.join(self.source, "tests/mono/make_mcs_source.py")
            with open(path, "w") as file:
                subprocess.run(["python3", script, str(size)], stdout=file, check=True)
        return [MCS, "-nologo", "-nowarn:168,219,414", "-out:" + self.path("big.exe"), path]


def probe(name):
    return "--profile=heapprobe:" + name


def children_of(pid):
    found = []
    for thread in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/children" % (pid, thread)) as file:
                found += file.read().split()
        except OSError:
            pass
    return found


class Outcome:
    """What a run left: lines of the probe, CPU time and peak memory."""

    def __init__(self, lines, cpu_s, wall_s, peak_rss_bytes):
        self.lines, self.cpu_s, self.wall_s, self.peak_rss_bytes = lines, cpu_s, wall_s, peak_rss_bytes
        self.stops = [line for line in lines if "took" in line]
        self.end = next((line for line in lines if line.get("end")), None)


def read_lines(path):
    if not os.path.exists(path):
        return []
    with open(path) as file:
        return [json.loads(line) for line in file]


def run(bench, profiles, program, collect=0, events=False, walks=True, seconds=1800, preload=None):
    """Runs PROGRAM to its end.  COLLECT: so many full collections are asked for
    once it is ready, each when the child of the one before has gone."""
    file, go = bench.path("probe.jsonl"), bench.path("go")
    for path in (file, go):
        if os.path.exists(path):
            os.unlink(path)
    variables = {"HEAPPROBE_FILE": file, "HEAPPROBE_WALKS": "1" if walks else "0",
                 "HEAPPROBE_EVENTS": "1" if events else "0"}
    talks = program[0] == bench.heap_exe
    if talks:
        variables["HEAPPROBE_GO"] = go
    if preload:
        variables["LD_PRELOAD"] = preload
    errors = bench.path("stderr")
    start = time.monotonic()
    with open(errors, "wb") as error_file:
        process = subprocess.Popen(["timeout", "-k", "5", str(seconds), "mono"] + profiles + program,
                                   env=bench.environment(**variables), cwd=bench.folder,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=error_file)
        try:
            if talks:
                talk(process, go, collect)
            process.stdin.close()
            process.stdout.read()
        except OSError:
            pass
        except BaseException:
            process.terminate()
            raise
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
    with open(errors, errors="replace") as error_file:
        text = error_file.read()
    if status != 0:
        raise Failed("status %d of %s: %s" % (status, " ".join(profiles + program), text[-2000:]))
    outcome = Outcome(read_lines(file), usage.ru_utime + usage.ru_stime, time.monotonic() - start,
                      usage.ru_maxrss * 1024)
    outcome.errors = text
    return outcome


def runtime_pid(process):
    """The program is the only child of timeout(1)."""
    return int(children_of(process.pid)[0])


def talk(process, go, collect):
    if process.stdout.readline().strip() != b"ready":
        return
    open(go, "w").close()
    pid = runtime_pid(process)
    for _ in range(collect):
        process.stdin.write(b"collect\n")
        process.stdin.flush()
        process.stdout.readline()
        deadline = time.monotonic() + ANSWER_S
        while children_of(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
    process.stdin.write(b"\n")
