# SPDX-License-Identifier: MIT
"""The wasm module in .NET's browser-wasm runtimes, linked anew, in node: what they
stream to JavaScript is read by the native command line."""
from wasm import *
import checks
from checks import of_node


for title, check in checks.ANYWHERE:
    on_each(title)(lambda directory, runtime, check=check: check(directory, runtime, node))


@on_each("contrib/managed/Heapshot.cs, the file that programs on Mono have, calls heapshot")
def managed(directory, runtime):
    result = node(directory, "managed", runtime)
    assert result["during"].startswith("True True True True True False: there is no ring"), result
    assert result["after"].startswith("False False False False False False: "), result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    assert [(each["label"], each["complete"]) for each in snapshots(path)] == [("managed ä", True), ("managed statistics", True)]
    of_node(path, 1, 1000)
    assert any(row.get("text") == "managed mark" or row.get("label") == "managed mark"
               for row in map(json.loads, heapshot("dump", path).out.splitlines())), "no mark"


@on_each("in the stock runtime contrib/managed/Heapshot.cs does nothing, and says why")
def stock(directory, runtime):
    result = node(directory, "stock", runtime, link=())
    assert result["version"] == version(runtime), result
    assert result["managed"] == "False False False False False False: the module is not there", result


@on_each("linked and not asked for, it does nothing")
def unused(directory, runtime):
    result = node(directory, "unused", runtime)
    assert result["taken"] == -2 and not result["isRecording"], result
    assert result["keys"] == [] and result["said"] == [], result


@test("mistakes in the options are said, and the program goes on")
def options(directory):
    root = serve(directory, "10.0", "--fast")
    for text, word in (("nonsense=1", "nonsense"), ("output=a.hs", "Module.heapshot.write"), ("ring=1m", "ring"),
                       ("memory=1", "memory")):
        result = node(directory, "options", "10.0", text, root=root)
        assert result["taken"] == -2, result
        assert len(result["said"]) == 1 and word in result["said"][0], result
        assert result["said"][0].endswith("Nothing is recorded"), result
    assert node(directory, "options", "10.0", "", root=root)["taken"] == 1


@test("frames wait until there is a callback")
def late(directory):
    result = node(directory, "late", "10.0", 1000)
    assert result["taken"] == [1, 2] and result["waiting"] >= 4 and result["left"] == 0, result
    path = os.path.join(directory, "a.hs")
    check_file(path)
    of_node(path, 1, 1000)
    of_node(path, 2, 1000)
    all_reached(path)


@test("recording begins and ends in the running program")
def restarted(directory):
    result = node(directory, "restarted", "10.0", 1000)
    assert result["taken"] == [1, 1] and result["said"] == [], result
    for name in ("a.hs", "b.hs"):
        path = os.path.join(directory, name)
        check_file(path)
        of_node(path, 1, 1000)
        all_reached(path)


main()
