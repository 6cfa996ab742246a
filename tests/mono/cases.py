# SPDX-License-Identifier: MIT
"""Every case of cases/expected.tsv: the program is run with the module, and its
recording must hold what the table says."""
import csv
import os
import shlex

from harness import *

TABLE = os.path.join(SOURCE, "tests", "mono", "cases", "expected.tsv")
# What these print differs from run to run: how much memory was left, and the
# runtime's own report of a crash.
VARYING_OUTPUT = ("OutOfMemory.exe caught", "Exits.exe fail-fast", "Exits.exe abort")
# These build so much that the runtime may collect by itself meanwhile, which
# leads to a snapshot that the table does not count.  A large nursery avoids it.
LARGE_NURSERY = ("garbage", "threads-allocate")
# These take long, with or without the module.
LONG = ("domains-unload-many",)
# Ended from outside or by a crash: the recording has no end.
CUT_OFF = (1, 4, 129, 134, 137, 143)


def is_within(value, wanted):
    if wanted == "-":
        return True
    low, dots, high = wanted.partition("..")
    if not dots:
        return value == int(low)
    return value >= int(low) and (not high or value <= int(high))


class Recording:
    """Answers of the command line about one file, each asked for once."""

    def __init__(self, path):
        self.path = path
        self.snapshots = complete_snapshots(path)
        self.cache = {}

    def of(self, function, number):
        key = (function, number)
        if key not in self.cache:
            self.cache[key] = function(self.path, number)
        return self.cache[key]


def has_words_of_stacks(recording, number):
    """Whether a word on a stack leads to an object of the program: whoever holds that too does not retain it."""
    return any(entry["kind"] == "stack" and (entry["type"] or "").startswith("T.")
               for entry in recording.of(roots, number))


def bytes_of_stacks(path, number):
    """Of the strings that words of a stack, or of registers, lead to: just these nobody else retains."""
    kinds = {entry["kind"] for entry in roots(path, number)} & {"stack", "saved_registers"}
    found = {row["address"]: row["bytes"] for kind in kinds
             for row in read_json("find", "%s@%d" % (path, number), "--root-kind", kind, "--type", "System.String", "--limit", "0")["objects"]}
    return sum(found.values())


def differences(recording, row, number):
    """What the snapshot NUMBER has that ROW of the table does not allow."""
    types = of_type(recording.of(top, number), row["type"])
    for column in ("count", "bytes", "edges"):
        value = sum(entry[column] for entry in types)
        if not is_within(value, row[column]):
            yield "%s of %s: %d, not %s" % (column, row["type"], value, row[column])
    if row["retained"] != "-":
        value = sum(entry["retained"] for entry in of_type(recording.of(retained, number), row["type"]))
        if not is_within(value, row["retained"]) and not (value < int(row["retained"]) and (
                has_words_of_stacks(recording, number)
                or int(row["retained"]) - value <= recording.of(bytes_of_stacks, number))):
            yield "retained by %s: %d, not %s" % (row["type"], value, row["retained"])
    if row["roots"] != "-":
        rows = of_type(recording.of(roots, number), row["type"])
        for wanted in row["roots"].split(";"):
            kind, _, figure = wanted.partition("=")
            value = sum(entry["count"] for entry in rows if entry["kind"] == kind)
            if not is_within(value, figure):
                yield "roots of kind %s to %s: %d, not %s (%s)" % (
                    kind, row["type"], value, figure,
                    ", ".join("%s=%d" % (entry["kind"], entry["count"]) for entry in rows))


def check_row(recording, row):
    numbers = [snapshot["id"] for snapshot in recording.snapshots]
    if row["type"] == "#snapshots":
        if not is_within(len(numbers), row["count"]):
            yield "%d snapshots, not %s" % (len(numbers), row["count"])
        return
    if not numbers:
        yield "no complete snapshot"
        return
    which = row["snapshot"]
    if which == "any":
        found = [list(differences(recording, row, number)) for number in numbers]
        if all(found):
            yield "in no snapshot: " + found[0][0]
        return
    if which == "last":
        numbers = numbers[-1:]
    elif which != "all":
        if int(which) > len(numbers):
            yield "there is no snapshot " + which
            return
        numbers = [numbers[int(which) - 1]]
    for number in numbers:
        for difference in differences(recording, row, number):
            yield "snapshot %d: %s" % (number, difference)


def settings(text):
    """Column `env`: variables, and lines for standard input."""
    env, stdin = {}, ""
    for word in shlex.split(text) if text != "-" else ():
        name, _, value = word.partition("=")
        if name == "STDIN":
            stdin = "".join(line + "\n" for line in value.split("+"))
        else:
            env[name] = value
    return env, stdin


def run_case(name, rows, directory, options=""):
    if name in LONG:
        long_only()
    first = rows[0]
    env, stdin = settings(first["env"])
    if name in LARGE_NURSERY:
        env["MONO_GC_PARAMS"] = "nursery-size=128m"
    args = first["program"] + " " + first["args"]
    path = os.path.join(directory, "case.hs")
    recorded = mono(args, "output=%s,snapshot=gc%s" % (path, options), env=env, stdin=stdin, cwd=directory)
    wanted = int(first["exit"])
    assert recorded.status == wanted, "status %d, not %d\n%s" % (
        recorded.status, wanted, recorded.err[-1000:])
    if args not in VARYING_OUTPUT:
        plain = mono(args, env=env, stdin=stdin, cwd=directory)
        assert_same(recorded, plain)
    check_file(path, (OK, INCOMPLETE) if wanted in CUT_OFF else (OK,))
    recording = Recording(path)
    problems = [problem for row in rows if row["type"] != "#exit"
                for problem in check_row(recording, row)]
    assert not problems, "\n".join(problems[:20])
    return recording


def read_cases():
    cases = {}
    with open(TABLE, newline="") as table:
        for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
            cases.setdefault(row["case"], []).append(row)
    return cases


if __name__ == "__main__":
    for case_name, case_rows in read_cases().items():
        test(case_name)(lambda directory, name=case_name, rows=case_rows: run_case(name, rows, directory))
    main(jobs=2)
