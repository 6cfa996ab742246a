# SPDX-License-Identifier: MIT
"""What the tests of the wasm module share: the program of tests/wasm/app published
for a runtime, that runtime linked with heapshot, and node that runs both.

Nothing is fetched for their sake but what a publish needs: where emscripten's
folder (contrib/wasm/emscripten), dotnet or node is missing they are skipped.  What is
made stays in wasm/tests of the build, until its sources change."""
import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "mono"))
from harness import *  # noqa: E402,F401,F403

EMSCRIPTEN = os.environ.get("HEAPSHOT_EMSCRIPTEN") or os.path.join(SOURCE, "build", "emscripten")
PACKS = os.environ.get("HEAPSHOT_PACKS") or os.path.join(BUILD, "wasm-packs")
PLACE = os.path.join(BUILD, "wasm", "tests")
SCRIPTS = os.path.join(SOURCE, "contrib", "wasm")
PROBE = os.path.join(HERE, "probe.c")
REACH = os.path.join(BUILD, "tests", "mono", "reach")
RUNTIMES = ("10.0", "9.0")
# Of T.Node, with two words of header and three references of four bytes.
NODE_BYTES = 20


def why_not():
    if shutil.which("dotnet") is None:
        return "dotnet is missing"
    return why_no_emscripten()


@functools.lru_cache(None)
def wait_for_folders():
    """While contrib/check makes emscripten's folder and fetches the packs it holds a lock."""
    lock = os.path.join(SOURCE, "build", "wasm-folders.lock")
    if os.path.exists(lock):
        with open(lock) as file:
            fcntl.flock(file, fcntl.LOCK_SH)


def why_no_emscripten():
    wait_for_folders()
    if shutil.which("node") is None:
        return "node is missing"
    if os.getuid() != 0:
        return "only root can enter emscripten's folder"
    if not os.path.exists(os.path.join(EMSCRIPTEN, ".has-emscripten")):
        return "emscripten is missing (contrib/wasm/emscripten puts it into %s)" % EMSCRIPTEN
    return None


def need():
    why = why_not()
    if why:
        skip(why)


def on_each(name):
    """A test for each of the runtimes."""
    def decorate(function):
        for runtime in RUNTIMES:
            test("%s (.NET %s)" % (name, runtime))(lambda directory, runtime=runtime: function(directory, runtime))
    return decorate


def build(command, cwd=None, timeout=900, expect=0):
    """Runs a step of the preparation; a make above must not rule a make below."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
    env.update(HEAPSHOT_PACKS=PACKS, HEAPSHOT_EMSCRIPTEN=EMSCRIPTEN, NUGET_PACKAGES=PACKS)
    done = subprocess.run(command, cwd=cwd or BUILD, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout, check=False)
    text = done.stdout.decode("utf-8", "replace")
    assert done.returncode == expect, "%s: %d\n%s" % (" ".join(command), done.returncode, text[-2000:])
    return text


def hash_of(*paths):
    total = hashlib.sha256()
    for path in paths:
        with open(path, "rb") as file:
            total.update(file.read())
    return total.hexdigest()


class Made:
    """A folder that is made once for what KEY stands for; others wait meanwhile.

        with Made(name, key) as made:
            if not made.is_whole:
                ...fill made.path
    """

    def __init__(self, name, key):
        self.path = os.path.join(PLACE, name)
        self.key = key

    def __enter__(self):
        os.makedirs(PLACE, exist_ok=True)
        self.lock = open(self.path + ".lock", "w")
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        try:
            with open(self.path + ".key") as file:
                self.is_whole = file.read() == self.key
        except FileNotFoundError:
            self.is_whole = False
        if not self.is_whole:
            shutil.rmtree(self.path, ignore_errors=True)
            os.makedirs(self.path)
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            with open(self.path + ".key", "w") as file:
                file.write(self.key)
        self.lock.close()


def make_targets(*words, timeout=900):
    """Runs make in the build folder, one at a time: test programs run side by side."""
    os.makedirs(PLACE, exist_ok=True)
    with open(os.path.join(PLACE, "make.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        build(["make", "-s", *words], timeout=timeout)


@functools.lru_cache(None)
def archive():
    """Makes libmono-profiler-heapshot.a; returns what it consists of, as a hash."""
    need()
    make_targets("wasm")
    return hash_of(os.path.join(BUILD, "wasm", "libmono-profiler-heapshot.a"),
                   *(os.path.join(SCRIPTS, name) for name in ("link", "link-inside", "exported.txt", "heapshot.post.js",
                                                              "compat.pre.js", "compat.post.js", "tables.proj")))


def panel_sources():
    """All that the panel is made from."""
    found = []
    for folder in ("schema", "emit", "profiler", "contrib/reader", "contrib/export", "contrib/cli", "contrib/wasm", "contrib/browser"):
        for root, _, names in os.walk(os.path.join(SOURCE, folder)):
            found += [os.path.join(root, name) for name in names if name.endswith((".c", ".h", ".mk", ".inc", ".js", ".mjs", ".html", ".css", ".proto"))]
    return sorted(found)


@functools.lru_cache(None)
def panel_folder():
    """The panel as it is served, a copy of build/panel, which node takes for modules."""
    why = why_no_emscripten()
    if why:
        skip(why)
    with Made("panel", hash_of(*panel_sources())) as made:
        if not made.is_whole:
            make_targets("panel", timeout=1800)
            shutil.copytree(os.path.join(BUILD, "panel"), os.path.join(made.path, "panel"))
            with open(os.path.join(made.path, "panel", "package.json"), "w") as file:
                file.write('{"type": "module"}')
        return os.path.join(made.path, "panel")


def version(runtime):
    """The full version of the pack that 10.0 or 9.0 stands for."""
    archive()
    return os.path.basename(os.path.realpath(os.path.join(PACKS, runtime)))


# The program's own, the managed API, and the heaps of the bench.
APP_SOURCES = [os.path.join(HERE, "app", name) for name in sorted(os.listdir(os.path.join(HERE, "app")))] + [
    os.path.join(SOURCE, "contrib", name) for name in ("managed/Heapshot.cs", "bench/Heap.cs")]


def publish(target, runtime, *properties, expect=0):
    """Publishes the program into TARGET; returns what was said."""
    project = os.path.join(target, "project")
    shutil.rmtree(project, ignore_errors=True)
    os.makedirs(project)
    for source in APP_SOURCES:
        shutil.copy(source, project)
    return build(["dotnet", "publish", os.path.join(project, "app.csproj"), "-c", "Release", "-v:m", "-nologo",
                  "-p:Framework=net" + runtime, "-p:RuntimeFrameworkVersion=" + version(runtime),
                  "-o", os.path.join(target, "out")] + ["-p:" + each for each in properties], expect=expect)


@functools.lru_cache(None)
def app(runtime):
    """The published program, with the stock runtime and fixed names."""
    with Made("app-" + runtime, hash_of(*APP_SOURCES) + version(runtime)) as made:
        if not made.is_whole:
            publish(made.path, runtime, "WasmFingerprintAssets=false")
        return made.path


def assembly(runtime):
    return os.path.join(app(runtime), "project", "obj", "Release", "net" + runtime, "app.dll")


@functools.lru_cache(None)
def linked(runtime, *options):
    """A folder with dotnet.native.{js,wasm}."""
    # The runtime of users has no probe in it: its size is stated.
    options = list(options) + ["--source", PROBE] * ("--fast" in options)
    name = "-".join(["runtime", runtime] + [os.path.basename(option).strip("-") for option in options])
    sources = [option for option in options if option.endswith(".c")]
    with Made(name, archive() + hash_of(assembly(runtime), *sources)) as made:
        if not made.is_whole:
            build([os.path.join(SCRIPTS, "link")] + options + ["--assembly", assembly(runtime), version(runtime), made.path])
        return made.path


def serve(directory, runtime, *options):
    """A copy of the published program in DIRECTORY with the linked runtime; without OPTIONS with the stock one."""
    root = os.path.join(directory, "www")
    shutil.copytree(os.path.join(app(runtime), "out", "wwwroot"), root)
    if not options:
        return root
    for name in ("dotnet.native.js", "dotnet.native.wasm"):
        shutil.copy(os.path.join(linked(runtime, *options), name), os.path.join(root, "_framework", name))
    return root


def node(directory, scenario, runtime, *words, link=("--fast",), root=None, status=0):
    """Runs a function of scenarios.mjs; returns what it told, with all that was printed."""
    root = root or serve(directory, runtime, *link)
    done = run(["timeout", "-k", "5", "900", "node", os.path.join(HERE, "in_node.mjs"), scenario, root, directory] +
               [str(word) for word in words], cwd=directory, timeout=960)
    assert status is None or done.status == status, "%s: %d\n%s%s" % (scenario, done.status, done.out[-2000:], done.err[-3000:])
    lines = [line for line in done.out.splitlines() if line.startswith("RESULT ")]
    assert lines or status != 0, done.out + done.err
    result = json.loads(lines[-1][7:]) if lines else {}
    result["err"] = done.err
    return result


def graph(path):
    """What reach.c finds in each whole snapshot, after the checks that hold for all."""
    done = run([REACH, path])
    assert done.status == 0, done.err
    lines = [json.loads(line) for line in done.out.splitlines()]
    for line in lines:
        for name in ("twice", "orphans", "overlapping", "dangling", "bad_slots", "roots_without_object", "loose_ephemerons"):
            assert line[name] == 0, line
        assert line["objects"] == line["stated_objects"] and line["references"] == line["stated_references"], line
    return lines


def all_reached(path):
    lines = graph(path)
    for line in lines:
        assert line["reached"] == line["objects"], line
    return lines
