# SPDX-License-Identifier: MIT
"""FORMAT.md against the code: its example, the Python reader written from it, lz4 and protoc, on every
synthetic recording of make_recording."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.environ.get("top_srcdir", os.path.join(os.path.dirname(__file__), "..", ".."))
BUILD = os.environ.get("top_builddir", ".")
MAKE = os.path.join(BUILD, "tests", "data", "make_recording")
HEAPSHOT = os.path.join(BUILD, "heapshot")
SCHEMA = os.path.join(SOURCE, "schema")
# Variants with text that no writer may write, and that protoc refuses.
INVALID_TEXT = {"hostile-names", "hostile-host"}

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import heapshot_reader  # noqa: E402

results = []


def result(is_ok, name, note=""):
    results.append(is_ok)
    print("%s %d - %s%s" % ("ok" if is_ok else "not ok", len(results), name, note), flush=True)


def skip(name, why):
    result(True, name, " # SKIP " + why)


def run(*command, stdin=None):
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout


def example():
    """The bytes of the example in FORMAT.md, section 7.1."""
    with open(os.path.join(SCHEMA, "FORMAT.md"), encoding="utf-8") as specification:
        block = specification.read().split("#### Example")[1].split("\n### ")[0]
    lines = re.findall(r"(?m)^ {4,}((?:[0-9a-f]{2} {1,2})*[0-9a-f]{2})(?: {2,}.*)?$", block)
    return bytes.fromhex("".join(lines).replace(" ", ""))


def check_example():
    snapshot = heapshot_reader.Snapshot()
    snapshot.object_batch(example(), 8)
    result((snapshot.objects, snapshot.references, snapshot.bytes, snapshot.slot_bytes) == (3, 4, 94, 112)
           and snapshot.types == {5: [2, 64, 4], 2: [1, 30, 0]}
           and snapshot.hash == sum(map(heapshot_reader.mix, (0x10000, 0x10020, 0x10050))) % 2**64,
           "the example of FORMAT.md is what it says")
    # The unit test's array, written in C, is the same.
    with open(os.path.join(SOURCE, "tests", "unit", "test_columns.c"), encoding="utf-8") as test:
        array = test.read().split("expected[] = {")[1].split("};")[0]
    in_test = bytes(int(number, 16) for number in re.findall(r"0x([0-9a-f]{2})", array))
    result(in_test == example(), "the unit test has the same bytes")


def check_recording(directory, variant):
    path = os.path.join(directory, variant + ".hs")
    assert run(MAKE, variant, path)[0] == 0
    content = run("lz4", "-dc", path)[1]
    if shutil.which("protoc") is None:
        skip("protoc reads '%s'" % variant, "protoc is missing")
    else:
        status, decoded = run("protoc", "--decode=heapshot.Stream", "-I", SCHEMA, "heapshot.proto", stdin=content)
        records = decoded.count(b"\nrecord {") + decoded.startswith(b"record {")
        ours = sum(1 for number, _ in heapshot_reader.fields(content) if number == 1)
        if variant in INVALID_TEXT:
            result(status != 0, "protoc refuses the text of '%s'" % variant)
        else:
            result(status == 0 and records == ours > 0, "protoc reads '%s'" % variant)
    result(run("lz4", "-t", path)[0] == 0, "lz4 accepts '%s'" % variant)
    if not os.path.exists(HEAPSHOT):
        return skip("top of '%s' equals ours" % variant, "the heapshot command is not built")
    ours = run(HEAPSHOT, "top", "--json", "--limit", "0", path)
    theirs = run(sys.executable, heapshot_reader.__file__, "top", path)
    is_same = ours[0] == theirs[0] and (json.loads(ours[1]) == json.loads(theirs[1])
                                        if ours[1] or theirs[1] else True)
    result(is_same, "top of '%s' equals ours" % variant)


print("TAP version 13")
check_example()
with tempfile.TemporaryDirectory() as directory:
    for variant in run(MAKE)[1].decode().split():
        check_recording(directory, variant)
print("1..%d" % len(results))
sys.exit(not all(results))
