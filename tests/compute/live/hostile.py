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


# Directories of TIFF files and of EXIF blocks


def directory(tags: list[Tag], *, following: int = 0) -> bytes:
    """A directory of tags and the offset of the next one."""
    entries = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    return struct.pack("<H", len(tags)) + entries + struct.pack("<I", following)


def tiff(tags: list[Tag], *, block: bytes = b"") -> bytes:
    """A TIFF of one directory, its block of bytes at offset 8."""
    return b"II*\0" + struct.pack("<I", 8 + len(block)) + block + directory(tags)


def grey(width: int = 100, height: int = 100, *, bits: int = 8, compression: int = 1) -> list[Tag]:
    """The tags that any TIFF has, but for those of its strips or tiles."""
    return [
        (256, LONG, 1, width),
        (257, LONG, 1, height),
        (258, SHORT, 1, bits),
        (259, SHORT, 1, compression),
        (262, SHORT, 1, 1),
        (277, SHORT, 1, 1),
    ]


def strip(*, rows: int = 100, length: int = 10_000) -> list[Tag]:
    """The tags of one strip at offset 8."""
    return [(273, LONG, 1, 8), (278, LONG, 1, rows), (279, LONG, 1, length)]


def shared(count: int, *, length: int = BLOCK) -> list[Tag]:
    """Private tags that all refer to the same bytes."""
    return [(40_000 + number, BYTES, length, 8) for number in range(count)]


def exif_shared(count: int = 600, *, length: int = BLOCK) -> bytes:
    """An EXIF block whose tags share most of its bytes."""
    return tiff([(274, SHORT, 1, 6), *shared(count, length=length)], block=bytes(length))


def tiff_shared_tags() -> bytes:
    """250 tags share 7 MB: Pillow copies the bytes for each tag, 1.75 GB, and again for its EXIF."""
    return tiff([*grey(), *strip(), *shared(250)], block=bytes(BLOCK))


def tiff_same_tag_again() -> bytes:
    """The same tag 2,000 times over 7 MB: 14 GB are copied, though little stays in memory."""
    return tiff([*grey(), *strip(), *[(40_000, BYTES, BLOCK, 8)] * 2_000], block=bytes(BLOCK))


def bigtiff_shared_tags() -> bytes:
    """As tiff_shared_tags, in the form with offsets of 8 bytes."""
    tags = [*grey(), *strip(), *shared(250)]
    entries = b"".join(struct.pack("<HHQQ", *tag) for tag in sorted(tags))
    head = b"II+\0" + struct.pack("<HHQ", 8, 0, 16 + BLOCK)
    return head + bytes(BLOCK) + struct.pack("<Q", len(tags)) + entries + bytes(8)


def tiff_exif_shared_tags() -> bytes:
    """The directory is small; the EXIF directory to which it points has 250 tags of 7 MB, read after decoding."""
    tags = [*grey(), *strip(), (34665, LONG, 1, 8 + BLOCK)]
    below = bytes(BLOCK) + directory(shared(250))
    return tiff(tags, block=below)


def tiff_rationals() -> bytes:
    """The resolution is 900,000 fractions: each becomes an object of Python."""
    return tiff([*grey(), *strip(), (282, RATIONAL, 900_000, 8)], block=bytes(7_200_000))


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


def png_many_exif_blocks() -> bytes:
    """18,000 EXIF blocks of 33 tags each."""
    return png(chunk(b"eXIf", tiff([(274, SHORT, 1, 1)] * 33)) * 18_000)


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


def jpeg_mpf_shared_tags() -> bytes:
    """The index of a JPEG of several images has 2,500 tags of 32 kB in one segment, 80 MB."""
    block = tiff(shared(2_500, length=32_000), block=bytes(32_000))
    return jpeg(segment(0xE2, b"MPF\0" + block))


# TIFF: strips, tiles, pages


def tiff_million_strips() -> bytes:
    """900,000 strips of one row: each becomes a tile of Pillow."""
    count = 900_000
    tags = [*grey(8, count), (273, LONG, count, 8), (278, SHORT, 1, 1)]
    return tiff(tags, block=struct.pack("<I", 8) * count)


def tiff_million_compressed_strips() -> bytes:
    """As tiff_million_strips, for libtiff: packed bits, with the same 4 bytes for every strip."""
    count = 900_000
    tags = [*grey(8, count, compression=32_773), (273, LONG, count, 8), (278, SHORT, 1, 1), (279, LONG, 1, 4)]
    return tiff(tags, block=struct.pack("<I", 8) * count)


def tiff_strips_share_bytes() -> bytes:
    """Each of 20,000 compressed strips claims the same 7 MB: libtiff reads them all for each, 140 GB."""
    count = 20_000
    offsets, lengths = struct.pack("<I", 8) * count, struct.pack("<I", BLOCK) * count
    block = bytes(BLOCK) + offsets + lengths
    strips = [(273, LONG, count, 8 + BLOCK), (278, SHORT, 1, 1), (279, LONG, count, 8 + BLOCK + len(offsets))]
    return tiff([*grey(100, count, compression=32_773), *strips], block=block)


def tiff_strips_without_lengths() -> bytes:
    """20,000 compressed strips state no lengths: libtiff takes the whole file for each."""
    count = 20_000
    block = struct.pack("<I", 8) * count + bytes(BLOCK)
    strips = [(273, LONG, count, 8), (278, SHORT, 1, 1)]
    return tiff([*grey(100, count, compression=32_773), *strips], block=block)


def tiff_large_tile() -> bytes:
    """An image of 100 x 100 in a tile of 30,000 x 30,000: 900 MB for one tile."""
    tags = [*grey(compression=8), (322, LONG, 1, 30_000), (323, LONG, 1, 30_000), (324, LONG, 1, 8)]
    block = zlib.compress(bytes(10_000_000))
    return tiff([*tags, (325, LONG, 1, len(block))], block=block)


def tiff_tiny_tiles() -> bytes:
    """36 megapixels in tiles of one pixel: libtiff reserves an offset and a length for each."""
    tags = [*grey(6_000, 6_000, compression=32_773), (322, LONG, 1, 1), (323, LONG, 1, 1)]
    return tiff([*tags, (324, LONG, 1, 8), (325, LONG, 1, 2)], block=b"\0\0")


def tiff_many_scans() -> bytes:
    """As jpeg_many_scans, in a strip of a TIFF."""
    strip_bytes = jpeg_many_scans()
    tags = [*grey(6_240, 6_240, compression=7), *strip(rows=6_240, length=len(strip_bytes))]
    return tiff(tags, block=strip_bytes)


def tiff_pages_in_a_circle() -> bytes:
    """Two pages that each name the other as the next. Only the first is used: reading it costs nothing."""
    tags = [*grey(), *strip()]
    first = 8 + 10_000
    length = len(directory(tags))
    pages = directory(tags, following=first + length) + directory(tags, following=first)
    return b"II*\0" + struct.pack("<I", first) + bytes(10_000) + pages


def tiff_many_pages() -> bytes:
    """60,000 pages, of which only the first is used: reading it costs nothing."""
    tags = [*grey(), *strip()]
    first, length = 8 + 10_000, len(directory(tags))
    count = 60_000
    pages = (directory(tags, following=first + length * (page + 1)) for page in range(count - 1))
    return b"II*\0" + struct.pack("<I", first) + bytes(10_000) + b"".join(pages) + directory(tags)


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


def jpeg_tiny_app_segments() -> bytes:
    """1.5 million empty application segments."""
    return jpeg(segment(0xE5, b"") * 1_500_000)


def jpeg_quantisation_tables() -> bytes:
    """115,000 quantisation tables, each a list of Python."""
    table = segment(0xDB, (b"\0" + b"\1" * 64) * 1_000)
    return jpeg(table * 115)


def jpeg_huffman_tables() -> bytes:
    """340,000 Huffman tables of one code."""
    return jpeg(segment(0xC4, b"\0\1" + bytes(15) + b"\0") * 340_000)


def jpeg_photoshop_blocks() -> bytes:
    """600,000 empty image resources, each parsed by Pillow in Python."""
    return jpeg(segment(0xED, b"Photoshop 3.0\0" + (b"8BIM\4\4\0\0\0\0\0\0" * 5_400)) * 120)


def jpeg_junk() -> bytes:
    """7 MB between two segments, passed over byte by byte."""
    return jpeg(segment(0xFE, b"") + bytes(7_000_000))


def jpeg_after_its_end() -> bytes:
    """As jpeg_tiny_exif_segments, behind a marker of the end, at which Pillow does not stop."""
    return jpeg(b"\xff\xd9" + segment(0xE1, b"Exif\0\0II") * 600_000)


def jpeg_hidden_segments() -> bytes:
    """As jpeg_tiny_exif_segments, behind markers that have a length for some readers and none for Pillow."""
    return jpeg((b"\xff\xf0\xff\xff" + segment(0xE1, b"Exif\0\0II") * 6_000) * 90)


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


def png_private_chunks() -> bytes:
    """600,000 private chunks, each an entry of a list."""
    return png(chunk(b"prVt", b"") * 600_000)


def png_text_chunks() -> bytes:
    """500,000 chunks of text after the pixels."""
    return png(after=chunk(b"tEXt", b"a\0b") * 500_000)


def png_profile_bombs() -> bytes:
    """6,000 colour profiles that each unpack to a megabyte: Pillow unpacks every one of them."""
    return png(chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(1_000_000), 9)) * 6_000)


def png_text_bombs() -> bytes:
    """60 texts that each unpack to a megabyte, just below Pillow's own bound, in 60 kB."""
    texts = (chunk(b"zTXt", b"text %d\0\0" % number + zlib.compress(bytes(1_000_000), 9)) for number in range(60))
    return png(b"".join(texts))


def png_international_text_bombs() -> bytes:
    """As png_text_bombs, as iTXt."""
    packed_text = zlib.compress(b"a" * 1_000_000, 9)
    return png(b"".join(chunk(b"iTXt", b"text %d\0\1\0\0\0" % number + packed_text) for number in range(60)))


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


def gif_application_of_bytes() -> bytes:
    """An application block of 3.9 million blocks of one byte."""
    return gif(b"!\xff\x0bNETSCAPE2.0" + b"\1a" * 3_900_000 + b"\0")


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


def riff(chunks: bytes) -> bytes:
    """A WebP of chunks."""
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WEBP" + chunks


def webp_large_canvas() -> bytes:
    """A canvas of 65,000 x 60,000 with a frame of 100 x 100: libwebp reserves two canvases, 31 GB."""
    return webp_animation((65_000, 60_000), frames=2)


def webp_canvas_and_frame_differ() -> bytes:
    """A canvas of 16 x 16 and a frame of 100 x 100 on it."""
    return webp_animation((16, 16), frames=2)


def webp_many_frames() -> bytes:
    """80,000 frames, of which only the first is used."""
    return webp_animation((100, 100), frames=80_000)


def webp_animation(canvas: tuple[int, int], *, frames: int) -> bytes:
    """The same frame of 100 x 100 again and again on a canvas."""
    width, height = ((side - 1).to_bytes(3, "little") for side in canvas)
    side = (99).to_bytes(3, "little")
    frame = webp_chunk(b"ANMF", bytes(6) + side + side + b"\x64\0\0\0" + saved("WEBP", lossless=True)[12:])
    return riff(webp_chunk(b"VP8X", b"\x02\0\0\0" + width + height) + webp_chunk(b"ANIM", bytes(6)) + frame * frames)


def webp_many_chunks() -> bytes:
    """900,000 unknown chunks of no bytes."""
    return webp_with(chunks=900_000)


def webp_with(*, chunks: int) -> bytes:
    """A small WebP and unknown chunks behind it."""
    canvas = bytes(4) + (99).to_bytes(3, "little") * 2
    return riff(webp_chunk(b"VP8X", canvas) + saved("WEBP")[12:] + webp_chunk(b"????", b"") * chunks)


# AVIF


def box(kind: bytes, body: bytes) -> bytes:
    """A box of an AVIF or a JPEG 2000 file."""
    return struct.pack(">I", len(body) + 8) + kind + body


def avif_claims_less(side: int = 3_600) -> bytes:
    """An AVIF whose header claims 100 x 100 and whose pixels are 13 megapixels (144 of side=12_000)."""
    data = saved("AVIF", size=(side, side), speed=10, quality=10)
    at = data.index(b"ispe") + 8
    return data[:at] + struct.pack(">II", 100, 100) + data[at + 8 :]


def avif_exif_shared_tags() -> bytes:
    """600 tags share 7 MB in the EXIF block of an AVIF."""
    harmless = tiff(shared(600, length=5), block=bytes(BLOCK))
    whole = saved("AVIF", exif=harmless)
    return whole.replace(harmless[8 + BLOCK :], tiff(shared(600), block=bytes(BLOCK))[8 + BLOCK :])


def avif_many_items() -> bytes:
    """900,000 references to items of their own: libavif looks each up among all before it."""
    return _avif_with(box(b"iref", b"\1\0\0\0" + b"".join(_references(start) for start in range(0, 900_000, 60_000))))


def _references(start: int) -> bytes:
    ids = struct.pack(">60000I", *range(start + 10, start + 60_010))
    return box(b"thmb", struct.pack(">IH", 1, 60_000) + ids)


def avif_items_share_bytes() -> bytes:
    """990 items that each are the same 7 MB: to join them takes seconds."""
    numbers = [number.to_bytes(2, "big") for number in range(1, 991)]
    entries = b"".join(box(b"infe", b"\2\0\0\0" + number + b"\0\0av01\0") for number in numbers)
    where = b"\0\1" + struct.pack(">II", 0, BLOCK)
    count = struct.pack(">H", len(numbers))
    items = box(b"iinf", bytes(4) + count + entries)
    items += box(b"iloc", bytes(4) + b"\x44\0" + count + b"".join(number + b"\0\0" + where for number in numbers))
    return saved("AVIF")[:28] + box(b"meta", bytes(4) + items) + bytes(BLOCK)


def avif_many_properties() -> bytes:
    """400,000 boxes of properties."""
    data = saved("AVIF")
    at = data.index(b"ipco") - 4
    return _inserted(data, at + 8, box(b"pixi", b"\0\0\0\0\1\x08") * 400_000, inside=(b"meta", b"iprp", b"ipco"))


def _avif_with(extra: bytes) -> bytes:
    """A small AVIF with a further box in its meta box."""
    data = saved("AVIF")
    return _inserted(data, data.index(b"iprp") - 4, extra, inside=(b"meta",))


def _inserted(data: bytes, at: int, extra: bytes, *, inside: tuple[bytes, ...]) -> bytes:
    """The file with bytes inserted, the boxes around them and the offset of its pixels made to fit."""
    whole = bytearray(data)
    for kind in inside:
        start = data.index(kind) - 4
        struct.pack_into(">I", whole, start, struct.unpack_from(">I", data, start)[0] + len(extra))
    offset = data.index(b"iloc") + 22  # of the one extent of the one item
    struct.pack_into(">I", whole, offset, struct.unpack_from(">I", data, offset)[0] + len(extra))
    return bytes(whole[:at]) + extra + bytes(whole[at:])


# JPEG 2000


def codestream(
    *,
    size: tuple[int, int] = (100, 100),
    tile: tuple[int, int] | None = None,
    components: int = 1,
    layers: int = 1,
    block: int = 4,
    precincts: bytes = b"",
    levels: int = 5,
    between: bytes = b"",
) -> bytes:
    """The main header of a codestream; `block` is the exponent of a code-block's side, less 2."""
    sides = struct.pack(">II", *size) + bytes(8) + struct.pack(">II", *(tile or size)) + bytes(8)
    head = segment(0x51, b"\0\0" + sides + struct.pack(">H", components) + b"\7\1\1" * components)
    style = bytes([1 if precincts else 0, 0]) + struct.pack(">H", layers) + b"\0"
    coding = segment(0x52, style + bytes([levels, block, block, 0, 1]) + precincts)
    quantisation = segment(0x5C, b"\x40" + b"\x40" * (3 * levels + 1))
    return b"\xff\x4f" + head + coding + quantisation + between


def tile_part(number: int = 0, *, body: bytes = b"") -> bytes:
    """One part of a tile."""
    return segment(0x90, struct.pack(">HIBB", number, 14 + len(body), 0, 1)) + b"\xff\x93" + body


def jp2(stream: bytes, *, size: tuple[int, int] = (100, 100), components: int = 1) -> bytes:
    """A codestream in a JP2 file that claims a size."""
    head = box(b"ihdr", struct.pack(">IIHBBBB", size[1], size[0], components, 7, 7, 0, 0))
    head += box(b"colr", b"\1\0\0" + struct.pack(">I", 17))
    signed = box(b"jP  ", b"\r\n\x87\n") + box(b"ftyp", b"jp2 \0\0\0\0jp2 ")
    return signed + box(b"jp2h", head) + box(b"jp2c", stream + b"\xff\xd9")


def jpeg2000_claims_less() -> bytes:
    """A header of 100 x 100 before a codestream of 30,000 x 30,000."""
    return jp2(codestream(size=(30_000, 30_000)) + tile_part())


def jpeg2000_many_tiles() -> bytes:
    """65,025 tiles: openjpeg copies the settings for each, 700 MB with 4 components."""
    stream = codestream(size=(1_020, 1_020), tile=(4, 4), components=4)
    return jp2(stream + tile_part(), size=(1_020, 1_020), components=4)


def jpeg2000_many_components() -> bytes:
    """16,000 components in a file that claims one."""
    return jp2(codestream(components=16_000) + tile_part())


def jpeg2000_many_layers() -> bytes:
    """65,535 layers of quality, with a table of layers times precincts."""
    stream = codestream(size=(3_000, 3_000), layers=65_535, precincts=b"\x55" * 6)
    return jp2(stream + tile_part(), size=(3_000, 3_000))


def jpeg2000_tiny_precincts() -> bytes:
    """9 megapixels in precincts of 2 x 2: some gigabytes of tables."""
    stream = codestream(size=(3_000, 3_000), precincts=b"\x11" * 6)
    return jp2(stream + tile_part(body=bytes(2_000_000)), size=(3_000, 3_000))


def jpeg2000_tiny_blocks() -> bytes:
    """9 megapixels and four components in code-blocks of 4 x 4."""
    stream = codestream(size=(3_000, 3_000), block=0, components=4)
    return jp2(stream + tile_part(body=bytes(2_000_000)), size=(3_000, 3_000), components=4)


def jpeg2000_many_markers() -> bytes:
    """2 million empty markers, which Pillow reads one by one in search of a comment."""
    return codestream(between=segment(0x63, b"") * 1_900_000) + tile_part() + b"\xff\xd9"


def jpeg2000_many_boxes() -> bytes:
    """900,000 empty boxes before the header."""
    whole = jp2(codestream() + tile_part())
    return whole[:12] + box(b"free", b"") * 900_000 + whole[12:]


# BMP and PPM


def bmp(width: int, height: int, body: bytes, *, compression: int = 1) -> bytes:
    """A BMP of 8 bits a pixel, in runs unless said otherwise."""
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, compression, len(body), 0, 0, 256, 0) + bytes(1024)
    return b"BM" + struct.pack("<IHHI", 14 + len(head) + len(body), 0, 0, 14 + len(head)) + head + body


def bmp_jump() -> bytes:
    """One jump of 255 lines of 39 million pixels: 10 GB from a file of 1 kB."""
    return bmp(39_000_000, 1, b"\0\2\0\xff" + b"\0\1")


def bmp_short_lines() -> bytes:
    """39 megapixels of lines that end at once, each filled pixel by pixel in Python."""
    return bmp(6_240, 6_240, b"\1\0\0\0" * 6_240 + b"\0\1")


def ppm_comments() -> bytes:
    """400,000 comments in a PPM of words: Pillow copies the megabyte for each."""
    return b"P3\n100 100\n255\n" + b"#\n" * 400_000 + b"70 " * 30_000


def ppm_odd_depth() -> bytes:
    """8 MB of a PPM whose white is 254, which Pillow scales value by value in Python: four seconds."""
    return b"P6\n1600 1600\n254\n" + bytes(7_680_000)


def mpo_many_images() -> bytes:
    """An index of 4,000 images in a JPEG that holds one."""
    count = 4_000
    block = bytes(16 * count)
    tags = [(0xB000, BYTES, 4, 0x30303130), (0xB001, LONG, 1, count), (0xB002, BYTES, len(block), 8)]
    return jpeg(segment(0xE2, b"MPF\0" + tiff(tags, block=block)))


IMAGES: dict[str, Callable[[], bytes]] = {
    make.__name__: make
    for make in (
        tiff_shared_tags,
        tiff_same_tag_again,
        bigtiff_shared_tags,
        tiff_exif_shared_tags,
        tiff_rationals,
        png_exif_shared_tags,
        png_exif_prefixes,
        png_text_exif_shared_tags,
        png_many_exif_blocks,
        webp_exif_shared_tags,
        jpeg_exif_shared_tags,
        jpeg_mpf_shared_tags,
        tiff_million_strips,
        tiff_million_compressed_strips,
        tiff_strips_share_bytes,
        tiff_strips_without_lengths,
        tiff_large_tile,
        tiff_tiny_tiles,
        tiff_many_scans,
        jpeg_tiny_exif_segments,
        jpeg_tiny_comments,
        jpeg_tiny_app_segments,
        jpeg_quantisation_tables,
        jpeg_huffman_tables,
        jpeg_photoshop_blocks,
        jpeg_junk,
        jpeg_after_its_end,
        jpeg_hidden_segments,
        jpeg_many_scans,
        png_empty_pixel_chunks,
        png_private_chunks,
        png_text_chunks,
        png_profile_bombs,
        png_text_bombs,
        png_international_text_bombs,
        apng_many_frames,
        gif_comment_of_bytes,
        gif_comment_of_blocks,
        gif_many_comments,
        gif_application_of_bytes,
        gif_pixels_of_bytes,
        gif_many_frames,
        gif_wide_frame,
        webp_large_canvas,
        webp_canvas_and_frame_differ,
        webp_many_frames,
        webp_many_chunks,
        avif_claims_less,
        avif_exif_shared_tags,
        avif_many_items,
        avif_items_share_bytes,
        avif_many_properties,
        jpeg2000_claims_less,
        jpeg2000_many_tiles,
        jpeg2000_many_components,
        jpeg2000_many_layers,
        jpeg2000_tiny_precincts,
        jpeg2000_tiny_blocks,
        jpeg2000_many_markers,
        jpeg2000_many_boxes,
        bmp_jump,
        bmp_short_lines,
        ppm_comments,
        mpo_many_images,
        tiff_pages_in_a_circle,
        tiff_many_pages,
        ppm_odd_depth,
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
