# SPDX-License-Identifier: MIT
"""Debian packages: contrib/deb builds them, lintian finds nothing to blame, and
on a bare bookworm they install, record, read, and go without a trace."""
import functools
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mono"))
from harness import *

PACKAGES = ["heapshot", "libheapshot-dev", "libheapshot-reader0", "mono-profiler-heapshot"]
OUT = os.path.join(BUILD, "tests", "package", "deb")
FOLDER = os.environ.get("HEAPSHOT_BOOKWORM") or os.path.join(BUILD, "bookworm")
SIZE_LIMIT = 200 * 1024
SERIAL = threading.Lock()


def need(*commands):
    missing = [name for name in commands if shutil.which(name) is None]
    if missing:
        skip("%s is missing" % " and ".join(missing))


@functools.lru_cache(maxsize=None)
def build(options):
    env = {"HEAPSHOT_DEB": OUT, "DEB_BUILD_OPTIONS": options, "DEB_BUILD_PROFILES": "", "HEAPSHOT_LONG": "0"}
    return run([os.path.join(SOURCE, "contrib", "deb")], env=env, timeout=1800)


def packages():
    """Paths of the packages by name; built once, with the unit tests."""
    long_only()
    need("dpkg-buildpackage", "dh")
    with SERIAL:
        result = build("")
    assert result.status == 0, result.out + result.err
    found = {os.path.basename(path).split("_")[0]: path for path in glob.glob(OUT + "/*.deb")}
    assert sorted(name for name in found if not name.endswith("-dbgsym")) == PACKAGES, found
    return {name: found[name] for name in PACKAGES}


def unpacked(directory):
    for path in packages().values():
        result = run(["dpkg-deb", "-x", path, directory])
        assert result.status == 0, result.err
    return directory


def field(path, name):
    return run(["dpkg-deb", "-f", path, name]).out.strip()


@test("the version of the packages is that of configure")
def version(directory):
    with open(os.path.join(SOURCE, "configure.ac")) as file:
        wanted = re.search(r"AC_INIT\(\[heapshot\], \[([^]]+)\]", file.read()).group(1)
    with open(os.path.join(SOURCE, "contrib", "debian", "changelog")) as file:
        said = re.match(r"heapshot \(([^-]+)-[^)]+\) ", file.readline()).group(1)
    assert said == wanted, (said, wanted)


@test("with nocheck the build leaves the unit tests out")
def nocheck(directory):
    def commands(options):
        env = {"DEB_BUILD_OPTIONS": options, "MAKEFLAGS": "", "MAKELEVEL": ""}
        result = run(["make", "-n", "-f", SOURCE + "/contrib/debian/rules", "override_dh_auto_test"], env=env)
        assert result.status == 0, result.err
        return result.out
    assert "check-unit" in commands("") and "check-unit" not in commands("parallel=2 nocheck")


@test("contrib/deb builds the packages, and the unit tests run on the way")
def builds(directory):
    packages()
    with open(OUT + "/log") as file:
        log = file.read()
    results = re.findall(r"(?m)^(PASS|FAIL|ERROR|XPASS): tests/unit/", log)
    assert set(results) == {"PASS"} and len(results) > 50, results


@test("lintian finds no errors and no warnings")
def lintian(directory):
    packages()
    need("lintian")
    result = run(["lintian", "--show-overrides", "--tag-display-limit", "0"] + glob.glob(OUT + "/*.changes"))
    blamed = [line for line in result.out.splitlines() if line.startswith(("E:", "W:"))]
    assert result.status == 0 and not blamed, result.out + result.err
    # It did look: what it would say of the module's name is overridden.
    assert re.search(r"(?m)^O: mono-profiler-heapshot: shared-library-lacks-version ", result.out), result.out


@test("the module is where Debian's mono has its own, hardened, at most 200 KB, and depends on the runtime")
def module(directory):
    path = os.path.join(unpacked(directory), "usr", "lib", "libmono-profiler-heapshot.so")
    assert os.path.isfile(path) and not os.path.islink(path)
    assert os.path.getsize(path) <= SIZE_LIMIT, "%d bytes" % os.path.getsize(path)
    note("module: %d bytes stripped" % os.path.getsize(path))
    assert "NOW" in run(["readelf", "-d", path]).out
    symbols = run(["nm", "-D", path]).out
    assert "__stack_chk_fail" in symbols and "__vsnprintf_chk" in symbols, symbols
    depends = field(packages()["mono-profiler-heapshot"], "Depends")
    assert "mono-runtime-sgen (>= 6.0)" in depends and "liblz4-1" in depends and "mono-2.0" not in depends, depends
    assert field(packages()["heapshot"], "Recommends") == "mono-profiler-heapshot"


@test("what is unpacked records and reads, and a program is built with the development files")
def used_unpacked(directory):
    root = unpacked(directory)
    libdir, = glob.glob(root + "/usr/lib/*-linux-*")
    command = root + "/usr/bin/heapshot"
    for path in (command, root + "/usr/lib/libmono-profiler-heapshot.so", libdir + "/libheapshot-reader.so.0"):
        needed = run(["ldd", path], env={"LD_LIBRARY_PATH": ""})
        assert needed.status == 0 and "not found" not in needed.out, path + ": " + needed.out
    recording = os.path.join(directory, "a.hs")
    recorded = mono("Lists ring 1000", "output=%s,snapshot=gc" % recording, env={"LD_LIBRARY_PATH": root + "/usr/lib"})
    assert recorded.status == 0, recorded.err
    shown = run([command, "top", recording])
    assert shown.status == 0 and "T.Ring" in shown.out, shown.out + shown.err

    env = {"PKG_CONFIG_LIBDIR": libdir + "/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": root}
    source, reader = os.path.join(directory, "reader.c"), os.path.join(directory, "reader")
    with open(source, "w") as file:
        file.write("#include <heapshot-reader.h>\n#include <stdio.h>\n"
                   'int main(void) { return puts(heapshot_root_kind_name(1)) < 0; }\n')
    for words, env_run in ((["--libs", "heapshot-reader"], {"LD_LIBRARY_PATH": libdir}),
                           (["--libs", "--static", "heapshot-reader"], {"LD_LIBRARY_PATH": ""})):
        flags = run(["pkg-config", "--cflags"] + words, env=env)
        assert flags.status == 0, flags.err
        libraries = flags.out.replace("-lheapshot-reader", "-l:libheapshot-reader.a") if "--static" in words else flags.out
        made = run(["gcc", "-o", reader, source] + libraries.split())
        assert made.status == 0, made.err
        ran = run([reader], env=env_run)
        assert ran.status == 0 and ran.out.strip(), ran.err


# ---- a bare bookworm -----------------------------------------------------------

def inside(text, status=(0,)):
    """Runs a line of shell in the folder."""
    result = run([os.path.join(SOURCE, "contrib", "in-debian"), "bookworm", FOLDER, "sh", "-c",
                  "export DEBIAN_FRONTEND=noninteractive; cd /heapshot || exit; " + text], timeout=900)
    if result.status == 77:
        skip(result.out.strip())
    assert result.status in status, "status %d: %s\n%s" % (result.status, text, (result.out + result.err)[-3000:])
    return result.out


def files_of(folder):
    """Every file with its size, but for what apt and dpkg keep of their own doings."""
    own = re.compile(r"/(heapshot|proc|dev|sys|tmp|run|root|var/(log|cache|lib/apt|lib/dpkg)|etc/ld\.so\.cache)(/|$)")
    found = {}
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not own.match(os.path.join(where, name)[len(folder):])]
        for name in folders + names:
            path = os.path.join(where, name)
            if not own.match(path[len(folder):]):
                found[path[len(folder):]] = os.lstat(path).st_size if name in names else None
    return found


@test("on a bare bookworm they install, record and read with mono-runtime only, and go without a trace")
def bookworm(directory):
    paths = packages()
    need("mcs")
    shared = os.path.join(FOLDER, "heapshot")
    first = run([os.path.join(SOURCE, "contrib", "in-debian"), "bookworm", FOLDER, "true"], timeout=900)
    if first.status == 77:
        skip(first.out.strip())
    assert first.status == 0, first.out + first.err
    shutil.rmtree(shared, ignore_errors=True)
    os.mkdir(shared)
    for path in paths.values():
        shutil.copy(path, shared)
    sample = run(["mcs", "-nologo", "-out:" + shared + "/sample.exe", SOURCE + "/contrib/sample/Leak.cs"])
    assert sample.status == 0, sample.out + sample.err

    names = " ".join(PACKAGES)
    inside("apt-get update && apt-get install -y --no-install-recommends mono-runtime && "
           # What a run that was cut short left there.
           "dpkg --purge %s && apt-get autoremove -y --purge" % names)
    before = files_of(FOLDER)
    assert not [path for path in before if "heapshot" in path]
    inside("apt-get install -y --no-install-recommends ./*.deb")

    recorded = inside("mono --profile=heapshot:output=a.hs sample.exe")
    assert "served 50000 orders" in recorded, recorded
    shown = inside("heapshot top a.hs")
    assert re.search(r"(?m)^ *2,000,000 +50,000 .* Shop\.Order$", shown), shown
    held = inside("heapshot roots a.hs --filter 'Shop.*'")
    assert re.search(r"(?m)^ *1 +static +Shop\.Order\[\] +Shop\.Cache\.entries$", held), held
    inside("heapshot doctor")
    inside("test -s /usr/share/bash-completion/completions/heapshot && "
           "for page in 1/heapshot.1 5/heapshot-format.5 7/heapshot-options.7; do"
           "  test -s /usr/share/man/man$page.gz || exit 1; done")

    inside("apt-get purge -y --autoremove " + names)
    assert not inside("dpkg-query -W '*heapshot*' 2>/dev/null", status=(0, 1))
    after = files_of(FOLDER)
    changed = sorted(path for path in set(before) | set(after) if before.get(path, -1) != after.get(path, -1))
    assert not changed, changed


main()
