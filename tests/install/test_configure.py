# SPDX-License-Identifier: MIT
"""configure: Mono headers that are too old, headers whose gc_roots carries the
kind, builds without parts, in the tree and out of it."""
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mono"))
from harness import *

ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("MAKE", "MFLAGS", "CONFIG_SITE"))}


def call(command, cwd):
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)


# What configure found out about the compiler, kept from one call to the next.
CACHE = os.path.join(BUILD, "tests", "install", "config.cache")


def configure(directory, *options, source=SOURCE):
    script = os.path.join(source, "configure")
    if not os.path.exists(script):
        skip("there is no configure script")
    if os.path.exists(CACHE):
        with open(CACHE) as file:
            lines = [line for line in file if "heapshot_cv" not in line and "mono" not in line.lower()
                     and "_env_" not in line]
        with open(CACHE, "w") as file:
            file.writelines(lines)
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    return call([script, "--prefix=/usr", "--cache-file=" + CACHE] + list(options), directory)


def summary_of(text):
    """What configure says at its end."""
    lines = text.rstrip().splitlines()
    start = max(i for i, line in enumerate(lines) if re.fullmatch(r"  heapshot \d+\.\d+\.\d+\S*", line))
    pairs = [re.match(r"    (\S.*?)  +(\S.*)", line) for line in lines[start + 1:] if line.strip()]
    return {pair.group(1): pair.group(2).strip() for pair in pairs}


def mono_headers(directory, changes):
    """A copy of the installed headers with texts replaced."""
    flags = run(["pkg-config", "--variable=includedir", "mono-2"]).out.strip()
    where = next(path for path in (flags + "/mono-2.0", "/usr/include/mono-2.0") if os.path.isdir(path))
    prefix = os.path.join(directory, "mono")
    shutil.copytree(where, prefix + "/include/mono-2.0")
    folder = prefix + "/include/mono-2.0/mono/metadata"
    for name in ("profiler.h", "profiler-events.h"):
        with open(os.path.join(folder, name)) as file:
            text = file.read()
        for pattern, replacement in changes:
            text = re.sub(pattern, replacement, text)
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    return prefix


def build_folder(directory):
    build = os.path.join(directory, "build")
    os.mkdir(build)
    return build


@test("a profiler API older than 3 is refused with a clear message")
def old_api(directory):
    prefix = mono_headers(directory, [(r"(#define MONO_PROFILER_API_VERSION) \d+", r"\1 2")])
    result = configure(build_folder(directory), "--with-mono=" + prefix)
    assert result.returncode != 0
    assert "profiler API is version 2" in result.stdout and "needs version 3" in result.stdout, result.stdout[-500:]


@test("no Mono headers: refused with a clear message")
def no_headers(directory):
    result = configure(build_folder(directory), "--with-mono=/nonexistent")
    assert result.returncode != 0 and "--with-mono=PREFIX" in result.stdout, result.stdout[-500:]


@test("gc_roots with the kind of the roots: found by configure, and the module compiles")
def roots_with_kind(directory):
    # MONO_PROFILER_EVENT_3(gc_roots, ..., objects) gets a fourth argument.
    pattern = r"MONO_PROFILER_EVENT_3\(gc_roots,([^)]*)\)"
    prefix = mono_headers(directory, [(pattern, r"MONO_PROFILER_EVENT_4(gc_roots,\1, const char *, kind)")])
    with open(prefix + "/include/mono-2.0/mono/metadata/profiler-events.h") as file:
        assert "MONO_PROFILER_EVENT_4(gc_roots" in file.read(), "the header was not changed"
    build = build_folder(directory)
    result = configure(build, "--with-mono=" + prefix)
    assert result.returncode == 0, result.stdout[-1000:]
    summary = summary_of(result.stdout)
    assert summary["Mono headers"] == prefix + " (profiler API 3, kinds in gc_roots: yes)", summary
    with open(os.path.join(build, "config.h")) as file:
        assert "#define HEAPSHOT_GC_ROOTS_KIND 1" in file.read()
    made = call(["make", "-j2", "libmono-profiler-heapshot.la", "CFLAGS=-O1 -Werror"], build)
    assert made.returncode == 0, made.stdout[-2000:]
    with open(os.path.join(BUILD, "config.h")) as file:
        assert "#define HEAPSHOT_GC_ROOTS_KIND" not in file.read(), "the installed headers have it already"


@test("--disable-cli builds the module without the command")
def without_command(directory):
    long_only()
    build = build_folder(directory)
    assert configure(build, "--disable-cli").returncode == 0
    made = call(["make", "-j2"], build)
    assert made.returncode == 0, made.stdout[-2000:]
    assert not os.path.exists(os.path.join(build, "heapshot"))
    assert os.path.exists(os.path.join(build, ".libs", "libmono-profiler-heapshot.so"))


@test("--without-sqlite and --without-ncurses build; what is missing is refused by name")
def without_sqlite(directory):
    long_only()
    build = build_folder(directory)
    result = configure(build, "--without-sqlite", "--without-ncurses")
    assert summary_of(result.stdout)["browser (ncurses)"] == "no", result.stdout[-1000:]
    assert summary_of(result.stdout)["export to sqlite"] == "no", result.stdout[-1000:]
    made = call(["make", "-j2", "heapshot"], build)
    assert made.returncode == 0, made.stdout[-2000:]
    shown = call(["./heapshot", "export", "--format=sqlite", "-o", directory + "/out", "/dev/null"], build)
    assert shown.returncode == 2 and "no format 'sqlite' in this build" in shown.stdout, shown.stdout
    shown = call(["./heapshot", "tui", "/dev/null"], build)
    assert shown.returncode == 2 and "ncurses was not there when heapshot was built" in shown.stdout, shown.stdout
    linked = call(["ldd", "heapshot"], build).stdout
    assert "sqlite" not in linked and "ncurses" not in linked and "tinfo" not in linked, linked


@test("a build in the tree, and one against --with-mono and --with-profilerdir")
def in_tree(directory):
    long_only()
    source = os.path.join(directory, "tree")
    shutil.copytree(SOURCE, source, ignore=shutil.ignore_patterns(".git", "build", "b", "build-[!a]*", "autom4te.cache"))
    call(["chmod", "-R", "u+w", source], directory)
    if os.path.exists(os.path.join(source, "config.status")):
        call(["make", "distclean"], source)
    result = configure(source, "--with-mono=/usr", "--with-profilerdir=/opt/mono/lib", source=source)
    assert result.returncode == 0, result.stdout[-1000:]
    made = call(["make", "-j2"], source)
    assert made.returncode == 0, made.stdout[-2000:]
    placed = call(["make", "install", "DESTDIR=" + directory + "/root"], source)
    assert placed.returncode == 0, placed.stdout[-2000:]
    assert os.path.exists(directory + "/root/opt/mono/lib/libmono-profiler-heapshot.so")


@test("the summary says what was found and what was asked for")
def summary(directory):
    result = configure(build_folder(directory), "--with-profilerdir=/opt/mono/lib", "--disable-cli", "--enable-coverage")
    assert result.returncode == 0, result.stdout[-1000:]
    said = summary_of(result.stdout)
    assert set(said) == {"Mono headers", "profiler modules in", "heapshot command", "man pages (scdoc)", "unit tests",
                         "tests on real Mono", "sanitizers, coverage", "fuzzing", "export to sqlite", "browser (ncurses)"}, said
    assert said["browser (ncurses)"] == "no", said
    assert said["export to sqlite"] == "no", "without the command: " + said["export to sqlite"]
    assert said["Mono headers"].endswith("(profiler API 3, kinds in gc_roots: no)"), said
    assert said["profiler modules in"] == "/opt/mono/lib" and said["heapshot command"] == "no", said
    assert said["sanitizers, coverage"] == "no, yes" and said["fuzzing"] == "no", said
    assert said["man pages (scdoc)"] in ("scdoc", "no"), said
    assert said["unit tests"] in ("yes", "no"), said
    assert (said["tests on real Mono"].split()[0] != "no") == (shutil.which("mono") is not None), said


@test("--enable-coverage builds, and yields data")
def coverage(directory):
    long_only()
    build = build_folder(directory)
    result = configure(build, "--enable-coverage")
    assert result.returncode == 0, result.stdout[-1000:]
    made = call(["make", "-j2", "all", "tests/data/make_recording"], build)
    assert made.returncode == 0, made.stdout[-2000:]
    recording = os.path.join(directory, "a.hs")
    for command in (["tests/data/make_recording", "good", recording], ["./heapshot", "top", recording]):
        done = call(command, build)
        assert done.returncode == 0, done.stdout
    data = [os.path.join(folder, name) for folder, _, names in os.walk(build) for name in names
            if name.endswith(".gcda")]
    for source in ("schema/", "emit/", "contrib/reader/", "contrib/cli/"):
        assert [path for path in data if os.path.relpath(path, build).startswith(source)], (source, data)
    if shutil.which("gcov") is None:
        return
    top = next(path for path in data if path.endswith("top.gcda"))
    shown = call(["gcov", "-n", top], build).stdout
    executed = re.search(r"File '\S*contrib/cli/top\.c'\nLines executed:([0-9.]+)% of", shown)
    assert executed and float(executed.group(1)) > 30, shown


@test("`make dist` holds what is under version control, builds by itself, and passes its unit tests")
def distribution(directory):
    long_only()
    build = build_folder(directory)
    assert configure(build).returncode == 0
    made = call(["make", "-j2", "dist"], build)
    assert made.returncode == 0, made.stdout[-2000:]
    archive, = [name for name in os.listdir(build) if name.startswith("heapshot-") and ".tar" in name]
    unpacked = call(["tar", "xf", os.path.join(build, archive)], directory)
    assert unpacked.returncode == 0, unpacked.stdout
    tree, = [os.path.join(directory, name) for name in os.listdir(directory) if name.startswith("heapshot-")]
    if os.path.isdir(os.path.join(SOURCE, ".git")):
        listed = call(["git", "ls-files"], SOURCE).stdout.split("\n")
        missing = [name for name in listed if name and not os.path.exists(os.path.join(tree, name))
                   and os.path.basename(name) not in (".gitignore", ".gitkeep")]
        assert not missing, missing
    result = configure(tree, source=tree)
    assert result.returncode == 0, result.stdout[-1000:]
    made = call(["make", "-j2"], tree)
    assert made.returncode == 0, made.stdout[-2000:]
    names = sorted(name[:-2] for name in os.listdir(os.path.join(tree, "tests", "unit"))
                   if name.startswith("test_") and name.endswith(".c"))
    if summary_of(result.stdout)["unit tests"] != "yes":
        skip("the tarball builds; Criterion is missing")
    tested = call(["make", "-j2", "check", "TESTS=" + " ".join("tests/unit/" + name for name in names)], tree)
    assert tested.returncode == 0, tested.stdout[-3000:]
    assert re.search(r"# FAIL: +0$", tested.stdout, re.M) and re.search(r"# PASS: +[1-9]", tested.stdout), tested.stdout


main()
