# SPDX-License-Identifier: MIT
"""The manual page and what the commands offer and print: the same commands, options and JSON keys."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cli import *  # noqa: E402,F403
import cli  # noqa: E402

PAGE = read(os.path.join(cli.SOURCE, "doc/heapshot.1.scd")).decode()


def section(title):
    return re.search(r"^# %s\n(.*?)(?=^# |\Z)" % title, PAGE, re.M | re.S).group(1)


def commands():
    """Those that --help lists, with their options."""
    names = [match.group(1) for match in re.finditer(r"^  (\w+) +\w", run("--help").out, re.M)]
    return {name: re.findall(r"^(?:  -\w, |      )--([a-z-]+)", run("help", name).out, re.M)
            for name in names if name != "Reads"}


@test
def all_that_is_offered_is_in_it():
    for name, options in commands().items():
        assert re.search(r"^\*%s\*" % name, section("COMMANDS"), re.M), name
        for option in options:
            assert "--%s*" % option in PAGE, (name, option)


@test
def all_in_it_is_offered():
    offered = commands()
    assert len(offered) > 25, offered
    described = re.findall(r"^\*(\w+)\*(?: |$)", section("COMMANDS"), re.M)
    assert set(described) == set(offered), set(described) ^ set(offered)
    options = set(re.findall(r"^(?:\*-\w\*, )?\*--([a-z-]+)\*", PAGE, re.M))
    assert len(options) > 30, options
    known = {option for some in offered.values() for option in some} | {"help", "version"}
    assert options <= known, options - known


def keys_of(value):
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


def documented():
    """{command: keys}, with those of the entries that its own refers to, and so on."""
    texts = {}
    for names, text in re.findall(r"^(\*\w+\*(?:, \*\w+\*)*)\n(.*?)(?=^\*|\Z)", section("JSON"), re.M | re.S):
        texts.update({name: text for name in re.findall(r"\w+", names)})

    def entries(name, known):
        known.add(name)
        for other in re.findall(r"\*(\w+)\*", texts[name]):
            if other in texts and other not in known:
                entries(other, known)
        return known
    return {name: {key for other in entries(name, set()) for key in re.findall(r'"(\w+)"', texts[other])}
            for name in texts}


@test
def all_keys_are_in_it():
    good, held = recording("good"), recording("held")
    node = run_json("find", held, "--type", "T.Node")["objects"][0]["address"]
    out = ["--overwrite", "-o", os.path.join(cli.folder, "out")]
    calls = [
        ("list", good), ("top", good, "--retained"), ("retained", held), ("path", held, "T.Node"),
        ("path", held, "T.Node", "--all", "2"), ("show", held, "0x%x" % node), ("find", held, "--min-size", "1"),
        ("leaks", good), ("overview", good), ("diff", good + "@1", good + "@2", "--holders", "--retained",
                                             "--fail-if", "*.count > 1g"),
        ("roots", held), ("events", good), ("jit", recording("methods")), ("jit", recording("code")),
        ("handles", recording("handles")), ("list", recording("handles")), ("report", recording("handles")),
        ("verify", good), ("verify", recording("differs")), ("extract", good, *out), ("recompress", good, *out),
        ("anonymize", good, *out), ("export", good, "--format=folded", *out), ("report", good),
        ("dominators", held), ("doctor",),
    ]
    known = documented()
    known["dominators"] = known["retained"]
    seen = set()
    for name, *arguments in calls:
        found = keys_of(run_json(name, *arguments, status=None))
        assert found and found <= known[name], (name, found - known[name])
        seen.add(name)
    # Those that need a running program are looked at where there is one.
    assert set(known) - seen == {"dump", "record", "take", "watch", "flush"}, set(known) ^ seen


sys.exit(main())
