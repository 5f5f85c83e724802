"""Run folders with figures that cannot be, and JSON nested without end: what the app says of them, and still serves."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from compute.engine.run_folders import ITEMS, MARK
from tests.bench.attacked import Attacked, attacked
from tests.bench.measure import ROOT
from tests.bench.visitor import Answer, Visitor
from tests.compute.database.test_bad_files import changed, copy_sql, item
from tests.compute.test_build_computed import OTHER, keep

TASK = "unisim/nights"
DEPTH = 100_000
SUITES = ("unisim-core", "mini")  # of the spoilt runs, and another
NAMED = {  # by the spoilt folder: what the log says of it
    "negative": "the standard error of accuracy",
    "huge": "accuracy of default is 12345",
    "deep": "lists within lists",
    "detail": "items.parquet",
}


def spoil(results: Path) -> None:
    """Writes a sound run folder and one for each of NAMED."""
    keep(results, value=0.75)
    folders = {mark: keep(results, model=OTHER, mark=mark).folder for mark in NAMED}
    changed(folders["negative"], score_stderr=-1)
    changed(folders["huge"], score_value=12345)
    (folders["deep"] / MARK).write_text('{"settings": ' * DEPTH)
    nested = f"""concat('{{"texts": ', repeat('[', {DEPTH}), repeat(']', {DEPTH}), '}}')"""
    copy_sql(folders["detail"] / ITEMS, item(detail=nested))


@contextmanager
def spoilt(root: Path = ROOT, *, stop_at: float) -> Iterator[Attacked]:
    """The app of a checkout, started beside such results."""
    with tempfile.TemporaryDirectory() as folder:
        spoil(Path(folder))
        with attacked(root, environment={"LIKENESS_RESULTS": folder}, stop_at=stop_at) as server:
            yield server


def look(port: int) -> list[Answer]:
    """The suites, the task of the spoilt runs, its page and the export."""
    visitor = Visitor(port)
    paths = [f"/data/board/{suite}" for suite in SUITES]
    paths += [f"/data/items?task={TASK}", f"/task?task={TASK}", "/export/everything"]
    return [visitor.get(path) for path in paths]


def whole(answers: Sequence[Answer]) -> str:
    """Every answer is 200, and the board holds no figure of a spoilt run; else what is wrong."""
    for answer in answers:
        if answer.status != 200:
            return f"{answer.what}: {answer.status}"
    rows = json.loads(answers[0].body)["rows"]
    computed = {row["model"] for row in rows if row["origin"] == "computed"}
    return "" if computed else "the sound run is not on the board"


def unnamed(server: Attacked) -> list[str]:
    """The spoilt folders that the log does not name with their reasons."""
    lines = server.log.read_text(errors="replace").splitlines()
    return [
        mark for mark, words in NAMED.items() if not any(f"nights/{mark}" in line and words in line for line in lines)
    ]
