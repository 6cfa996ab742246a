# SPDX-License-Identifier: MIT
"""What `make install` puts where, and that it can be used from there: by stock
mono, by the linker, by pkg-config.  And that the module is a good guest."""
import os
import re
import shlex
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mono"))
from harness import *

MODULE = os.path.join(MODULES, "libmono-profiler-heapshot.so")
# C names that a profiler module may export.
EXPORTS = re.compile(r"mono_profiler_init_heapshot|heapshot_[a-z_]+")
SIZE_LIMIT = 200 * 1024


def make(*words, cwd=BUILD):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(["make", "-s"] + list(words), cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


def variable(name):
    with open(os.path.join(BUILD, "Makefile")) as file:
        variables = dict(re.findall(r"(?m)^([A-Za-z_]+) = (.*)$", file.read()))
    value = variables[name]
    while "$" in value:
        value = re.sub(r"\$[{(]([A-Za-z_]+)[)}]", lambda match: variables[match.group(1)], value)
    return value


def installed(directory):
    result = make("install", "DESTDIR=" + directory)
    assert result.returncode == 0, result.stdout[-2000:]
    found = []
    for folder, _, names in os.walk(directory):
        found += [os.path.join(folder, name)[len(directory):] for name in names]
    return sorted(found)


def library_paths(directory):
    return directory + variable("libdir")


@test("files that `make install` puts there")
def files(directory):
    found = installed(directory)
    libdir, bindir, includedir, mandir = (variable(name) for name in ("libdir", "bindir", "includedir", "mandir"))
    profilerdir = variable("profilerdir")
    wanted = [profilerdir + "/libmono-profiler-heapshot.so", libdir + "/libmono-profiler-heapshot.a",
              libdir + "/libheapshot-reader.so", libdir + "/libheapshot-reader.a", includedir + "/heapshot.h",
              libdir + "/pkgconfig/heapshot.pc", libdir + "/pkgconfig/heapshot-reader.pc", bindir + "/heapshot",
              variable("datadir") + "/heapshot/heapshot.proto"]
    missing = [name for name in wanted if name not in found]
    assert not missing, "missing: %s\nfound: %s" % (missing, "\n".join(found))
    assert not [name for name in found if name.endswith(".la")], "libtool's .la files were installed"
    assert not os.path.islink(directory + wanted[0]), "the module is a link"
    modules = [name for name in found if "libmono-profiler" in name]
    assert len(modules) == 2, modules
    assert [name for name in found if name.startswith(includedir) and "reader" in name], "no header of the reader"
    assert [name for name in found if "bash-completion/completions/heapshot" in name], "no completion"
    if shutil.which("scdoc"):
        manual = [name for name in found if name.startswith(mandir)]
        assert mandir + "/man1/heapshot.1" in manual and len(manual) >= 3, manual
    result = make("uninstall", "DESTDIR=" + directory)
    assert result.returncode == 0, result.stdout[-1000:]
    left = [os.path.join(folder, name) for folder, _, names in os.walk(directory) for name in names]
    assert not left, "`make uninstall` leaves %s" % left


@test("stock mono finds the installed module beside itself, and `doctor` agrees")
def stock_mono(directory):
    if variable("profilerdir") != variable("prefix") + "/lib":
        skip("the module does not go to PREFIX/lib")
    installed(directory)
    prefix = directory + variable("prefix")
    os.makedirs(prefix + "/bin", exist_ok=True)
    shutil.copy(os.path.realpath(shutil.which("mono")), prefix + "/bin/mono")
    os.symlink("/usr/lib/mono", prefix + "/lib/mono")
    path = os.path.join(directory, "a.hs")
    env = {"LD_LIBRARY_PATH": "", "MONO_CFG_DIR": "/etc"}
    recorded = run([prefix + "/bin/mono", "--profile=heapshot:output=%s,snapshot=gc" % path, program("Lists.exe"),
                    "ring", "1000"], env=env)
    assert recorded.status == 0 and os.path.exists(path), recorded.err
    shown = run([prefix + "/bin/heapshot", "list", "--json", path], env={"LD_LIBRARY_PATH": library_paths(directory)})
    assert shown.status == 0 and json.loads(shown.out)["snapshots"], shown.err
    env["PATH"] = prefix + "/bin:" + os.environ["PATH"]
    env["LD_LIBRARY_PATH"] = library_paths(directory)
    doctor = run([prefix + "/bin/heapshot", "doctor"], env=env)
    assert doctor.status == 0, doctor.out + doctor.err


def compile_and_run(directory, name, text, package, static=False):
    env = dict(os.environ, PKG_CONFIG_PATH=library_paths(directory) + "/pkgconfig", PKG_CONFIG_SYSROOT_DIR="")
    words = ["pkg-config", "--define-variable=prefix=" + directory + variable("prefix"), "--cflags", "--libs"]
    for variable_name in ("libdir", "includedir", "profilerdir"):
        words.append("--define-variable=%s=%s" % (variable_name, directory + variable(variable_name)))
    flags = subprocess.run(words + (["--static"] if static else []) + package, env=env, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, universal_newlines=True)
    assert flags.returncode == 0, flags.stderr
    source, program_path = os.path.join(directory, name + ".c"), os.path.join(directory, name)
    with open(source, "w") as file:
        file.write(text)
    compiled_program = run(["gcc", "-Wall", "-Werror", "-o", program_path, source] + shlex.split(flags.stdout))
    assert compiled_program.status == 0, compiled_program.err
    result = run([program_path], env={"LD_LIBRARY_PATH": library_paths(directory)})
    assert result.status == 0, "status %d: %s" % (result.status, result.err)
    return result


@test("heapshot.pc and heapshot-reader.pc: a program compiles, links and runs")
def packages(directory):
    found = installed(directory)
    headers = [os.path.relpath(name, variable("includedir")) for name in found
               if re.search(r"include/.*heapshot-.*\.h$", name)]
    assert sorted(headers) == ["heapshot-graph.h", "heapshot-reader-code.h", "heapshot-reader-fields.h",
                               "heapshot-reader.h"], headers
    compile_and_run(directory, "embed", "#include <heapshot.h>\n"
                    "int main(void) { return heapshot_is_recording(); }\n", ["heapshot", "mono-2"])
    for header in headers:
        compile_and_run(directory, "read", "#include <%s>\nint main(void) { return 0; }\n" % header,
                        ["heapshot-reader"])


def undefined_and_defined(path):
    lines = run(["nm", "-D", path]).out.splitlines()
    fields = [line.split() for line in lines]
    undefined = {field[-1].split("@")[0] for field in fields if field[-2] in ("U", "w")}
    return undefined, {field[-1].split("@")[0] for field in fields if field[-2] not in ("U", "w", "v")}


@test("the module exports mono_profiler_init_heapshot and heapshot_* only")
def exports(directory):
    _, defined = undefined_and_defined(MODULE)
    foreign = [name for name in defined if not EXPORTS.fullmatch(name)]
    assert not foreign, "exported too: %s" % sorted(foreign)
    assert "mono_profiler_init_heapshot" in defined and "heapshot_start" in defined, sorted(defined)


@test("the module links neither libmono nor glib, and every mono_* it needs is in mono")
def links(directory):
    assert os.path.exists(MODULE), MODULE + " is not built"
    dynamic = run(["readelf", "-d", MODULE]).out
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    assert not [name for name in needed if "mono" in name or "glib" in name], needed
    assert "TEXTREL" not in dynamic
    allowed = ("libc.so", "liblz4.so", "libprotobuf-c.so", "libpthread.so", "ld-linux", "libm.so", "libdl.so",
               "librt.so", "libasan", "libubsan", "libgcov")
    assert all(name.startswith(allowed) for name in needed), needed
    undefined, _ = undefined_and_defined(MODULE)
    _, offered = undefined_and_defined(os.path.realpath(shutil.which("mono")))
    lacking = [name for name in undefined if name.startswith("mono_") and name not in offered]
    weak = {line.split()[-1] for line in run(["nm", "-D", MODULE]).out.splitlines() if line.split()[-2] == "w"}
    assert not [name for name in lacking if name not in weak], lacking
    for name in ("exit", "abort", "printf", "puts", "quick_exit"):
        assert name not in undefined, "the module calls %s" % name


@test("the module's thread-local variables fit beside those of others")
def thread_locals(directory):
    # They come out of one reserve of 1,664 bytes (glibc) for all that is loaded at run time.
    segments = re.findall(r"(?m)^ *TLS +(?:0x[0-9a-f]+ +){4}(0x[0-9a-f]+)", run(["readelf", "-lW", MODULE]).out)
    assert len(segments) <= 1, segments
    assert not segments or int(segments[0], 16) <= 128, segments


@test("the module is at most 200 KB when stripped")
def size(directory):
    if os.environ.get("HEAPSHOT_SANITIZERS") == "yes":
        skip("built with sanitizers")
    copy = os.path.join(directory, "module.so")
    shutil.copy(MODULE, copy)
    assert run(["strip", copy]).status == 0
    assert os.path.getsize(copy) <= SIZE_LIMIT, "%d bytes" % os.path.getsize(copy)
    note("module: %d bytes stripped" % os.path.getsize(copy))


@test("contrib/quickstart: what leaks, and kind and name of the root that holds it")
def quickstart(directory):
    if shutil.which("mcs") is None:
        skip("mcs is missing")
    # It compiles, records and reads in a folder of what is built.
    build = os.path.join(directory, "built")
    os.mkdir(build)
    for name in ("heapshot", ".libs"):
        os.symlink(os.path.join(BUILD, name), os.path.join(build, name))
    result = run([os.path.join(SOURCE, "contrib", "quickstart"), build], cwd=directory, timeout=120)
    assert result.status == 0, result.out + result.err
    text = result.out
    assert "served 50000 orders\n" in text and "recording to leak.hs" in result.err, text + result.err
    assert re.search(r"(?m)^ *2,000,000 +50,000 +100,000 +leak +Shop\.Order$", text), text
    assert re.search(r"(?m)^ *1 +static +Shop\.Order\[\] +Shop\.Cache\.entries$", text), text
    assert "An array (Shop.Order[]) in the static field Shop.Cache.entries holds them all." in text, text
    assert re.search(r"(?m)^1\. 50,000 objects Shop\.Order hang on the array in static Shop\.Cache\.entries, "
                     r"which retains [\d,]+ bytes", text), text
    recording = os.path.join(build, "sample", "leak.hs")
    check_file(recording)
    assert {"kind": "static", "name": "Shop.Cache.entries", "type": "Shop.Order[]", "count": 1} in roots(recording)
    # The sentence comes from what was printed: where there is no such field, there is none.
    fake = os.path.join(build, "fake")
    os.mkdir(fake)
    os.symlink(os.path.join(BUILD, ".libs"), os.path.join(fake, ".libs"))
    with open(os.path.join(fake, "heapshot"), "w") as file:
        file.write("#!/bin/sh\necho 'COUNT  KIND  TYPE  NAME'\n")
    os.chmod(os.path.join(fake, "heapshot"), 0o755)
    result = run([os.path.join(SOURCE, "contrib", "quickstart"), fake], cwd=directory, timeout=120)
    assert result.status == 1 and "holds them all" not in result.out, result.out


main()
