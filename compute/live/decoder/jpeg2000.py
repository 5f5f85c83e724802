"""JPEG 2000 files: the sizes of image and tiles, and how many pieces a code stream is cut into.

Source: ITU-T T.800, Annex A (markers) and B (tiles, resolutions, precincts, code-blocks). openjpeg reserves memory for
all tiles at the main header and for all precincts and code-blocks of a tile at its first byte, empty ones too.
"""

from __future__ import annotations

import struct
from math import ceil

from compute.live.decoder import bounds
from compute.live.decoder.boxes import boxes
from compute.types import BadInput

SIZE, CODING, COMPONENT_CODING, TILE_PART, DATA, END = 0x51, 0x52, 0x53, 0x90, 0x93, 0xD9
COMPONENTS = 4  # that Pillow reads
KNOWN = frozenset(
    (*range(0x50, 0x54), 0x55, *range(0x57, 0x5A), *range(0x5C, 0x62), 0x63, 0x64, 0x74, 0x75, 0x77, 0x78)
)


def check_jpeg2000(data: bytes) -> None:
    """Raises BadInput where a code stream, bare or in the boxes of a JP2 file, goes beyond the bounds."""
    if data[:2] == b"\xff\x4f":
        _check_codestream(data, 0)
        return
    for kind, start, end in boxes(data, 0, len(data)):
        if kind == b"jp2h":
            for inner, at, _ in boxes(data, start, end):
                if inner == b"ihdr":
                    height, width = struct.unpack_from(">II", data, at)
                    bounds.check_size(width, height)
        elif kind == b"jp2c":
            _check_codestream(data, start)


def _check_codestream(data: bytes, start: int) -> None:
    """The main header and the headers of all tile-parts."""
    at, markers, parts, shape = start + 2, 0, 0, (0, 0, 0, 0)
    while (kind := data[at + 1]) != END or data[at] != 0xFF:
        markers += 1
        bounds.check_count(markers, bounds.MARKERS + 8 * parts, "a JPEG 2000 of {} markers")
        if data[at] != 0xFF or kind not in (*KNOWN, TILE_PART):  # openjpeg looks for one that it knows
            at += 2
            continue
        (length,) = struct.unpack_from(">H", data, at + 2)
        if kind == SIZE:
            shape = _shape(data, at + 4)
        elif kind in (CODING, COMPONENT_CODING):
            _check_coding(data, at + 4, shape, main=kind == CODING)
        elif kind == TILE_PART:
            parts += 1
            bounds.check_count(parts, 4 * bounds.TILES, "a JPEG 2000 of {} parts of tiles")
            (extent,) = struct.unpack_from(">xxI", data, at + 4)
            following = at + extent
            inner = at + 2 + length
            while data[inner + 1] != DATA:
                if data[inner + 1] in (CODING, COMPONENT_CODING):
                    _check_coding(data, inner + 4, shape, main=data[inner + 1] == CODING)
                markers += 1
                bounds.check_count(markers, bounds.MARKERS + 8 * parts, "a JPEG 2000 of {} markers")
                inner += 2 + struct.unpack_from(">H", data, inner + 2)[0]
            if not extent:  # the last one, up to the end
                return
            at = max(following, inner)
            continue
        at += 2 + length


def _shape(data: bytes, at: int) -> tuple[int, int, int, int]:
    """Width, height, tiles and components of a code stream."""
    right, bottom, left, top, wide, high, across, down, components = struct.unpack_from(">xxIIIIIIIIH", data, at)
    width, height = max(0, right - left), max(0, bottom - top)
    bounds.check_size(width, height)
    if width * height > bounds.JPEG2000_MEGAPIXELS * 1_000_000:
        raise BadInput(f"{width} x {height} pixels are too many for JPEG2000, which is slow to read")
    bounds.check_count(components, COMPONENTS, "a JPEG 2000 of {} components")
    tiles = ceil((right - across) / max(1, wide)) * ceil((bottom - down) / max(1, high))
    bounds.check_count(tiles, bounds.TILES, "a JPEG 2000 of {} tiles")
    return width, height, tiles, components


def _check_coding(data: bytes, at: int, shape: tuple[int, int, int, int], *, main: bool) -> None:
    """Layers, code-blocks and precincts of one coding style, as if it held for the whole image.

    The style of a component has no layers; its style byte is the second, behind the component's number.
    """
    width, height, tiles, components = shape
    style, layers = struct.unpack_from(">BxH", data, at) if main else (data[at + 1], 1)
    at += 5 if main else 2
    levels, wide, high = data[at], (data[at + 1] & 15) + 2, (data[at + 2] & 15) + 2
    bounds.check_count(layers, bounds.LAYERS, "a JPEG 2000 of {} layers")
    blocks = precincts = 0
    for level in range(min(levels, 32) + 1):  # of resolution; 0 is the smallest
        scale = 1 << min(levels, 32) - level
        sides = data[at + 5 + level] if style & 1 else 0xFF
        across, down = ceil(width / scale), ceil(height / scale)
        precinct = (1 << (sides & 15), 1 << (sides >> 4))
        more = components * (tiles + ceil(across / precinct[0]) * ceil(down / precinct[1]))
        # A band has half the resolution's side, and a code-block is no larger than a band's share of the precinct.
        half = 1 if level else 0
        block = (min(1 << wide, max(1, precinct[0] >> half)), min(1 << high, max(1, precinct[1] >> half)))
        precincts += more
        blocks += more + components * ceil(across / block[0]) * ceil(down / block[1])
    bounds.check_count(precincts, bounds.PRECINCTS, "a JPEG 2000 of {} precincts")
    bounds.check_count(precincts * layers, bounds.PACKETS, "a JPEG 2000 of {} packets")
    bounds.check_count(blocks, bounds.CODE_BLOCKS, "a JPEG 2000 of {} code-blocks")
