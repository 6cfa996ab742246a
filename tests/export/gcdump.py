# SPDX-License-Identifier: MIT
"""A reader of .gcdump files that accepts nothing but the grammar: .NET's
FastSerialization of GCHeapDump 10 with Graphs.MemoryGraph 1."""
import struct
from collections import namedtuple

Node = namedtuple("Node", "type size children address")
Dump = namedtuple("Dump", "types nodes root total is_64_bit time machine process pid tool")


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def many(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def take(self, form):
        values = self.many(form)
        return values[0] if len(values) == 1 else values

    def expect(self, *tags):
        seen = tuple(self.data[self.at:self.at + len(tags)])
        assert seen == tags, "%s instead of %s at %d" % (seen, tags, self.at)
        self.at += len(tags)

    def string(self):
        units, bytes_ = self.take("i"), bytearray()
        if units < 0:
            assert units == -1, units
            return None
        for _ in range(units):
            first = self.data[self.at]
            n = 1 if first < 0x80 else 2 if 0xC0 <= first < 0xE0 else 3
            assert first < 0xF0 and first & 0xC0 != 0x80, "byte %#x at %d" % (first, self.at)
            bytes_ += self.data[self.at:self.at + n]
            self.at += n
        text = bytes_.decode("utf-8", "surrogatepass")
        assert len(text) == units, (len(text), units)
        return text.encode("utf-16", "surrogatepass").decode("utf-16")

    def begin(self, name, version, least):
        self.expect(4, 4, 1)
        assert self.take("ii") == (version, least), self.at
        assert self.string() == name
        self.expect(6)


def number(blob, at):
    """A signed number of 1 to 5 groups of 7 bits."""
    first = blob[at]
    value = first & 0x7F
    if value & 0x40:
        value -= 0x80
    n = 1
    while blob[at + n - 1] & 0x80:
        value = value << 7 | blob[at + n] & 0x7F
        n += 1
    assert n <= 5 and -1 << 31 <= value < 1 << 31, (n, value)
    return value, at + n


def parse(data):
    reader = Reader(data)
    assert reader.string() == "!FastSerialization.1"
    reader.begin("GCHeapDump", 10, 8)
    reader.begin("Graphs.MemoryGraph", 1, 0)
    total, root = reader.take("qi")
    types = [(reader.string(), reader.take("i"), reader.string()) for _ in range(reader.take("i"))]
    assert types[0] == ("UNDEFINED", 0, None), types[0]
    assert len({(name, module) for name, _, module in types}) == len(types), "a type is there twice"
    n = reader.take("i")
    offsets = reader.many("%dI" % n)
    blob = bytes(data[reader.at + 4:reader.at + 4 + reader.take("i")])
    reader.at += len(blob)
    assert blob[:2] == b"\0\0" and reader.take("i") == n
    addresses = reader.many("%dQ" % n)
    nodes, at = [], 2
    for i in range(n):
        assert offsets[i] == at, "node %d is at %d, not %d" % (i, at, offsets[i])
        kind, at = number(blob, at)
        size = types[kind >> 1][1]
        if kind & 1:
            size, at = number(blob, at)
        count, at = number(blob, at)
        assert kind >> 1 > 0 and size >= 0 and count >= 0
        children = []
        for _ in range(count):
            delta, at = number(blob, at)
            assert 0 <= i + delta < n
            children.append(i + delta)
        nodes.append(Node(kind >> 1, size, children, addresses[i]))
    assert at == len(blob) and sum(node.size for node in nodes) == total and 0 <= root < n
    reader.expect(8)
    is_64_bit = reader.take("B")
    reader.expect(6)
    assert reader.take("Bff") == (is_64_bit, 1.0, 1.0)
    reader.expect(1, 1)
    assert reader.string() is None
    ticks, machine, process = reader.take("q"), reader.string(), reader.string()
    pid, _, _, multipliers = reader.take("iqqi")
    assert multipliers == 0
    reader.expect(13)
    tool = reader.string()
    reader.expect(6, 6)
    table = reader.at
    assert reader.take("iII") == (0, table, table + 4) and reader.at == len(data)
    return Dump(types, nodes, root, total, bool(is_64_bit), ticks, machine, process, pid, tool)
