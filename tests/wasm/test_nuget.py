# SPDX-License-Identifier: MIT
"""The NuGet package Heapshot.WebAssembly: programs restored from it are published and run."""
import base64
import zipfile

from browser import in_chromium, need_chromium
from nuget import *


def published(directory, runtime, *properties, expect=0):
    """tests/wasm/app, restored from the package and published into DIRECTORY/out; what was said."""
    # The SDK of .NET 10 leaves all assemblies out of a fingerprinted 9.0, the stock one too.
    plain = ("WasmFingerprintAssets=false",) if runtime == "9.0" else ()
    return publish(directory, runtime, *(from_package(directory) + plain + properties), expect=expect)


def assert_has_our_runtime(root, directory, runtime):
    for name in ("dotnet.native.js", "dotnet.native.wasm"):
        stem, ending = name.rsplit(".", 1)
        found = [path for path in glob.glob(os.path.join(root, "_framework", "%s*.%s" % (stem, ending)))]
        assert len(found) == 1, found
        ours = os.path.join(installed(directory), "runtimes-with-heapshot", version(runtime), name)
        assert hash_of(found[0]) == hash_of(ours), found


def tree(root):
    """The files below ROOT and what is in them."""
    found = sorted(path for path in glob.glob(os.path.join(root, "**"), recursive=True) if os.path.isfile(path))
    return {os.path.relpath(path, root): hash_of(path) for path in found}


@test("what is in the package: one of each, licences, nothing twice; its size")
def content(directory):
    need()
    path, = glob.glob(os.path.join(packed(), "*.nupkg"))
    with zipfile.ZipFile(path) as package:
        names = package.namelist()
        nuspec = package.read("Heapshot.WebAssembly.nuspec").decode()
        notices = package.read("THIRD-PARTY-NOTICES.txt").decode()
    for runtime in RUNTIMES:
        assert "runtimes-with-heapshot/%s/dotnet.native.wasm" % version(runtime) in names, names
    for name in ("README.md", "LICENSE", "build/Heapshot.WebAssembly.targets", "build/Heapshot.WebAssembly.props",
                 "buildTransitive/Heapshot.WebAssembly.targets", "staticwebassets/heapshot.mjs",
                 "staticwebassets/heapshot.d.ts", "staticwebassets/panel/index.html",
                 "staticwebassets/panel/reader.wasm", "src/units/heapshot.c", "src/lz4/LICENSE", "src/protobuf-c/LICENSE"):
        assert name in names, name
    assert len(names) == len(set(names))
    assert "<license type=\"expression\">MIT</license>" in nuspec and "<readme>README.md</readme>" in nuspec, nuspec
    for words in ("Yann Collet", "Dave Benson", ".NET Foundation"):
        assert words in notices, words
    bytes_of_it = os.path.getsize(path)
    note("%d bytes" % bytes_of_it)
    assert bytes_of_it < 8 << 20, bytes_of_it


@on_each("a program restored from the package is published and recorded")
def restored(directory, runtime):
    need()
    published(directory, runtime, "HeapshotEnabled=true")
    root = os.path.join(directory, "out", "wwwroot")
    assert_has_our_runtime(root, directory, runtime)
    # As the stock one, and not in their place the stubs: breakpoints and `dotnet watch` work.
    ours = os.path.join(installed(directory), "runtimes-with-heapshot", version(runtime), "dotnet.native.wasm")
    for path in (os.path.join(PACKS, runtime, "runtimes", "browser-wasm", "native", "dotnet.native.wasm"), ours):
        with open(path, "rb") as file:
            code = file.read()
        assert b"/component/debugger-agent.c" in code and b"/component/hot_reload.c" in code, path
    result = node(directory, "checked", runtime, 1000, root=root)
    assert result["taken"] == 1 and result["version"] == version(runtime), result
    check_file(os.path.join(directory, "a.hs"))
    assert count_of(os.path.join(directory, "a.hs"), "T.Node") == 1000
    # C# reaches heapshot's functions by DllImport, though the runtime was linked without this program.
    result = node(directory, "one", runtime, 1000, root=root)
    assert (result["javascript"], result["csharp"]) == (1, 2), result
    assert [s["label"] for s in snapshots(os.path.join(directory, "a.hs"))] == ["from js", "from C#"]


@test("where HeapshotEnabled is not true, the publish is that without the package, byte for byte")
def off(directory):
    need()
    trees = []
    package = from_package(directory)
    for properties in ((), package) + ((package + ("HeapshotEnabled=false",),) if IS_LONG else ()):
        shutil.rmtree(os.path.join(directory, "out"), ignore_errors=True)
        publish(directory, "10.0", "PublishTrimmed=false", *properties)
        trees.append(tree(os.path.join(directory, "out", "wwwroot")))
    assert os.path.isdir(installed(directory)), "the package was not restored"
    assert len(trees[0]) > 100
    for other in trees[1:]:
        assert other == trees[0], set(trees[0].items()) ^ set(other.items())


@test("a program of another version of the runtime is refused, and told what to do")
def refused(directory):
    need()
    # A package that was made before this runtime came out.
    published(directory, "10.0", "PublishTrimmed=false")
    has = os.path.join(installed(directory), "runtimes-with-heapshot")
    os.rename(os.path.join(has, version("10.0")), os.path.join(has, "10.0.1"))
    with open(os.path.join(has, "versions.txt"), "w") as file:
        file.write("10.0.1, %s\n" % version("9.0"))
    shutil.rmtree(os.path.join(directory, "out"))
    said = published(directory, "10.0", "PublishTrimmed=false", "HeapshotEnabled=true", expect=1)
    assert "error HEAPSHOT2" in said and "has the runtimes 10.0.1, %s, and app is built for %s. Update the package" % (
        version("9.0"), version("10.0")) in said, said
    assert not os.path.exists(os.path.join(directory, "out", "wwwroot"))
    # A runtime of one's own is taken, if it fits.
    said = published(directory, "10.0", "PublishTrimmed=false", "HeapshotEnabled=true",
                     "HeapshotRuntime=" + os.path.join(has, "10.0.1"))
    wrong = published(directory, "10.0", "PublishTrimmed=false", "HeapshotEnabled=true",
                      "HeapshotRuntime=" + os.path.join(has, version("9.0")), expect=1)
    assert "is runtime %s, and app is built for %s" % (version("9.0"), version("10.0")) in wrong, wrong


@on_each("Blazor: built and published from the package, recorded, and listed by the panel that is served with it")
def blazor_program(directory, runtime):
    # A second publish takes a minute.
    if runtime != "10.0":
        long_only()
    need_chromium()
    publish_sample(directory, runtime, *from_package(directory), "HeapshotEnabled=true")
    project = os.path.join(directory, "project")
    root = os.path.join(directory, "out", "wwwroot")
    assert_has_our_runtime(root, directory, runtime)
    # The build's own output has it too: what `dotnet run` serves.
    built = os.path.join(project, "bin", "Release", "net" + runtime)
    assert_has_our_runtime(os.path.join(built, "wwwroot"), directory, runtime)
    with open(os.path.join(built, "BlazorLeak.staticwebassets.runtime.json")) as file:
        manifest = file.read()
    assert os.path.join(installed(directory), "staticwebassets") in manifest, manifest[:2000]
    assert_leaks(in_chromium("nuget_package/page.cjs", directory, places={"/": root}, out=directory), directory, runtime)


def assert_leaks(result, directory, runtime):
    """What page.cjs had of the sample: a snapshot, which the native command line reads; nothing went wrong."""
    assert result["wrong"] == [] and result["foreign"] == [], (result["wrong"], result["foreign"])
    path = os.path.join(directory, "a.hs")
    with open(path, "wb") as file:
        file.write(base64.b64decode(result["snapshot"]))
    check_file(path)
    header = json.loads(heapshot("dump", path).out.splitlines()[0])
    assert version(runtime) in json.dumps(header), header
    assert [s["label"] for s in snapshots(path)] == ["from the package"]
    assert count_of(path, "BlazorLeak.Clock") == 200
    assert "BlazorLeak.Ticker.Tick" in heapshot("leaks", path).out
    all_reached(path)


@on_each("dotnet run: a Debug build has heapshot and the panel where HeapshotEnabled says so; else the program starts without")
def debug_build(directory, runtime):
    if runtime != "10.0":
        long_only()
    need_chromium()
    project = os.path.join(directory, "project")
    properties = from_package(directory)
    frameworks = os.path.join(project, "bin", "Debug", "net" + runtime, "wwwroot")

    def built(*more, expect=0):
        return publish_sample(directory, runtime, *properties, *more, command="build", configuration="Debug", expect=expect)

    def run(*more):
        return running(project, "-c", "Debug", "--framework", "net" + runtime, "-p:Framework=net" + runtime,
                       "-p:RuntimeFrameworkVersion=" + version(runtime), *("-p:" + each for each in properties + more))
    # Built again, nothing changes.
    built("HeapshotEnabled=true")
    assert_has_our_runtime(frameworks, directory, runtime)
    before = tree(frameworks)
    built("HeapshotEnabled=true")
    assert tree(frameworks) == before
    with run("HeapshotEnabled=true") as origin:
        assert_leaks(in_chromium("nuget_package/page.cjs", directory, origin=origin), directory, runtime)
    # A runtime of another version is refused in a tree that is built, too.
    other = os.path.join(installed(directory), "runtimes-with-heapshot", version("9.0" if runtime == "10.0" else "10.0"))
    said = built("HeapshotEnabled=true", "HeapshotRuntime=" + other, expect=1)
    assert "error HEAPSHOT2" in said and "is runtime %s, and BlazorLeak is built for %s" % (
        os.path.basename(other), version(runtime)) in said, said
    # Off in the same tree: the stock runtime.
    built()
    stock = os.path.join(PACKS, runtime, "runtimes", "browser-wasm", "native", "dotnet.native.wasm")
    found = glob.glob(os.path.join(frameworks, "_framework", "dotnet.native*.wasm"))
    assert [hash_of(path) for path in found] == [hash_of(stock)], found
    with run() as origin:
        result = in_chromium("nuget_package/without.cjs", directory, origin=origin)
    assert result["missing"] == ["/_content/Heapshot.WebAssembly/heapshot.mjs"] and result["wrong"] == [], result
    assert result["done"].startswith("clocks") and result["isStock"], result
    # And on again.
    built("HeapshotEnabled=true")
    assert_has_our_runtime(frameworks, directory, runtime)


# What the workload's targets give the compiler: BrowserWasmApp.targets of Microsoft.NET.Runtime.WebAssembly.Sdk.
COMPILE = """
set -euo pipefail
src=$1 native=$2 out=$3
flags="-O1 -fwasm-exceptions -DDISABLE_PERFTRACING_LISTEN_PORTS=1 -DGEN_PINVOKE=1 -emit-llvm"
cd "$out"
ls "$src"/units/*.c | xargs -P 2 -I FILE sh -c 'emcc '"$flags"' "-I'"$native"'/include/mono-2.0" "-I'"$native"'/include/wasm" "-I'"$src"'" \
  "-I'"$src"'/lz4" -c FILE -o $(basename FILE .c).o'
emar rcs libmono-profiler-heapshot.a *.o
"""


@test("the sources for NativeFileReference compile with the workload's flags; a runtime linked from them records")
def from_source(directory):
    long_only()
    need()
    path, = glob.glob(os.path.join(packed(), "*.nupkg"))
    with zipfile.ZipFile(path) as package:
        package.extractall(os.path.join(directory, "package"), [n for n in package.namelist() if n.startswith("src/")])
    src = os.path.join(directory, "package", "src")
    out = os.path.join(directory, "wasm")
    os.mkdir(out)
    native = os.path.join(PACKS, "10.0", "runtimes", "browser-wasm", "native")
    build(["env", "HEAPSHOT_SHARE=%s:%s" % (directory, PACKS), os.path.join(SCRIPTS, "emscripten"),
           "bash", "-c", COMPILE, "compile", src, native, out])
    runtime = os.path.join(directory, "runtime")
    build([os.path.join(SCRIPTS, "link"), "--fast", "--assembly", assembly("10.0"), "10.0", runtime], cwd=directory)
    root = os.path.join(directory, "www")
    shutil.copytree(os.path.join(app("10.0"), "out", "wwwroot"), root)
    for name in ("dotnet.native.js", "dotnet.native.wasm"):
        shutil.copy(os.path.join(runtime, name), os.path.join(root, "_framework", name))
    result = node(directory, "one", "10.0", 1000, root=root)
    assert (result["javascript"], result["csharp"]) == (1, 2), result
    check_file(os.path.join(directory, "a.hs"))
    assert count_of(os.path.join(directory, "a.hs"), "T.Node") == 1000


@test("HeapshotFromSource gives the workload sources, flags and exports, and leaves the package's runtime out")
def from_source_properties(directory):
    need()
    project = os.path.join(directory, "project")
    shutil.copytree(os.path.join(HERE, "app"), project)
    common = ["-p:Framework=net10.0", "-p:RuntimeFrameworkVersion=" + version("10.0")]
    common += ["-p:" + each for each in from_package(directory)]
    # The restore does not ask for the workload, without which nothing is built.
    build(["dotnet", "restore", os.path.join(project, "app.csproj")] + common)
    said = build(["dotnet", "msbuild", os.path.join(project, "app.csproj"), "-getItem:NativeFileReference",
                  "-getItem:EmccExportedFunction", "-getProperty:EmccExtraCFlags", "-getProperty:EmccExtraLDFlags",
                  "-p:HeapshotEnabled=true", "-p:HeapshotFromSource=true"] + common)
    found = json.loads(said[said.index("{"):])
    src = os.path.join(installed(directory), "src")
    units = sorted(glob.glob(os.path.join(src, "units", "*.c")))
    references = {item["FullPath"]: item["ScanForPInvokes"] for item in found["Items"]["NativeFileReference"]}
    assert sorted(references) == units and len(units) > 40, found
    scanned = sorted(os.path.basename(path) for path, scan in references.items() if scan == "true")
    assert scanned == ["heapshot.c", "mono-profiler-heapshot.c"], references
    exported = {item["Identity"] for item in found["Items"]["EmccExportedFunction"]}
    with open(os.path.join(SCRIPTS, "exported.txt")) as file:
        assert {"_" + name for name in file.read().split()} <= exported, exported
    assert src + "/lz4" in found["Properties"]["EmccExtraCFlags"], found
    assert os.path.exists(os.path.join(src, "heapshot.post.js"))
    assert "--post-js" in found["Properties"]["EmccExtraLDFlags"], found


@test("a program that links its own runtime is refused without HeapshotFromSource, and told of it")
def own_runtime(directory):
    need()
    project = os.path.join(directory, "project")
    shutil.copytree(os.path.join(HERE, "app"), project)
    with open(os.path.join(project, "Directory.Build.targets"), "w") as file:
        file.write('<Project><ItemGroup><NativeFileReference Include="$(OwnNative)" /></ItemGroup></Project>')
    common = ["-p:Framework=net10.0", "-p:RuntimeFrameworkVersion=" + version("10.0"), "-p:HeapshotEnabled=true"]
    common += ["-p:" + each for each in from_package(directory)]
    build(["dotnet", "restore", os.path.join(project, "app.csproj")] + common)
    # So far a build comes without the workload.
    resolve = ["dotnet", "msbuild", os.path.join(project, "app.csproj"), "-nologo", "-t:ResolveFrameworkReferences"] + common
    build(resolve)
    for properties, status in ((["-p:WasmBuildNative=true"], 1), (["-p:OwnNative=own.c"], 1),
                               (["-p:WasmBuildNative=true", "-p:OwnNative=own.c", "-p:HeapshotFromSource=true"], 0)):
        said = build(resolve + properties, expect=status)
        assert ("error HEAPSHOT4" in said) == (status == 1), said
        assert ("app links its own runtime" in said and "Set HeapshotFromSource to true" in said) == (status == 1), said


main()
