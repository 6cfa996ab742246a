# SPDX-License-Identifier: MIT
"""The file as others see it: lz4, protoc, and the Python reader that was
written from FORMAT.md alone."""
import os
import re
import shutil
import subprocess
import sys

from harness import *

READER = os.path.join(SOURCE, "tests", "format", "heapshot_reader.py")
PROGRAMS = ("Lists.exe ring 1000", "Generics.exe several", "Ephemerons.exe live 100", "Threads.exe collect 4",
            "Arrays.exe lengths")


def recording(directory, args, options="snapshot=gc+shutdown"):
    path = os.path.join(directory, "a.hs")
    recorded = mono(args, "output=%s,overwrite,quiet,%s" % (path, options), cwd=directory)
    assert recorded.status == 0 and recorded.err == "", recorded.err
    check_file(path)
    return path


@test("lz4 -dc | protoc --decode=heapshot.Stream reads it")
def protoc(directory):
    if shutil.which("protoc") is None:
        skip("protoc is missing")
    path = recording(directory, "Generics.exe several")
    lz4 = subprocess.run(["lz4", "-dc", path], stdout=subprocess.PIPE)
    assert lz4.returncode == 0
    decoded = subprocess.run(["protoc", "--decode=heapshot.Stream", "-I", os.path.join(SOURCE, "schema"),
                              "heapshot.proto"], input=lz4.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert decoded.returncode == 0 and not decoded.stderr, decoded.stderr
    text = decoded.stdout.decode()
    for body in ("frame_start", "header", "type", "type_layout", "gc_event", "object_batch", "root_batch",
                 "snapshot_begin", "snapshot_end", "end"):
        assert re.search(r"(?m)^  %s \{" % body, text), body + " is missing"
    assert not re.search(r"(?m)^\s+[0-9]+: ", text), "a field that the schema does not have"
    assert "T.OuterOf.InnerOf<System.String,System.Object>" in text.replace(", ", ",")


@test("the Python reader's `top` equals ours")
def python_reader(directory):
    if not os.path.exists(READER):
        skip("tests/format/heapshot_reader.py is not there")
    for args in PROGRAMS:
        path = recording(directory, args)
        result = run([sys.executable, READER, "top", path])
        assert result.status == 0, result.err
        theirs = json.loads(result.out)
        ours = read_json("top", path)
        assert theirs == ours or as_set(theirs) == as_set(ours), "%s differs" % args


def as_set(answer):
    rows = answer["types"] if isinstance(answer, dict) else answer
    return {(row["type"], row["assembly"], row["count"], row["bytes"], row["edges"]) for row in rows}


@test("events, counters, threads and JIT chunks of a program are there")
def records(directory):
    path = recording(directory, "Threads.exe collect 4",
                     "snapshot=gc+shutdown,events=gc+types+jit+moves+handles+counters+threads")
    kinds = record_kinds(path)
    for body in ("header", "type", "type_layout", "image", "domain", "thread", "root_range", "gc_event", "gc_resize",
                 "gc_moves", "jit_chunk", "gc_handle", "counter", "counter_sample", "static_storage", "snapshot_begin",
                 "snapshot_end", "root_batch", "object_batch", "end"):
        assert body in kinds, body + " is missing"


def fnv1a(data):
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value


@test("`dump` has the code of methods byte by byte")
def code(directory):
    path = recording(directory, "Lists.exe ring 10", "snapshot=shutdown,events=methods,methods=code")
    bodies, methods = {}, {}
    for record in map(json.loads, heapshot("dump", path).out.splitlines()):
        if record["record"] == "jit_method":
            methods[record["id"]] = record
        if record["record"] == "method_code":
            body = bodies.setdefault((record["method"], record["kind"]), bytearray())
            assert len(body) == record["offset"], record
            body += bytes.fromhex(record["data"])
            assert len(body) <= record["total_bytes"]
    assert {kind for _, kind in bodies} == {"il", "native"}
    for (number, kind), body in bodies.items():
        method = methods[number]
        assert len(body) == method["il_bytes" if kind == "il" else "code_bytes"], method
        assert kind != "il" or fnv1a(body) == method["il_hash"], method


main()
