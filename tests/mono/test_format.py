# SPDX-License-Identifier: MIT
"""The file as others see it: lz4, protoc, and the Python reader that was
written from FORMAT.md alone."""
import os
import re
import shutil
import struct
import subprocess
import sys
import time
import uuid

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


@test("what header, images, collections, chunks, counters and threads say is so")
def contents(directory):
    options = "snapshot=gc,events=gc+types+jit+counters+threads"
    path = os.path.join(directory, "a.hs")
    before = time.time()
    recorded = mono("Threads.exe collect 4", "output=%s,quiet,%s" % (path, options), cwd=directory)
    after = time.time()
    found = {}
    for record in map(json.loads, heapshot("dump", path).out.splitlines()):
        found.setdefault(record["record"], []).append(record)
    header, = found["header"]
    assert (header["version_major"], header["pid"], header["late_start"]) == (1, recorded.pid, False), header
    assert before <= header["wall_start_unix_ns"] / 1e9 <= after, (before, header, after)
    assert (header["word_bytes"], header["architecture"]) == (struct.calcsize("P"), os.uname().machine), header
    assert header["runtime"].split()[1] in run(["mono", "--version"]).out, header
    assert "snapshot=gc" in header["options"] and "Threads.exe collect 4" in header["command_line"], header
    mvids = {image["name"]: image["mvid"] for image in found["image"]}
    with open("/usr/lib/mono/4.5/mscorlib.dll", "rb") as file:
        assert uuid.UUID(mvids["mscorlib"]).bytes_le in file.read()
    assert "Threads" in mvids and found["domain"][-1]["name"] == "Threads.exe"
    # Each stop of the world in the order that FORMAT.md gives, with one collection or more in it.
    phases = " ".join(event["phase"] for event in found["gc_event"])
    stop = (r"pre_stop_world pre_stop_world_locked post_stop_world( start end)* pre_start_world "
            r"post_start_world post_start_world_unlocked")
    assert re.fullmatch("%s( %s)*" % (stop, stop), phases), phases
    assert {event["generation"] for event in found["gc_event"]} <= {0, 1}
    assert all(chunk["size"] > 0 and chunk["address"] for chunk in found["jit_chunk"])
    assert {state for state in (thread["state"] for thread in found["thread"])} >= {"started", "stopped"}
    counters = {counter["id"]: counter for counter in found["counter"]}
    values = {}
    for sample in found["counter_sample"]:
        for value in sample["value"]:
            number = next(value[key] for key in ("signed_value", "unsigned_value", "double_value") if key in value)
            values.setdefault(counters[value["counter"]]["name"], []).append(number)
    # Those that the runtime calls monotonic never fall.
    for counter in counters.values():
        if counter["variance"] == "monotonic" and counter["name"] in values:
            assert values[counter["name"]] == sorted(values[counter["name"]]), (counter, values[counter["name"]])
    assert values["Working Set"][0] > 1 << 20, values["Working Set"]
    assert {counter["section"] for counter in counters.values()} >= {"jit", "gc", "system"}


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
