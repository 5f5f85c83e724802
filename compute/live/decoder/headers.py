"""What an image file says of itself, walked before a library parses it: sizes, and how much there is of everything.

The libraries reserve memory and repeat work as a file tells them to, and a few kilobytes can ask for gigabytes and for
hours. So each format's structure is walked here first, in plain Python and under a second whatever the bytes are.
Only what exceeds `bounds` is refused. A file that is damaged or of no known kind passes: the library says so.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable
from contextlib import suppress

from compute.live.decoder import bounds, directories
from compute.live.decoder.avif import check_avif
from compute.live.decoder.jpeg2000 import check_jpeg2000
from compute.types import BadInput

MARKER = re.compile(rb"\xff([\x01-\xcf\xd8-\xfe])")  # of a JPEG, restarts apart
BARE = frozenset((*range(0x01, 0xC0), 0xC8, 0xD8, 0xD9, *range(0xF0, 0xFE)))  # without a length, as Pillow reads them
FRAME = frozenset((*range(0xC0, 0xD0), 0xDE)) - {0xC4, 0xC8, 0xCC}
TABLE = (0xC4, 0xCC, 0xDB)
SCAN, END, EXIF_SEGMENT, MPF_SEGMENT = 0xDA, 0xD9, 0xE1, 0xE2
PNG_CHUNKS = (b"IHDR", b"eXIf", b"tEXt", b"zTXt", b"iTXt", b"iCCP")


def check(data: bytes) -> None:
    """Raises BadInput with a short reason where an image file may cost more than a good one does."""
    for signature, walk in WALKS:
        if re.match(signature, data, re.DOTALL):
            with suppress(struct.error, IndexError):  # it breaks off, which its library will report
                walk(data)
            return


def _check_jpeg(data: bytes) -> None:
    """Sizes, segments, tables and scans, up to the end of the first image."""
    at, segments, tables, scans, indexes, junk, pixels = 2, 0, 0, 0, 0, 0, 0
    exif: list[bytes] = []
    while marker := MARKER.search(data, at):
        kind = marker[1][0]
        if kind == END and scans:
            break
        junk += 0 if scans else marker.start() - at
        bounds.check_count(junk, bounds.JUNK, "a JPEG of {} bytes between its segments")
        at = marker.end()
        if kind == SCAN:
            scans += 1
            bounds.check_count(scans, bounds.SCANS, "a JPEG of {} scans")
            if pixels * scans > bounds.PASSES:
                raise BadInput(f"a JPEG of more than {scans - 1} scans over {pixels / 1e6:.0f} million pixels")
        elif kind not in TABLE:
            segments += 1
            bounds.check_count(segments, bounds.SEGMENTS, "a JPEG of {} segments")
        if kind in BARE:
            continue
        (length,) = struct.unpack_from(">H", data, at)
        body = data[at + 2 : at + length]
        at += length
        if kind in FRAME:
            height, width = struct.unpack_from(">xHH", body)
            bounds.check_size(width, height)
            pixels = max(pixels, width * height)
        elif kind in TABLE:
            tables += length
            bounds.check_count(tables, bounds.TABLES, "a JPEG of {} bytes of tables")
        elif kind == EXIF_SEGMENT and body.startswith(directories.EXIF):
            exif.append(body[6:] if exif else body)
            bounds.check_count(len(exif), bounds.EXIF_SEGMENTS, "a JPEG of {} EXIF segments")
        elif kind == MPF_SEGMENT and body.startswith(b"MPF\0"):
            indexes += 1
            bounds.check_count(indexes, bounds.EXIF_BLOCKS, "a JPEG of {} indexes of images")
            directories.check_exif(body[4:])
    directories.check_exif(b"".join(exif))


def _check_png(data: bytes) -> None:
    """Sizes, chunks, EXIF blocks, and what texts and profiles unpack to."""
    at, chunks, unpacked, blocks = 8, 0, 0, 0
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunks += 1
        bounds.check_count(chunks, bounds.CHUNKS, "a PNG of {} chunks")
        body = data[at + 8 : at + 8 + length] if kind in PNG_CHUNKS else b""
        at += length + 12
        if kind == b"IEND" or not re.fullmatch(rb"\w{4}", kind):  # Pillow stops too
            return
        profile = kind != b"iCCP" and body.startswith(b"Raw profile type exif\0")
        blocks += kind == b"eXIf" or profile
        bounds.check_count(blocks, bounds.EXIF_BLOCKS, "a PNG of {} EXIF blocks")
        if kind == b"IHDR":
            bounds.check_size(*struct.unpack_from(">II", body))
        elif kind == b"eXIf":
            directories.check_exif(body)
        elif kind in (b"tEXt", b"zTXt", b"iTXt", b"iCCP"):
            text = _png_text(kind, body)
            unpacked += 0 if kind == b"tEXt" else len(text)
            bounds.check_count(unpacked, bounds.UNPACKED, "a PNG whose texts and profiles unpack to {} bytes")
            if profile:
                digits = b"".join(text.split(b"\n", 3)[3:]).replace(b"\n", b"")
                with suppress(ValueError):  # no digits
                    directories.check_exif(bytes.fromhex(digits.decode("latin-1")))


def _png_text(kind: bytes, body: bytes) -> bytes:
    """The text or profile of a chunk; not much more of a packed one than Pillow takes."""
    _, _, rest = body.partition(b"\0")
    if kind == b"tEXt":
        return rest
    method, text = rest[:1], rest[1:]
    if kind == b"iTXt":
        text = rest[2:].partition(b"\0")[2].partition(b"\0")[2]  # behind the language and the translated key
        if method == b"\0":
            return text
    try:
        return zlib.decompressobj().decompress(text, bounds.UNPACKED_TEXT)
    except zlib.error:
        return b""


def _check_gif(data: bytes) -> None:
    """Sizes, blocks and frames, read as Pillow reads them where a file is not sound."""
    bounds.check_size(*struct.unpack_from("<HH", data, 6))
    at = 13 + _palette(data[10])
    blocks = comments = frames = 0
    while (mark := data[at]) != 0x3B:
        at, comment = at + 1, False
        if mark == 0x2C:
            left, top, width, height, flags = struct.unpack_from("<HHHHB", data, at)
            bounds.check_size(left + width, top + height)
            frames += 1
            bounds.check_count(frames, bounds.FRAMES, "a GIF of {} frames")
            at += 9 + _palette(flags) + 1
        elif mark == 0x21:
            label = data[at]
            comment = label == 0xFE
            at += 1
            if not comment:  # the first block of another extension may be empty
                loops = label == 0xFF and not frames and data[at] and data.startswith(b"NETSCAPE2.0", at + 1)
                at += 1 + data[at]
                at += 1 + data[at] if loops else 0
        else:  # a byte that means nothing: passed over
            blocks += 1
            bounds.check_count(blocks, bounds.BLOCKS, "a GIF of {} blocks")
            continue
        while length := data[at]:
            at += 1 + length
            blocks += 1
            comments += comment
            if blocks > bounds.BLOCKS or comments > bounds.COMMENTS:
                bounds.check_count(comments, bounds.COMMENTS, "a GIF of {} blocks of comments")
                bounds.check_count(blocks, bounds.BLOCKS, "a GIF of {} blocks")
        at += 1
        comments += comment
        bounds.check_count(comments, bounds.COMMENTS, "a GIF of {} blocks of comments")


def _palette(flags: int) -> int:
    """Bytes of the palette that a GIF's flags announce."""
    return 3 << (flags & 7) + 1 if flags & 0x80 else 0


def _check_webp(data: bytes) -> None:
    """Sizes of the canvas, of the image or of each frame; chunks and the EXIF block."""
    at, parts, frames, blocks = 12, 0, 0, 0
    while at + 8 <= len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        start, at = at + 8, at + 8 + length + length % 2
        parts += 1
        bounds.check_count(parts, bounds.PARTS, "a WebP of {} chunks")
        if kind == b"VP8X":
            bounds.check_size(*(1 + int.from_bytes(data[start + by : start + by + 3], "little") for by in (4, 7)))
        elif kind == b"ANMF":
            frames += 1
            bounds.check_count(frames, bounds.FRAMES, "a WebP of {} frames")
            bounds.check_size(*(1 + int.from_bytes(data[start + by : start + by + 3], "little") for by in (6, 9)))
        elif kind == b"VP8 ":
            bounds.check_size(*(side & 0x3FFF for side in struct.unpack_from("<HH", data, start + 6)))
        elif kind == b"VP8L":
            (bits,) = struct.unpack_from("<I", data, start + 1)
            bounds.check_size(1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF))
        elif kind == b"EXIF":
            blocks += 1
            bounds.check_count(blocks, bounds.EXIF_BLOCKS, "a WebP of {} EXIF blocks")
            directories.check_exif(data[start : start + length])


def _check_bmp(data: bytes) -> None:
    """The size, and lower bounds for runs."""
    (head,) = struct.unpack_from("<I", data, 14)
    if head == 12:
        bounds.check_size(*struct.unpack_from("<HH", data, 18))
        return
    width, height, compression = struct.unpack_from("<IixxxxI", data, 18)
    bounds.check_size(width, abs(height))
    if compression not in (1, 2):
        return
    if len(data) > bounds.PYTHON_BYTES:
        raise BadInput("a kind of BMP that is too slow to read at this size")
    if width * abs(height) > bounds.RUNS_MEGAPIXELS * 1_000_000 or width > bounds.RUNS_WIDTH:
        raise BadInput(f"{width} x {abs(height)} pixels are too many for a BMP in runs, which is slow to read")


def _check_ppm(data: bytes) -> None:
    """Lower bounds for images in words. The size is that of the pixels, which Pillow checks when it opens the file."""
    if data[1:2] not in b"123":
        return
    if len(data) > bounds.PYTHON_BYTES:
        raise BadInput("a kind of PPM that is too slow to read at this size")
    bounds.check_count(data.count(b"#"), bounds.WORD_COMMENTS, "a PPM of {} comments")


WALKS: tuple[tuple[bytes, Callable[[bytes], None]], ...] = (  # by the first bytes, as Pillow tells formats apart
    (rb"\xff\xd8\xff", _check_jpeg),
    (rb"\x89PNG\r\n\x1a\n", _check_png),
    (rb"RIFF....WEBP", _check_webp),
    (rb"GIF8[79]a", _check_gif),
    (rb"BM", _check_bmp),
    (rb"II\*\0|MM\0\*|MM\*\0|II\0\*|II\+\0|MM\0\+", directories.check_tiff),
    (rb"P[0-6fy]", _check_ppm),
    (rb"\xff\x4f\xff\x51|\0\0\0\x0cjP  \r\n\x87\n", check_jpeg2000),
    (rb"....ftyp", check_avif),
)
