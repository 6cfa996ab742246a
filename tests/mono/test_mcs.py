# SPDX-License-Identifier: MIT
"""A real program with a real load: the C# compiler on a large body of source."""
import os

from harness import *
from make_mcs_source import write_source

MCS = "/usr/lib/mono/4.5/mcs.exe"


def compile_recorded(directory, size):
    if not os.path.exists(MCS):
        skip(MCS + " is not there")
    source = os.path.join(directory, "big.cs")
    with open(source, "w") as file:
        write_source(size, file)
    outputs = {}
    for name, options in (("plain", []), ("recorded", ["--profile=heapshot:output=a.hs,snapshot=gc+1s+shutdown,quiet"])):
        # The same file name, since it goes into the assembly.
        exe = os.path.join(directory, "big.exe")
        result = run(["mono"] + options + [MCS, "-nologo", "-nowarn:168,219,414", "-out:" + exe, source],
                     cwd=directory, timeout=1200)
        assert result.status == 0 and result.err == "", result.out[-1000:] + result.err[-1000:]
        outputs[name] = os.path.getsize(exe), run([ "mono", exe]).status
    assert outputs["plain"] == outputs["recorded"], outputs
    path = os.path.join(directory, "a.hs")
    check_file(path)
    return path


def check_recording(path):
    taken = complete_snapshots(path)
    assert taken and taken == snapshots(path)
    rows = top(path)
    assert any(row["type"].startswith("Mono.CSharp.") for row in rows)
    unknown = sum(row["count"] for row in roots(path) if row["kind"] == "unknown")
    assert unknown * 10000 <= taken[-1]["roots"], "%d roots are unknown" % unknown


@test("mcs compiles 1 MB of source")
def one_megabyte(directory):
    check_recording(compile_recorded(directory, 1 << 20))


@test("mcs compiles 15 MB of source")
def fifteen_megabytes(directory):
    long_only()
    path = compile_recorded(directory, 15 << 20)
    check_recording(path)
    assert max(snapshot["objects"] for snapshot in snapshots(path)) > 2000000


main()
