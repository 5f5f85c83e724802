"""Bytes of an image file -> plain RGB within bounds, and texts checked. Raises BadInput; the caller names the item.

Rules, in this order:
- the first frame of an animation, the first page of a TIFF;
- the orientation that EXIF states is applied (a broken EXIF block states none);
- transparency is dropped, not laid on a colour: the colours stored below it stay, as in the checkpoints' own
  `convert("RGB")`; palettes are looked up; CMYK, YCbCr, LAB and grey are converted without colour profiles;
- 16-bit grey is scaled to 8 bits (v / 257), where Pillow alone would clip it; floating-point pixels are refused, for
  nothing says which value is white.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from compute.types import BadInput

if TYPE_CHECKING:
    from PIL import Image

VERSION = 1  # part of every encoding's identity: raise it when a rule above changes
MEGAPIXELS = 64  # larger images are refused by their header, before a pixel is decoded
# Named one by one, so that no file can start a reader that runs other programs (EPS) or that holds no picture.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "PPM", "JPEG2000", "AVIF")
DEEP_GREY = ("I;16", "I;16L", "I;16B", "I;16N", "I")  # "I" has 32 bits, of which PNG and TIFF greys use 16


def opened(data: bytes, *, megapixels: int = MEGAPIXELS) -> Image.Image:
    """The image with its header read and its size checked, its pixels not yet decoded. Raises BadInput."""
    from PIL import Image

    try:
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    except Image.DecompressionBombError as error:
        raise BadInput(f"more than {megapixels} megapixels") from error
    except Exception as error:  # a format's reader raises whatever its parser meets
        raise BadInput(_unreadable(data, error)) from error
    if image.width * image.height > megapixels * 1_000_000:
        raise BadInput(f"{image.width} x {image.height} pixels, more than {megapixels} megapixels")
    return image


def rgb(image: Image.Image) -> Image.Image:
    """Decodes an opened image to RGB, 8 bits a channel, by the rules above. Raises BadInput."""
    try:
        image.load()
        return _converted(_upright(image))
    except (BadInput, MemoryError):
        raise
    except Exception as error:  # as above: a truncated file shows only here
        raise BadInput(f"a damaged image ({error})") from error


def decode(data: bytes) -> Image.Image:
    """Both steps at once: the bytes of an image file as an RGB image. Raises BadInput."""
    return rgb(opened(data))


def checked(text: str) -> str:
    """The text itself. Raises BadInput when it is empty or blank."""
    if not isinstance(text, str):
        raise BadInput(f"not a text but {type(text).__name__}")
    if not text.strip():
        raise BadInput("an empty text")
    return text


def orientation(image: Image.Image) -> int:
    """How EXIF says that an image is to be turned, 1 to 8; 1, as stored, also for a broken EXIF block."""
    from PIL import ExifTags

    try:
        return image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # whatever a broken EXIF block raises, the picture is sound
        return 1


def _upright(image: Image.Image) -> Image.Image:
    from PIL import ImageOps

    return ImageOps.exif_transpose(image) if orientation(image) != 1 else image


def _converted(image: Image.Image) -> Image.Image:
    from PIL import Image

    if image.mode == "RGB":
        return image
    if image.mode == "F":
        raise BadInput("floating-point pixels, which have no stated range")
    if image.mode in DEEP_GREY:
        values = np.asarray(image)
        if values.min() < 0 or values.max() > 65535:
            raise BadInput("grey values beyond 16 bits, which have no stated range")
        return Image.fromarray((values / 257 + 0.5).astype(np.uint8)).convert("RGB")
    if image.mode == "P" and image.has_transparency_data:
        image = image.convert("RGBA")  # by this way Pillow does not warn of the transparency it drops
    return image.convert("RGB")


def _unreadable(data: bytes, error: Exception) -> str:
    if not data:
        return "an empty file"
    kind = type(error).__name__
    return "not an image in a format that is read" if kind == "UnidentifiedImageError" else f"a damaged image ({error})"
