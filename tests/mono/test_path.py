# SPDX-License-Identifier: MIT
"""Paths to objects of real programs, in words: kinds of roots, fields, elements."""
import os

from harness import *

EVENT = ("static T.Pub.Ev -> System.EventHandler.delegates -> System.Delegate[] [%s] -> "
         "System.EventHandler.m_target -> T.Handler")


def record(directory, args, **how):
    path = os.path.join(directory, "a.hs")
    recorded = mono(args, "output=%s,snapshot=gc,quiet" % path, cwd=directory, **how)
    assert recorded.status == 0 and recorded.err == "", recorded.err
    return path


def paths(path, target, *options, status=(OK,)):
    return [(entry["count"], entry["text"])
            for entry in read_json("path", path, target, *options, status=status)["paths"]]


@test("event handlers: the event, and how many share the path to it")
def events(directory):
    path = record(directory, "Events.exe leak 5000")
    assert paths(path, "T.Handler")[0] == (5000, EVENT % "*"), paths(path, "T.Handler")
    one = read_json("path", path, "T.Handler", "--all", "1")["paths"][0]
    assert re.fullmatch(re.escape(EVENT % "0").replace("0", r"\d+"), one["text"]), one
    address = "0x%x" % one["steps"][-1]["address"]
    assert paths(path, address) == [(1, one["text"])]
    # Read as a person would: title, number of objects, path.
    out = heapshot("path", path, "T.Handler").out.splitlines()
    assert out[1] == "5000 objects of T.Handler, 5000 of them reached".replace("5000", "5,000"), out
    assert out[2] == "5,000 objects, 120,000 bytes: " + EVENT % "*", out


@test("static fields, stacks, thread statics, handles, the finalizer queue")
def kinds(directory):
    path = record(directory, "Roots.exe statics")
    assert {text for _, text in paths(path, "T.ByStatic")} == {
        "static T.Pub.%s -> T.ByStatic" % name for name in "ABC"}, paths(path, "T.ByStatic")
    path = record(directory, "Roots.exe workers 8")
    assert all(text.startswith("stack ") for _, text in paths(path, "T.ByWorker")), paths(path, "T.ByWorker")
    heapshot_result = heapshot("path", path, "T.ByWorker", "--exclude", "stack,saved_registers")
    assert heapshot_result.status == NOT_FOUND, heapshot_result.out
    path = record(directory, "Handles.exe kinds 1000")
    assert paths(path, "T.ByNormal") == [(1000, "gc_handle normal -> T.ByNormal")]
    assert paths(path, "T.ByPinned") == [(1000, "gc_handle pinned -> T.ByPinned")]
    path = record(directory, "Finalizers.exe queue 1000")
    assert paths(path + "@1", "T.Payload")[0][1].startswith("finalizer_queue"), paths(path + "@1", "T.Payload")


@test("values of ConditionalWeakTables are held by their keys")
def ephemerons(directory):
    path = record(directory, "Ephemerons.exe live 1000")
    assert paths(path, "T.Val")[0] == (
        1000, "static T.Pub.Keys -> T.Key[] [*] -> T.Key (ConditionalWeakTable) -> T.Val"), paths(path, "T.Val")
    assert heapshot("path", path, "T.Val", "--exclude", "weak").status == NOT_FOUND


@test("a list of half a million links")
def chain(directory):
    path = record(directory, "Lists.exe chain 500000")
    found = paths(path, "T.Node")
    assert [text for _, text in found] == [
        "static T.Pub.Head -> T.Head.First -> T.Node.Next -> T.Node", "static T.Pub.Head -> T.Head.First -> T.Node"], found
    assert [count for count, _ in found] == [499999, 1]


if __name__ == "__main__":
    main(jobs=2)
