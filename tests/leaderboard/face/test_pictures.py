"""Share pictures: their size, what is drawn, that they are drawn once, and what hostile addresses get."""

from __future__ import annotations

import io
from urllib.parse import quote

import httpx
import numpy as np
import pytest
from PIL import Image

from leaderboard.face import pictures
from leaderboard.face.pictures import HEIGHT, WIDTH, draw, lines
from leaderboard.page import Described, DescribedRow
from tests.leaderboard.web.launched import Served

ROWS = (
    DescribedRow(label="First", text="85.3", value=0.8, low=0.6, high=1.0),
    DescribedRow(label="Second", text="84.0", value=0.5),
)


def pixels(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), int)


def test_a_picture_has_the_size_that_sites_cut_to_and_few_bytes() -> None:
    content = draw(Described(title="Title", sentence="Sentence.", rows=ROWS, caption="Mean"))
    assert pixels(content).shape == (HEIGHT, WIDTH, 3) == (630, 1200, 3)
    assert len(content) < 60_000


def test_an_interval_is_drawn_from_its_low_to_its_high_end() -> None:
    picture = pixels(draw(Described(title="T", sentence="S.", rows=ROWS)))
    left, right = pictures.STRIP
    first, second = (
        picture[pictures.FIRST_ROW + pictures.ROW * index + 18, left - 20 : right + 20] for index in (0, 1)
    )
    drawn = np.flatnonzero(np.abs(first - 255).sum(axis=1) > 60) - 20
    assert drawn[0] == pytest.approx(0.6 * (right - left), abs=4)
    assert drawn[-1] == pytest.approx(right - left, abs=4)
    point = np.flatnonzero(np.abs(second - 255).sum(axis=1) > 60) - 20
    assert point.mean() == pytest.approx(0.5 * (right - left), abs=2) and len(point) < 20


def test_letters_of_other_languages_and_signs_are_drawn() -> None:
    missing = pixels(draw(Described(title="\U0010ffff", sentence="")))
    for text in ("é", "ü", "ε", "–", "×", "−", "“"):
        assert not np.array_equal(pixels(draw(Described(title=text, sentence=""))), missing), text


@pytest.mark.parametrize("text", ["word " * 300, "x" * 3000, "", " ", "\x00\x1b[31m", "日本語" * 50])
def test_any_text_is_cut_to_its_lines(text: str) -> None:
    rows = tuple(DescribedRow(label=text, text=text[:20], value=0.5) for _ in range(50))
    assert pixels(draw(Described(title=text, sentence=text))).shape == (HEIGHT, WIDTH, 3)
    assert pixels(draw(Described(title=text, sentence=text, rows=rows))).shape == (HEIGHT, WIDTH, 3)
    broken = lines(text, size=52, width=1056, most=2, bold=True)
    assert len(broken) <= 2
    font = pictures._font(52, True)
    assert all(font.getlength(line) <= 1056 * pictures.SCALE for line in broken)


def test_a_picture_is_drawn_once() -> None:
    described = Described(title="Once", sentence="Drawn once.")
    before = draw.cache_info().misses
    assert draw(described) is draw(Described(title="Once", sentence="Drawn once."))
    assert draw.cache_info().misses == before + 1
    assert draw.cache_info().maxsize == pictures.STORED


def test_pictures_of_views_differ_and_are_checked_by_etag(app: Served) -> None:
    board, suite = (httpx.get(f"{app.url}share/{name}", timeout=60) for name in ("board.png", "board.png?suite=mieb"))
    assert board.content != suite.content and suite.headers["etag"] != board.headers["etag"]
    assert suite.headers["cross-origin-resource-policy"] == "cross-origin"
    again = httpx.get(f"{app.url}share/board.png?suite=mieb", headers={"if-none-match": suite.headers["etag"]})
    assert again.status_code == 304 and again.content == b""


@pytest.mark.parametrize("query", ["?suite=nowhere", "?suite=" + "x" * 190, "?a=1&b=2", f"?suite={quote('<b>')}"])
def test_an_unknown_view_has_its_pages_picture(app: Served, query: str) -> None:
    plain = httpx.get(f"{app.url}share/board.png", timeout=60)
    assert httpx.get(f"{app.url}share/board.png{query}", timeout=60).headers["etag"] == plain.headers["etag"]


@pytest.mark.parametrize("name", ["nothing", "..%2f..%2fetc%2fpasswd", "overview?suite=mieb", "x" * 200])
def test_an_unknown_page_has_the_sites_picture(app: Served, name: str) -> None:
    plain = httpx.get(f"{app.url}share/overview.png", timeout=60)
    name, _, query = name.partition("?")
    answer = httpx.get(f"{app.url}share/{name}.png?{query}", timeout=60)
    assert answer.status_code == 404 or answer.headers["etag"] == plain.headers["etag"]
    assert name.startswith("..") or answer.status_code == 200
