"""Pictures that other sites show beside a shared link, drawn from the same words and figures as the page's head."""

from __future__ import annotations

import asyncio
import io
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from compute.types import shortened
from leaderboard.face.heads import FIRST, Heads
from leaderboard.page import SITE, Described, DescribedRow
from leaderboard.web.responses import respond

WIDTH, HEIGHT = 1200, 630  # the size that the sites cut to
SCALE = 2  # drawn larger and then made smaller, which smooths lines and circles
MARGIN = 72
FOLDER = Path(__file__).parent / "fonts"
GROUND, INK, QUIET, LINE, ACCENT, BAND = "#ffffff", "#1e293b", "#55606f", "#e2e8f0", "#0f766e", "#9fc9c5"
STRIP = (700, 968)  # where the intervals lie, from 0 to 1
ROW, FIRST_ROW = 54, 262  # height of a row, and where the first begins
MOST_ROWS = 6
LONGEST_LINE = 200  # characters that can fit into a line: no more of a text are measured
COLOURS = 64  # of the stored picture: a quarter of its bytes, and no difference to see
STORED = 128  # pictures in memory, 20 to 40 KB each
DRAWING = 2  # changes with what this file draws
CACHE = "public, max-age=3600"


class Pictures:
    """The answers of the pictures' addresses. A query that names no view gets its page's picture, and a name that is no
    page's gets the site's: so there are only as many pictures as views, and one is drawn at a time."""

    def __init__(self, heads: Heads) -> None:
        self.heads = heads
        self._alone = asyncio.Lock()

    async def answer(self, request: Request) -> Response:
        """The picture of the view that the path and the query name, as PNG."""
        name = request.path_params["name"]
        key = name if name in self.heads.views and name else ""
        described = await run_in_threadpool(self.heads.describe, key, request.url.query if name in (key, FIRST) else "")
        etag = f'"{blake2b(repr((DRAWING, described)).encode(), digest_size=10).hexdigest()}"'
        content = b""
        if request.headers.get("if-none-match") != etag:
            async with self._alone:
                content = await run_in_threadpool(draw, described)
        answer = respond(request, content, media="image/png", cache=CACHE, etag=etag)
        answer.headers["cross-origin-resource-policy"] = "cross-origin"
        return answer


@lru_cache(STORED)
def draw(described: Described) -> bytes:
    """The picture as PNG: the title above the rows with their intervals, or above the sentence where there are none."""
    image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), GROUND)
    pen = ImageDraw.Draw(image)
    _mark(pen, x=MARGIN, y=58, size=2.2)
    _text(pen, (MARGIN + 70, 55), SITE, size=36, bold=True)
    if described.rows:
        _text(pen, (WIDTH - MARGIN, 62), described.caption, size=24, fill=QUIET, right=True)
    title = "" if described.title == SITE else described.title
    titles = lines(title, size=52, width=WIDTH - 2 * MARGIN, most=2 if not described.rows else 1, bold=True)
    for index, line in enumerate(titles):
        _text(pen, (MARGIN, 150 + 64 * index), line, size=52, bold=True)
    if described.rows:
        for index, row in enumerate(described.rows[:MOST_ROWS]):
            _row(pen, row, y=FIRST_ROW + ROW * index)
    else:
        size, top = (32, 170 + 64 * len(titles)) if titles else (48, 170)
        for index, line in enumerate(lines(described.sentence, size=size, width=WIDTH - 2 * MARGIN, most=5)):
            _text(pen, (MARGIN, top + 1.45 * size * index), line, size=size, fill=QUIET if titles else INK)
    pen.rectangle(_scaled(0, HEIGHT - 12, WIDTH, HEIGHT), fill=ACCENT)
    small = image.resize((WIDTH, HEIGHT), Image.Resampling.BOX).quantize(COLOURS, dither=Image.Dither.NONE)
    out = io.BytesIO()
    small.save(out, "PNG", optimize=True)
    return out.getvalue()


def lines(text: str, *, size: int, width: int, most: int, bold: bool = False) -> list[str]:
    """The text in at most `most` lines of `width` pixels, cut with … where it is longer."""
    text = shortened(text, most * LONGEST_LINE)
    broken = list(_broken(text, font=_font(size, bold), width=width * SCALE))
    if len(broken) > most:
        broken = [*broken[: most - 1], _cut(" ".join(broken[most - 1 :]), font=_font(size, bold), width=width * SCALE)]
    return broken


def _broken(text: str, *, font: ImageFont.FreeTypeFont, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and font.getlength(longer) > width:
            yield line
            longer = word
        line = _cut(longer, font=font, width=width)
    if line:
        yield line


def _cut(text: str, *, font: ImageFont.FreeTypeFont, width: int) -> str:
    if len(text) <= LONGEST_LINE and font.getlength(text) <= width:
        return text
    fits = bisect_left(
        range(min(len(text), LONGEST_LINE)), True, key=lambda end: font.getlength(f"{text[: end + 1]}…") > width
    )
    return f"{text[:fits].rstrip()}…"


def _row(pen: ImageDraw.ImageDraw, row: DescribedRow, *, y: int) -> None:
    pen.line(_scaled(MARGIN, y + ROW - 6, WIDTH - MARGIN, y + ROW - 6), fill=LINE, width=SCALE)
    end = STRIP[0] if row.value is not None else STRIP[1]
    label = _cut(row.label, font=_font(28, False), width=(end - MARGIN - 40) * SCALE)
    _text(pen, (MARGIN, y), label, size=28)
    _text(pen, (WIDTH - MARGIN, y), row.text, size=28, bold=True, right=True)
    if row.value is None:
        return
    left, right = STRIP
    at, low, high = (
        None if share is None else left + share * (right - left) for share in (row.value, row.low, row.high)
    )
    if low is not None and high is not None:
        pen.rounded_rectangle(_scaled(low - 2, y + 14, high + 2, y + 22), radius=4 * SCALE, fill=BAND)
    pen.ellipse(_scaled(at - 8, y + 10, at + 8, y + 26), fill=ACCENT)


def _mark(pen: ImageDraw.ImageDraw, *, x: float, y: float, size: float) -> None:
    """The site's motif: two intervals that overlap."""
    for start, point, top in ((1, 9, 4.5), (8, 15, 11.5)):
        pen.line(_scaled(x + start * size, y + top * size, x + (start + 15) * size, y + top * size), fill=BAND, width=8)
        middle = (x + point * size, y + top * size)
        pen.ellipse(_scaled(*(end - 3.2 * size for end in middle), *(end + 3.2 * size for end in middle)), fill=ACCENT)


def _text(
    pen: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    *,
    size: int,
    bold: bool = False,
    fill: str = INK,
    right: bool = False,
) -> None:
    x, y = at
    pen.text((x * SCALE, y * SCALE), text, font=_font(size, bold), fill=fill, anchor="ra" if right else "la")


def _scaled(*ends: float) -> tuple[float, ...]:
    return tuple(end * SCALE for end in ends)


@cache
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FOLDER / f"Inter-{'SemiBold' if bold else 'Regular'}.otf", size * SCALE)
