"""Directories of TIFF files and EXIF blocks, walked without a copy: their tags, what these refer to, strips and tiles.

Sources: TIFF 6.0, BigTIFF, Exif 2.32. Pillow copies the bytes of every tag when it opens a directory, so tags that
share a block multiply it; libtiff reserves memory for as many strips or tiles as the sizes ask for.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import ceil

from compute.live.decoder import bounds
from compute.types import BadInput

WIDTH, HEIGHT, COMPRESSION, SAMPLES, PLANES = 256, 257, 259, 277, 284
STRIP_OFFSETS, ROWS, STRIP_LENGTHS = 273, 278, 279
TILE_WIDTH, TILE_HEIGHT, TILE_OFFSETS, TILE_LENGTHS = 322, 323, 324, 325
LAYOUT = (WIDTH, HEIGHT, COMPRESSION, SAMPLES, PLANES, STRIP_OFFSETS, ROWS, STRIP_LENGTHS)
LAYOUT += (TILE_WIDTH, TILE_HEIGHT, TILE_OFFSETS, TILE_LENGTHS)
POINTERS = (34665, 34853, 40965)  # to the directories of EXIF, GPS and interoperability
UNITS = {
    1: 1,
    2: 1,
    3: 2,
    4: 4,
    5: 8,
    6: 1,
    7: 1,
    8: 2,
    9: 4,
    10: 8,
    11: 4,
    12: 8,
    13: 4,
    16: 8,
    17: 8,
    18: 8,
}  # bytes by type
JPEG, SCAN = 7, b"\xff\xda"  # a compression, and what begins a pass over its pixels
OPAQUE = (1, 2, 7)  # types that stay bytes or text
FRACTIONS = (5, 10)
INTEGERS = {3: "H", 4: "I", 6: "b", 8: "h", 9: "i", 13: "I", 16: "Q"}
HEADERS = (b"II*\0", b"MM\0*", b"MM*\0", b"II\0*", b"II+\0", b"MM\0+")
EXIF = b"Exif\0\0"


@dataclass(frozen=True, kw_only=True)
class Tag:
    """One entry of a directory."""

    kind: int  # a key of UNITS
    count: int  # of values
    start: int  # of the values, from the block's first byte


class TiffBlock:
    """A TIFF file or an EXIF block, with what its tags cost so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.order = "<" if data[:2] == b"II" else ">"
        self.big = data[2:3] == b"+"  # as Pillow tells them apart
        self.copied = self.numbers = self.fractions = 0

    def first(self) -> int:
        """Where the first directory begins."""
        return struct.unpack_from(self.order + ("8xQ" if self.big else "4xI"), self.data)[0]

    def directory(self, start: int) -> dict[int, Tag]:
        """The tags of one directory, the last where a number stands twice. Raises BadInput beyond the bounds."""
        head, entry, inline = ("Q", "HHQ", 8) if self.big else ("H", "HHI", 4)
        size = struct.calcsize("<" + entry) + inline
        tags: dict[int, Tag] = {}
        if not 0 <= start <= len(self.data) - struct.calcsize("<" + head):
            return tags
        (count,) = struct.unpack_from(self.order + head, self.data, start)
        start += struct.calcsize("<" + head)
        bounds.check_count(count, bounds.TAGS, "a directory of {} tags")
        for at in range(start, min(start + count * size, len(self.data) - size + 1), size):
            number, kind, values = struct.unpack_from(self.order + entry, self.data, at)
            if kind not in UNITS:
                continue
            if number in LAYOUT and number in tags:
                raise BadInput("a TIFF that states its layout twice")
            where, length = at + size - inline, values * UNITS[kind]
            if length > inline:
                (where,) = struct.unpack_from(self.order + ("Q" if self.big else "I"), self.data, where)
                if where + length > len(self.data):
                    continue  # readers ignore it too
                self._account(kind, values, length)
            tags[number] = Tag(kind=kind, count=values, start=where)
        return tags

    def integers(self, tag: Tag | None) -> tuple[int, ...]:
        """The values of a tag; none where it is missing or holds no integers."""
        if tag is None or tag.kind not in INTEGERS:
            return ()
        return struct.unpack_from(f"{self.order}{tag.count}{INTEGERS[tag.kind]}", self.data, tag.start)

    def integer(self, tag: Tag | None, default: int) -> int:
        """The first value of a tag; the default where it is missing or no integer."""
        if tag is None or tag.kind not in INTEGERS or not tag.count:
            return default
        return struct.unpack_from(self.order + INTEGERS[tag.kind], self.data, tag.start)[0]

    def _account(self, kind: int, values: int, length: int) -> None:
        self.copied += length
        self.numbers += 0 if kind in OPAQUE else values
        self.fractions += values if kind in FRACTIONS else 0
        if self.copied > len(self.data) + bounds.SHARED:
            raise BadInput("a directory whose tags share their bytes, which multiplies them")
        bounds.check_count(self.fractions, bounds.FRACTIONS, "a directory of {} fractions")
        bounds.check_count(self.numbers, bounds.NUMBERS, "a directory of {} numbers")


def check_tiff(data: bytes) -> None:
    """Raises BadInput where the first page of a TIFF goes beyond the bounds. No reader looks at later pages."""
    if data[:4] == b"MM\0+":
        raise BadInput("a BigTIFF with the larger byte first, which is not supported")
    block = TiffBlock(data)
    tags = block.directory(block.first())
    _check_layout(block, tags)
    _check_below(block, tags)


def check_exif(data: bytes) -> None:
    """Raises BadInput where an EXIF block, or another one in the form of a TIFF, goes beyond the bounds."""
    if data.startswith(EXIF * 3):  # Pillow removes any number, with a copy of the rest each time
        raise BadInput("an EXIF block of many headers")
    while data.startswith(EXIF):
        data = data[len(EXIF) :]
    if data[:4] in HEADERS:
        block = TiffBlock(data)
        _check_below(block, block.directory(block.first()))


def _check_below(block: TiffBlock, tags: dict[int, Tag]) -> None:
    """The directories to which tags point, and those to which these point; one that points back is walked again."""
    waiting, walked = [tags], 0
    while waiting:
        above = waiting.pop()
        for number in POINTERS:
            if number in above:
                walked += 1
                bounds.check_count(walked, bounds.DIRECTORIES, "{} directories in one another")
                waiting.append(block.directory(block.integer(above[number], len(block.data))))


def _check_layout(block: TiffBlock, tags: dict[int, Tag]) -> None:
    """Sizes and numbers of the strips or tiles of a page."""
    width, height = (block.integer(tags.get(number), 0) for number in (WIDTH, HEIGHT))
    bounds.check_size(width, height)
    planes = block.integer(tags.get(SAMPLES), 1) if block.integer(tags.get(PLANES), 1) == 2 else 1
    rows = max(1, block.integer(tags.get(ROWS), height))
    counts, largest = [ceil(height / rows) * planes], width * min(rows, height)
    if TILE_WIDTH in tags or TILE_HEIGHT in tags:
        wide, high = (block.integer(tags.get(number), 0) for number in (TILE_WIDTH, TILE_HEIGHT))
        if wide * high > max(bounds.TILE, 2 * width * height):
            raise BadInput(f"tiles of {wide} x {high} pixels in a TIFF of {width} x {height}")
        counts, largest = [ceil(width / max(1, wide)) * ceil(height / max(1, high)) * planes], wide * high
    lists = (STRIP_OFFSETS, STRIP_LENGTHS, TILE_OFFSETS, TILE_LENGTHS)
    counts += [tags[number].count for number in lists if number in tags]
    bounds.check_count(max(counts), bounds.STRIPS, "a TIFF of {} strips or tiles")
    for starts, lengths in ((STRIP_OFFSETS, STRIP_LENGTHS), (TILE_OFFSETS, TILE_LENGTHS)):
        offsets, sizes = block.integers(tags.get(starts)), block.integers(tags.get(lengths))
        if sum(min(size, len(block.data)) for size in sizes) > bounds.STORED:
            raise BadInput("a TIFF whose strips or tiles share their bytes, which multiplies them")
        if block.integer(tags.get(COMPRESSION), 1) == JPEG:
            pieces = zip(offsets, sizes or (len(block.data),), strict=False)
            scans = sum(block.data.count(SCAN, at, at + size) for at, size in pieces)
            if scans * largest > bounds.PASSES:
                raise BadInput(f"a TIFF of {scans} JPEG scans, too many for its size")
