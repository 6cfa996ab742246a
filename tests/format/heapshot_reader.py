#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a recording by schema/FORMAT.md alone, with nothing but Python's own library and the lz4 command.

    heapshot_reader.py top FILE [N]

prints the types of snapshot N (its id; without it the last complete one, or the last) as JSON.
Exit status: 0, 2 usage, 3 damaged, 4 incomplete, 5 no such snapshot, 7 not a recording of this version."""
import json
import subprocess
import sys

MASK = (1 << 64) - 1


class Malformed(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while at < len(data) and shift < 64:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & MASK, at
    raise Malformed("a varint")


def fields(data):
    """(number, value) of each field: an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire in (1, 2, 5):
            size, at = (8, at) if wire == 1 else (4, at) if wire == 5 else varint(data, at)
            value, at = data[at:at + size], at + size
        if at > len(data) or wire not in (0, 1, 2, 5):
            raise Malformed("a field")
        yield key >> 3, value


def message(data):
    """The last value of each field."""
    return dict(fields(data))


def column(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def unzigzag(value):
    return (value >> 1) ^ -(value & 1)


def mix(x):
    x = (x ^ x >> 33) * 0xff51afd7ed558ccd & MASK
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53 & MASK
    return x ^ x >> 33


class Snapshot:
    def __init__(self):
        self.objects = self.references = self.bytes = self.slot_bytes = self.hash = 0
        self.roots = self.edges = 0
        self.batches = [0, 0, 0]     # of objects, roots, ephemerons
        self.types = {}              # id -> [count, bytes, edges]
        self.begin = self.end = None
        self.is_refused = False

    def object_batch(self, batch, word):
        shapes, columns = [], {number: b"" for number in range(5, 12)}
        for number, value in fields(batch):
            if number == 3:
                shape = message(value)
                flags = shape.get(2, 0)
                if flags >= 8 or flags & 5 == 5:
                    raise Malformed("flags of a shape")
                shapes.append((shape.get(1, 0), flags, shape.get(3, 0), len(column(shape.get(4, b"")))))
            elif number in columns:
                if columns[number] or isinstance(value, int):
                    raise Malformed("a column in pieces, or not packed")
                columns[number] = value
        address, index, sizes, counts, slots, references, slack = map(column, columns.values())
        rows = message(batch).get(1, 0)
        if not len(address) == len(index) == rows <= 4096:
            raise Malformed("the number of rows")
        sizes, counts, here, n_references, n_slots = iter(sizes), iter(counts), 0, 0, 0
        for row in range(rows):
            here = (here + unzigzag(address[row]) * word) & MASK
            if not 0 < index[row] <= len(shapes):
                raise Malformed("the shape of a row")
            type_id, flags, size, edges = shapes[index[row] - 1]
            if flags & 1:
                size = next(sizes)
            if flags & 2:
                edges = next(counts)
                n_slots += edges
            n_references += edges
            if flags & 4:
                self.count(type_id, 0, 0, edges)
            else:
                self.count(type_id, 1, size, edges)
                self.slot_bytes += -(-size // word) * word
                self.hash = (self.hash + mix(here)) & MASK
        if next(sizes, None) is not None or next(counts, None) is not None or len(slack) % 2 \
                or n_references != len(references) or n_slots != len(slots):
            raise Malformed("a column is longer or shorter than its rows")
        self.slot_bytes += sum(slack[1::2]) * word
        self.batches[0] += 1

    def count(self, type_id, *sums):
        self.types[type_id] = [a + b for a, b in zip(self.types.get(type_id, (0, 0, 0)), sums)]
        self.objects += sums[0]
        self.bytes += sums[1]
        self.references += sums[2]

    def is_complete(self):
        if self.begin is None or self.end is None or self.is_refused:
            return False
        said = [self.end.get(number, 0) for number in (20, 19, 4, 5, 6, 7, 8, 11, 12, 13, 14, 21)]
        seen = [0, 0, self.objects, self.references, self.bytes, self.slot_bytes, self.roots, self.edges,
                self.hash, *self.batches]
        return said[:5] == seen[:5] if self.begin.get(7) else said == seen


class Recording:
    def __init__(self):
        self.word, self.stream, self.is_ours = 8, None, True
        self.types, self.images, self.snapshots = {}, {}, {}

    def record(self, number, body):
        if number not in (1, 3, 4, 10, 11, 12, 13, 15, 16, 27):
            return                   # of no use for `top`, or of a later version
        fields_of = message(body)
        if number == 1:              # FrameStart: another stream is another recording
            self.stream = fields_of.get(1, 0) if self.stream is None else self.stream
            self.is_ours = fields_of.get(1, 0) == self.stream
        if not self.is_ours:
            return
        if number in (10, 11, 12, 13, 15, 27):
            snapshot = self.snapshots.setdefault(fields_of.get(4 if number == 15 else 1, 0), Snapshot())
        if number == 3:
            if fields_of.get(1) != 1:
                sys.exit(7)
            self.word = fields_of.get(7, 8)
        elif number == 4:
            self.types[fields_of.get(1, 0)] = fields_of
        elif number == 16:
            self.images[fields_of.get(1, 0)] = fields_of.get(2, b"").decode("utf-8", "replace")
        elif number == 10:
            snapshot.begin = fields_of
        elif number == 11:
            snapshot.end = fields_of
        elif number == 12:
            snapshot.roots += len(column(fields_of.get(3, b"")))
            snapshot.batches[1] += 1
        elif number == 13:
            snapshot.edges += len(column(fields_of.get(2, b"")))
            snapshot.batches[2] += 1
        elif number == 15:
            try:
                snapshot.object_batch(body, self.word)
            except (Malformed, StopIteration):
                snapshot.is_refused = True
        elif number == 27:
            for total in (message(value) for n, value in fields(body) if n == 2):
                snapshot.count(total.get(1, 0), *(total.get(n, 0) for n in (2, 3, 4)))

    def read(self, stream):
        """Takes the records off the joined content; false when it ends within one."""
        buffer = b""
        for chunk in iter(lambda: stream.read(1 << 20), b""):
            buffer, at = buffer + chunk, 0
            while len(buffer) - at >= 4:      # a key, and a length of at most three bytes
                size, start = varint(buffer, at + 1)
                if buffer[at] != 10 or size > 196608:
                    raise Malformed("a record")
                if start + size > len(buffer):
                    break
                at = start + size
                for number, body in fields(buffer[start:at]):
                    if not isinstance(body, int):
                        self.record(number, body)
            buffer = buffer[at:]
        return not buffer

    def top(self, number):
        rows = {}
        for type_id, sums in self.snapshots[number].types.items():
            known = self.types.get(type_id, {})
            name = known.get(3, b"").decode("utf-8", "replace") or "type#%d" % type_id
            key = name, self.images.get(known.get(5, 0), ""), known.get(13, 0)
            rows[key] = [a + b for a, b in zip(rows.get(key, (0, 0, 0)), sums)]
        order = sorted(rows.items(), key=lambda row: (-row[1][1], row[0][0].encode(), row[0][1].encode(), row[0][2]))
        return {"snapshot": number, "types": [
            {"type": name, "assembly": assembly, "count": count, "bytes": size, "edges": edges}
            for (name, assembly, _), (count, size, edges) in order]}


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[0] != "top":
        print(__doc__, file=sys.stderr)
        return 2
    recording = Recording()
    with subprocess.Popen(["lz4", "-dc", arguments[1]], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as lz4:
        try:
            is_whole = recording.read(lz4.stdout)
        except Malformed as error:
            print("heapshot_reader: %s is malformed" % error, file=sys.stderr)
            lz4.kill()
            return 3
    if recording.stream is None:
        return 7
    if len(arguments) == 3:
        number = int(arguments[2])
    else:
        number = max(((s.is_complete(), n) for n, s in recording.snapshots.items()), default=(0, 0))[1]
    if number not in recording.snapshots:
        return 5 if is_whole else 3
    snapshot = recording.snapshots[number]
    if snapshot.slot_bytes > MASK or snapshot.references > MASK:
        return 3
    print(json.dumps(recording.top(number)))
    return 0 if snapshot.is_complete() else 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
