"""What pages read of judges is what their runs hold: every pair of every run folder, whole."""

from __future__ import annotations

import pandas as pd

from compute.engine import run_folders
from leaderboard.data import judge_queries
from leaderboard.data.database import Database
from tests.leaderboard import judge_stand_ins

SIDES = ("forward", "reverse")
COLUMNS = ["model", "task", "condition", "source", "type", "expected_score", *SIDES]


def test_every_rating_is_that_of_the_run_folders(tmp_path):
    judge_stand_ins.make(tmp_path / "results")
    db = Database(judge_stand_ins.database(tmp_path, results=tmp_path / "results"))
    rated = judge_queries.ratings(db, suite=judge_stand_ins.SUITE)
    runs = [run_folders.read(each) for each in run_folders.every(tmp_path / "results")]
    parts = [
        pd.read_parquet(each.folder / run_folders.ITEMS)
        .assign(model=each.run.model, task=each.run.task)
        .rename(columns={"subset": "condition"})
        for each in runs
    ]
    whole = pd.concat(parts).sort_values(COLUMNS[:5], ignore_index=True)
    ours = rated.astype(dict.fromkeys(COLUMNS[:5], object)).sort_values(COLUMNS[:5], ignore_index=True)
    pd.testing.assert_frame_equal(ours[COLUMNS], whole[COLUMNS], check_dtype=False)
    words = ours["template"].notna()
    assert set(ours["model"][words]) == {"example/steady", "example/leaning"}
    assert (ours["template"][words] == whole["template"][words]).all()
    assert set(ours["forward_problem"].dropna()) == {"refused"}
    assert (ours["forward_problem"].notna() == ours["forward"].isna()).all()
    counted = db.query("judged_runs", suite=judge_stand_ins.SUITE)
    assert (counted["stored"] == counted["total"]).all() and counted["stored"].sum() == len(rated)
    assert judge_queries.ratings(db, suite="pairbench").empty, "it has no computed judges"
