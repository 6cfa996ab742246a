# SPDX-License-Identifier: MIT
"""JIT packets: each field against what the program itself knows, and `heapshot jit`."""
from harness import *
from make_mcs_source import write_source

MCS = "/usr/lib/mono/4.5/mcs.exe"
PACKETS = "snapshot=none,events=methods+jit,quiet,overwrite,output="


def jit(*words, options=None, mono_options=(), cwd=None):
    """Jit.exe, with the module if OPTIONS are given."""
    profile = [] if options is None else ["--profile=heapshot:" + options]
    return run(["mono"] + list(mono_options) + profile + [compiled("Jit")] + list(words), cwd=cwd, timeout=120)


def record(directory, *words, more="", mono_options=()):
    """Runs Jit.exe recorded: the file, what heapshot jit says, what the program printed."""
    path = os.path.join(directory, "a.hs")
    recorded = jit(*words, options=PACKETS + path + more, mono_options=mono_options)
    assert recorded.status == 0, recorded.err
    check_file(path)
    return path, read_json("jit", path), recorded.out


def rows(out, kind):
    return [line.split("\t")[1:] for line in out.splitlines() if line.startswith(kind + "\t")]


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value


def full_name(method):
    return ("(wrapper %s) " % method["wrapper"] if method["wrapper"] else "") + method["name"]


def at(path, address, *words):
    return read_json("jit", path, "--address", hex(address), *words)["matches"]


def bodies(path):
    """Code by method and kind, put together from its parts; each part where the one before ended."""
    whole, total = {}, {}
    result = heapshot("dump", path)
    assert result.status == OK, result.err
    for line in result.out.splitlines():
        row = json.loads(line)
        if row["record"] == "method_code":
            key = row["method"], row["kind"]
            assert row["offset"] == len(whole.get(key, b"")), row["offset"]
            whole[key] = whole.get(key, b"") + bytes.fromhex(row["data"])
            total[key] = row["total_bytes"]
            assert 0 < len(row["data"]) // 2 <= 65536
    for key, data in whole.items():
        assert len(data) == total[key], key
    return whole


def check_chunks(found):
    """Compiled methods lie in their chunk, and no two that lived at a time overlap."""
    for method in found["methods"]:
        if method["tier"] != "jit":
            continue
        fits = [chunk for chunk in found["chunks"] if chunk["address"] == method["chunk"] and
                method["code_address"] + method["code_bytes"] <= chunk["address"] + chunk["bytes"]]
        assert fits and method["code_address"] >= method["chunk"], method
    for chunk in found["chunks"]:
        assert chunk["used_bytes"] <= chunk["bytes"], chunk
    live = sorted((method["code_address"], method["code_bytes"]) for method in found["methods"]
                  if method["tier"] == "jit" and method["live"])
    for (start, size), (following, _) in zip(live, live[1:]):
        assert start + size <= following, hex(start)


@test("each packet says what reflection says: name, token, MVID, IL, address")
def truth(directory):
    plain = jit("truth")
    path, found, out = record(directory, "truth")
    assert [row for row in rows(out, "dynamic")] == rows(plain.out, "dynamic"), out
    methods = found["methods"]
    told = rows(out, "method")
    assert len(told) == 7, out
    for name, token, mvid, il_bytes, il_hash, address in told:
        wanted = (int(token), mvid, int(il_bytes), int(il_hash))
        matches = [row for row in methods if row["code_address"] == int(address)]
        assert matches, "%s at %s was not recorded" % (name, address)
        for row in matches:
            assert (row["token"], row["mvid"], row["il_bytes"], row["il_hash"]) == wanted, (row, wanted)
            assert not row["dynamic"] and row["wrapper"] is None and row["live"]
        if name.startswith("Jit:") or name.startswith("T.Outer") or name == "T.Of`1<int>:Keep":
            assert [row["name"] for row in matches] == [name]
        # What --address says of every byte of the method's ends.
        row = matches[0]
        for offset in (0, 1, row["code_bytes"] - 1):
            hit, = at(path, row["code_address"] + offset)
            assert (hit["kind"], hit["id"], hit["offset"]) == ("method", row["id"], offset), hit
    by_name = {full_name(row): row for row in methods}
    assert by_name["Jit:Plain"]["signature"] == "int (int,string,double&)"
    assert by_name["T.Outer/Inner:Mix"]["signature"] == "long (long,int)"
    assert by_name["Jit:Plain"]["assembly"] == "Jit" and by_name["Jit:Plain"]["tier"] == "jit"
    keep, = [row for row in methods if row["name"] == "T.Of`1<string>:Keep"]
    assert keep["shared_name"] and keep["shared_name"].startswith("T.Of`1<")
    assert by_name["T.Of`1<int>:Keep"]["shared_name"] is None
    native = by_name["(wrapper managed-to-native) Jit:getpid"]
    assert native["token"] is None and native["code_bytes"] > 0 and native["signature"] == "int ()"
    check_chunks(found)


@test("dynamic methods have neither token nor MVID; emitted types have a token")
def dynamic(directory):
    _, found, _ = record(directory, "truth")
    made = [row for row in found["methods"] if row["dynamic"]]
    assert sorted(row["name"] for row in made) == ["object:made%d" % i for i in range(3)], made
    for row in made:
        assert (row["token"], row["mvid"], row["assembly"]) == (None, None, None), row
        assert row["wrapper"] == "dynamic-method" and row["tier"] == "jit" and row["chunk"] == row["code_address"]
        # ldarg.0, ldc.i4 N, add, ret
        number = int(row["name"][-1])
        assert row["il_bytes"] == 8 and row["il_hash"] == fnv(bytes([2, 0x20, number, 0, 0, 0, 0x58, 0x2a]))
    large, = [row for row in found["methods"] if row["name"] == "E.Large:Body"]
    assert large["assembly"] == "Emitted" and large["token"] >> 24 == 6 and not large["dynamic"]
    assert large["il_bytes"] == 6000 * 9 + 2


@test("a packet for each method that was compiled or loaded: as many as the runtime counts")
def all_of_them(directory):
    path, found, out = record(directory, "truth", mono_options=["--stats"])
    counted = dict(re.findall(r"^(Compiled methods|Methods from AOT) *: (\d+)$", out, re.M))
    if len(counted) != 2:
        skip("this mono prints no such counters")
    sums = found["summary"]
    assert (sums["jit"], sums["precompiled"]) == (int(counted["Compiled methods"]), int(counted["Methods from AOT"]))
    ids = [row["id"] for row in found["methods"]]
    assert sorted(ids) == list(range(1, len(ids) + 1)), "ids have gaps, or come twice"
    assert sums["lost"] == 0
    check_chunks(found)


@test("time to compile: each thread compiles no longer than it ran, nested methods apart")
def times(directory):
    path, found, _ = record(directory, "truth")
    duration = read_json("events", path)["summary"]["duration_ns"]
    threads = {}
    for row in found["methods"]:
        threads[row["thread"]] = threads.get(row["thread"], 0) + row["compile_ns"]
        assert row["compile_ns"] > 0 or row["tier"] != "jit", row
    assert max(threads.values()) <= duration, (threads, duration)
    nested = [row for row in found["methods"] if row["nested_ns"]]
    assert nested and all(row["nested_ns"] <= duration for row in nested)
    sums = found["summary"]
    assert sums["compile_ns"] == sum(row["compile_ns"] for row in found["methods"])
    assert sums["jit_code_bytes"] == sum(row["code_bytes"] for row in found["methods"] if row["tier"] == "jit")


@test("methods=code: IL and native bytes are those of the process; large ones in parts")
def code(directory):
    path = os.path.join(directory, "a.hs")
    process = subprocess.Popen(["mono", "--profile=heapshot:" + PACKETS + path + ",methods=code", compiled("Jit"), "serve"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
                               universal_newlines=True)
    try:
        out = []
        for line in process.stdout:
            out.append(line)
            if line == "ready\n":
                break
        names = ("Jit:Plain", "T.Outer/Inner:Mix", "object:made1", "E.Large:Body")
        rows_of = {}

        def all_there():
            rows_of.update({row["name"]: row for row in read_json("jit", path)["methods"]})
            return all(name in rows_of for name in names)
        wait_for("the methods", all_there)
        whole = bodies(path)
        for name in names:
            row = rows_of[name]
            process.stdin.write("%d %d\n" % (row["code_address"], row["code_bytes"]))
            process.stdin.flush()
            memory = bytes.fromhex(process.stdout.readline())
            native, il = whole[row["id"], "native"], whole[row["id"], "il"]
            assert len(native) == row["code_bytes"] and native == memory, name
            assert len(il) == row["il_bytes"] and fnv(il) == row["il_hash"], name
        large = rows_of["E.Large:Body"]
        assert large["code_bytes"] > 32768 and large["il_bytes"] > 32768, "the large method is not large"
    finally:
        process.stdin.close()
        process.stdout.read()
        assert process.wait(60) == 0
    check_file(path)


@test("every body is whole, and its IL has the hash that the packet says")
def all_bodies(directory):
    path, found, _ = record(directory, "truth", more=",methods=code")
    whole = bodies(path)
    for row in found["methods"]:
        il = whole.get((row["id"], "il"), b"")
        assert len(il) == row["il_bytes"] and (not il or fnv(il) == row["il_hash"]), row
        assert len(whole[row["id"], "native"]) == row["code_bytes"], row
    assert found["summary"]["code_bodies"] and found["summary"]["lost"] == 0


@test("8 threads compile at once: each method once, nothing lost")
def threads(directory):
    plain = jit("threads", "8", "100")
    for more in ("", ",methods=code"):
        _, found, out = record(directory, "threads", "8", "100", more=more)
        assert out == plain.out
        names = [row["name"] for row in found["methods"] if row["dynamic"]]
        assert sorted(names) == sorted("object:of%d_%d" % (t, i) for t in range(8) for i in range(100))
        assert all(row["il_bytes"] == 8 for row in found["methods"] if row["dynamic"])
        assert len({row["thread"] for row in found["methods"] if row["dynamic"]}) >= 2
        assert found["summary"]["lost"] == 0
        check_chunks(found)


@test("an unloaded domain's code is freed; of an address used again the last comes first")
def domains(directory):
    path, found, out = record(directory, "domains", "3")
    told = rows(out, "domain")
    assert [name for name, _ in told] == ["Jit.exe", "second0", "second1", "second2"], out
    mix = [row for row in found["methods"] if row["name"] == "T.Outer/Inner:Mix"]
    assert [row["code_address"] for row in sorted(mix, key=lambda row: row["id"])] == [
        int(address) for _, address in told]
    assert len({row["domain"] for row in mix}) == 4
    assert [row["live"] for row in sorted(mix, key=lambda row: row["id"])] == [True, False, False, False]
    for row in mix:
        matches = at(path, row["code_address"] + 1)
        assert row["id"] in [match["id"] for match in matches if match["kind"] == "method"], row
        ends = [float("inf") if match["live"] else match["freed_ns"] for match in matches]
        assert ends == sorted(ends, reverse=True), matches
        if not row["live"]:
            text = heapshot("jit", path, "--address", hex(row["code_address"] + 1))
            assert text.status == OK and "freed after" in text.out, text.out
    # Only domains free chunks of their own; all chunks of the freed ones are told.
    freed = [chunk for chunk in found["chunks"] if not chunk["live"]]
    assert freed and all(chunk["freed_ns"] >= chunk["created_ns"] for chunk in freed)
    check_chunks(found)


@test("an address of a crash log is named, and the offset is that of the managed stack")
def crash_log(directory):
    path = os.path.join(directory, "a.hs")
    process = subprocess.Popen(["mono", "--profile=heapshot:" + PACKETS + path, compiled("Jit"), "crash"], cwd=directory,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=environment(), universal_newlines=True)
    for line in process.stdout:
        if line == "ready\n":
            break
    wait_for("Jit:raise", lambda: heapshot("jit", path, "--filter=Jit:raise").status == OK)
    out, _ = process.communicate("\n", timeout=120)
    assert process.returncode == -signal.SIGABRT, process.returncode
    addresses = re.findall(r"^\s*(0x[0-9a-f]+) - Unknown$", out, re.M)
    frame = re.search(r"at Jit:raise <0x([0-9a-f]+)>", out)
    if not addresses or not frame:
        skip("this mono prints no stack")
    named = heapshot("jit", path, "--address", addresses[0])
    assert named.status == OK, named.err
    hit, = re.findall(r"^%s  \(wrapper managed-to-native\) Jit:raise \(int\) \+ (0x[0-9a-f]+)  \[Jit\]$" % addresses[0],
                      named.out, re.M)
    # The managed stack shows the call, the native one where it returns to.
    assert int(hit, 16) - int(frame.group(1), 16) in (0, 1), (hit, frame.group(1))
    # Without the leading 0x too.
    assert heapshot("jit", path, "--address", addresses[0][2:]).out == named.out


@test("--perf-map: lines of start, size and name, sorted, without overlaps")
def perf_map(directory):
    path, found, out = record(directory, "domains", "3")
    map_path = os.path.join(directory, "perf.map")
    assert heapshot("jit", path, "--perf-map", "-o", map_path).status == OK
    with open(map_path) as file:
        text = file.read()
    assert heapshot("jit", path, "--perf-map").out == text == heapshot("jit", path, "--perf-map", "-o", "-").out
    lines = [re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) (\S.*)", line) for line in text.splitlines()]
    assert all(lines), "a line of another form"
    ranges = [(int(line.group(1), 16), int(line.group(2), 16)) for line in lines]
    assert all(size > 0 for _, size in ranges)
    assert all(start + size <= following for (start, size), (following, _) in zip(ranges, ranges[1:]))
    names = {int(line.group(1), 16): line.group(3) for line in lines}
    for row in found["methods"]:
        if row["live"] and row["tier"] == "jit":
            assert names[row["code_address"]].startswith(full_name(row)), row
    assert names[int(rows(out, "domain")[0][1])] == "T.Outer/Inner:Mix (long,int)"
    assert any(name.startswith("(specific_trampoline)") for name in names.values())
    assert heapshot("jit", path, "--perf-map", "-o", directory).status == IO


@test("sums by assembly, sorting, limits and filters")
def tables(directory):
    path, found, _ = record(directory, "truth")
    own = [row for row in found["assemblies"] if row["assembly"] == "Jit"]
    methods = [row for row in found["methods"] if row["assembly"] == "Jit"]
    assert [row["code_bytes"] for row in own] == [sum(row["code_bytes"] for row in methods)]
    assert own[0]["methods"] == len(methods)
    sizes = [row["code_bytes"] for row in found["methods"]]
    assert sizes == sorted(sizes, reverse=True)
    spent = [row["compile_ns"] for row in read_json("jit", path, "--sort", "time")["methods"]]
    assert spent == sorted(spent, reverse=True) and len(spent) == len(sizes)
    assert [row["compile_ns"] for row in read_json("jit", path, "--sort=time", "-n", "3")["methods"]] == spent[:3]
    assert {row["assembly"] for row in read_json("jit", path, "--assembly", "Emitted")["methods"]} == {"Emitted"}
    assert heapshot("jit", path, "--filter", "no such method").status == NOT_FOUND
    assert heapshot("jit", path, "--address", "1").status == NOT_FOUND
    text = heapshot("jit", path, "-n", "2").out
    assert "(--limit 0 shows all)" in text and "E.Large:Body (int)" in text


@test("interpreted and precompiled methods are told from compiled ones")
def tiers(directory):
    _, found, _ = record(directory, "truth")
    own = {row["tier"] for row in found["methods"] if row["assembly"] == "Jit"}
    assert own == {"jit"}, own
    path, found, out = record(directory, "threads", "2", "5", mono_options=["--interpreter"], more=",methods=code")
    if not found["summary"]["interpreted"]:
        skip("this mono does not interpret")
    assert {row["tier"] for row in found["methods"] if row["dynamic"]} == {"interpreter"}
    # What it keeps of them is no machine code: no map, no address.
    names = " ".join(heapshot("jit", path, "--perf-map").out.splitlines())
    assert "object:of0_0" not in names
    kinds = {kind for number, kind in bodies(path)
             if number in [row["id"] for row in found["methods"] if row["tier"] == "interpreter"]}
    assert kinds == {"il"}, kinds


@test("what a slow output leaves no room for is counted")
def losses(directory):
    path = os.path.join(directory, "a.hs")
    # The reader takes nothing before the program is through.
    done = os.path.join(directory, "done")
    command = "|while [ ! -e %s ]; do sleep 0.1; done; cat > %s" % (done, path)
    process = subprocess.Popen(["mono", "--profile=heapshot:snapshot=none,memory=2m,quiet,methods=code,output=" + command,
                                compiled("Jit"), "large", "30"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment(), universal_newlines=True)
    for line in process.stdout:
        if line == "ready\n":
            break
    open(done, "w").close()
    out, err = process.communicate("", timeout=120)
    assert process.returncode == 0, err
    found = read_json("jit", path, status=(OK, INCOMPLETE))
    ids = [row["id"] for row in found["methods"]]
    result = heapshot("dump", path)
    pieces = [json.loads(line) for line in result.out.splitlines() if '"record":"method_code"' in line]
    rest = {}
    for row in pieces:
        if row["kind"] == "native":
            rest[row["method"]] = rest.get(row["method"], row["total_bytes"]) - len(row["data"]) // 2
    # What comes when all is full has no number: another run tells how many there are.
    whole = os.path.join(directory, "whole.hs")
    done = run(["mono", "--profile=heapshot:snapshot=none,quiet,methods=code,output=" + whole, compiled("Jit"), "large", "30"])
    assert done.status == 0, done.err
    everything = read_json("jit", whole)
    assert everything["summary"]["lost"] == 0, everything["summary"]
    missing = len(everything["methods"]) - len(ids) + sum(1 for row in found["methods"] if rest.get(row["id"], 1) != 0)
    note("%d packets or bodies missing or cut, %d records counted as lost" % (missing, found["summary"]["lost"]))
    assert found["summary"]["lost"] >= missing
    assert missing > 0, "the buffers took everything"


@test("without events=methods there are no packets, and that is said")
def none(directory):
    path = os.path.join(directory, "a.hs")
    assert jit("truth", options="snapshot=none,quiet,output=" + path).status == 0
    result = heapshot("jit", path)
    assert result.status == NOT_FOUND and result.out == ""
    assert_lines(result.err, 1, "no methods", "events=methods")


@test("mcs compiles 1 MB of source: the same result, every body whole")
def mcs(directory):
    long_only()
    if not os.path.exists(MCS):
        skip(MCS + " is not there")
    source, path = os.path.join(directory, "big.cs"), os.path.join(directory, "a.hs")
    exe = os.path.join(directory, "big.exe")
    with open(source, "w") as file:
        write_source(1 << 20, file)
    sizes = []
    for profile in ([], ["--profile=heapshot:methods=code,snapshot=shutdown,quiet,output=" + path]):
        result = run(["mono"] + profile + [MCS, "-nologo", "-nowarn:168,219,414", "-out:" + exe, source], timeout=600)
        assert (result.status, result.err) == (0, ""), result.err
        sizes.append(os.path.getsize(exe))
    assert sizes[0] == sizes[1]
    check_file(path)
    found, whole = read_json("jit", path), bodies(path)
    assert found["summary"]["lost"] == 0 and len(found["methods"]) > 4000
    for row in found["methods"]:
        il = whole.get((row["id"], "il"), b"")
        assert len(il) == row["il_bytes"] and (not il or fnv(il) == row["il_hash"]), row
        assert len(whole[row["id"], "native"]) == row["code_bytes"], row
    assert any(row["assembly"] == "mcs" for row in found["assemblies"])
    check_chunks(found)


main(jobs=2)
