"""A picture of a model's scores with their 95% intervals, as a small PNG that a light and a dark page can show."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from compute.types import shortened

WIDTH, ROW, HEAD, FOOT = 760, 18, 40, 30  # pixels of a page; the picture has SCALE times as many
SCALE = 2
LABEL = 280  # pixels that names have
MARGIN = 24
BACKGROUND, TEXT, MUTED, GRID, ACCENT = "#fbfbf9", "#1c2127", "#5b6470", "#dcdfe3", "#1c6e57"
MAX_ROWS = 140  # MIEB has 130 tasks
LONGEST = 42  # characters of a name


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One row, in percent: a value, the ends of its interval, and the value of guessing, where they are known."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    chance: float | None = None


def draw(bars: Sequence[Bar], *, title: str) -> bytes:
    """The PNG: a row a bar, at most MAX_ROWS, on one axis from 0 (or the lowest end below it) to 100."""
    bars = bars[:MAX_ROWS]
    least = min(0.0, *(bar.value if bar.low is None else bar.low for bar in bars)) if bars else 0.0
    height = HEAD + ROW * len(bars) + FOOT
    picture = Image.new("RGB", (WIDTH * SCALE, height * SCALE), BACKGROUND)
    pen = _Pen(ImageDraw.Draw(picture), least=least)
    pen.text(MARGIN, HEAD / 2, title, size=13)
    bottom = HEAD + ROW * len(bars)
    for tick in (0, 25, 50, 75, 100):
        pen.line(pen.x(tick), HEAD - 4, pen.x(tick), bottom, GRID)
        pen.text(pen.x(tick), bottom + 12, f"{tick}%", size=11, fill=MUTED, anchor="mm")
    for position, bar in enumerate(bars):
        y = HEAD + ROW * (position + 0.5)
        pen.text(LABEL - 8, y, shortened(bar.name, LONGEST), size=11, anchor="rm")
        if bar.chance is not None:
            pen.line(pen.x(bar.chance), y - 5, pen.x(bar.chance), y + 5, MUTED)
        if bar.low is not None and bar.high is not None:
            pen.line(pen.x(bar.low), y, pen.x(bar.high), y, ACCENT, width=2)
        pen.dot(pen.x(bar.value), y, ACCENT)
    file = io.BytesIO()
    picture.quantize(16, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    return file.getvalue()


@dataclass(frozen=True)
class _Pen:
    """Draws in pixels of the page, on a picture that has SCALE times as many."""

    target: ImageDraw.ImageDraw
    least: float

    def x(self, percent: float) -> float:
        """Where a percentage stands on the axis."""
        return LABEL + (WIDTH - MARGIN - LABEL) * (percent - self.least) / (100 - self.least)

    def line(self, left: float, top: float, right: float, bottom: float, fill: str, *, width: int = 1) -> None:
        self.target.line([edge * SCALE for edge in (left, top, right, bottom)], fill=fill, width=width * SCALE)

    def dot(self, x: float, y: float, fill: str, *, radius: float = 3.5) -> None:
        box = [(x - radius) * SCALE, (y - radius) * SCALE, (x + radius) * SCALE, (y + radius) * SCALE]
        self.target.ellipse(box, fill=fill)

    def text(self, x: float, y: float, text: str, *, size: int, fill: str = TEXT, anchor: str = "lm") -> None:
        font = ImageFont.load_default(size * SCALE)
        self.target.text((x * SCALE, y * SCALE), text, fill=fill, font=font, anchor=anchor)
