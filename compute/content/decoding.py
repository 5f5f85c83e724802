"""Bytes of an image file -> plain RGB within bounds, and texts checked. Raises BadInput; the caller names the item.

Rules, in this order:
- the first frame of an animation, the first page of a TIFF;
- the orientation that EXIF states is applied (a broken EXIF block states none);
- transparency is dropped and the colours stored under it stay, as in the benchmarks' own `convert("RGB")`; images from
  visitors are composited on white, as people see them; palettes are looked up; CMYK, YCbCr, LAB and grey are converted
  without colour profiles;
- 16-bit grey is scaled to 8 bits (v / 257), where Pillow alone would clip it; by the range that its file states, where
  that is smaller and holds all values, as of cameras with 10 to 14 bits (PNG's sBIT; TIFF's BitsPerSample and
  MaxSampleValue). Floating-point pixels are refused, for nothing says which value is white.
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

# Pillow's names of the formats that are decoded. Named one by one, so that no file can start a reader that runs other
# programs (EPS) or that holds no picture.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF")
# Part of every encoding's and every judge's identity: raise it when a rule above changes. It was not for the stated
# ranges of greys, which had been nearly black: all that is stored would have to be made again for such files.
VERSION = 1
MEGAPIXELS = 64  # larger images are refused by their header, before a pixel is decoded
# Of a longer image most models see the middle alone, but resize all of it first: 1 x 200,000 pixels take gigabytes.
LONGEST = 1000  # times the shorter side
LARGE = 16_000_000  # pixels: larger images are decoded one at a time, whatever the number of threads
STRIP = 80  # times the shorter side, from which an image becomes a large one in a model's preprocessing
BAND = 1_000_000  # pixels that are scaled at once
WHITE = "white"  # in an opened image's `info`: the largest value that its file states for a deep grey
DEEP_GREY = ("I;16", "I;16L", "I;16B", "I;16N", "I")  # "I" has 32 bits; PNG and TIFF greys use 16 of them


_one_large = threading.Lock()


def lock(
    image: Image.Image, alone: Callable[[], AbstractContextManager[Any]] = lambda: _one_large
) -> AbstractContextManager[Any]:
    """Around work on an image's pixels: `alone` where it is large, which waits for another thread's large image."""
    large = image.width * image.height > LARGE or max(image.size) > STRIP * min(image.size)
    return alone() if large else nullcontext()


def picture(content: bytes | Callable[[], Image.Image]) -> Image.Image:
    """Returns the image of a column's content: decoded, or made. Not to be changed. Raises BadInput."""
    return content() if callable(content) else decode(content)


def opened(data: bytes, *, megapixels: int = MEGAPIXELS, formats: Sequence[str] = FORMATS) -> Image.Image:
    """Returns the image with its header read and its size checked, its pixels not yet decoded. Raises BadInput."""
    if size := webp_size(data):
        _check_pixels(*size, megapixels)
    try:
        image = Image.open(io.BytesIO(data), formats=formats)
    except Image.DecompressionBombError as error:
        raise BadInput(f"more than {megapixels} megapixels") from error
    except Exception as error:  # a format's reader raises whatever its parser meets
        raise BadInput(_unreadable(data, error)) from error
    _check_pixels(image.width, image.height, megapixels)
    if image.mode in DEEP_GREY:
        image.info[WHITE] = _stated_white(image, data)
    return image


def _stated_white(image: Image.Image, data: bytes) -> int:
    """Returns the largest value of a deep grey as its file states it, 65535 where it states none.

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
    """Width and height that a WebP states, None for another file: its reader reserves two frames as it opens it.

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
    """Decodes an opened image to RGB, 8 bits a channel, by the rules above. Raises BadInput.

    ground: the colour that transparent parts are composited on; None drops the transparency.
    """
    try:
        _load(image)
        return _converted(ImageOps.exif_transpose(image) if orientation(image) != 1 else image, ground)
    except (BadInput, MemoryError):
        raise
    except Exception as error:  # as above: a truncated file shows only here
        raise BadInput(f"a damaged image ({error})") from error


def decode(data: bytes) -> Image.Image:
    """Both steps at once: the bytes of an image file as an RGB image. Raises BadInput."""
    return rgb(opened(data))


def checked(text: str) -> str:
    """Returns the text itself. Raises BadInput when it is empty or blank."""
    if not isinstance(text, str):
        raise BadInput(f"not a text but {type(text).__name__}")
    if not text.strip():
        raise BadInput("an empty text")
    return text


def orientation(image: Image.Image) -> int:
    """How EXIF says that an image is to be turned, 1 to 8; 1, as stored, also for a broken EXIF block."""
    try:
        return image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # whatever a broken EXIF block raises, the picture is sound
        return 1


def _check_pixels(width: int, height: int, megapixels: int) -> None:
    if width * height > megapixels * 1_000_000:
        raise BadInput(f"{width} x {height} pixels, more than {megapixels} megapixels")
    if max(width, height) > LONGEST * min(width, height):
        raise BadInput(f"{width} x {height} pixels, longer than {LONGEST:,} times its width or height: cut it first")


def _load(image: Image.Image) -> None:
    """Decodes the pixels. A WebP's or AVIF's decoder and its copies of the frame go before Pillow reserves its own."""

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
        image = image.convert("RGBA")  # by this way Pillow does not warn of the transparency it drops
    return image.convert("RGB")


def _bands(image: Image.Image) -> list[tuple[int, int, int, int]]:
    """Boxes of some rows each, which cover the image: converting it whole takes up to 16 bytes a pixel more."""
    rows = max(1, BAND // image.width)
    return [(0, top, image.width, min(top + rows, image.height)) for top in range(0, image.height, rows)]


def _shallow(image: Image.Image) -> Image.Image:
    """Returns a grey image of 16 bits with 8 (mode L)."""
    shallow, bands = Image.new("L", image.size), _bands(image)
    white = image.info.get(WHITE, 65535)
    # PNG's rule is to fill the 16 bits and to leave zeros or copies of the high bits below the significant ones: then
    # values above the stated range occur, or none has a bit below.
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
