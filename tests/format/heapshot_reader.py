#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a recording by schema/FORMAT.md alone, with nothing but Python's own library and the lz4 command.

    heapshot_reader.py top FILE [N]

prints the types of snapshot N (its id; without it the last complete one, or the last) as JSON.
Exit status: 0, 2 usage, 3 damaged, 4 incomplete, 5 no such snapshot, 7 not a recording."""
import json
import subprocess
import sys

MASK = (1 << 64) - 1


class Malformed(Exception):
    pass


class OtherVersion(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Malformed("a varint")
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value & MASK, at


def fields(data):
    """(number, value) of each field: an int, or bytes of it."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire in (1, 2, 5):
            size, at = (8, at) if wire == 1 else (4, at) if wire == 5 else varint(data, at)
            value, at = data[at:at + size], at + size
            if at > len(data):
                raise Malformed("a field")
        else:
            raise Malformed("a wire type")
        yield key >> 3, value


def message(data):
    """The last value of each field."""
    return dict(fields(data))


def text(value):
    return bytes(value).decode("utf-8", "replace") if value else ""


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
        self.begun, self.end, self.refused = False, None, False

    def object_batch(self, batch, word):
        shapes, columns = [], {n: b"" for n in range(5, 12)}
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
        address, index, sizes, counts, slots, refs, slack = (column(columns[n]) for n in range(5, 12))
        rows = message(batch).get(1, 0)
        if not len(address) == len(index) == rows <= 4096:
            raise Malformed("the number of rows")
        sizes, counts, here, n_refs, n_slots = iter(sizes), iter(counts), 0, 0, 0
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
            total = self.types.setdefault(type_id, [0, 0, 0])
            total[2] += edges
            n_refs += edges
            if not flags & 4:
                total[0] += 1
                total[1] += size
                self.objects += 1
                self.bytes += size
                self.slot_bytes += -(-size // word) * word
                self.hash = (self.hash + mix(here)) & MASK
        if next(sizes, None) is not None or next(counts, None) is not None or len(slack) % 2 \
                or n_refs != len(refs) or n_slots != len(slots):
            raise Malformed("a column is longer or shorter than its rows")
        self.slot_bytes += sum(slack[1::2]) * word
        self.references += n_refs
        self.batches[0] += 1

    def is_complete(self):
        if not self.begun or self.end is None or self.refused:
            return False
        end = self.end
        if end.get(20, 0) or end.get(19, 0):
            return False
        if [end.get(n, 0) for n in (4, 5, 6)] != [self.objects, self.references, self.bytes]:
            return False
        return self.stats_only or [end.get(n, 0) for n in (7, 8, 11, 12, 13, 14, 21)] == [
            self.slot_bytes, self.roots, self.edges, self.hash, *self.batches]


def read(stream, types, images, snapshots):
    """Takes the records off the joined content."""
    word, buffer, stream_id, is_ours = 8, b"", None, True
    for chunk in iter(lambda: stream.read(1 << 20), b""):
        buffer, at = buffer + chunk, 0
        while at < len(buffer):
            if buffer[at] != 10:     # Stream.record
                raise Malformed("a record is expected")
            try:
                size, start = varint(buffer, at + 1)
            except Malformed:
                break                # cut by the buffer's end
            if size > 196608:
                raise Malformed("a record's size")
            if start + size > len(buffer):
                break
            at = start + size
            for number, body in fields(buffer[start:at]):
                if number == 1:      # FrameStart: another stream is another recording
                    stream_id = message(body).get(1, 0) if stream_id is None else stream_id
                    is_ours = message(body).get(1, 0) == stream_id
                if not is_ours or isinstance(body, int):
                    continue
                if number in (10, 11, 12, 13, 15, 27):
                    body_fields = message(body)
                    snapshot = snapshots.setdefault(body_fields.get(1 if number != 15 else 4, 0), Snapshot())
                if number == 3:
                    word = message(body).get(7, 8)
                    if message(body).get(1) != 1:
                        raise OtherVersion()
                elif number == 4:
                    types[message(body).get(1, 0)] = message(body)
                elif number == 16:
                    images[message(body).get(1, 0)] = text(message(body).get(2))
                elif number == 10:
                    snapshot.begun, snapshot.stats_only = True, body_fields.get(7, 0)
                elif number == 11:
                    snapshot.end = body_fields
                elif number == 12:
                    snapshot.roots += len(column(body_fields.get(3, b"")))
                    snapshot.batches[1] += 1
                elif number == 13:
                    snapshot.edges += len(column(body_fields.get(2, b"")))
                    snapshot.batches[2] += 1
                elif number == 15:
                    try:
                        snapshot.object_batch(body, word)
                    except (Malformed, StopIteration):
                        snapshot.refused = True
                elif number == 27:
                    for total in (message(value) for n, value in fields(body) if n == 2):
                        sums = snapshot.types.setdefault(total.get(1, 0), [0, 0, 0])
                        for i, value in enumerate((total.get(2, 0), total.get(3, 0), total.get(4, 0))):
                            sums[i] += value
                        snapshot.objects += total.get(2, 0)
                        snapshot.bytes += total.get(3, 0)
                        snapshot.references += total.get(4, 0)
        buffer = buffer[at:]
    return len(buffer) == 0


def main(arguments):
    if len(arguments) not in (2, 3) or arguments[0] != "top":
        print(__doc__, file=sys.stderr)
        return 2
    types, images, snapshots = {}, {}, {}
    with subprocess.Popen(["lz4", "-dc", arguments[1]], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as lz4:
        try:
            is_whole = read(lz4.stdout, types, images, snapshots)
        except (Malformed, OtherVersion) as error:
            print("heapshot_reader: %r" % error, file=sys.stderr)
            lz4.kill()
            return 7 if isinstance(error, OtherVersion) else 3
    if not types and not snapshots and lz4.returncode:
        return 7
    if len(arguments) == 3:
        number = int(arguments[2])
    else:
        number = max((snapshot.is_complete(), n) for n, snapshot in snapshots.items())[1] if snapshots else 0
    if number not in snapshots:
        return 5 if is_whole else 3
    if snapshots[number].slot_bytes > MASK:
        return 3
    rows = {}
    for type_id, sums in snapshots[number].types.items():
        known = types.get(type_id, {})
        name = text(known.get(3)) or "type#%d" % type_id
        key = name, images.get(known.get(5, 0), ""), known.get(13, 0)
        rows[key] = [a + b for a, b in zip(rows.get(key, (0, 0, 0)), sums)]
    order = sorted(rows.items(), key=lambda row: (-row[1][1], row[0][0].encode(), row[0][1].encode(), row[0][2]))
    print(json.dumps({"snapshot": number, "types": [
        {"type": name, "assembly": assembly, "count": count, "bytes": size, "edges": edges}
        for (name, assembly, _), (count, size, edges) in order]}))
    return 0 if snapshots[number].is_complete() else 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
