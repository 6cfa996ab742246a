# SPDX-License-Identifier: MIT
"""heapshot export --format folded and speedscope: the dominator tree by type, whose
parts are the retained sizes that heapshot says."""
import html

from exported import *
import node_tools  # in a folder that exported adds


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


def stacks_of(profile, frames):
    """Bytes of each stack in a profile that speedscope saved: what opens and closes along a line of bytes."""
    stacks, path, at = {}, [], 0
    for event in profile["events"]:
        if event["at"] > at:
            key = tuple(frames[index] for index in path)
            stacks[key] = stacks.get(key, 0) + event["at"] - at
            at = event["at"]
        if event["type"] == "O":
            path.append(event["frame"])
        else:
            assert path.pop() == event["frame"]
    assert path == []
    return stacks


@test("speedscope itself opens both: our frames, each with its bytes, and their sum")
def real_tool(directory):
    reason = node_tools.missing("speedscope", "puppeteer-core", browser=True)
    if reason:
        skip(reason)
    sources = [recorded("Events.exe leak 500"), recorded("Generics.exe several"), synthetic("hostile-names")]
    files, expected, live = [], [], []
    for number, source in enumerate(sources):
        for form in ("speedscope", "folded"):
            files.append("%s/%d.%s" % (directory, number, form))
            os.rename(export(directory, form, source), files[-1])
            expected.append(folded(directory, source))
            live.append(read_json("retained", source)["live"]["bytes"])
    page = os.path.join(node_tools.MODULES, "speedscope", "dist", "release", "index.html")
    answers = node_tools.in_browser(os.path.join(os.path.dirname(__file__), "speedscope.cjs"), directory,
                                    page=page, files=files)
    for file, stacks, size, answer in zip(files, expected, live, answers):
        profile, = answer["saved"]["profiles"]
        frames = [frame["name"] for frame in answer["saved"]["shared"]["frames"]]
        is_folded = file.endswith("folded")
        name = os.path.basename(file) if is_folded else "retained"
        assert answer["title"] == name + " - speedscope" and answer["wrong"] == [], answer["title"]
        assert profile["unit"] == ("none" if is_folded else "bytes") and profile["name"] == name, profile["name"]
        assert profile["endValue"] - profile["startValue"] == size == sum(stacks.values()), (file, profile["endValue"])
        # In folded lines some characters stand for others.
        seen = stacks_of(profile, [re.sub(r"[\0-\x1f\x7f]", "?", frame.replace(";", ",")) for frame in frames])
        # What takes no bytes has no place on the line.
        assert seen == {path: weight for path, weight in stacks.items() if weight}, set(seen) ^ set(stacks)
        # Its table shows as many as there is room for.
        shown = {row[-1] for row in answer["rows"]}
        assert len(shown) > 5 or len(frames) < 6, answer["rows"]
        assert {re.sub(r"\s+", " ", name).strip() for name in shown} <= {
            re.sub(r"\s+", " ", name).strip() for name in frames}, (shown, frames)


FLAMEGRAPH = os.environ.get("FLAMEGRAPH", "/usr/share/perl5/Devel/NYTProf/flamegraph.pl")


@test("flamegraph.pl itself draws each part with its bytes")
def real_flamegraph(directory):
    if not os.path.exists(FLAMEGRAPH) or shutil.which("perl") is None:
        skip("flamegraph.pl is missing (libdevel-nytprof-perl has it; FLAMEGRAPH names another)")
    for source in (recorded("Events.exe leak 500"), recorded("Generics.exe several"), synthetic("hostile-names")):
        stacks = folded(directory, source)
        result = run(["perl", FLAMEGRAPH, "--countname=bytes", "--minwidth=0", directory + "/out.folded"])
        assert result.status == 0 and result.err == "", result.err
        drawn = {}
        for name, size in re.findall(r"<title>(.*) \(([0-9,]+) bytes, [0-9.]+%\)</title>", result.out):
            drawn.setdefault(html.unescape(name), []).append(int(size.replace(",", "")))
        parts = {("all",): 0}
        for path, size in stacks.items():
            parts["all",] += size
            for length in range(len(path)):
                parts[path[:length + 1]] = parts.get(path[:length + 1], 0) + size
        expected = {}
        for path, size in parts.items():
            # It has other brackets.
            expected.setdefault(path[-1].translate({60: "(", 62: ")"}), []).append(size)
        # What takes nothing is not drawn.
        expected = {name: sorted(filter(None, sizes)) for name, sizes in expected.items() if any(sizes)}
        drawn = {name: sorted(filter(None, sizes)) for name, sizes in drawn.items() if any(sizes)}
        assert drawn == expected, (set(drawn) ^ set(expected), len(drawn))
        assert drawn["all"] == [read_json("retained", source)["live"]["bytes"]]


@test("names that are no valid text, or hold what stands between names, are mended")
def hostile(directory):
    source = synthetic("hostile-names")
    assert folded(directory, source)
    with open(export(directory, "speedscope", source), encoding="utf-8") as file:
        json.load(file)


for name in ("folded", "speedscope"):
    check_refusals(name, can_stream=True)
main()
