"""`compute.rank` of a published table that is exported to a file gives the board's own figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import compute
from compute.analysis.ranking import Ranking
from leaderboard.data.board_table import PRINTED, BoardTable

# Of MIEB, the categories of which the paper's tables print every figure.
WITHOUT_PRINTED_MEANS = (
    "Clustering",
    "Compositionality",
    "Document Understanding",
    "Vision-centric QA",
    "Visual STS (en)",
)
SUITES = {
    "unisim-core": (),
    "unisim-ood": (),
    "pairbench": (),
    "mieb-lite": WITHOUT_PRINTED_MEANS,
    "mieb": WITHOUT_PRINTED_MEANS,
}


def exported(table: BoardTable, path: Path, *, categories: tuple[str, ...]) -> None:
    """The published rows of a suite as a long CSV, empty cells too."""
    rows = [
        {
            "model": row.model,
            "task": column.key,
            "value": table.scores.values[r, c],
            "stderr": table.scores.stderr[r, c],
            "category": column.group,
            "higher_is_better": column.higher,
        }
        for r, row in enumerate(table.rows)
        for c, column in enumerate(table.columns)
        if row.origin == "published" and column.ranked and (not categories or column.group in categories)
    ]
    pd.DataFrame(rows).to_csv(path, index=False)


def on_the_board(table: BoardTable, categories: tuple[str, ...]) -> Ranking:
    weights = {name: float(name in categories) for name in table.scores.categories} if categories else None
    ranked = table.ranked(weights=weights)
    assert ranked is not None
    return ranked


@pytest.mark.parametrize("suite", SUITES)
def test_an_exported_suite_is_ranked_as_on_the_board(suite_cache, suite, tmp_path):
    table, categories = suite_cache.table(suite), SUITES[suite]
    board = on_the_board(table, categories)
    published = np.array([index for index, row in enumerate(table.rows) if row.origin == "published"])
    names = [table.scores.categories.index(name) for name in categories or table.scores.categories]
    marks = table.mean_marks(board)[published][:, names]
    assert not (marks & PRINTED).any(), "printed means are no column of a table of scores"
    exported(table, tmp_path / "suite.csv", categories=categories)
    counted = [
        column for column in table.columns if column.ranked and column.group in (categories or table.scores.categories)
    ]
    own = compute.rank(
        tmp_path / "suite.csv",
        aggregate=table.suite["aggregate"],
        coverage=float(table.suite["minimum_coverage"]),
        bounds=(min(column.lower for column in counted), max(column.upper for column in counted)),
    )
    assert own.table.models == tuple(table.rows[index].model for index in published)
    ranked = int((own.rank > 0).sum())
    assert ranked > 5
    for name in ("rank", "rank_low", "rank_high", "few"):
        np.testing.assert_array_equal(getattr(own, name), getattr(board, name)[published])
    for name in ("mean", "mean_low", "mean_high"):
        np.testing.assert_allclose(getattr(own, name), getattr(board, name)[published], rtol=1e-12, atol=0)
    np.testing.assert_array_equal(own.better, board.better[np.ix_(published, published)])
    assert own.classes == tuple(board.classes[index] for index in published)
    assert own.unknown == tuple(board.unknown[index] for index in published)
    assert [bool(why) for why in own.why] == [bool(board.why[index]) for index in published]
    assert own.fixed == board.fixed
    assert (own.rank_low > 0).sum() > 5, "some intervals are known, so that they were compared"
