"""A visitor's image file or text as an input for models, within limits, or an error that says why not.

Images are decoded by the rules of content.decoding, so that a model sees what it would see in a task. Then they are
reduced, which does not affect any model: none uses more than a megapixel.
"""

from __future__ import annotations

import io
import math
import re
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from compute.content import decoding
from compute.content.items import Column, content_key
from compute.types import BadInput, Model, counted

LARGEST_IMAGE = 8_000_000  # bytes
FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
MEGAPIXELS, OF_WEBP = 40, 20  # by the file's header, before decoding; the WebP decoder holds three frames
PIXELS = 4_000_000  # size after decoding, at most
ADVICE = "Open it in an image program, save it as PNG, JPEG or WebP, and add it again"
LONGEST = 100_000  # characters
LONGEST_FOR_LMM = 10_000  # characters of all texts of a question: about 2,500 tokens of English, 5 pages of a book
LONG = 2_000  # characters; no text encoder of the catalogue reads beyond this
MARKS = 100  # most combining marks on one letter; Unicode's stream-safe format has 30, and no language needs as many
DARK = 17  # of 255: the maximum of 12-bit values stored in 16 bits
THUMBNAIL = 256  # pixels, the longer side


@dataclass(frozen=True, kw_only=True, eq=False)
class Input:
    """One image or text to compare."""

    modality: str  # image | text
    key: bytes  # content key of the bytes or text received
    name: str  # for messages
    content: Image.Image | str  # RGB, at most PIXELS
    note: str = ""  # what was done to the input, for the visitor

    @property
    def nbytes(self) -> int:
        """Returns the bytes of memory: Pillow stores RGB in four bytes per pixel."""
        return len(self.content) if isinstance(self.content, str) else 4 * self.content.width * self.content.height

    def file(self) -> bytes:
        """Returns the image as PNG, for judges that take files. Raises BadInput for a text."""
        if isinstance(self.content, str):
            raise BadInput(f"{self.name} is a text, not an image")
        from compute.tasks.pairbench.pixels import png  # only judges need this import

        return png(self.content)


def image(data: bytes, *, name: str, alone: Callable[[], AbstractContextManager[Any]] = nullcontext) -> Input:
    """Decodes one image file into an input. Raises BadInput.

    alone: a context entered while a large image is decoded. For visitors' files, this function runs in the workers of
    `compute.live.decoder`, not in the server.
    """
    most = OF_WEBP if data[8:12] == b"WEBP" else MEGAPIXELS
    try:
        opened = decoding.opened(data, megapixels=most, formats=FORMATS)
        with decoding.lock(opened, alone):
            content, note = _decoded(opened)
    except (BadInput, MemoryError) as error:
        if MemoryError in (type(error), type(error.__cause__)):
            raise BadInput(f"{name} takes too much memory to read. Reduce it and add it again") from error
        problem = " ".join(str(error).split())[:200]
        if problem.endswith("megapixels"):
            raise BadInput(f"{name} has {problem}. Reduce it and add it again") from error
        raise BadInput(f"{name} cannot be used: {problem}. {ADVICE}") from error
    return Input(modality="image", key=content_key(data), name=name, content=content, note=note)


def text(words: str, *, name: str) -> Input:
    """Returns a text as an input without its control characters. Raises BadInput."""
    if len(words) > LONGEST:
        raise BadInput(
            f"{name} has {len(words):,} characters, more than {LONGEST:,}. Shorten it: models read only "
            "the beginning of a long text"
        )
    if longest_run(words) > MARKS:
        raise BadInput(
            f"{name} has a letter with more than {MARKS} accents or other combining marks on it. Remove some"
        )
    unix, notes = words.replace("\r\n", "\n").replace("\r", "\n"), []
    plain = "".join(sign for sign in unix if sign in "\t\n" or unicodedata.category(sign) != "Cc")
    if len(plain) < len(unix):
        notes.append(f"{counted(len(unix) - len(plain), 'control character')} removed")
    sound = plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins surrogates, replaces lone ones
    if broken := sound.count("\ufffd") - plain.count("\ufffd"):
        notes.append(f"{counted(broken, 'broken character')} replaced")
    if all(unicodedata.category(sign)[0] == "Z" or unicodedata.category(sign) in ("Cc", "Cf") for sign in sound):
        raise BadInput(f"{name} is empty. Write something in it, or remove it")
    if len(sound) > LONG:
        notes.append("long: most models read only the beginning")
    return Input(modality="text", key=content_key(sound), name=name, content=sound, note="; ".join(notes))


def longest_run(text: str) -> int:
    """Returns the largest number of combining marks, such as accents, on one letter of the text, in any encoding form.

    Normalisation sorts each run of marks in time quadratic in its length.
    """
    if text.isascii():
        return 0
    # A character is a mark if its decomposition begins with one; a few marks are only recognised that way.
    marks = "".join(sign for sign in set(text) if unicodedata.combining(unicodedata.normalize("NFKD", sign)[0]))
    return max(map(len, re.findall(f"[{re.escape(marks)}]+", text)), default=0) if marks else 0


def column_of(inputs: Sequence[Input]) -> Column:
    """Returns a column of inputs of one modality, one per row. Only judges that take files read an image as a file."""
    modality = inputs[0].modality
    return Column(
        modality=modality,
        keys=np.array([each.key for each in inputs], dtype="S32"),
        name=lambda row: inputs[row].name,
        read=lambda row: inputs[row].file() if modality == "image" else inputs[row].content,
        image=(lambda row: inputs[row].content) if modality == "image" else None,
    )


def check_length(row: Model, inputs: Sequence[Input]) -> None:
    """Raises BadInput for texts that are too long for a large multimodal model, as a judge or as an encoder.

    Other models read only the beginning of a text. These read all of it: memory and time are quadratic in the length,
    and an endpoint charges per token.
    """
    length = sum(len(each.content) for each in inputs if isinstance(each.content, str))
    if row.kind == "mllm" and length > LONGEST_FOR_LMM:
        raise BadInput(
            f"Texts of {length:,} characters in all are too long for it: it reads them whole, so {LONGEST_FOR_LMM:,} "
            "are the most. Shorten them"
        )


def thumbnail(picture: Image.Image) -> bytes:
    """Returns a picture as WebP with at most THUMBNAIL pixels per side."""
    scale = min(1.0, THUMBNAIL / max(picture.size))
    size = [max(1, round(side * scale)) for side in picture.size]
    small = picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)  # Pillow's own copies the whole first
    out = io.BytesIO()
    small.save(out, "WEBP", quality=80, method=4)
    return out.getvalue()


def _decoded(image: Image.Image) -> tuple[Image.Image, str]:
    """Returns the opened image as RGB of at most PIXELS, and what was done to it. Raises BadInput."""
    width, height = image.size
    deep = ";16" in str(image.tile) or image.mode in decoding.DEEP_GREY
    scale = math.sqrt(PIXELS / (width * height))
    if scale < 0.5 and image.format == "JPEG":  # halved during decoding, which takes a quarter of the memory
        image.draft(None, (math.ceil(width * scale), math.ceil(height * scale)))
    plain = decoding.rgb(image, ground="white")
    turned = decoding.orientation(image)
    width, height = (height, width) if turned in (5, 6, 7, 8) else (width, height)
    notes = []
    try:  # for a GIF, Pillow reads up to the second frame
        # A camera's JPEG (MPO) has a preview or a second view after the image.
        animated = image.format != "MPO" and getattr(image, "is_animated", False)
    except Exception:  # a later frame is broken; the first is fine
        animated = True
    if animated:
        notes.append("first frame of an animation")
    if turned in range(2, 9):
        notes.append("turned upright as its EXIF says")
    if image.mode == "CMYK":
        notes.append("converted from CMYK without a colour profile")
    if deep:
        dark = "RGB" not in image.mode and plain.getextrema()[0][1] < DARK
        unstated = "; nearly black: its file states no smaller range, such as 12 bits" if dark else ""
        notes.append(f"16 bits a channel scaled to 8{unstated}")
    # A palette or single colour marked as transparent, or any pixel that is not opaque.
    if image.has_transparency_data and ("A" not in image.getbands() or image.getchannel("A").getextrema()[0] < 255):
        notes.append("transparent parts shown on white")
    if scale < 1:
        wide = min(max(1, int(width * scale)), PIXELS)
        size = (wide, min(max(1, int(height * scale)), PIXELS // wide))
        plain = plain.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
        notes.append(f"reduced from {width} x {height} pixels")
    plain = plain.copy() if plain is image else plain  # detached from its file
    plain.info.clear()  # without EXIF, which may include the location
    return plain, "; ".join(notes)
