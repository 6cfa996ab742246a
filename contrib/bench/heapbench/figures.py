# SPDX-License-Identifier: MIT
"""The arithmetic: from lines of the probe and sizes of files to figures."""
import statistics
import struct

TAG_MAGIC = 0x184D2A5B
SNAPSHOT_KINDS = (3, 4, 5)
METADATA_KIND = 1


def median(values):
    return statistics.median(values) if values else None


def nothing(stop, clock):
    """Time of the walk with nothing done in one stop of the world."""
    return median([took[clock] for took in stop["took"] if took[0] == "nothing"])


def times(stop, name, clock):
    return [took[clock] for took in stop["took"] if took[0] == name]


CPU, WALL = 1, 2


def ratios(stops, name, clock=CPU):
    """In each stop: the time of NAME over that of the walk with nothing done."""
    found = []
    for stop in stops:
        base = nothing(stop, clock)
        found += [took / base for took in times(stop, name, clock) if base]
    return found


def ratios_between(stops, above, below, clock=CPU):
    """In each stop: the time of ABOVE over that of BELOW."""
    return [a / b for stop in stops for a, b in zip(times(stop, above, clock), times(stop, below, clock)) if b]


def ratios_of_sum(stops, names, clock=CPU):
    """In each stop: the time of all NAMES together over that of the walk with nothing done."""
    found = []
    for stop in stops:
        base = nothing(stop, clock)
        sums = [sum(took) for took in zip(*(times(stop, name, clock) for name in names))]
        found += [took / base for took in sums if base]
    return found


def per_object_ns(stops, name, clock=CPU):
    return [took / stop["objects"] for stop in stops for took in times(stop, name, clock) if stop["objects"]]


def event_cost_ns(lines, probe, prefix=""):
    """Sum over kinds of callbacks of count and mean cost, what two probes side
    by side take taken off.  Returns (callbacks, total ns, {event: net mean})."""
    empty = {line["event"]: line["mean_ns"] for line in lines if line.get("probe") == "empty"}
    events = [line for line in lines if line.get("probe") == probe and line.get("event", "").startswith(prefix)]
    net = {line["event"]: max(0.0, line["mean_ns"] - empty.get(line["event"], 0.0)) for line in events}
    return (sum(line["n"] for line in events), sum(line["n"] * net[line["event"]] for line in events), net)


def frames(data):
    """Tags of a recording: (kind, snapshot, bytes of tag and frame)."""
    at = 0
    while at + 56 <= len(data):
        magic, length = struct.unpack_from("<II", data, at)
        if magic != TAG_MAGIC:
            raise ValueError("no tag at %d" % at)
        kind = data[at + 8 + 5]
        snapshot, = struct.unpack_from("<I", data, at + 8 + 12)
        compressed, = struct.unpack_from("<I", data, at + 8 + 32)
        size = 8 + length + compressed
        yield kind, snapshot, size
        at += size


def snapshot_bytes(data):
    """Bytes of each snapshot by its number, and of all metadata."""
    snapshots, metadata = {}, 0
    for kind, snapshot, size in frames(data):
        if kind in SNAPSHOT_KINDS:
            snapshots[snapshot] = snapshots.get(snapshot, 0) + size
        elif kind == METADATA_KIND:
            metadata += size
    return snapshots, metadata


def verdict(value, bar, beyond, at_least=False):
    """How VALUE stands to the bar and to what lies beyond it."""
    if value is None or bar is None:
        return "-"
    holds = (lambda limit: value >= limit) if at_least else (lambda limit: value <= limit)
    if beyond is not None and holds(beyond):
        return "beyond"
    return "met" if holds(bar) else "missed"
