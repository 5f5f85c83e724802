"""A large manifest is read by columns: the work in Python does not grow with its rows."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from compute.tasks.own import read
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


def questions(path: Path, rows: int) -> Path:
    """Questions over ten images, with names of their own."""
    with path.open("w") as file:
        file.write("name,reference,alternative_1,alternative_2,answer\n")
        for at in range(rows):
            names = ",".join(f"images/{(at * step) % 10:03}.png" for step in (1, 3, 7))
            file.write(f"n{at},{names},{at % 2 + 1}\n")
    return path


def test_python_runs_no_code_a_row(tmp_path: Path) -> None:
    pictures(tmp_path / "images", 10)
    small, large = questions(tmp_path / "small.csv", ROWS // 10), questions(tmp_path / "large.csv", ROWS)
    read(small)  # imports
    few, many = (python_calls(lambda path=path: read(path)) for path in (small, large))
    # Files by their distinct names and texts that pandas makes into numbers are all that is left.
    assert many - few < 2 * ROWS / 10, (few, many)
