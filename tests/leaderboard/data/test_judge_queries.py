"""What pages read of judges is what their runs hold: every pair of every run folder, whole."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from compute.engine import run_folders
from compute.metrics import METRICS
from leaderboard.data import judge_queries
from leaderboard.data.database import Database
from tests.leaderboard import judge_stand_ins

SIDES = ("forward", "reverse")
COLUMNS = ["model", "task", "condition", "source", "type", "expected_score", *SIDES]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[run_folders.StoredRun]]:
    folder = tmp_path_factory.mktemp("ratings")
    judge_stand_ins.make(folder / "results")
    runs = [run_folders.read(each) for each in run_folders.every(folder / "results")]
    return judge_stand_ins.database(folder, results=folder / "results"), runs


@pytest.fixture(scope="module")
def rated(made: tuple[Path, list[run_folders.StoredRun]]) -> pd.DataFrame:
    return judge_queries.ratings(Database(made[0]), suite=judge_stand_ins.SUITE)


def test_every_rating_is_that_of_the_run_folders(
    made: tuple[Path, list[run_folders.StoredRun]], rated: pd.DataFrame
) -> None:
    parts = [
        pd.read_parquet(each.folder / run_folders.ITEMS)
        .assign(model=each.run.model, task=each.run.task)
        .rename(columns={"subset": "condition"})
        for each in made[1]
    ]
    whole = pd.concat(parts).sort_values(COLUMNS[:5], ignore_index=True)
    ours = rated.astype(dict.fromkeys(COLUMNS[:5], object)).sort_values(COLUMNS[:5], ignore_index=True)
    pd.testing.assert_frame_equal(ours[COLUMNS], whole[COLUMNS], check_dtype=False)
    words = ours["template"].notna()
    assert set(ours["model"][words]) == {"example/steady", "example/leaning"}
    assert (ours["template"][words] == whole["template"][words]).all()
    assert set(ours["forward_problem"].dropna()) == {"refused"}
    assert (ours["forward_problem"].notna() == ours["forward"].isna()).all()


def test_every_score_is_computed_again_from_ratings(
    made: tuple[Path, list[run_folders.StoredRun]], rated: pd.DataFrame
) -> None:
    known = {metric.key: metric for metric in METRICS}
    compared = 0
    for each in made[1]:
        own = rated[(rated["model"] == each.run.model) & (rated["task"] == each.run.task)]
        parts = {str(name): part for name, part in own.groupby("condition", observed=True)}
        for score in each.scores:
            metric = known[score.metric]
            if score.subset in parts:
                figure = metric.compute(*(parts[score.subset][column] for column in metric.inputs))
            else:
                figure = metric.whole(parts)
            assert (figure.value, figure.stderr, figure.n) == pytest.approx((score.value, score.stderr, score.n))
            for end in ("low", "high"):
                assert getattr(figure, end) == pytest.approx(getattr(score, end))
            compared += 1
    assert compared > 7 * 3 * 7


def test_a_run_counts_its_pairs(made: tuple[Path, list[run_folders.StoredRun]], rated: pd.DataFrame) -> None:
    counted = judge_queries.runs(Database(made[0]), suite=judge_stand_ins.SUITE)
    assert (counted["stored"] == counted["total"]).all() and counted["stored"].sum() == len(rated)


def test_a_suite_without_computed_judges_has_no_ratings(made: tuple[Path, list[run_folders.StoredRun]]) -> None:
    assert judge_queries.ratings(Database(made[0]), suite="pairbench").empty
