# SPDX-License-Identifier: MIT
"""A checker of .mono-heap files (version 1), written from the description of the
format and of what its two viewers ask for.  parse() raises Refused for anything
that is not allowed there.

    file    chunks, one behind the other
    chunk   4 letters, u32 length, payload: records to its end
    u32, f64 little-endian; number: LEB128; text: number of bytes, UTF-8
    string  number of an entry of the string table, 0 is the empty one
"""
import math
import struct
from collections import Counter, namedtuple

Heap = namedtuple("Heap", "counters strings assemblies classes objects references roots handles proxies js_objects")
Class = namedtuple("Class", "id element nesting assembly rank kind space name arguments")

KINDS = ("unknown", "def", "gtd", "ginst", "gparam", "array", "pointer")
HANDLES = ("weak", "weak_track", "normal", "pinned", "weak_fields")
CHUNKS = ("CNTR", "STBL", "ASSM", "TYPE", "OBJH", "REFS", "ROOT", "GCHL", "CSOB", "JSOB")
REQUIRED = ("CNTR", "STBL", "TYPE", "OBJH", "REFS", "ROOT")
SNAPSHOT = ("version", "num-strings", "num-objects", "num-refs", "num-roots", "num-classes", "num-assemblies")
FAMILIES = ("mwpm/", "sgen/", "mono/", "jiterpreter/", "heapshot/")  # the last: the writer's own
FILE_MAX = SIZE_MAX = (1 << 31) - 1
REFERENCES_MAX, ARGUMENTS_MAX = 128, 64
PSEUDO_ROOTS = (1, 2, 3, 4)  # finalizer queues, ephemeron, toggle reference


class Refused(Exception):
    pass


def demand(is_good, *what):
    if not is_good:
        raise Refused(" ".join(str(part) for part in what))


class Records:
    """The records of the payload of one chunk."""

    def __init__(self, name, data):
        self.name, self.data, self.at = name, data, 0

    def __bool__(self):
        return self.at < len(self.data)

    def take(self, size):
        demand(self.at + size <= len(self.data), self.name, "a record ends behind its chunk")
        self.at += size
        return self.data[self.at - size:self.at]

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    def f64(self):
        return struct.unpack("<d", self.take(8))[0]

    def number(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        demand(value < 1 << 32, self.name, "a number of more than 32 bits")
        demand(byte or shift == 7, self.name, "a number longer than it must be")
        return value

    def text(self):
        data = self.take(self.number())
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused("%s: text that is no UTF-8" % self.name)


def chunks(data):
    """{id: records}; each kind is there at most once, which viewers want of two of them."""
    demand(len(data) <= FILE_MAX, "a file of more than 2^31 - 1 bytes")
    found, at = {}, 0
    while at < len(data):
        demand(at + 8 <= len(data), "the file ends in the head of a chunk")
        name = data[at:at + 4].decode("latin-1")
        demand(name in CHUNKS, "a chunk", repr(name))
        demand(found or name == "CNTR", "the first chunk is", name)
        demand(name not in found, "two chunks", name)
        end = at + 8 + struct.unpack_from("<I", data, at + 4)[0]
        demand(end <= len(data), "the file ends in chunk", name)
        found[name] = Records(name, data[at + 8:end])
        at = end
    for name in REQUIRED:
        demand(name in found, "no chunk", name)
    return found


def read_counters(records):
    counters = {}
    while records:
        name, value = records.text(), records.f64()
        demand(name not in counters, "counter", name, "is there twice")
        demand(math.isfinite(value), "counter", name, "is no number")
        if name.startswith("snapshot/"):
            demand(name[9:] in SNAPSHOT, "counter", name)
        else:
            demand(name.startswith(FAMILIES) and not name.endswith("/"), "counter", repr(name))
        counters[name] = value
    for name in SNAPSHOT:
        demand("snapshot/" + name in counters, "no counter", name)
    demand(counters["snapshot/version"] == 1, "version", counters["snapshot/version"])
    return counters


def read_strings(records):
    strings = {}
    while records:
        index, text = records.number(), records.text()
        demand(index not in strings, "string", index, "is there twice")
        demand((index == 0) <= (text == ""), "string 0 is", repr(text))
        strings[index] = text
    demand(0 in strings, "no string 0")
    return strings


def read_assemblies(records):
    assemblies = {}
    while records:
        key, name = records.u32(), records.text()
        demand(key != 0 and key not in assemblies, "assembly", key, "is there twice, or 0")
        demand(name, "assembly", key, "has no name")
        assemblies[key] = name
    return assemblies


def read_classes(records, string, assemblies):
    classes = {}
    while records:
        key, element, nesting, assembly = (records.u32() for _ in range(4))
        rank, kind, space, name = records.number(), string(records), string(records), string(records)
        arguments = [records.u32() for _ in range(records.number())]
        demand(key != 0 and key not in classes, "class", key, "is there twice, or 0")
        demand(kind in KINDS, "class", key, "of kind", repr(kind))
        demand((rank > 0) == (kind == "array"), "class", key, "of kind", kind, "has rank", rank)
        demand(assembly == 0 or assembly in assemblies, "class", key, "of assembly", assembly)
        demand(len(arguments) <= ARGUMENTS_MAX, "class", key, "has", len(arguments), "arguments")
        demand(not arguments or kind in ("gtd", "ginst", "array"), "class", key, "of kind", kind, "has arguments")
        classes[key] = Class(key, element, nesting, assembly, rank, kind, space, name, arguments)
    for entry in classes.values():
        demand(entry.element == 0 or entry.element in classes, "class", entry.id, "of element", entry.element)
        demand(entry.nesting == 0 or entry.nesting in classes, "class", entry.id, "in class", entry.nesting)
        for argument in entry.arguments:
            demand(argument in classes, "class", entry.id, "has argument", argument)
        outer, met = entry, set()
        while outer.nesting:
            demand(outer.id not in met, "class", entry.id, "is nested in itself")
            met.add(outer.id)
            outer = classes[outer.nesting]
    return classes


def read_objects(records, classes):
    objects, sums = {}, Counter()
    while records:
        key, kind, size = records.u32(), records.u32(), records.number()
        demand(key != 0 and key not in objects, "object", key, "is there twice, or 0")
        demand(kind in classes, "object", key, "of class", kind)
        demand(size <= SIZE_MAX, "object", key, "of", size, "bytes")
        objects[key] = (kind, size)
        sums[kind] += size
    for kind, size in sums.items():
        demand(size < 1 << 32, "objects of class", kind, "of", size, "bytes")
    return objects


def read_references(records, objects):
    references = {}
    while records:
        key, n = records.u32(), records.number()
        demand(key in objects, "references of", key)
        demand(1 <= n <= REFERENCES_MAX, n, "references in a record")
        targets = [records.u32() for _ in range(n)]
        for target in targets:
            demand(target in objects, "a reference to", target)
        references.setdefault(key, []).extend(targets)
    return references


def read_roots(records, string, objects):
    """(kind, address, object) of each."""
    roots = []
    while records:
        kind, n = string(records), records.number()
        demand(kind, "roots of no kind")
        demand(n >= 1, "no roots in a record")
        for _ in range(n):
            address, target = records.u32(), records.u32()
            demand(target in objects, "a root to", target)
            # Viewers show the object by this address, so it may not be another one's.
            demand(address != 0 and (address == target or address not in objects), "a root at", address)
            roots.append((kind, address, target))
    demand(not set(PSEUDO_ROOTS) & set(objects), "an object whose id is the address of a finalizer queue")
    return roots


def read_handles(records, string, objects):
    handles = []
    while records:
        kind, target = string(records), records.u32()
        demand(kind in HANDLES, "a handle of type", repr(kind))
        demand(target in objects, "a handle to", target)
        handles.append((kind, target))
    return handles


def read_proxies(records, string):
    proxies = {}
    while records:
        key, kind, name = records.u32(), string(records), string(records)
        demand(key != 0 and key not in proxies and kind, "proxy", key, "is there twice, or 0, or of no type")
        proxies[key] = (kind, name)
    return proxies


def parse(data):
    found = chunks(data)

    def string(records):
        index = records.number()
        demand(index in strings, "no string", index)
        return strings[index]

    def rest(name):
        return found.get(name, Records(name, b""))
    counters, strings = read_counters(found["CNTR"]), read_strings(found["STBL"])
    assemblies = read_assemblies(rest("ASSM"))
    classes = read_classes(found["TYPE"], string, assemblies)
    objects = read_objects(found["OBJH"], classes)
    references = read_references(found["REFS"], objects)
    roots = read_roots(found["ROOT"], string, objects)
    heap = Heap(counters, strings, assemblies, classes, objects, references, roots,
                read_handles(rest("GCHL"), string, objects), read_proxies(rest("CSOB"), string),
                read_proxies(rest("JSOB"), string))
    for name, n in (("strings", len(strings)), ("objects", len(objects)), ("classes", len(classes)),
                    ("refs", sum(map(len, references.values()))), ("roots", len(roots)),
                    ("assemblies", len(assemblies))):
        demand(counters["snapshot/num-" + name] == n, n, name, "but the counter says", counters["snapshot/num-" + name])
    return heap


def full_name(heap, entry):
    """What viewers show, but for arrays of several dimensions, which they show as of one."""
    name = entry.name
    if entry.nesting:
        name = full_name(heap, heap.classes[entry.nesting]) + "." + name
    elif entry.space:
        name = entry.space + "." + name
    if entry.arguments:
        name += "<%s>" % ", ".join(full_name(heap, heap.classes[argument]) for argument in entry.arguments)
    return name + ("[%s]" % ("," * (entry.rank - 1)) if entry.rank else "")
