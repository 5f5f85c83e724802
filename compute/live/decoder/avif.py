"""AVIF files: the sizes that their boxes state, the sizes of the AV1 pictures inside, and how many items they list.

Sources: ISO/IEC 23008-12 (items), 14496-12 (boxes and tracks), AV1 specification 5.5 (sequence header). libavif decodes
a picture at the size of its AV1 stream and then scales it to the size that the boxes state, however far the two differ.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from dataclasses import dataclass

from compute.live.decoder import bounds
from compute.live.decoder.boxes import boxes
from compute.live.decoder.directories import check_exif
from compute.types import BadInput

INDEXES = (b"iinf", b"iloc", b"iref", b"grpl", b"ipma")  # tables of items
SAMPLE_TABLES = (b"stts", b"stsc", b"stco", b"co64", b"stsz", b"stss")
INSIDE_TRACK = (b"mdia", b"minf", b"stbl", b"stsd")
SEQUENCE_HEADER, PADDED = 1, 16  # a kind of unit; bytes that the bit reader may look beyond the end
CODED = 4  # an AV1 picture may have this many times the pixels that the boxes state: margins, layers
SMALL = 1_000_000  # pixels, below which it does not matter
TRACKS = 10


@dataclass
class StatedSizes:
    """What the boxes of one file state."""

    pixels: int = 0  # of the largest picture
    coded: int = 0  # of all AV1 pictures together
    units: int = 0  # of AV1 streams, walked so far


def check_avif(data: bytes) -> None:
    """Raises BadInput where an AVIF goes beyond the bounds, in its boxes or in its AV1 pictures."""
    stated, top = StatedSizes(), boxes(data, 0, len(data))
    tracks: list[tuple[int, int]] = []
    metas = [(start + 4, end) for kind, start, end in top if kind == b"meta"]
    for kind, start, end in top:
        if kind == b"moov":
            tracks += [(at, until) for inner, at, until in boxes(data, start, end) if inner == b"trak"]
    bounds.check_count(len(tracks), TRACKS, "an AVIF of {} tracks")
    for start, end in metas:
        _check_properties(data, start, end, stated)
    streams = [stream for start, end in tracks for stream in _check_track(data, start, end, stated)]
    for start, end in metas:
        items = _items(data, start, end)
        streams += items[b"av01"]
        for block in items[b"Exif"]:
            check_exif(block[4:])  # behind the offset of its first directory
    for stream in streams:
        with suppress(struct.error, IndexError):  # one that breaks off
            _check_stream(stream, stated)


def _check_properties(data: bytes, start: int, end: int, stated: StatedSizes) -> None:
    """The sizes of all items and the lengths of the tables in a meta box."""
    for kind, at, until in boxes(data, start, end):
        if kind in INDEXES and until - at > bounds.INDEX:
            raise BadInput("an AVIF of too many items")
        if kind == b"iprp":
            for inner, below, above in boxes(data, at, until):
                if inner in INDEXES and above - below > bounds.INDEX:
                    raise BadInput("an AVIF of too many items")
                if inner == b"ipco":
                    for name, body, _ in boxes(data, below, above):
                        if name == b"ispe":
                            _state(stated, *struct.unpack_from(">II", data, body + 4))


def _state(stated: StatedSizes, width: int, height: int) -> None:
    bounds.check_size(width, height)
    stated.pixels = max(stated.pixels, width * height)


def _items(data: bytes, start: int, end: int) -> dict[bytes, list[bytes]]:
    """The bytes of the items in a meta box that are AV1 pictures or EXIF blocks, by their type."""
    items: dict[bytes, list[bytes]] = {b"av01": [], b"Exif": []}
    total = 0
    parts = {kind: (at, until) for kind, at, until in boxes(data, start, end)}
    types = _types(data, *parts.get(b"iinf", (0, 0)))
    at, until = parts.get(b"iloc", (0, 0))
    if at == until:
        return items
    version = data[at]
    sizes, more = data[at + 4], data[at + 5]
    offset_size, length_size, base_size, index_size = sizes >> 4, sizes & 15, more >> 4, more & 15 if version else 0
    at += 6

    def number(size: int) -> int:
        nonlocal at
        at += size
        if at > until:
            raise IndexError
        return int.from_bytes(data[at - size : at], "big")

    for _ in range(number(4 if version == 2 else 2)):
        item = number(4 if version == 2 else 2)
        method = number(2) & 15 if version else 0
        number(2)  # where the data lie: in this file
        base = number(base_size)
        first = parts.get(b"idat", (0, 0))[0] if method == 1 else 0
        pieces = []
        for _ in range(number(2)):
            number(index_size)
            begin = first + base + number(offset_size)
            length = number(length_size)
            pieces.append((begin, begin + length if length else len(data)))
        if types.get(item) in items:
            total += sum(max(0, min(end, len(data)) - begin) for begin, end in pieces)
            if total > len(data) + bounds.SHARED:
                raise BadInput("an AVIF whose items share their bytes, which multiplies them")
            items[types[item]].append(b"".join(data[begin:end] for begin, end in pieces))
    return items


def _types(data: bytes, start: int, end: int) -> dict[int, bytes]:
    """The types of the items by their numbers."""
    if start == end:
        return {}
    wide = data[start] > 0  # the count of items has four bytes
    types = {}
    for kind, at, _ in boxes(data, start + (8 if wide else 6), end):
        if kind == b"infe" and data[at] >= 2:
            item = struct.unpack_from(">I" if data[at] == 3 else ">H", data, at + 4)[0]
            offset = at + (10 if data[at] == 3 else 8)
            types[item] = data[offset : offset + 4]
    return types


def _check_track(data: bytes, start: int, end: int, stated: StatedSizes) -> list[bytes]:
    """The sizes of a track and the lengths of its tables; the stream of its first picture."""
    tables: dict[bytes, tuple[int, int]] = {}
    waiting = [(start, end)]
    while waiting:
        for kind, at, until in boxes(data, *waiting.pop()):
            if kind == b"tkhd":
                sides = struct.unpack_from(">II", data, until - 8)
                _state(stated, sides[0] >> 16, sides[1] >> 16)
            elif kind == b"av01":
                _state(stated, *struct.unpack_from(">HH", data, at + 24))
            elif kind == b"meta":
                _check_properties(data, at + 4, until, stated)
            elif kind in INSIDE_TRACK:
                waiting.append((at + (8 if kind == b"stsd" else 0), until))
            elif kind in SAMPLE_TABLES:
                (count,) = struct.unpack_from(">I", data, at + (8 if kind == b"stsz" else 4))
                bounds.check_count(count, bounds.SAMPLES, "an AVIF of {} frames")
                tables[kind] = (at, count)
    if b"stsc" in tables:
        at, count = tables[b"stsc"]
        samples = sum(struct.unpack_from(">I", data, at + 12 + 12 * entry)[0] for entry in range(count))
        chunks = max(tables.get(b"stco", (0, 0))[1], tables.get(b"co64", (0, 0))[1])
        bounds.check_count(samples * max(1, chunks) // max(1, count), 10 * bounds.SAMPLES, "an AVIF of {} frames")
    for kind, form in ((b"stco", ">I"), (b"co64", ">Q")):
        if kind in tables and b"stsz" in tables and tables[kind][1]:
            (begin,) = struct.unpack_from(form, data, tables[kind][0] + 8)
            at, _ = tables[b"stsz"]
            length = struct.unpack_from(">I", data, at + 4)[0] or struct.unpack_from(">I", data, at + 12)[0]
            return [data[begin : begin + length]]
    return []


def _check_stream(stream: bytes, stated: StatedSizes) -> None:
    """The sizes in the sequence headers of one AV1 stream (5.3 and 5.5 of its specification)."""
    at = 0
    while at < len(stream):
        head = stream[at]
        at += 2 if head & 4 else 1  # with or without an extension
        length = len(stream) - at
        if head & 2:
            length = shift = 0
            while True:
                byte = stream[at]
                at += 1
                length |= (byte & 127) << shift
                shift += 7
                if byte < 128 or shift > 56:
                    break
        stated.units += 1
        bounds.check_count(stated.units, bounds.UNITS, "an AVIF of {} units")
        if head >> 3 & 15 == SEQUENCE_HEADER:
            width, height, most = _sequence(stream[at : at + min(length, 1_000)])
            bounds.check_size(width, height)
            allowed = max(CODED * stated.pixels, SMALL)
            if width * height > allowed or most > max(CODED * allowed, bounds.MEGAPIXELS * 1_000_000):
                raise BadInput(f"{width} x {height} pixels in an AVIF that states fewer")
            stated.coded += width * height
            if stated.coded > CODED * bounds.MEGAPIXELS * 1_000_000:
                raise BadInput(f"pictures in one AVIF that together have more than {bounds.MEGAPIXELS} megapixels")
        at += length


def _sequence(body: bytes) -> tuple[int, int, int]:
    """Width and height of a sequence header, and the most pixels that a frame of it may state for itself."""
    bits, at = int.from_bytes(body + bytes(PADDED), "big"), 8 * (len(body) + PADDED)

    def read(count: int) -> int:
        nonlocal at
        at -= count
        if at < 0:
            raise IndexError
        return bits >> at & (1 << count) - 1

    def skip_unbounded() -> None:
        zeros = 0
        while not read(1):
            zeros += 1
            if zeros == 32:  # decoders differ in what follows
                raise BadInput("an AVIF with a frame time of more than 32 bits")
        read(zeros)

    read(4)  # profile, still picture
    reduced = read(1)
    if reduced:
        read(5)
    else:
        delay = 0
        timing = read(1)
        if timing:
            read(64)
            if read(1):
                skip_unbounded()
            if read(1):
                delay = read(5) + 1
                read(42)
        display = read(1)
        for _ in range(read(5) + 1):
            read(12)
            if read(5) > 7:
                read(1)
            if delay and read(1):
                read(2 * delay + 1)
            if display and read(1):
                read(4)
    wide, high = read(4) + 1, read(4) + 1
    width, height = read(wide) + 1, read(high) + 1
    return width, height, width * height if reduced else 1 << wide + high
