# SPDX-License-Identifier: MIT
"""heapshot anonymize on synthetic recordings: what is replaced, what stays, what is
left out, and damage."""
import os
import random
import re
import resource
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402

SANITIZED = os.environ.get("HEAPSHOT_SANITIZERS", "no") not in ("no", "")
MASK = 0xFFFFFFFF


def out_path():
    return os.path.join(cli.folder, "anonymous.hs")


def anonymize(path, *flags, status=OK, **options):
    return run("anonymize", path, "-o", out_path(), "--overwrite", *flags, status=status, **options)


def records(path):
    return [json.loads(line) for line in run("dump", path).out.splitlines()]


def of_kind(path, kind):
    return [record for record in records(path) if record["record"] == kind]


def content(path):
    return subprocess.run(["lz4", "-dc", path], stdout=subprocess.PIPE, check=True).stdout


# ---- frames made by hand ------------------------------------------------------

def varint(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def frame(kind, seq, bodies, snapshot=0):
    """A frame of RECORDS (number, body), stored without compression."""
    start = field(1, field(1, 77) + field(2, seq))
    raw = field(1, start) + b"".join(field(1, field(number, body)) for number, body in bodies)
    flags = b"\x60\x60"
    body = b"\x04\x22\x4d\x18" + flags + bytes([xxh32_short(flags) >> 8 & 255])
    body += struct.pack("<I", len(raw) | 1 << 31) + raw + bytes(4)
    payload = b"HSTG" + struct.pack("<BBHIIQQIII", 1, kind, 0, 77, snapshot, seq, 0, len(body), len(raw), 0)
    return struct.pack("<II", 0x184D2A5B, 48) + payload + struct.pack("<I", zlib.crc32(payload)) + body


def xxh32_short(data):
    """XXH32 of fewer than four bytes, as the header of an LZ4 frame has it."""
    prime = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
    h = (prime[4] + len(data)) & MASK
    for byte in data:
        h = (h + byte * prime[4]) & MASK
        h = ((h << 11 | h >> 21) & MASK) * prime[0] & MASK
    h = (h ^ h >> 15) * prime[1] & MASK
    h = (h ^ h >> 13) * prime[2] & MASK
    return h ^ h >> 16


HEADER = (3, field(1, 1) + field(3, "heapshot 1.0.0") + field(4, "Mono 6.8.0.105 (made by Zebra Inc)") +
          field(5, "x86_64") + field(6, "Linux 6.1.0-zebra+7") + field(7, 8) + field(8, 4711) + field(9, 1 << 60) +
          field(10, "output=/home/zebra/a\\,strings=zebra.hs,snapshot=gc+2s,strings=20,control=/run/zebra,"
                    "zebra=1,signal=../zebra,quiet") +
          field(11, "zebra-host") + field(12, "mono zebra.exe --password zebra"))


def recording_of(*frames_of, has_end=True):
    """Frames of (kind, records), with the header first, and an end."""
    data = frame(1, 0, [HEADER])
    for seq, (kind, bodies) in enumerate(frames_of, 1):
        data += frame(kind, seq, bodies)
    if has_end:
        data += frame(6, len(frames_of) + 1, [(25, field(1, 1))])
    return write("made.hs", data)


# ---- tests --------------------------------------------------------------------

@test
def header_tells_nothing():
    path = recording_of()
    run("verify", path)
    anonymize(path)
    run("verify", out_path())
    header = of_kind(out_path(), "header")[0]
    assert header["writer"] == "heapshot 1.0.0" and header["runtime"] == "Mono 6.8.0.105"
    assert header["system"] == "Linux 6.1.0" and header["architecture"] == "x86_64"
    assert header["options"] == "snapshot=gc+2s,strings=20,quiet", header["options"]
    assert header["pid"] == header["wall_start_unix_ns"] == 0 and header["word_bytes"] == 8
    assert re.fullmatch(r"n\d+", header["host_name"]) and re.fullmatch(r"n\d+", header["command_line"])
    assert b"zebra" not in content(out_path()).lower()


def type_record(number, name, space, image):
    return 4, field(1, number) + field(3, name) + field(4, space) + field(5, image)


@test
def framework_stays_unless_all():
    made = [
        (16, field(1, 1) + field(2, "mscorlib") + field(3, "/home/zebra/mono/mscorlib.dll") + field(4, "GUID-OF-MSCORLIB")),
        (16, field(1, 2) + field(2, "Zebra.Core") + field(3, "/home/zebra/Zebra.Core.dll") + field(4, "ZEBRA-GUID")),
        (16, field(1, 3) + field(2, "System.Zebra") + field(3, "C:\\zebra\\System.Zebra.exe")),
        type_record(1, "System.String", "System", 1),
        type_record(2, "System.Collections.Generic.List<Zebra.Core.Stripe>", "System.Collections.Generic", 1),
        type_record(3, "Zebra.Core.Stripe", "Zebra.Core", 2),
        type_record(4, "System.Collections.Stripe", "System.Collections", 2),
        type_record(5, "Zebra", "System", 1),                       # a type parameter
        type_record(6, "Zebra.Core.Stripe[,]", "Zebra.Core", 2),
        (5, field(1, 2) + field(2, field(1, "_items") + field(2, 16)) + field(2, field(1, "_size") + field(2, 24))),
        (5, field(1, 3) + field(2, field(1, "zebraStripes") + field(2, 16))),
        (17, field(1, 1) + field(3, "Zebra.Core.exe")),
        (9, field(1, 5) + field(3, "Zebra worker")), (9, field(1, 6) + field(3, "Finalizer")),
        (22, field(1, 1) + field(2, "Working Set") + field(3, "system")), (22, field(1, 2) + field(2, "Zebra count")),
    ]
    methods = [
        (28, field(1, 1) + field(2, "System.Collections.Generic.List`1<Zebra.Core.Stripe>:Add") +
         field(3, "void (Zebra.Core.Stripe)") + field(5, 1) + b"\x51" + bytes(range(1, 9))),
        (28, field(1, 2) + field(2, "Zebra.Core.Stripe:Paint") + field(3, "System.String (int)") + field(5, 2)),
        (28, field(1, 3) + field(2, "System.String:ZebraMade") + field(5, 1) + field(8, 1)),
        (28, field(1, 4) + field(2, "System.String:invoke_Zebra") + field(5, 1) + field(7, "delegate-invoke")),
        (29, field(1, 2) + field(2, 1) + field(4, 5) + field(5, b"zebra")),
        (30, field(1, 9) + field(4, "jit")), (30, field(1, 9) + field(4, "zebra")),
        (23, field(1, "Zebra label")), (23, field(1, "Zebra label")),
    ]
    path = recording_of((1, made), (2, methods))
    anonymize(path)
    types = [(t["name"], t["name_space"]) for t in of_kind(out_path(), "type")]
    assert types[0] == ("System.String", "System")
    zebra, core, stripe = types[2][0].split(".")
    assert re.fullmatch(r"n\d+", zebra) and len({zebra, core, stripe}) == 3
    assert types[1] == ("System.Collections.Generic.List<%s.%s.%s>" % (zebra, core, stripe), "System.Collections.Generic")
    assert types[2][1] == zebra + "." + core and types[5][0] == types[2][0] + "[,]"
    assert types[3] == ("System.Collections." + stripe, "System.Collections"), types[3]
    assert types[4] == (zebra, "System")
    images = of_kind(out_path(), "image")
    assert images[0] == dict(images[0], name="mscorlib", file="mscorlib.dll", mvid="GUID-OF-MSCORLIB")
    assert images[1]["name"] == zebra + "." + core and images[1]["file"] == images[1]["name"] + ".dll"
    assert re.fullmatch(r"0{8}-0{4}-0{4}-0{4}-0{11}\d", images[1]["mvid"]) and images[2]["name"] == "System." + zebra
    layouts = of_kind(out_path(), "type_layout")
    assert [f["name"] for f in layouts[0]["field"]] == ["_items", "_size"]
    assert [f["offset"] for f in layouts[0]["field"]] == [16, 24]
    assert re.fullmatch(r"n\d+", layouts[1]["field"][0]["name"])
    assert of_kind(out_path(), "domain")[0]["name"] == zebra + "." + core + ".exe"
    assert [bool(re.fullmatch(r"n\d+", t["name"])) for t in of_kind(out_path(), "thread")] == [True, False]
    assert [c["name"] == "Working Set" for c in of_kind(out_path(), "counter")] == [True, False]
    jit = of_kind(out_path(), "jit_method")
    assert jit[0]["name"] == "System.Collections.Generic.List`1<%s>:Add" % types[2][0], jit[0]
    assert jit[0]["signature"] == "void (%s)" % types[2][0] and jit[0]["il_hash"] == 2, jit[0]
    assert jit[1]["name"].startswith(types[2][0] + ":n") and jit[1]["signature"] == "System.String (int)", jit[1]
    assert jit[2]["name"].startswith("System.String:n") and jit[3]["wrapper"] == "delegate-invoke"
    code = of_kind(out_path(), "method_code")[0]
    assert code["data"] == "0000000000" and code["total_bytes"] == 5
    assert [b["name"] == "jit" for b in of_kind(out_path(), "code_buffer")] == [True, False]
    labels = {m["label"] for m in of_kind(out_path(), "marker")}
    assert len(labels) == 1 and re.fullmatch(r"n\d+", labels.pop())
    for data in (content(out_path()), read(out_path())):
        assert b"zebra" not in data.lower() and "zebra".encode("utf-16-le") not in data.lower()
    # Two runs give the same file; with --all nothing but words of C# is left.
    first = read(out_path())
    anonymize(path)
    assert read(out_path()) == first
    anonymize(path, "--all")
    for text in (b"System", b"mscorlib", b"_items", b"Add", b"GUID"):
        assert text not in content(out_path()), text
    assert of_kind(out_path(), "jit_method")[0]["signature"].startswith("void (n")


def string_frames(texts):
    strings = b"".join(field(2, field(1, 8 * n) + field(2, len(text)) + field(3, text.encode("utf-16-le")))
                       for n, text in enumerate(texts, 1))
    return [(4, [(26, field(1, 1) + strings)])]


@test
def contents_of_strings():
    texts = ["zebra crossing", "zebra crossing", "zebra", "", "\U0001F993", "z" * 100]
    path = recording_of(*string_frames(texts))
    anonymize(path)
    strings = of_kind(out_path(), "string_batch")[0]["string"]
    made = [s["text"] for s in strings]
    assert [len(text.encode("utf-16-le")) for text in made] == [len(text.encode("utf-16-le")) for text in texts]
    assert [s["length"] for s in strings] == [len(text) for text in texts]
    assert made[0] == made[1] != made[2] and re.fullmatch(r"[B-Z]{14}", made[0]), made
    # Who has the file cannot try texts: it is another key each time.
    anonymize(path)
    assert of_kind(out_path(), "string_batch")[0]["string"][0]["text"] != made[0]


@test
def shape_is_kept():
    for variant in ("good", "varied", "killed", "methods", "code", "stats", "hostile-names", "huge", "inconsistent"):
        path = recording(variant)
        anonymize(path)
        states = [subprocess.run([cli.HEAPSHOT, "verify", name], stdout=subprocess.PIPE).returncode
                  for name in (path, out_path())]
        assert states[0] == states[1], variant
        before, after = [
            [[type_["count"], type_["bytes"], type_["edges"]] for type_ in run_json("top", name)["types"]]
            if variant not in ("methods", "code") else [] for name in (path, out_path())]
        assert sorted(before) == sorted(after)
        a, b = records(path), records(out_path())
        assert [(r["record"], r["time_ns"]) for r in a] == [(r["record"], r["time_ns"]) for r in b], variant
        ends = [[r["object_hash"] for r in rows if r["record"] == "snapshot_end"] for rows in (a, b)]
        assert ends[0] == ends[1]
        assert subprocess.run(["lz4", "-tq", out_path()]).returncode == 0
    roots = {root["name"] for root in run_json("roots", out_path())["roots"]} if variant != "inconsistent" else set()
    assert not roots or "T.Pub.Root" not in roots


@test
def later_versions_are_left_out():
    result = anonymize(recording("unknown"))
    assert "of a later version, left out: 1 frames, 1 records, 1 fields" in result.out, result.out
    assert b"later" not in content(out_path())
    said = run_json("verify", out_path())
    assert said["ok"] and said["unknown_frames"] == said["unknown_records"] == said["unknown_fields"] == 0
    assert run_json("list", out_path())["left_out_frames"] == 1


@test
def what_becomes_longer_goes_on():
    # Names of one letter each, which all become longer.
    letters = [chr(code) for code in [*range(0x4E00, 0x9FA0), *range(0xAC00, 0xD7A0)]]
    types = [type_record(n, ".".join(letters[(20 * n + k) % 20000] for k in range(20)), "", 0) for n in range(1, 10001)]
    path = recording_of((1, types), (1, types[:5]))
    run("verify", path)
    said = json.loads(anonymize(path, "--json").out)
    run("verify", out_path())
    assert said["frames"] == 5 and said["records_too_long"] == 0 and said["names"] == 20002, said
    names = [t["name"] for t in of_kind(out_path(), "type")]
    assert len(names) == 10005 and len(set(names)) == 1000 and names[-5:] == names[:5]
    # A record that would become too long is left out, and that is said.
    fields = b"".join(field(2, field(1, letter)) for letter in letters[:26000])
    path = recording_of((1, [type_record(1, "T", "", 0), (5, field(1, 1) + fields), type_record(2, "U", "", 0)]))
    run("verify", path)
    result = anonymize(path)
    assert "1 records became longer than a record may be" in result.err, result.err
    run("verify", out_path())
    assert not of_kind(out_path(), "type_layout") and len(of_kind(out_path(), "type")) == 2


@test
def damage():
    good = read(recording("good"))
    data = bytearray(good)
    data[len(data) // 2] ^= 0x10
    result = anonymize(write("damaged.hs", bytes(data)), status=DAMAGED)
    assert "damaged" in result.err
    run("verify", out_path(), status=INCOMPLETE)
    # A record that is no message: it alone is left out.
    path = recording_of((1, [(4, b"\xff\xff"), type_record(1, "Zebra", "", 0)]))
    result = anonymize(path, status=DAMAGED)
    assert "'type' of frame 1 at offset" in result.err and len(of_kind(out_path(), "type")) == 1
    # All commands that decode it say so, and of many the first ones.
    for bad, said in ((1, 1), (5, 5), (1000, 5)):
        path = recording_of((1, [(4, b"\xff\xff")] * bad + [type_record(1, "Zebra", "", 0)]))
        for err in (run("dump", path, status=DAMAGED).err, run("verify", path, status=DAMAGED).err,
                    anonymize(path, status=DAMAGED).err):
            assert err.count("a record 'type' of frame 1 at offset") == said, err
            assert ("and more records like these" in err) == (bad > said) and err.count("\n") <= 12, err
    # Cut, it reads up to there.
    result = anonymize(write("cut.hs", good[:-5]))
    assert "truncated" in result.err
    for arguments in ([], ["-o", "-", "--json"]):
        run("anonymize", recording("good"), *arguments, status=USAGE)
    assert "exists" in run("anonymize", recording("good"), "-o", out_path(), status=IO).err


@test
def noise_in_records():
    source = random.Random(4)
    made = [type_record(1, "Zebra.A<System.B[]>", "Zebra", 1), (16, field(1, 1) + field(2, "mscorlib")),
            (5, field(1, 1) + field(2, field(1, "a") + field(2, 16)))]
    good = [body for _, body in made]
    for _ in range(150):
        bodies = []
        for (number, _), body in zip(made, good):
            changed = bytearray(body)
            for _ in range(source.randrange(4)):
                changed[source.randrange(len(changed))] = source.randrange(256)
            bodies.append((number if source.randrange(4) else source.randrange(1, 40), bytes(changed)))
        path = recording_of((source.randrange(1, 5), bodies))
        done = subprocess.run([cli.HEAPSHOT, "anonymize", path, "-o", out_path(), "--overwrite"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert done.returncode in (OK, DAMAGED, INCOMPLETE, NOT_RECORDING), done


@test
def memory_is_bounded():
    if SANITIZED:
        return "sanitizers need address space"
    path = recording("many", "2000000")
    anonymize(path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (48 << 20, 48 << 20)))
    os.unlink(path)


sys.exit(main())
