# SPDX-License-Identifier: MIT
"""The data of `heapshot report` on recordings of real programs."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "export"))
from exported import *  # noqa: E402,F403


def data_of(path, *arguments, status=(OK,)):
    return read_json("report", path, *arguments, status=status)


@test("a forgotten event is named, with its path and what it retains")
def events(directory):
    path = recorded("Events.exe leak 500")
    data = data_of(path)
    (event,) = [row for row in data["recordings"][0]["suspects"]["suspects"] if row["kind"] == "event"]
    assert "T.Pub.Ev" in event["text"] and event["type"] == "T.Handler"
    snapshot = data["snapshots"][-1]
    names = data["names"]
    (found,) = [row for row in snapshot["paths"] if names[data["types"]["name"][row["type"]]] == "T.Handler"]
    first = found["paths"][0]
    assert (names[first["kind"]], names[first["root"]], first["count"]) == ("static", "T.Pub.Ev", found["objects"])
    assert found["objects"] == 500
    # The root's node of the tree retains what it does in `retained`.
    roots = {row["name"]: row["retained"] for row in read_json("retained", path, "--part", "roots")["roots"]}
    tree = {names[name]: retained for name, retained in zip(snapshot["tree"]["name"], snapshot["tree"]["retained"])}
    assert tree["(static T.Pub.Ev)"] == roots["T.Pub.Ev"] > 500 * 1024


@test("types and sums of many programs are those of retained")
def programs(directory):
    for args in PROGRAMS:
        path = recorded(args)
        data = data_of(path)
        snapshot = data["snapshots"][-1]
        retained = read_json("retained", path)
        assert snapshot["live_bytes"] == retained["live"]["bytes"] == snapshot["tree"]["retained"][0]
        types = add_counts(retained["types"], "type", "retained")
        rows = [{"type": data["names"][data["types"]["name"][number]], "retained": value}
                for number, value in zip(snapshot["types"]["type"], snapshot["types"]["retained"])]
        ours = {name: sums for name, sums in add_counts(rows, "type", "retained").items() if sums != (0,)}
        assert ours == {name: sums for name, sums in types.items() if sums != (0,)}, args


@test("of thousands of collections neighbours are put together; no long pause vanishes")
def collections(directory):
    path = directory + "/many.hs"
    result = run(["mono", "--profile=heapshot:quiet,snapshot=none,output=" + path, compiled("Collects"), "5000"], timeout=60)
    assert result.status == 0, result.err
    events = read_json("events", path)
    rows = events["collections"]
    assert len(rows) >= 5000
    table = data_of(path)["recordings"][0]["collections"]
    assert table["per_row"] == 4 and 1000 < len(table["count"]) <= 2000
    at = 0
    for i, count in enumerate(table["count"]):
        part = rows[at:at + count]
        assert count == 4 or i + 1 == len(table["count"])
        assert table["time_ns"][i] == part[0]["time_ns"]
        assert table["pause_ns"][i] == sum(row["pause_ns"] for row in part)
        assert table["max_pause_ns"][i] == max(row["pause_ns"] for row in part)
        assert table["major"][i] == sum(row["generation"] != 0 for row in part)
        assert table["heap_bytes"][i] == (part[-1]["heap_bytes"] or 0)
        assert table["kind"][i] == (part[0]["kind"] if count == 1 else None)
        at += count
    assert at == len(rows)


@test("a long series: first, last and others between; all with --all")
def series(directory):
    path = recorded("Leak.exe rounds 15")
    ids = [row["id"] for row in complete_snapshots(path)]
    assert len(ids) > 12, ids
    shown = [row["id"] for row in data_of(path)["snapshots"]]
    assert len(shown) == 12 and shown[0] == ids[0] and shown[-1] == ids[-1] and shown == sorted(set(shown))
    gaps = [b - a for a, b in zip(shown, shown[1:])]
    assert max(gaps) <= (len(ids) + 10) // 11 + 1
    assert [row["id"] for row in data_of(path, "--all")["snapshots"]] == ids
    # The suspects are those of leaks, which looks at the same series.
    assert data_of(path)["recordings"][0]["suspects"]["growth"][0]["text"] == \
        read_json("leaks", path)["growth"][0]["text"]


@test("a recording that was killed, and a flight recorder's file")
def killed(directory):
    path = recorded("Events.exe leak 500", ",ring=1m")
    data = data_of(path + ".ring")
    assert data["recordings"][0]["ring"] and data["snapshots"] == []
    assert data["recordings"][0]["summary"]["collections"] == \
        read_json("events", path + ".ring")["summary"]["collections"] > 0
    # Its snapshots are in the other file, which says where the events are.
    data = data_of(path)
    assert data["snapshots"] and any(".ring" in note for note in data["recordings"][0]["notes"]), data["recordings"][0]["notes"]
    with open(recorded("Events.exe leak 500"), "rb") as file:
        content = file.read()
    cut = directory + "/cut.hs"
    with open(cut, "wb") as file:
        file.write(content[:-100])
    data = data_of(cut, status=(OK, INCOMPLETE))
    assert any("truncated" in note for note in data["recordings"][0]["notes"]) and data["snapshots"]


@test("graphs are made one after another: memory does not grow with the number of snapshots")
def memory(directory):
    def peak(*arguments):
        command = [HEAPSHOT, "report", *arguments, "-o", "-"]
        with open(os.devnull, "wb") as nothing:
            process = subprocess.Popen(command, stdout=nothing, stderr=subprocess.PIPE)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = status
        assert status == 0, process.stderr.read()
        process.stderr.close()
        return used.ru_maxrss

    path = recorded("Lists.exe shared 300000")
    last = complete_snapshots(path)[-2:]
    assert len(last) == 2 and all(row["objects"] > 300000 for row in last), last
    one, both = peak("%s@%d" % (path, last[1]["id"])), peak(*("%s@%d" % (path, row["id"]) for row in last))
    assert one > 20000 and both < 1.3 * one, (one, both)


main()
