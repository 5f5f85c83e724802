"""The boxes of which AVIF and JP2 files consist (ISO/IEC 14496-12, 4.2)."""

from __future__ import annotations

import struct

from compute.live.decoder import bounds


def boxes(data: bytes, start: int, end: int) -> list[tuple[bytes, int, int]]:
    """Kind, start and end of the body of each box between two offsets. Raises BadInput for too many."""
    bodies: list[tuple[bytes, int, int]] = []
    while start + 8 <= end:
        length, kind = struct.unpack_from(">I4s", data, start)
        head = 8
        if length == 1:
            (length,) = struct.unpack_from(">Q", data, start + 8)
            head = 16
        elif length == 0:
            length = end - start
        if length < head:
            break
        bodies.append((kind, start + head, min(start + length, end)))
        bounds.check_count(len(bodies), bounds.BOXES, "a file of {} boxes")
        start += length
    return bodies
