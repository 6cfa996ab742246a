# SPDX-License-Identifier: MIT
"""heapshot jit on a recording whose every method is known (tests/data/synthetic_code.c)."""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402

METHOD_KEYS = ["id", "name", "signature", "wrapper", "shared_name", "assembly", "mvid", "token", "dynamic", "tier",
               "il_bytes", "il_hash", "code_address", "code_bytes", "chunk", "compile_ns", "nested_ns", "thread",
               "domain", "time_ns", "live", "freed_ns"]


def names(rows):
    return [row["name"] for row in rows]


@test
def json_keys_are_those_of_the_manual():
    found = run_json("jit", recording("code"))
    assert list(found) == ["methods", "assemblies", "chunks", "summary"]
    assert all(list(row) == METHOD_KEYS for row in found["methods"])
    assert list(found["assemblies"][0]) == ["assembly", "methods", "code_bytes", "il_bytes", "compile_ns"]
    assert list(found["chunks"][0]) == ["address", "bytes", "used_bytes", "methods", "buffers", "created_ns", "live",
                                        "freed_ns"]
    page = read(os.path.join(cli.SOURCE, "doc/heapshot.1.scd")).decode()
    for key in METHOD_KEYS + list(found["chunks"][0]) + list(found["summary"]):
        assert '"%s"' % key in page, key


@test
def methods_by_size_and_time():
    found = run_json("jit", recording("code"))
    assert len(found["methods"]) == 8
    sizes = [row["code_bytes"] for row in found["methods"]]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] == 0x200
    by_time = run_json("jit", recording("code"), "--sort", "time")["methods"]
    assert [row["id"] for row in by_time] == list(range(1, 9))
    first = by_time[0]
    assert (first["token"], first["il_bytes"], first["il_hash"]) == (0x06000001, 7, 0xFEDCBA9876543210)
    assert (first["tier"], first["wrapper"], first["dynamic"]) == ("jit", None, False)


@test
def chunks_and_what_is_in_them():
    found = run_json("jit", recording("code"))
    assert [(row["address"], row["bytes"], row["used_bytes"], row["methods"], row["buffers"], row["live"])
            for row in found["chunks"]] == [
        (0x40000000, 0x10000, 0x80 + 10, 1, 1, False), (0x50000000, 0x10000, 0x200, 1, 0, True),
        (0x40000000, 0x8000, 0x40, 1, 0, False), (0x40000000, 0x4000, 0x20, 1, 0, True)]
    assert found["summary"]["used_bytes"] == 0x80 + 10 + 0x200 + 0x40 + 0x20
    assert found["summary"]["lost"] == 5 and found["summary"]["code_bodies"]
    # Precompiled code of one image counts once, however many domains take it.
    assert [(row["methods"], row["code_bytes"]) for row in found["assemblies"]] == [
        (7, 0x80 + 0x200 + 0x40 + 0x20 + 0x30 + 0x30 + 50)]


@test
def an_address_used_again():
    path = recording("code")
    found = run_json("jit", path, "--address", "0x40000110")
    assert found["address"] == 0x40000110
    assert names(found["matches"]) == ["T.A:Third", "T.A:Second", "T.A:First"]
    assert [row["live"] for row in found["matches"]] == [True, False, False]
    assert [row["offset"] for row in found["matches"]] == [0x10, 0x20, 0x10]
    assert names(run_json("jit", path, "--address", "4000012f")["matches"]) == ["T.A:Second", "T.A:First"]
    assert names(run_json("jit", path, "--address=0X4000017F", "-n", "1")["matches"]) == ["T.A:First"]
    lines = run("jit", path, "-A", "40000110").out.splitlines()
    assert lines[0].startswith("0x40000110  T.A:Third (int) + 0x10  [") and "freed" not in lines[0]
    assert len(lines) == 3 and all("freed after" in line for line in lines[1:])
    trampoline, = run_json("jit", path, "--address", "0x40000204")["matches"]
    assert (trampoline["kind"], trampoline["name"], trampoline["offset"]) == ("specific_trampoline", "jit", 4)
    # The same code in two domains is one answer; a chunk from before the recording is freed all the same.
    assert names(run_json("jit", path, "--address", "60000000")["matches"]) == ["T.Ready:Made"]
    gone, = run_json("jit", path, "--address", "70000001")["matches"]
    assert not gone["live"] and gone["chunk"] is None


@test
def an_address_of_nothing():
    path = recording("code")
    for address in ("0", "0x40000180", "3fffffff", "ffffffffffffffff", "0x80000000"):
        result = run("jit", path, "--address", address, status=NOT_FOUND)
        assert result.out == "" and "no code" in result.err, result.err


@test
def map_for_perf():
    path = recording("code")
    lines = run("jit", path, "--perf-map").out.splitlines()
    assert lines == ["40000100 20 T.A:Third (int)", "40000200 a (specific_trampoline) jit",
                     "50000000 200 T.Esc?[31m??:Stays (int)", "60000000 30 T.Ready:Made (int)",
                     "70000000 30 T.Late:Gone (int)"], lines
    out = os.path.join(cli.folder, "perf-1.map")
    run("jit", path, "--perf-map", "--output", out)
    assert read(out).decode().splitlines() == lines
    run("jit", path, "--perf-map", "-o", "/nonexistent/map", status=IO)
    with open("/dev/full", "w") as full:
        run("jit", path, "--perf-map", "-o", "/dev/full", status=IO)
        run("jit", path, "--perf-map", stdout=full, status=IO)


@test
def names_are_masked():
    out = run("jit", recording("code")).out
    assert "\033" not in out and "\u202e" not in out and "T.Esc?[31m??:Stays (int)" in out, out
    assert "\033" not in run("jit", recording("code"), "--address", "50000000").out
    assert "T.Esc\033[31m\n\u202e:Stays" in names(run_json("jit", recording("code"))["methods"])


@test
def tables_filters_and_limits():
    path = recording("code")
    out = run("jit", path, "--limit=2").out
    assert "... and 6 more methods" in out and "... and 2 more chunks" in out
    assert "5 methods compiled" in out and "2 precompiled" in out and "1 interpreted" in out
    assert "lost: 5 records of code" in out
    assert names(run_json("jit", path, "--filter", "T.A:*", "--sort=time")["methods"]) == [
        "T.A:First", "T.A:Second", "T.A:Third"]
    assert "no method matches" in run("jit", path, "--filter", "nothing", status=NOT_FOUND).err
    run("jit", path, "--assembly", "no such", status=NOT_FOUND)


@test
def wrong_arguments():
    path = recording("code")
    for words in ([], [path, path], [path, "--sort=name"], [path, "--sort"], [path, "--address="],
                  [path, "--address", "x"], [path, "--address", "-1"], [path, "--address", "+1"],
                  [path, "--address", " 1"], [path, "--address", "12g"], [path, "--address", "0x"],
                  [path, "--address", "11112222333344445"], [path, "--limit=x"], [path, "--by=bytes"],
                  [path, "--perf-map", "--json"], [path, "--perf-map", "--address", "1"],
                  [path, "--output", "x"], [path + "@1"]):
        result = run("jit", *words, status=USAGE)
        assert result.out == "" and len(result.err.splitlines()) == 1, (words, result.err)


@test
def files_without_methods():
    for variant in ("good", "none", "stats"):
        result = run("jit", recording(variant), status=NOT_FOUND)
        assert result.out == "" and "events=methods" in result.err
    run("jit", write("text", b"no recording"), status=NOT_RECORDING)
    run("jit", "/nonexistent", status=IO)


@test
def damage_costs_its_frame_only():
    data = bytearray(read(recording("code")))
    # The events are one frame: the first of kind 2.
    at = 0
    while data[at + 13] != 2:
        at += 8 + struct.unpack_from("<I", data, at + 4)[0] + struct.unpack_from("<I", data, at + 40)[0]
    data[at + 8 + 48 + 40] ^= 0xff
    result = run("jit", write("damaged.hs", data), status=DAMAGED)
    assert result.out == "" and "is lost" in result.err, result.err
    cut = run("jit", write("cut.hs", read(recording("code"))[:at + 60]), status=NOT_FOUND)
    assert "truncated" in cut.err


@test
def dump_and_events_know_them():
    rows = [json.loads(line) for line in run("dump", recording("code")).out.splitlines()]
    parts = [row for row in rows if row["record"] == "method_code"]
    assert [(row["method"], row["kind"], row["offset"], row["total_bytes"], row["data"]) for row in parts] == [
        (2, "il", 0, 6, "022aff"), (2, "il", 3, 6, "022aff")]
    method = next(row for row in rows if row["record"] == "jit_method")
    assert (method["tier"], method["chunk_address"], method["domain"]) == ("jit", 0x40000000, 1)
    buffer, = [row for row in rows if row["record"] == "code_buffer"]
    assert (buffer["kind"], buffer["size"]) == ("specific_trampoline", 10)
    assert run_json("events", recording("code"))["summary"]["methods"] == 8
    run("verify", recording("code"))


sys.exit(main())
