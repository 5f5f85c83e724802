"""Image files made to hurt whoever reads them, as bytes, and good files changed at random.

Each function makes one file of at most 8 MB, says what it holds and what reading it costs; `IMAGES` lists them. None
takes longer than a second to make.
"""

from __future__ import annotations

import io
import random
import struct
import zlib
from collections.abc import Callable
from functools import cache

from PIL import Image

BLOCK = 7_000_000  # bytes that many tags share
SHORT, LONG, RATIONAL, BYTES = 3, 4, 5, 7  # types of TIFF tags
Tag = tuple[int, int, int, int]  # tag, type, count, value or offset


@cache
def saved(kind: str, *, size: tuple[int, int] = (100, 100), colour: int = 90, **options: object) -> bytes:
    """A grey image of one colour as a file."""
    out = io.BytesIO()
    Image.new("L", size, colour).save(out, kind, **options)
    return out.getvalue()


# EXIF blocks


def tiff(tags: list[Tag], *, block: bytes = b"") -> bytes:
    """A directory of tags behind its block of bytes, which lies at offset 8."""
    entries = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    return b"II*\0" + struct.pack("<I", 8 + len(block)) + block + struct.pack("<H", len(tags)) + entries + bytes(4)


def shared(count: int, *, length: int = BLOCK) -> list[Tag]:
    """Private tags that all refer to the same bytes."""
    return [(40_000 + number, BYTES, length, 8) for number in range(count)]


def exif_shared(count: int = 600, *, length: int = BLOCK) -> bytes:
    """An EXIF block whose tags share most of its bytes."""
    return tiff([(274, SHORT, 1, 6), *shared(count, length=length)], block=bytes(length))


def tiff_shared_tags() -> bytes:
    """A TIFF, which visitors may not send: 250 tags share 7 MB, and Pillow copies the bytes for each tag."""
    size = [(tag, LONG, 1, 100) for tag in (256, 257, 278)]
    return tiff(
        [*size, (258, SHORT, 1, 8), (273, LONG, 1, 8), (279, LONG, 1, 10_000), *shared(250)], block=bytes(BLOCK)
    )


def png_exif_shared_tags() -> bytes:
    """600 tags share 7 MB in an eXIf chunk: 4.2 GB when the orientation is read."""
    return png(chunk(b"eXIf", exif_shared()))


def png_exif_prefixes() -> bytes:
    """An eXIf chunk of the words "Exif", which Pillow removes one by one, with a copy of the rest each time."""
    return png(chunk(b"eXIf", b"Exif\0\0" * 1_200_000))


def png_text_exif_shared_tags() -> bytes:
    """An EXIF block as compressed text: 4,000 tags share 450 kB, 1.8 GB from a file of 60 kB."""
    block = exif_shared(4_000, length=450_000).hex()
    text = b"Raw profile type exif\0\0" + zlib.compress(f"\nexif\n{len(block) // 2}\n{block}\n".encode())
    return png(chunk(b"zTXt", text))


def webp_exif_shared_tags() -> bytes:
    """600 tags share 7 MB in the EXIF chunk of a WebP."""
    image = saved("WEBP")[12:]
    canvas = b"\x08\0\0\0" + (99).to_bytes(3, "little") * 2
    return riff(webp_chunk(b"VP8X", canvas) + image + webp_chunk(b"EXIF", exif_shared()))


def jpeg_exif_shared_tags() -> bytes:
    """600 tags share 7 MB in an EXIF block over 107 segments, which Pillow joins."""
    block = exif_shared()
    parts = (block[at : at + 65_000] for at in range(0, len(block), 65_000))
    return jpeg(b"".join(segment(0xE1, b"Exif\0\0" + part) for part in parts))


# JPEG


def segment(marker: int, body: bytes) -> bytes:
    """A segment of a JPEG or of a JPEG 2000 codestream, its length before its body."""
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg(segments: bytes) -> bytes:
    """A small JPEG with further segments at its beginning."""
    good = saved("JPEG")
    return good[:2] + segments + good[2:]


def jpeg_tiny_exif_segments() -> bytes:
    """600,000 EXIF segments of two bytes: Pillow joins them one by one and copies all before each time."""
    return jpeg(segment(0xE1, b"Exif\0\0II") * 600_000)


def jpeg_tiny_comments() -> bytes:
    """1.5 million empty comments: each is an entry of a list."""
    return jpeg(segment(0xFE, b"") * 1_500_000)


def jpeg_quantisation_tables() -> bytes:
    """115,000 quantisation tables, each a list of Python."""
    table = segment(0xDB, (b"\0" + b"\1" * 64) * 1_000)
    return jpeg(table * 115)


def jpeg_photoshop_blocks() -> bytes:
    """600,000 empty image resources, each parsed by Pillow in Python."""
    return jpeg(segment(0xED, b"Photoshop 3.0\0" + (b"8BIM\4\4\0\0\0\0\0\0" * 5_400)) * 120)


def jpeg_junk() -> bytes:
    """7 MB between two segments, passed over byte by byte."""
    return jpeg(segment(0xFE, b"") + bytes(7_000_000))


def jpeg_after_its_end() -> bytes:
    """As jpeg_tiny_exif_segments, behind a marker of the end, at which Pillow does not stop."""
    return jpeg(b"\xff\xd9" + segment(0xE1, b"Exif\0\0II") * 600_000)


def jpeg_many_scans() -> bytes:
    """100 empty passes over 39 megapixels, each of which costs the time of the first."""
    image = bytearray(saved("JPEG", size=(6_240, 6_240), progressive=True))
    last = bytes(image[image.rindex(b"\xff\xda") : -2])
    return bytes(image[:-2]) + last * 90 + b"\xff\xd9"


# PNG


def chunk(kind: bytes, body: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(before: bytes = b"", *, inside: bytes = b"", after: bytes = b"") -> bytes:
    """A small PNG with further chunks before, within and after its pixels."""
    good = saved("PNG")
    pixels, end = good.index(b"IDAT") - 4, good.index(b"IEND") - 4
    return (
        good[:pixels]
        + before
        + (chunk(b"IDAT", b"") if inside else b"")
        + inside
        + good[pixels:end]
        + after
        + good[end:]
    )


def png_empty_pixel_chunks() -> bytes:
    """600,000 empty IDAT chunks."""
    return png(inside=chunk(b"IDAT", b"") * 600_000)


def png_profile_bombs() -> bytes:
    """6,000 colour profiles that each unpack to a megabyte: Pillow unpacks every one of them."""
    return png(chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(1_000_000), 9)) * 6_000)


def png_text_bombs() -> bytes:
    """60 texts that each unpack to a megabyte, just below Pillow's own bound, in 60 kB."""
    texts = (chunk(b"zTXt", b"text %d\0\0" % number + zlib.compress(bytes(1_000_000), 9)) for number in range(60))
    return png(b"".join(texts))


def apng_many_frames() -> bytes:
    """90,000 frames of one pixel behind the first, of which only the first is used."""

    def frame(number: int) -> bytes:
        return chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, 1, 1, 0, 0, 1, 10, 0, 0))

    pixel = zlib.compress(b"\0\0")
    later = (frame(n) + chunk(b"fdAT", struct.pack(">I", n + 1) + pixel) for n in range(1, 180_000, 2))
    return png(chunk(b"acTL", struct.pack(">II", 90_001, 0)) + frame(0), after=b"".join(later))[:8_000_000]


# GIF


def gif(extension: bytes = b"", *, screen: tuple[int, int] = (1, 1), frames: bytes | None = None) -> bytes:
    """A GIF of one black pixel behind an extension."""
    head = b"GIF89a" + struct.pack("<HH", *screen) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"
    return head + extension + (gif_frame() if frames is None else frames) + b";"


def gif_frame(*, width: int = 1, height: int = 1) -> bytes:
    """A frame of a GIF that holds one black pixel."""
    return b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\0"


def gif_comment_of_bytes() -> bytes:
    """A comment in 3.9 million blocks of one byte: Pillow joins them one by one and copies all before each time."""
    return gif(b"!\xfe" + b"\1a" * 3_900_000 + b"\0")


def gif_comment_of_blocks() -> bytes:
    """A comment of 8 MB in whole blocks: 30,000 copies of 4 MB."""
    return gif(b"!\xfe" + (b"\xff" + b"a" * 255) * 31_000 + b"\0")


def gif_many_comments() -> bytes:
    """1.5 million comments of one byte, joined by Pillow too."""
    return gif(b"!\xfe\1a\0" * 1_500_000)


def gif_pixels_of_bytes() -> bytes:
    """Behind the first frame's pixels 3.9 million blocks of one byte, walked to see whether another frame follows."""
    return gif(frames=gif_frame()[:-1] + b"\1\0" * 3_900_000 + b"\0" + gif_frame())


def gif_many_frames() -> bytes:
    """500,000 frames of one pixel, of which only the first is used."""
    return gif(frames=gif_frame() * 500_000)


def gif_wide_frame() -> bytes:
    """A screen of one pixel with a frame of 65,000 x 65,000."""
    return gif(frames=gif_frame(width=65_000, height=65_000))


# WebP


def webp_chunk(kind: bytes, body: bytes) -> bytes:
    """A chunk of a WebP, padded to an even length."""
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


def webp_many_chunks() -> bytes:
    """900,000 unknown chunks of no bytes behind a small image."""
    canvas = bytes(4) + (99).to_bytes(3, "little") * 2
    return riff(webp_chunk(b"VP8X", canvas) + saved("WEBP")[12:] + webp_chunk(b"????", b"") * 900_000)


def riff(chunks: bytes) -> bytes:
    """A WebP of chunks."""
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def webp_large_canvas() -> bytes:
    """A canvas of 65,000 x 60,000 with a frame of 100 x 100: libwebp reserves two canvases, 31 GB."""
    return webp_animation((65_000, 60_000), frames=2)


def webp_many_frames() -> bytes:
    """80,000 frames, of which only the first is used."""
    return webp_animation((100, 100), frames=80_000)


def webp_animation(canvas: tuple[int, int], *, frames: int) -> bytes:
    """The same frame of 100 x 100 again and again on a canvas."""
    width, height = ((side - 1).to_bytes(3, "little") for side in canvas)
    side = (99).to_bytes(3, "little")
    frame = webp_chunk(b"ANMF", bytes(6) + side + side + b"\x64\0\0\0" + saved("WEBP", lossless=True)[12:])
    return riff(webp_chunk(b"VP8X", b"\x02\0\0\0" + width + height) + webp_chunk(b"ANIM", bytes(6)) + frame * frames)


# AVIF


def avif_claims_less(side: int = 3_600) -> bytes:
    """An AVIF whose header claims 100 x 100 and whose pixels are 13 megapixels (144 of side=12_000)."""
    data = saved("AVIF", size=(side, side), speed=10, quality=10)
    at = data.index(b"ispe") + 8
    return data[:at] + struct.pack(">II", 100, 100) + data[at + 8 :]


# Tables of them


# Odd files that cost little, since only the first page is used: refused or read, but at once.


IMAGES: dict[str, Callable[[], bytes]] = {
    make.__name__: make
    for make in (
        tiff_shared_tags,
        png_exif_shared_tags,
        png_exif_prefixes,
        png_text_exif_shared_tags,
        webp_exif_shared_tags,
        jpeg_exif_shared_tags,
        jpeg_tiny_exif_segments,
        jpeg_tiny_comments,
        jpeg_quantisation_tables,
        jpeg_photoshop_blocks,
        jpeg_junk,
        jpeg_after_its_end,
        jpeg_many_scans,
        png_empty_pixel_chunks,
        png_profile_bombs,
        png_text_bombs,
        apng_many_frames,
        gif_comment_of_bytes,
        gif_comment_of_blocks,
        gif_many_comments,
        gif_pixels_of_bytes,
        gif_many_frames,
        gif_wide_frame,
        webp_many_chunks,
        webp_large_canvas,
        webp_many_frames,
        avif_claims_less,
    )
}


# Good files changed at random


KINDS = ("PNG", "JPEG", "WEBP", "GIF", "MPO", "TIFF")


@cache
def good(kind: str) -> bytes:
    """A file with the parts that its format may have: EXIF, a second frame, text."""
    image = Image.linear_gradient("L").resize((48, 40)).convert("RGB")
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a description"
    options: dict[str, object] = {}
    if kind != "GIF":
        options["exif"] = exif
    if kind in ("WEBP", "GIF", "TIFF", "MPO", "PNG"):
        options |= {"save_all": True, "append_images": [image.rotate(90)]}
    if kind in ("JPEG", "MPO"):
        options |= {"progressive": True, "icc_profile": b"profile" * 40}
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def fuzzed(seed: int) -> bytes:
    """A good file of one of the KINDS with bytes changed, removed, repeated or exchanged, most of them in its head."""
    draw = random.Random(seed)
    data = bytearray(good(KINDS[seed % len(KINDS)]))
    for _ in range(draw.randint(1, 8)):
        at = draw.randrange(min(len(data), 400) if draw.random() < 0.7 else len(data))
        length = draw.choice((1, 2, 4, 30))
        change = draw.randrange(6)
        if change == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif change == 1:
            data[at : at + length] = draw.randbytes(length)
        elif change == 2:
            data[at : at + length] = draw.choice((b"\xff", b"\0", b"\x7f")) * length
        elif change == 3:
            del data[at : at + length]
        elif change == 4:
            data[at:at] = data[at : at + length] * draw.choice((1, 2, 500))
        else:
            del data[max(at, 20) :]
        if len(data) < 20:
            data += bytes(20)
    return bytes(data)
