# SPDX-License-Identifier: MIT
"""Commands that write recordings, on those of real programs."""
import os
import shutil
import subprocess
import sys

from harness import *

READER = os.path.join(SOURCE, "tests", "format", "heapshot_reader.py")
EVENTS = "events=gc+types+jit+methods+moves+handles+counters+threads,methods=code"


def several(directory):
    """Three snapshots of a heap that grows, with methods and their code between."""
    path = os.path.join(directory, "a.hs")
    recorded = mono("Snapshots.exe many 3 20000", "output=%s,overwrite,quiet,snapshot=gc,strings=20,%s" % (path, EVENTS),
                    cwd=directory)
    assert recorded.status == 0 and recorded.err == "", recorded.err
    check_file(path)
    return path


def written(command, *arguments, status=OK):
    result = heapshot(command, *arguments)
    assert result.status == status, "%s: status %d: %s" % (command, result.status, result.err)
    return arguments[-1]


def dumped(path, *flags):
    result = heapshot("dump", path, *flags)
    assert result.status in (OK, INCOMPLETE), result.err
    return result.out


def content(path):
    return subprocess.run(["lz4", "-dc", path], stdout=subprocess.PIPE, check=True).stdout


def protoc(path):
    if shutil.which("protoc") is None:
        return ""
    done = subprocess.run(["protoc", "--decode=heapshot.Stream", "-I", os.path.join(SOURCE, "schema"),
                           "heapshot.proto"], input=content(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.decode()


@test("extract: each snapshot alone is what it was among the others")
def extract(directory):
    path = several(directory)
    kinds = record_kinds(path)
    assert kinds["jit_method"] > 100 and kinds["method_code"] > 100 and kinds["string_batch"] >= 3, kinds
    taken = complete_snapshots(path)
    assert len(taken) >= 3
    for snapshot in taken:
        number = snapshot["id"]
        part = written("extract", "%s@%d" % (path, number), "--overwrite", "-o", os.path.join(directory, "part.hs"))
        check_file(part)
        protoc(part)
        assert snapshots(part) == [snapshot]
        assert read_json("top", part) == read_json("top", "%s@%d" % (path, number))
        assert read_json("roots", part) == read_json("roots", "%s@%d" % (path, number))
        assert dumped(part + "@last", "--objects") == dumped("%s@%d" % (path, number), "--objects")
        python = subprocess.run([sys.executable, READER, "top", part], stdout=subprocess.PIPE)
        assert python.returncode == 0 and json.loads(python.stdout) == read_json("top", part)
        kept = record_kinds(part)
        assert kept["snapshot_begin"] == kept["snapshot_end"] == 1 and "jit_method" not in kept, kept
        assert kept["type"] == kinds["type"] and os.path.getsize(part) < os.path.getsize(path)


@test("recompress: every record of a real heap in a smaller file")
def recompress(directory):
    path = several(directory)
    small = written("recompress", path, "-o", os.path.join(directory, "small.hs"))
    check_file(small)
    assert content(small) == content(path)
    assert dumped(small, "--objects") == dumped(path, "--objects")
    sizes = os.path.getsize(small), os.path.getsize(path)
    note("%d of %d bytes" % sizes)
    assert sizes[0] < sizes[1] * 95 // 100, sizes


@test("a ring becomes a recording with its frames in order")
def ring(directory):
    path = os.path.join(directory, "a.hs")
    recorded = run(["mono", "--profile=heapshot:output=%s,overwrite,quiet,ring=1m,%s" % (path, EVENTS),
                    compiled("Ring"), "events", "3000"], cwd=directory, timeout=120)
    assert recorded.status == 0, recorded.err
    listed = read_json("list", path + ".ring")
    assert listed["ring"] and listed["dropped_frames"] > 0, listed
    plain = written("recompress", path + ".ring", "-o", os.path.join(directory, "plain.hs"))
    check_file(plain)
    after = read_json("list", plain)
    assert not after["ring"] and after["dropped_frames"] == listed["dropped_frames"], after
    assert dumped(plain) == dumped(path + ".ring")
    assert os.path.getsize(plain) < os.path.getsize(path + ".ring")
    # Its snapshots are in the other file.
    assert heapshot("extract", path + ".ring", "-o", os.path.join(directory, "no.hs")).status == NOT_FOUND
    part = written("extract", path, "-o", os.path.join(directory, "part.hs"))
    check_file(part)
    assert read_json("top", part) == read_json("top", path)


main()
