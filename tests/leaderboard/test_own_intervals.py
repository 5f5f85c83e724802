"""A metric's own interval is stored with its score, and every page that shows the score's interval shows that one."""

from __future__ import annotations

import json

import pytest

from leaderboard.data import scores
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.board import provenance
from leaderboard.pages.task import page, run_details
from tests.leaderboard import judge_stand_ins

MODEL, TASK, METRIC = "example/leaning", "mini/pairs-r", "mmscore"


def test_every_page_shows_the_stored_interval(tmp_path):
    """A stand-in's MMScore, whose stored interval is not value ± 1.96 stderr."""
    db = judge_stand_ins.opened(tmp_path)
    (row,) = db.ask(
        """SELECT runs.id, value, stderr, low, high FROM scores JOIN runs ON runs.id = scores.run
           WHERE model = ? AND task = ? AND metric = ? AND subset = 'default'""",
        [MODEL, TASK, METRIC],
    ).itertuples()
    assert abs(row.low - (row.value - 1.96 * row.stderr)) + abs(row.high - (row.value + 1.96 * row.stderr)) > 1e-3
    ends = pytest.approx([100 * row.low, 100 * row.high])
    of_model, of_task = db.records("model_scores", model=MODEL), db.records("task_scores", task=TASK)
    for each in (
        [score for score in of_model if score["task"] == TASK],
        [score for score in of_task if score["model"] == MODEL],
        db.records("run_scores", key=row.id),
    ):
        (score,) = [score for score in each if (score["metric"], score["subset"]) == (METRIC, "default")]
        assert scores.shown_interval(score) == ends
    table = SuiteCache(db).table(judge_stand_ins.SUITE)
    index, column = next(
        (at, each) for at, each in enumerate(table.columns) if (each.task, each.metric) == (TASK, METRIC)
    )
    at = table.row(f"{MODEL}~computed"), index
    assert (table.low[at], table.high[at]) == (row.low, row.high)
    low, high = (f"{100 * end:.{column.digits}f}" for end in (row.low, row.high))
    cell = provenance.cell(db, table, None, row_id=f"{MODEL}~computed", key=column.key)
    (text,) = [each["interval"] for each in cell["sources"] if not each["subset"]]
    assert text.partition("; ")[0] == f"{low}% to {high}%"
    points = page.ranked_points(table, index).set_index("model")
    assert points.loc[MODEL, ["low", "high"]].tolist() == ends
    about = json.dumps(run_details.details(db, key=row.id), ensure_ascii=False)
    assert f"95% interval {low} to {high}" in about
