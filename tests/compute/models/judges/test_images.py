"""Images made ready once each: what is stored where, what happens when it is full, and many threads at once."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from compute.content.messages import Picture, Question
from compute.models.judges.images import ReadyImages, grouped
from compute.types import BadInput


def named(name: str) -> Picture:
    return Picture(key=name.encode(), read=lambda: name.encode())


def tenfold(picture: Picture) -> bytes:
    return 10 * picture.data


@pytest.mark.parametrize("on_disk", [True, False])
def test_an_image_is_made_once(tmp_path: Path, on_disk: bool) -> None:
    ready = ReadyImages(tenfold, folder=tmp_path / "new" / "answers" if on_disk else None)
    wanted = ["a", "bc", "a", "d", "bc", "a"]
    assert [ready.of(named(name)) for name in wanted] == [10 * name.encode() for name in wanted]
    assert ready.made == 3
    assert list(tmp_path.rglob("*")) == ([tmp_path / "new", tmp_path / "new" / "answers"] if on_disk else [])


def test_threads_wait_for_an_image_that_is_being_made(tmp_path: Path) -> None:
    made: Counter[bytes] = Counter()
    lock = threading.Lock()

    def slow(picture: Picture) -> bytes:
        with lock:
            made[picture.key] += 1
        time.sleep(0.01)
        return tenfold(picture)

    ready = ReadyImages(slow, folder=tmp_path)
    wanted = [f"image {number % 20}" for number in range(400)]
    with ThreadPoolExecutor(32) as pool:
        assert list(pool.map(lambda name: ready.of(named(name)), wanted)) == [10 * name.encode() for name in wanted]
    assert set(made.values()) == {1} and len(made) == 20


def test_a_damaged_image_fails_for_everyone_and_is_tried_again(tmp_path: Path) -> None:
    damaged = [True]

    def make(picture: Picture) -> bytes:
        time.sleep(0.05)
        if damaged[0]:
            raise BadInput("a damaged image")
        return picture.data

    ready = ReadyImages(make, folder=tmp_path)
    with ThreadPoolExecutor(4) as pool:
        outcomes = [pool.submit(ready.of, named("a")) for _ in range(4)]
        assert all("a damaged image" in str(outcome.exception()) for outcome in outcomes)
    damaged[0] = False
    assert ready.of(named("a")) == b"a"


def question(*parts: str) -> Question:
    return Question(item="", parts=tuple(named(part) if part.isupper() else part for part in parts))


def test_questions_that_share_images_are_near_each_other() -> None:
    """Both orders of every pair, all of one order first, as judging asks them."""
    pairs = [("A", "B"), ("C", "D"), ("A", "E"), ("C", "F"), ("A", "C")]
    questions = [question("rate", *pair) for pair in pairs] + [question("rate", *reversed(pair)) for pair in pairs]
    assert grouped(questions) == [0, 2, 4, 5, 7, 9, 1, 3, 6, 8]
    assert grouped([question("no"), question("images"), question("at all")]) == [0, 1, 2]


def test_in_that_order_a_small_store_makes_each_image_once(tmp_path: Path) -> None:
    """A hundred sources with three images each, under two conditions: room for eight images."""
    pairs = [(f"S{source}", f"{kind}{source}") for kind in "IT" for source in range(100)]
    pairs += [(f"S{source}", f"S{source ^ 1}") for source in range(100)]
    questions = [question(*pair) for pair in pairs] + [question(*reversed(pair)) for pair in pairs]
    asked = ReadyImages(lambda picture: b"x" * 100, folder=tmp_path, room=800)
    for position in range(len(questions)):
        questions[position].each(text=str.encode, image=asked.of)
    ordered = ReadyImages(lambda picture: b"x" * 100, folder=tmp_path, room=800)
    for position in grouped(questions):
        questions[position].each(text=str.encode, image=ordered.of)
    assert asked.made >= 900  # in the order in which they are asked
    assert 300 <= ordered.made <= 400
