"""Image files made to hurt whoever reads them, as bytes, and good files changed at random.

`IMAGES` makes each by name, at most 8 MB in less than a second, and says what it holds and what reading it costs. All
are of the formats that visitors may send; others are refused by their first bytes.
"""

import io
import random
import struct
import zlib
from functools import cache

from PIL import Image

BLOCK = 7_000_000  # bytes that many tags share
SHORT, BYTES = 3, 7  # types of TIFF tags


@cache
def saved(kind, *, size=(100, 100), colour=90, **options):
    """A grey image of one colour as a file."""
    out = io.BytesIO()
    Image.new("L", size, colour).save(out, kind, **options)
    return out.getvalue()


# TIFF files and EXIF blocks


def tiff(tags, *, block=b""):
    """A TIFF of one directory, its block of bytes at offset 8."""
    entries = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    return b"II*\0" + struct.pack("<I", 8 + len(block)) + block + struct.pack("<H", len(tags)) + entries + bytes(4)


def shared(count, *, length=BLOCK):
    """Private tags that all refer to the same bytes."""
    return [(40_000 + number, BYTES, length, 8) for number in range(count)]


def exif_shared(count=600, *, length=BLOCK):
    """An EXIF block whose tags share most of its bytes."""
    return tiff([(274, SHORT, 1, 6), *shared(count, length=length)], block=bytes(length))


# JPEG


def segment(marker, body):
    """A segment of a JPEG, its length before its body."""
    return struct.pack(">BBH", 0xFF, marker, len(body) + 2) + body


def jpeg(segments):
    """A small JPEG with further segments at its beginning."""
    good = saved("JPEG")
    return good[:2] + segments + good[2:]


def jpeg_exif_shared_tags():
    block = exif_shared()
    parts = (block[at : at + 65_000] for at in range(0, len(block), 65_000))
    return jpeg(b"".join(segment(0xE1, b"Exif\0\0" + part) for part in parts))


def jpeg_many_scans():
    image = saved("JPEG", size=(6_240, 6_240), progressive=True)
    return image[:-2] + image[image.rindex(b"\xff\xda") : -2] * 90 + b"\xff\xd9"


TINY_EXIF = segment(0xE1, b"Exif\0\0II")


# PNG


def chunk(kind, body):
    """A chunk of a PNG."""
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(before=b"", *, after=b""):
    """A small PNG with further chunks before and after its pixels."""
    good = saved("PNG")
    pixels, end = good.index(b"IDAT") - 4, good.index(b"IEND") - 4
    return good[:pixels] + before + good[pixels:end] + after + good[end:]


def png_text_bombs():
    packed = zlib.compress(bytes(1_000_000), 9)
    return png(b"".join(chunk(b"zTXt", b"text %d\0\0" % number + packed) for number in range(60)))


def apng_many_frames():
    def frame(number):
        return chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, 1, 1, 0, 0, 1, 10, 0, 0))

    pixel = zlib.compress(b"\0\0")
    later = (frame(n) + chunk(b"fdAT", struct.pack(">I", n + 1) + pixel) for n in range(1, 180_000, 2))
    return png(chunk(b"acTL", struct.pack(">II", 90_001, 0)) + frame(0), after=b"".join(later))[:8_000_000]


# GIF


def gif_frame(side=1):
    """A frame of a GIF that holds one black pixel."""
    return b"," + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02\x02\x44\x01\0"


def gif(extension=b"", *, frames=gif_frame()):  # noqa: B008 (bytes)
    """A GIF of one black pixel behind an extension."""
    head = b"GIF89a" + struct.pack("<HH", 1, 1) + b"\x80\0\0" + b"\0\0\0\xff\xff\xff"
    return head + extension + frames + b";"


# WebP


def webp_chunk(kind, body):
    """A chunk of a WebP, padded to an even length."""
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) % 2)


def webp(chunks, *, flags=0, canvas=(100, 100)):
    """A WebP of chunks behind a canvas."""
    width, height = ((side - 1).to_bytes(3, "little") for side in canvas)
    body = b"WEBP" + webp_chunk(b"VP8X", bytes([flags, 0, 0, 0]) + width + height) + chunks
    return b"RIFF" + struct.pack("<I", len(body)) + body


def webp_animation(canvas, *, frames):
    """The same frame of 100 x 100 again and again on a canvas."""
    side = (99).to_bytes(3, "little")
    frame = webp_chunk(b"ANMF", bytes(6) + side + side + b"\x64\0\0\0" + saved("WEBP", lossless=True)[12:])
    return webp(webp_chunk(b"ANIM", bytes(6)) + frame * frames, flags=2, canvas=canvas)


IMAGES = {
    # 600 tags share 7 MB of EXIF: 4.2 GB when the orientation is read. In a JPEG it is in 107 segments, which Pillow
    # joins.
    "png_exif_shared_tags": lambda: png(chunk(b"eXIf", exif_shared())),
    "webp_exif_shared_tags": lambda: webp(saved("WEBP")[12:] + webp_chunk(b"EXIF", exif_shared()), flags=8),
    "jpeg_exif_shared_tags": jpeg_exif_shared_tags,
    # The index of a JPEG of several images has 2,500 tags of 32 kB in one segment, 80 MB.
    "jpeg_mpf_shared_tags": lambda: jpeg(
        segment(0xE2, b"MPF\0" + tiff(shared(2_500, length=32_000), block=bytes(32_000)))
    ),
    # The words "Exif", which Pillow removes one by one, with a copy of the rest each time.
    "png_exif_prefixes": lambda: png(chunk(b"eXIf", b"Exif\0\0" * 1_200_000)),
    # 600,000 EXIF segments of two bytes: Pillow joins them one by one and copies all before each time. Then the same
    # behind markers with a length for some readers only.
    "jpeg_tiny_exif_segments": lambda: jpeg(TINY_EXIF * 600_000),
    "jpeg_hidden_segments": lambda: jpeg((b"\xff\xf0\xff\xff" + TINY_EXIF * 6_000) * 90),
    # 1.5 million empty comments, each an entry of a list.
    "jpeg_tiny_comments": lambda: jpeg(segment(0xFE, b"") * 1_500_000),
    # 115,000 quantisation tables, each a list of Python.
    "jpeg_quantisation_tables": lambda: jpeg(segment(0xDB, (b"\0" + b"\1" * 64) * 1_000) * 115),
    # 7 MB between two segments, passed over byte by byte.
    "jpeg_junk": lambda: jpeg(segment(0xFE, b"") + bytes(7_000_000)),
    # 90 empty passes over 39 megapixels, each of which costs the time of the first.
    "jpeg_many_scans": jpeg_many_scans,
    # 600,000 empty chunks of pixels.
    "png_empty_pixel_chunks": lambda: png(chunk(b"IDAT", b"") * 600_000),
    # 6,000 colour profiles that each unpack to a megabyte: Pillow unpacks every one of them.
    "png_profile_bombs": lambda: png(chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(1_000_000), 9)) * 6_000),
    # 60 texts that each unpack to a megabyte, just below Pillow's own bound, in 60 kB.
    "png_text_bombs": png_text_bombs,
    # 90,000 frames of one pixel behind the first, of which only the first is used.
    "apng_many_frames": apng_many_frames,
    # A comment in 3.9 million blocks of one byte: Pillow joins them one by one and copies all before each time.
    "gif_comment_of_bytes": lambda: gif(b"!\xfe" + b"\1a" * 3_900_000 + b"\0"),
    # Behind the first frame's pixels 3.9 million blocks of one byte, walked to see whether another frame follows.
    "gif_pixels_of_bytes": lambda: gif(frames=gif_frame()[:-1] + b"\1\0" * 3_900_000 + b"\0" + gif_frame()),
    # 500,000 frames of one pixel, of which only the first is used.
    "gif_many_frames": lambda: gif(frames=gif_frame() * 500_000),
    # A screen of one pixel with a frame of 65,000 x 65,000.
    "gif_wide_frame": lambda: gif(frames=gif_frame(65_000)),
    # A canvas of 65,000 x 60,000 with a frame of 100 x 100: libwebp reserves two canvases, 31 GB.
    "webp_large_canvas": lambda: webp_animation((65_000, 60_000), frames=2),
    # 80,000 frames, of which only the first is used.
    "webp_many_frames": lambda: webp_animation((100, 100), frames=80_000),
}


# Good files changed at random


KINDS = ("PNG", "JPEG", "WEBP", "GIF", "MPO", "TIFF")


@cache
def good(kind):
    """A file with the parts that its format may have: EXIF, a second frame, text."""
    image = Image.linear_gradient("L").resize((48, 40)).convert("RGB")
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a description"
    options = {}
    if kind != "GIF":
        options["exif"] = exif
    if kind in ("WEBP", "GIF", "TIFF", "MPO", "PNG"):
        options |= {"save_all": True, "append_images": [image.rotate(90)]}
    if kind in ("JPEG", "MPO"):
        options |= {"progressive": True, "icc_profile": b"profile" * 40}
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def fuzzed(seed):
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
