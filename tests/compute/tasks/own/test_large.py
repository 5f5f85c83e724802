"""A large manifest is read by columns: the work in Python does not grow with its rows, nor do they fill the memory."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from compute.tasks.own import OwnData, read
from tests.compute.tasks.own.drawn import pictures

ROWS = 20_000


def python_calls(action: Callable[[], object]) -> int:
    """How many Python functions an action calls."""
    count = 0

    def trace(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(trace)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def questions(path: Path, rows: int, *, answers: int = 2) -> Path:
    """Questions over ten images, with names of their own."""
    with path.open("w") as file:
        file.write("name,reference,alternative_1,alternative_2,answer\n")
        for at in range(rows):
            names = ",".join(f"images/{(at * step) % 10:03}.png" for step in (1, 3, 7))
            file.write(f"n{at},{names},{at % answers + 1}\n")
    return path


def texts(path: Path, rows: int) -> Path:
    """Texts without a repetition, as JSON lines."""
    with path.open("w") as file:
        for at in range(rows):
            file.write(f'{{"text": "text number {at}", "label": "class {at % 5}"}}\n')
    return path


def missing(path: Path, rows: int) -> Path:
    """Questions of which half have no right answer, each a fault."""
    return questions(path, rows, answers=4)


@pytest.mark.parametrize(("make", "name"), [(questions, "q.csv"), (texts, "t.jsonl"), (missing, "m.csv")])
def test_python_runs_no_code_a_row(make: Callable[[Path, int], Path], name: str, tmp_path: Path) -> None:
    pictures(tmp_path / "images", 10)
    small, large = make(tmp_path / f"small-{name}", ROWS // 10), make(tmp_path / f"large-{name}", ROWS)
    read(small)  # imports
    few, many = (python_calls(lambda path=path: read(path)) for path in (small, large))
    # Files by their distinct names and texts that pandas makes into numbers are all that is left.
    assert many - few < 2 * ROWS / 10, (few, many)


def test_memory_is_a_small_multiple_of_the_file(tmp_path: Path) -> None:
    pictures(tmp_path / "images", 10)
    path = questions(tmp_path / "q.csv", 5 * ROWS)
    read(questions(tmp_path / "small.csv", 10))
    gc.collect()
    tracemalloc.start()
    data: OwnData = read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert data.rows == 5 * ROWS and data.faults == 0
    assert peak < 6 * path.stat().st_size, f"{peak / 2**20:.0f} MB of Python objects"
