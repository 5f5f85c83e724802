"""A metric's own interval is stored with its score, and every page that shows the score's interval shows that one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from compute.database import store
from leaderboard.data import scores
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.board import provenance
from leaderboard.pages.task import page, run_details
from tests.leaderboard import judge_stand_ins

MODEL, TASK, METRIC = "example/leaning", "mini/pairs-r", "mmscore"


@dataclass(frozen=True)
class Shown:
    db: Database
    run: str
    low: float
    high: float


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """A stand-in's MMScore, whose stored interval is not value ± 1.96 stderr."""
    folder: Path = tmp_path_factory.mktemp("intervals")
    judge_stand_ins.make(folder / "results")
    path = judge_stand_ins.database(folder, results=folder / "results")
    with store.connect(path) as connection:
        run, value, stderr, low, high = connection.execute(
            """SELECT runs.id, value, stderr, low, high FROM scores JOIN runs ON runs.id = scores.run
               WHERE model = ? AND task = ? AND metric = ? AND subset = 'default'""",
            [MODEL, TASK, METRIC],
        ).fetchone()
    assert abs(low - (value - 1.96 * stderr)) > 1e-3 or abs(high - (value + 1.96 * stderr)) > 1e-3
    return Shown(db=Database(path), run=run, low=low, high=high)


def own(frame) -> dict:  # type: ignore[no-untyped-def]
    (row,) = frame[(frame["metric"] == METRIC) & (frame["subset"] == "default")].to_dict("records")
    return row


def test_tables_of_scores(shown):
    ends = pytest.approx([100 * shown.low, 100 * shown.high])
    of_model = shown.db.query("model_scores", model=MODEL)
    of_task = shown.db.query("task_scores", task=TASK)
    assert scores.shown_interval(own(of_model[of_model["task"] == TASK])) == ends
    assert scores.shown_interval(own(of_task[of_task["model"] == MODEL])) == ends
    assert scores.shown_interval(own(shown.db.query("run_scores", key=shown.run))) == ends


def test_the_board_and_the_task_page(shown):
    table = SuiteCache(shown.db).table(judge_stand_ins.SUITE)
    index = next(at for at, column in enumerate(table.columns) if (column.task, column.metric) == (TASK, METRIC))
    row = table.row(f"{MODEL}~computed")
    assert (table.low[row, index], table.high[row, index]) == (shown.low, shown.high)
    column = table.columns[index]
    cell = provenance.cell(shown.db, table, None, row_id=f"{MODEL}~computed", key=column.key)
    (text,) = [each["interval"] for each in cell["sources"] if not each["subset"]]
    interval, _, _ = text.partition("; ")
    assert interval == f"{100 * shown.low:.{column.digits}f}% to {100 * shown.high:.{column.digits}f}%"
    points = page.ranked_points(table, index).set_index("model")
    assert points.loc[MODEL, ["low", "high"]].tolist() == pytest.approx([100 * shown.low, 100 * shown.high])


def test_a_run_and_the_view(shown):
    about = json.dumps(run_details.details(shown.db, key=shown.run), ensure_ascii=False)
    digits = shown.db.ask("SELECT digits FROM metrics WHERE key = ?", [METRIC])["digits"].item()
    assert f"95% interval {100 * shown.low:.{digits}f} to {100 * shown.high:.{digits}f}" in about
    view = shown.db.ask(
        "SELECT low, high FROM leaderboard_scores WHERE model = ? AND task = ? AND metric = ? AND subset = 'default'",
        [MODEL, TASK, METRIC],
    )
    assert view.to_numpy().tolist() == [[shown.low, shown.high]]
