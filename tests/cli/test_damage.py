# SPDX-License-Identifier: MIT
"""The command on recordings that were cut, changed, mixed up or never were any
(rows D1 to D13 of tests/mono/cases/faults.md; the unit test test_reader_damage
does every cut and flip)."""
import os
import random
import re
import resource
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402
import gcdump  # noqa: E402
import mono_heap  # noqa: E402
import pprof  # noqa: E402

COMMANDS = ("list", "top", "roots", "events", "dump", "verify")
SANITIZED = os.environ.get("HEAPSHOT_SANITIZERS") == "yes"


def frames(data):
    """(offset, body, end, kind, snapshot) of each frame."""
    at, found = 0, []
    while at < len(data):
        magic, length = struct.unpack_from("<II", data, at)
        assert magic == 0x184D2A5B
        kind, snapshot = data[at + 13], struct.unpack_from("<I", data, at + 20)[0]
        end = at + 8 + length + struct.unpack_from("<I", data, at + 40)[0]
        found.append((at, at + 8 + length, end, kind, snapshot))
        at = end
    return found


def limited(megabytes):
    """Limits the address space: buffers, libraries and all."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
    return None if SANITIZED else limit


@test
def d1_cut():
    data = read(recording("varied"))
    parts = frames(data)
    cuts = sorted({end for _, _, end, _, _ in parts[:-1]} |
                  {(body + end) // 2 for _, body, end, _, _ in parts} |
                  {at + n for at, _, _, _, _ in parts for n in (3, 30)} - {0})
    for cut in cuts:
        if cut >= len(data):
            continue
        path = write("cut.hs", data[:cut])
        complete = sum(end <= cut for _, _, end, kind, _ in parts if kind == 5)
        any_frame = parts[0][2] <= cut
        result = run("top", path, status=OK if complete else INCOMPLETE)
        assert "truncated" in result.err, result.err
        assert str(max([end for _, _, end, _, _ in parts if end <= cut], default=cut)) in \
            result.err, result.err
        run("verify", path, status=INCOMPLETE)
        if complete:
            assert run("top", path + "@%d" % complete).out.split("\n")[1] == \
                run("top", recording("varied") + "@%d" % complete).out.split("\n")[1]
        if any_frame:
            listed = run_json("list", path, status=OK if complete else INCOMPLETE)["snapshots"]
            assert sum(s["complete"] for s in listed) == complete


@test
def d2_no_recordings():
    messages = set()
    files = {
        "empty": b"",
        "text": b"using System;\nclass T {}\n" * 100,
        "noise": random.Random(1).randbytes(8 << 20),
        "lz4": b"\x04\x22\x4d\x18" + b"x" * 1000,
    }
    for name, data in files.items():
        path = write(name, data)
        for command in COMMANDS:
            result = run(command, path, status=NOT_RECORDING, preexec_fn=limited(64))
            assert result.out == "" and result.err.count("\n") == 1
        messages.add(result.err.replace(path, ""))
    # 64 MB of random bytes, once.
    with open(os.path.join(cli.folder, "noise"), "wb") as out:
        source = random.Random(2)
        for _ in range(64):
            out.write(source.randbytes(1 << 20))
    assert "no frame tag at offset 0" in run("top", "noise", status=NOT_RECORDING).err
    os.unlink(os.path.join(cli.folder, "noise"))
    for path, text in ((cli.folder, "Is a directory"), ("missing", "No such file or directory"),
                       ("missing@2", "No such file or directory")):
        for command in COMMANDS:
            result = run(command, path, status=IO)
            assert text in result.err and result.err.count("\n") == 1, result.err
        messages.add(result.err)
    assert len(messages) == 7
    assert "format 2.0" in run("top", recording("version"), status=NOT_RECORDING).err


@test
def d3_flips():
    good = read(recording("varied"))
    for at, body, end, kind, snapshot in frames(good):
        for place in (at + 20, (body + end) // 2):
            data = bytearray(good)
            data[place] ^= 0x10
            path = write("flip.hs", data)
            result = run("verify", path, status=DAMAGED)
            assert "damaged" in result.out and ("offset %d" % at) in result.out, result.out
            for number in (1, 2):
                hit = kind == 1 or snapshot == number
                arguments = ["top", path + "@%d" % number, "--json"]
                done = subprocess.run([cli.HEAPSHOT, *arguments], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
                if place == at + 20 or kind in (3, 5, 6) or hit:
                    # Tags, begins and ends are seen by every command.
                    assert done.returncode in (DAMAGED, NOT_FOUND), (place, done)
                else:
                    assert done.returncode == OK, (place, done)
                if not hit:
                    assert json.loads(done.stdout) == run_json(
                        "top", recording("varied") + "@%d" % number)
                if kind == 4 and hit:
                    # Objects are missing, and how many is said by verify.
                    assert json.loads(done.stdout)["types"]
                    assert "objects: " in result.out


@test
def d4_d5_lengths():
    # The unit test builds each kind; here a tag is rewritten with its CRC.
    import zlib
    good = read(recording("small"))
    at, body, end, _, _ = frames(good)[2]
    for compressed, raw in ((0xFFFFFFFF, 0xFFFFFFFF), (0, 0), (end - body, 0xFFFFFFFF),
                            (end - body, 0), (end - body, 1), (0xFFFFFFFF, 100)):
        data = bytearray(good)
        struct.pack_into("<II", data, at + 8 + 32, compressed, raw)
        struct.pack_into("<I", data, at + 8 + 44, zlib.crc32(bytes(data[at + 8:at + 52])))
        path = write("length.hs", data)
        for command in COMMANDS:
            arguments = [command, path + "@2" if command in ("top", "roots") else path]
            done = subprocess.run([cli.HEAPSHOT, *arguments], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, preexec_fn=limited(64))
            # It is the frame that begins snapshot 1, which all commands look into.
            assert done.returncode == DAMAGED, done
            assert b"offset %d" % at in done.stderr + done.stdout, done
        assert run_json("top", path + "@2", status=DAMAGED) == run_json(
            "top", recording("small") + "@2")


@test
def d6_unknown():
    data = run_json("verify", recording("unknown"))
    assert (data["unknown_frames"], data["unknown_records"], data["unknown_fields"]) == (1, 2, 1)
    assert data["status"] == OK
    for command in COMMANDS:
        assert run(command, recording("unknown")).err == ""
    lines = [json.loads(line) for line in run("dump", recording("unknown")).out.splitlines()]
    unknown = [l for l in lines if l["record"] == "unknown"]
    assert [l["field"] for l in unknown] == [200, 201] or [l["field"] for l in unknown] == [201, 200]


@test
def d7_two_recordings():
    offset = len(read(recording("small")))
    for command in COMMANDS:
        result = run(command, recording("two"), status=CHECK_FAILED if command == "verify" else OK)
        text = result.out if command == "verify" else result.err
        assert "another recording begins at offset %d" % offset in text, text
    assert run("list", recording("two")).out.split("\n")[1:] == \
        run("list", recording("small")).out.split("\n")[1:]


@test
def d8_trailing_bytes():
    data = read(recording("small"))
    path = write("trailing.hs", data + b"trailing bytes")
    assert "14 bytes at offset %d behind the end" % len(data) in run("top", path).err
    data = run_json("verify", path, status=CHECK_FAILED)
    assert [i["kind"] for i in data["issues"]] == ["trailing"] and data["issues"][0]["bytes"] == 14


@test
def d9_inconsistent():
    data = run_json("verify", recording("inconsistent"), status=CHECK_FAILED)
    problems = {p["check"]: p["found"] for p in data["snapshots"][0]["problems"]}
    assert problems == {"undefined_types": 1, "duplicate_objects": 1, "dangling_references": 1,
                        "dangling_roots": 1}
    out = run("verify", recording("inconsistent"), status=CHECK_FAILED).out
    assert "first: type 5" in out and "0xdead0000" in out
    for command in COMMANDS[:-1]:
        run(command, recording("inconsistent"))
    assert "type#5" in run("top", recording("inconsistent")).out
    # Totals that differ: what is there is shown, and called incomplete.
    assert "its end says 30" in run("top", recording("differs"), status=INCOMPLETE).err
    data = run_json("verify", recording("differs"), status=INCOMPLETE)
    found = {p["check"]: (p["expected"], p["found"]) for p in data["snapshots"][0]["problems"]}
    assert found["objects"] == (30, 25) and found["roots"] == (21, 20)
    run("top", recording("abandoned"))
    run("top", recording("abandoned") + "@2", status=INCOMPLETE)
    run("verify", recording("abandoned"), status=INCOMPLETE)


@test
def d10_large_numbers():
    run("verify", recording("huge"))
    run("verify", recording("overflow"), status=CHECK_FAILED)
    for command in COMMANDS[2:-1]:
        run(command, recording("overflow"))


@test
def d11_still_being_written():
    data = read(recording("varied"))
    parts = frames(data)
    path = write("growing.hs", b"")
    with open(path, "ab") as out:
        for at, _, end, kind, snapshot in parts[:-1]:
            out.write(data[at:end])
            out.flush()
            if kind == 4 and snapshot == 2:
                assert run_json("top", path)["snapshot"] == 1
    result = run("top", path)
    assert "snapshot 2" in result.out and "still being written" in result.err


@test
def memory_is_bounded():
    if SANITIZED:
        return "sanitizers need address space"
    path = recording("many", "3000000")
    for command, megabytes in (("list", 32), ("top", 32), ("roots", 32), ("events", 32),
                               ("verify", 96)):
        run(command, path, preexec_fn=limited(megabytes))
    # Below the need of verify: said, and no crash.
    out = run("verify", path, "--memory=16M").out
    assert "references not checked" in out


@test
def noise_in_the_middle():
    source = random.Random(3)
    good = read(recording("small"))
    for _ in range(100):
        data = bytearray(good)
        for _ in range(source.randrange(1, 6)):
            data[source.randrange(len(data))] = source.randrange(256)
        path = write("noise.hs", data)
        for command in ("top", "verify", "dump"):
            done = subprocess.run([cli.HEAPSHOT, command, path], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, preexec_fn=limited(64))
            assert 0 <= done.returncode <= 7, done


@test
def exports_of_what_is_left():
    """Every format is written of what can be read, and is whole as a file; or there is none."""
    source = random.Random(4)
    good = read(recording("small"))
    paths = [recording(name) for name in ("inconsistent", "differs", "overflow", "abandoned", "killed", "hostile-names",
                                          "two", "stats", "none")]
    for number in range(12):
        data = bytearray(good)
        for _ in range(source.randrange(1, 6)):
            data[source.randrange(len(data))] = source.randrange(256)
        paths.append(write("noise-%d.hs" % number, data))
    for at, body, end, _, _ in frames(good)[2:]:
        paths.append(write("cut-%d.hs" % at, good[:(body + end) // 2]))
    said = run("export", recording("small"), status=USAGE).err.splitlines()[0]
    formats = re.search(r"formats: ([\w -]+)", said).group(1).split()
    assert len(formats) >= 7, said
    for form in formats:
        parse = {"gcdump": gcdump.parse, "mono-heap": mono_heap.parse, "pprof": pprof.parse}.get(form, len)
        n_written = 0
        for path in paths:
            out = os.path.join(cli.folder, "out")
            table = ["--table", "objects"] if form in ("csv", "ndjson") else []
            done = run("export", "--format", form, "-o", out, path, *table, status=None)
            if "in this build" in done.err:
                break
            if os.path.exists(out):
                assert done.returncode in (OK, DAMAGED, INCOMPLETE), (form, path, done)
                n_written += 1
                parse(read(out))
                os.unlink(out)
            else:
                assert 1 <= done.err.count("\n") <= 3 and CHECK_FAILED < done.returncode <= 7, (form, path, done)
        else:
            assert n_written > len(paths) / 3, (form, n_written, len(paths))
        assert not [name for name in os.listdir(cli.folder) if name.startswith("out")]


sys.exit(main())
