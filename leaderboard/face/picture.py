"""The picture that other sites show of a page where its address is shared: the page's title and its sentence."""

from __future__ import annotations

import io
import textwrap
from functools import lru_cache
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

FOLDER = Path(__file__).parent
SIZE = (1200, 630)  # pixels, as other sites advise
LEFT, TOP = 80, 60
ACCENT, INK, QUIET = "#0f766e", "#1e293b", "#5b6878"
# Font, size, colour, characters a line, and lines, of the site's name, the title and the sentence.
LOOKS = (
    ("Inter-SemiBold", 40, ACCENT, 40, 1),
    ("Inter-SemiBold", 66, INK, 28, 3),
    ("Inter-Regular", 36, QUIET, 56, 4),
)


@lru_cache(maxsize=64)
def picture(site: str, title: str, sentence: str) -> bytes:
    """Returns the picture as PNG; texts that are too long are cut."""
    image = Image.new("RGB", SIZE, "white")
    icon = Image.open(FOLDER / "icon.png").convert("RGBA").resize((64, 64))
    image.paste(icon, (LEFT, TOP), icon)
    draw = ImageDraw.Draw(image)
    left, top = LEFT + 84, TOP + 8.0
    for text, (name, size, colour, width, lines) in zip((site, title, sentence), LOOKS, strict=True):
        shown = "\n".join(textwrap.wrap(text, width, max_lines=lines, placeholder=" …"))
        font = ImageFont.truetype(FOLDER / "fonts" / f"{name}.woff2", size)
        draw.multiline_text((left, top), shown, font=font, fill=colour, spacing=12)
        _, _, _, bottom = draw.multiline_textbbox((left, top), shown, font=font, spacing=12)
        left, top = LEFT, bottom + 36
    draw.rectangle((0, SIZE[1] - 12, *SIZE), fill=ACCENT)
    file = io.BytesIO()
    image.quantize(32).save(file, "PNG")
    return file.getvalue()
