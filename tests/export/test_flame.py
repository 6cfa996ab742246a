# SPDX-License-Identifier: MIT
"""heapshot export --format folded and speedscope: the dominator tree by type, whose
parts are the retained sizes that heapshot says."""
from exported import *


def folded(directory, source):
    with open(export(directory, "folded", source), encoding="utf-8") as file:
        lines = [line.rstrip("\n").rsplit(" ", 1) for line in file]
    assert len({path for path, _ in lines}) == len(lines), "a path is there twice"
    return {tuple(path.split(";")): int(size) for path, size in lines}


@test("the parts of a type are its live bytes, all together what lives")
def totals(directory):
    for args in PROGRAMS:
        source = recorded(args)
        stacks = folded(directory, source)
        seen = {}
        for path, size in stacks.items():
            seen[path[-1]] = seen.get(path[-1], 0) + size
        expected = {name: size for name, (size,) in add_counts(read_json("retained", source)["types"], "type",
                                                               "bytes").items() if size}
        assert seen == expected, set(seen.items()) ^ set(expected.items())


@test("what is below a root is what that root retains")
def below_roots(directory):
    stacks = folded(directory, recorded("Events.exe leak 500"))
    held = sum(size for path, size in stacks.items() if path[:2] == ("(static)", "(static T.Pub.Ev)"))
    rows = {row["type"]: row["retained"] for row in read_json("retained", recorded("Events.exe leak 500"))["types"]}
    assert held >= rows["System.EventHandler"] > 500 * 1000, (held, rows["System.EventHandler"])
    deepest = max(path for path in stacks if path[-1] == "T.Octet[]")
    assert deepest[:2] == ("(static)", "(static T.Pub.Ev)") and deepest[-2] == "T.Handler", deepest


@test("a list of a million of its own kind is one step")
def long_list(directory):
    stacks = folded(directory, synthetic("many", "200000"))
    assert max(len(path) for path in stacks) < 10 and len(stacks) < 20, len(stacks)


@test("speedscope gets the same stacks")
def speedscope(directory):
    for args in ("Events.exe leak 500", "Domains.exe alive 2 100", "Generics.exe several"):
        source = recorded(args)
        with open(export(directory, "speedscope", source), encoding="utf-8") as file:
            data = json.load(file)
        assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
        frames, profile = data["shared"]["frames"], data["profiles"][0]
        assert profile["type"] == "sampled" and profile["unit"] == "bytes" and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"])
        assert profile["endValue"] == sum(profile["weights"])
        names = [frame["name"] for frame in frames]
        stacks = {}
        for sample, weight in zip(profile["samples"], profile["weights"]):
            path = tuple(names[index].replace(";", ",") for index in sample)
            stacks[path] = stacks.get(path, 0) + weight
        assert stacks == folded(directory, source), args


@test("names that are no valid text, or hold what stands between names, are mended")
def hostile(directory):
    source = synthetic("hostile-names")
    assert folded(directory, source)
    with open(export(directory, "speedscope", source), encoding="utf-8") as file:
        json.load(file)


for name in ("folded", "speedscope"):
    check_refusals(name, can_stream=True)
main()
