"""Decodes bytes of an image file to bounded RGB, and checks texts. Raises BadInput; the caller names the item.

Rules, in this order:
- the first frame of an animation, the first page of a TIFF;
- the orientation that EXIF states is applied (a broken EXIF block is ignored);
- transparency is dropped and the colours stored under it stay, as with `convert("RGB")` in the benchmarks; images from
  visitors are composited on white, as people see them; palettes are looked up; CMYK, YCbCr, LAB and grey are converted
  without colour profiles;
- 16-bit grey is scaled to 8 bits (v / 257), because Pillow alone would clip it; by the range that its file states, if
  that is smaller and contains all values, as for cameras with 10 to 14 bits (PNG's sBIT; TIFF's BitsPerSample and
  MaxSampleValue). Floating-point pixels are refused because their white level is unknown.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from PIL import ExifTags, Image, ImageOps

from compute.types import BadInput

# Pillow's names of the formats that are decoded. The list is explicit so that no file can start a reader that runs
# other programs (EPS) or does not contain an image.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF")
# Part of the identity of all encodings and judges: increase it when a rule above changes. It was not increased for the
# stated ranges of greys, which had been nearly black, because all stored results would have become invalid for such
# rare files.
VERSION = 1
MEGAPIXELS = 64  # larger images are refused by their header, before a pixel is decoded
# Most models only see the middle of a longer image, but resize all of it first: 1 x 200,000 pixels take gigabytes.
LONGEST = 1000  # times the shorter side
LARGE = 16_000_000  # pixels: larger images are decoded one at a time, whatever the number of threads
STRIP = 80  # times the shorter side, above which an image becomes large in a model's preprocessing
BAND = 1_000_000  # pixels scaled at once
WHITE = "white"  # in an opened image's `info`: the largest value that its file states for deep grey
DEEP_GREY = ("I;16", "I;16L", "I;16B", "I;16N", "I")  # "I" has 32 bits; PNG and TIFF greys use 16 of them


_one_large = threading.Lock()


def lock(
    image: Image.Image, alone: Callable[[], AbstractContextManager[Any]] = lambda: _one_large
) -> AbstractContextManager[Any]:
    """Returns a context for work on an image's pixels: `alone` if it is large, which waits for other threads' large
    images.
    """
    large = image.width * image.height > LARGE or max(image.size) > STRIP * min(image.size)
    return alone() if large else nullcontext()


def picture(content: bytes | Callable[[], Image.Image]) -> Image.Image:
    """Returns the image of a column's content: decoded, or generated. It must not be modified. Raises BadInput."""
    return content() if callable(content) else decode(content)


def opened(data: bytes, *, megapixels: int = MEGAPIXELS, formats: Sequence[str] = FORMATS) -> Image.Image:
    """Returns the image with its header read and its size checked, but its pixels not decoded. Raises BadInput."""
    if size := webp_size(data):
        _check_pixels(*size, megapixels)
    try:
        image = Image.open(io.BytesIO(data), formats=formats)
    except Image.DecompressionBombError as error:
        raise BadInput(f"more than {megapixels} megapixels") from error
    except Exception as error:  # a format's reader may raise anything its parser meets
        raise BadInput(_unreadable(data, error)) from error
    _check_pixels(image.width, image.height, megapixels)
    if image.mode in DEEP_GREY:
        image.info[WHITE] = _stated_white(image, data)
    return image


def _stated_white(image: Image.Image, data: bytes) -> int:
    """Returns the largest value of a deep grey as its file states it, 65535 if not stated.

    Source: PNG (third edition) 11.3.2.7, sBIT; TIFF 6.0, tags 258 and 281.
    """
    white = 65535
    if image.format == "PNG":
        at = 8
        while (kind := data[at + 4 : at + 8]) not in (b"", b"IDAT"):
            if kind == b"sBIT":
                white = 2 ** data[at + 8] - 1
            at += 12 + int.from_bytes(data[at : at + 4])
    elif image.format == "TIFF":
        tags = [image.tag_v2.get(number) for number in (258, 281)]
        bits, most = (tag[0] if isinstance(tag, tuple) else tag for tag in tags)
        white = min([2**bits - 1] * isinstance(bits, int) + [most] * isinstance(most, int), default=white)
    return white if 255 < white < 65535 else 65535


def webp_size(data: bytes) -> tuple[int, int] | None:
    """Returns the width and height in a WebP's header, None for other files; needed because opening a WebP allocates
    two frames.

    Source: RFC 9649, sections 2.5 to 2.7.
    """
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < 30:
        return None
    kind, number = data[12:16], lambda start, count: int.from_bytes(data[start : start + count], "little")
    if kind == b"VP8X":
        return number(24, 3) + 1, number(27, 3) + 1
    if kind == b"VP8L":
        bits = number(21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return number(26, 2) & 0x3FFF, number(28, 2) & 0x3FFF


def rgb(image: Image.Image, *, ground: str | None = None) -> Image.Image:
    """Decodes an opened image to RGB, 8 bits per channel, by the rules above. Raises BadInput.

    ground: the colour that transparent parts are composited on; None drops the transparency.
    """
    try:
        _load(image)
        return _converted(ImageOps.exif_transpose(image) if orientation(image) != 1 else image, ground)
    except (BadInput, MemoryError):
        raise
    except Exception as error:  # as above: a truncated file fails only here
        raise BadInput(f"a damaged image ({error})") from error


def decode(data: bytes) -> Image.Image:
    """Decodes the bytes of an image file to RGB: `opened`, then `rgb`. Raises BadInput."""
    return rgb(opened(data))


def checked(text: str) -> str:
    """Returns the text unchanged. Raises BadInput if it is empty or blank."""
    if not isinstance(text, str):
        raise BadInput(f"not a text but {type(text).__name__}")
    if not text.strip():
        raise BadInput("an empty text")
    return text


def orientation(image: Image.Image) -> int:
    """Returns the EXIF orientation, 1 to 8; 1 (as stored) also for a broken EXIF block."""
    try:
        return image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # a broken EXIF block may raise anything; the pixels are still valid
        return 1


def _check_pixels(width: int, height: int, megapixels: int) -> None:
    if width * height > megapixels * 1_000_000:
        raise BadInput(f"{width} x {height} pixels, more than {megapixels} megapixels")
    if max(width, height) > LONGEST * min(width, height):
        raise BadInput(f"{width} x {height} pixels, longer than {LONGEST:,} times its width or height: cut it first")


def _load(image: Image.Image) -> None:
    """Decodes the pixels. Frees the decoder of a WebP or AVIF and its copies of the frame before Pillow allocates its
    own.
    """

    def prepare() -> None:
        image._decoder = None
        type(image).load_prepare(image)

    if not hasattr(image, "_decoder"):
        image.load()
        return
    image.load_prepare = prepare
    try:
        image.load()
    finally:
        del image.load_prepare  # it refers to the image, which would stay in memory


def _converted(image: Image.Image, ground: str | None) -> Image.Image:
    if image.mode == "RGB" and not (ground and image.has_transparency_data):
        return image
    if image.mode == "F":
        raise BadInput("floating-point pixels, which have no stated range")
    if image.mode in DEEP_GREY:
        return _shallow(image).convert("RGB")
    if ground and image.has_transparency_data:
        opaque = Image.new("RGB", image.size, ground)
        for band in _bands(image):
            part = image.crop(band).convert("RGBA")
            opaque.paste(part, band[:2], part)
        return opaque
    if image.mode == "P" and image.has_transparency_data:
        image = image.convert("RGBA")  # avoids Pillow's warning about the dropped transparency
    return image.convert("RGB")


def _bands(image: Image.Image) -> list[tuple[int, int, int, int]]:
    """Returns boxes of some rows each that cover the image; converting it whole takes up to 16 bytes per pixel more."""
    rows = max(1, BAND // image.width)
    return [(0, top, image.width, min(top + rows, image.height)) for top in range(0, image.height, rows)]


def _shallow(image: Image.Image) -> Image.Image:
    """Converts a 16-bit grey image to 8 bits (mode L)."""
    shallow, bands = Image.new("L", image.size), _bands(image)
    white = image.info.get(WHITE, 65535)
    # By PNG's rule, values fill the 16 bits, with zeros or copies of the high bits below the significant ones. In that
    # case some values exceed the stated range, or none has a low bit.
    if white < 65535:
        values = (np.asarray(image.crop(band)) for band in bands)
        spare = (1 << 16 - white.bit_length()) - 1
        found = [(part.max(), bool((part & spare).any())) for part in values]
        if max(most for most, _ in found) > white or not any(low for _, low in found):
            white = 65535
    for band in bands:
        values = np.asarray(image.crop(band))
        if values.min() < 0 or values.max() > 65535:
            raise BadInput("grey values beyond 16 bits, which have no stated range")
        shallow.paste(Image.fromarray((values / (white / 255) + 0.5).astype(np.uint8)), band[:2])
    return shallow


def _unreadable(data: bytes, error: Exception) -> str:
    if not data:
        return "an empty file"
    kind = type(error).__name__
    return "not an image in a format that is read" if kind == "UnidentifiedImageError" else f"a damaged image ({error})"
