"""The metrics beside other benchmarks, and the stability of the ranking."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from leaderboard.data import judge_queries
from leaderboard.pages.judges import context
from leaderboard.pages.judges.comparison import TITLES
from leaderboard.pages.judges.page import Judging


def test_table_2_as_printed(judging: Judging) -> None:
    table = {other.title: other.cells for other in context.printed(judging.db, titles=TITLES)}
    assert len(table) == 8
    mmscore, symmetry, *_ = table["MMMU"]
    assert mmscore is not None and symmetry is not None
    assert (mmscore.r, symmetry.r, mmscore.n) == (0.89, 0.35, 23)
    assert mmscore.significant and not symmetry.significant and mmscore.low < 0.89 < mmscore.high


def test_other_benchmarks_join_by_model(judging: Judging, monkeypatch: pytest.MonkeyPatch) -> None:
    """A score that is the MMScore itself correlates perfectly; four shared judges are too few."""
    comparison = judging.compare("pairbench", "all")
    rows = [row for row in comparison.rows if row.complete]

    def scores(count: int, origin: str) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "model": row.model,
                    "origin": origin,
                    "task": "x/mmmu",
                    "title": "MMMU",
                    "benchmark": "External",
                    "value": row.values["mmscore"].value,
                }
                for row in rows[:count]
            ]
        )

    both = pd.concat([scores(12, "imported"), scores(context.SHARED - 1, "computed")])
    monkeypatch.setattr(judge_queries, "other_scores", lambda db, *, models: both)
    (other,) = context.joined(judging.db, comparison)
    assert (other.title, other.origin) == ("External: MMMU", "imported")
    assert other.cells[0] is not None and other.cells[0].r == pytest.approx(1) and other.cells[0].n == 12
    assert np.isnan(other.cells[0].low)  # no width is no knowledge


def test_nothing_joins_on_the_shipped_figures(judging: Judging) -> None:
    assert judging.joined("pairbench", "all") == []


def test_stability_of_judges_on_the_same_pairs(judging: Judging) -> None:
    found = judging.stability("mini-pairs", "all")
    assert not isinstance(found, str)
    assert set(found.judges) == {"Steady Judge", "Leaning Judge", "Example Eye"} and found.sources == 12
    assert [point.size for point in found.points] == [5, 10]
    assert "two judges" in judging.stability("pairbench", "all")
