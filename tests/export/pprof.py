# SPDX-License-Identifier: MIT
"""A reader of pprof's profile.proto, gzipped, that accepts nothing but what the
format allows; and pprof itself, of Go."""
import gzip
import os
import re
import shutil
import subprocess
from collections import namedtuple

Profile = namedtuple("Profile", "types samples functions strings time_ns default")


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            assert value < 1 << 64 and shift <= 70, value
            return value, at


def fields(data):
    """(number, value) of each field: a number, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        assert key >> 3 > 0 and key & 7 in (0, 2), "field %d of wire type %d" % (key >> 3, key & 7)
        value, at = varint(data, at)
        if key & 7 == 2:
            assert at + value <= len(data), "a field ends behind its message"
            value, at = data[at:at + value], at + value
        yield key >> 3, value
    assert at == len(data)


def numbers(data):
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def message(data, **places):
    """The fields of a message, by name; a list for those whose place is in a list."""
    names = {place[0] if isinstance(place, list) else place: name for name, place in places.items()}
    found = {name: [] if isinstance(place, list) else None for name, place in places.items()}
    for number, value in fields(data):
        name = names[number]
        if isinstance(places[name], list):
            found[name].append(value)
        else:
            assert found[name] is None, "%s is there twice" % name
            found[name] = value
    return found


def parse(data):
    whole = message(gzip.decompress(data), types=[1], samples=[2], locations=[4], functions=[5], strings=[6],
                    time_ns=9, default=14)
    strings = [text.decode("utf-8") for text in whole["strings"]]
    assert strings[0] == "" and len(set(strings)) == len(strings), "a string is there twice"
    types = []
    for part in whole["types"]:
        kind = message(part, type=1, unit=2)
        types.append((strings[kind["type"]], strings[kind["unit"]]))
    functions = {}
    for part in whole["functions"]:
        # Without a system name: pprof would take "<...>" of names that are the same for C++.
        function = message(part, id=1, name=2)
        assert function["id"] > 0 and function["id"] not in functions
        functions[function["id"]] = strings[function["name"]]
    locations = {}
    for part in whole["locations"]:
        location = message(part, id=1, lines=[4])
        assert location["id"] > 0 and location["id"] not in locations and len(location["lines"]) == 1
        locations[location["id"]] = functions[message(location["lines"][0], function=1)["function"]]
    assert sorted(locations.values()) == sorted(functions.values())
    samples, used = [], set()
    for part in whole["samples"]:
        sample = message(part, locations=1, values=2)
        stack, values = list(numbers(sample["locations"])), tuple(numbers(sample["values"]))
        assert stack and len(values) == len(types) and all(value < 1 << 63 for value in values)
        used.update(stack)
        samples.append((tuple(locations[place] for place in reversed(stack)), values))
    assert used == set(locations), "a location without a sample"
    assert len({stack for stack, _ in samples}) == len(samples), "a stack is there twice"
    return Profile(types, samples, sorted(functions.values()), strings, whole["time_ns"], strings[whole["default"]])


def fetch(place):
    """pprof out of Debian's package of Go, which is 60 MB to fetch and would take 450 to install."""
    found = os.path.join(place, "pprof")
    if os.path.exists(found) or None in map(shutil.which, ("apt-get", "apt-cache", "dpkg-deb")):
        return found
    os.makedirs(place, exist_ok=True)
    depends = subprocess.run(["apt-cache", "depends", "golang-go"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    package = re.search(r"golang-[\d.]+-go", depends.stdout.decode())
    if package is None:
        return found
    for command in ("apt-get download -q " + package.group(),
                    "dpkg-deb --fsys-tarfile golang-*.deb | tar -x -O --wildcards '*/pkg/tool/*/pprof' >pprof.part",
                    "rm golang-*.deb; chmod +x pprof.part; ./pprof.part -h 2>&1 | grep -q format && mv pprof.part pprof"):
        result = subprocess.run(["sh", "-c", command], cwd=place, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, timeout=240)
        if result.returncode != 0:
            break
    return found


def tool(place):
    """The command, as a list; None where it cannot be had."""
    if shutil.which("go") and subprocess.run(["go", "tool", "-n", "pprof"], stdout=subprocess.DEVNULL,
                                             stderr=subprocess.DEVNULL).returncode == 0:
        return ["go", "tool", "pprof"]
    found = fetch(place)
    return [found] if os.path.exists(found) else None
