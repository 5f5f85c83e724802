"""The picture that other sites show where a page's address is shared: the page's title and sentence."""

from __future__ import annotations

import io
import textwrap
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FONTS = Path(__file__).with_name("fonts")
SIZE = (1200, 630)  # pixels, as other sites advise
LEFT = 80
# Font, size, colour, top, characters a line, and lines.
LOOKS = (
    ("Inter-SemiBold", 40, "#0f766e", 64, 50, 1),
    ("Inter-SemiBold", 66, "#1e293b", 144, 28, 3),
    ("Inter-Regular", 36, "#5b6878", 400, 56, 4),
)


@lru_cache(maxsize=64)
def picture(*texts: str) -> bytes:
    """Returns a PNG picture of the site's name, a title and a sentence; long texts are truncated."""
    image = Image.new("RGB", SIZE, "white")
    for text, (font, size, colour, top, width, lines) in zip(texts, LOOKS, strict=True):
        ImageDraw.Draw(image).text(
            (LEFT, top),
            "\n".join(textwrap.wrap(text, width, max_lines=lines, placeholder=" …")),
            font=ImageFont.truetype(FONTS / f"{font}.woff2", size),
            fill=colour,
            spacing=10,
        )
    file = io.BytesIO()
    image.quantize(32).save(file, "PNG")
    return file.getvalue()
