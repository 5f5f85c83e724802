"""The plan of a pass: what is new follows what was planned and not finished."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compute.content import items
from compute.content.items import Column
from compute.features.passes import Pass, distinct, plan
from compute.features.store import Shelf


def column(*words: str) -> Column:
    return items.texts(words, of="words")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    (tmp_path / "text").mkdir()
    return Shelf(tmp_path / "text")


def planned(
    shelf: Shelf, *columns: Column, missing: np.ndarray | None = None, batch: int = 3, by_length: bool = False
) -> list[list[str]]:
    wanted = distinct(columns)
    every = np.ones(len(wanted.keys), dtype=bool) if missing is None else missing
    order, sizes = plan(shelf, wanted, every, batch=batch, by_length=by_length)
    return [[wanted.read(int(at)) for at in part] for part in np.split(order, np.cumsum(sizes)[:-1])]


def test_items_are_distinct_and_in_the_order_they_are_met() -> None:
    wanted = distinct([column("b", "a", "b"), column("c", "a", "d")])
    assert [wanted.read(at) for at in range(4)] == ["b", "a", "c", "d"]
    assert [wanted.name(at) for at in range(4)] == ["words, text 0", "words, text 1", "words, text 0", "words, text 2"]
    assert wanted.at(column("d", "x", "b").keys).tolist() == [3, -1, 0]
    assert distinct([]).at(column("d").keys).tolist() == [-1]


def test_a_fresh_plan(shelf: Shelf) -> None:
    assert planned(shelf, column("a", "b", "c", "d")) == [["a", "b", "c"], ["d"]]
    assert planned(shelf, column("a", "bbb", "cc", "bb", "cc"), by_length=True)[0][0] == "bbb"
    missing = np.array([True, False, True, True])
    assert planned(shelf, column("a", "b", "c", "d"), missing=missing) == [["a", "c", "d"]]


def test_an_unfinished_plan_keeps_its_batches(shelf: Shelf) -> None:
    shelf.write_plan(column("d", "c", "b", "x", "a").keys, np.array([0, 2, 4, 5]))
    assert planned(shelf, column("a", "b", "c", "d", "e")) == [["d", "c"], ["b"], ["a"], ["e"]]
    missing = np.array([True, True, False, False, True])
    assert planned(shelf, column("a", "b", "c", "d", "e"), missing=missing) == [["b"], ["a"], ["e"]]


def test_a_pass_in_a_line() -> None:
    done = Pass(
        title="clip, image", wanted=3000, stored=1000, encoded=1990, bad=10, batch=64, effective=16, seconds=20.0
    )
    assert done.line("image") == (
        "clip, image: 1,990 images in 20 s (99.5/s), 1,000 were stored, 10 left out, batch 16 instead of 64"
    )
