"""Correlations of a choice: against scipy, against the claims of UniSim-Bench Figure 3, and where there are gaps."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest
from scipy import stats

from compute import claims
from compute.types import BadInput
from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.correlations import matrix as correlation_matrix
from leaderboard.pages.correlations import query as correlation_query
from leaderboard.pages.correlations.axes import gather
from leaderboard.pages.correlations.matrix import matrix_of
from leaderboard.pages.correlations.query import CorrelationQuery, read
from leaderboard.pages.correlations.routes import rows


@pytest.fixture(scope="module")
def suite_cache(database):
    return SuiteCache(Database(database))


@pytest.fixture(scope="module")
def matrices(suite_cache):
    return partial(matrix_of, suite_cache)


@pytest.fixture(scope="module")
def parameters(suite_cache):
    return correlation_query.parameters(suites=suite_cache.db.query("suites")["key"])


@pytest.mark.parametrize(
    ("preset", "group", "models"),
    [("unisim-3a", "General-purpose models", 12), ("unisim-3b", "Specialized models", 8)],
)
def test_figure_3_is_what_the_claims_recompute(matrices, parameters, preset, group, models):
    matrix = matrices(read(parameters, {"preset": preset}))
    with claims.printed_tables() as tables:
        claims.read_paper("unisim", tables)
        taus = tables.execute('SELECT pair, tau FROM taus WHERE "group" = ?', [group]).fetchall()
    labels = [axis.title for axis in matrix.table.axes]
    expected = {f"{a}-{b}": matrix.correlation.r[labels.index(a), labels.index(b)] for a in labels for b in labels}
    assert len(matrix.table.scores.models) == models
    assert len(taus) == 18
    for pair, tau in taus:
        assert expected[pair] == pytest.approx(tau, abs=1e-12), pair


@pytest.mark.parametrize(
    ("method", "reference"), [("kendall", stats.kendalltau), ("spearman", stats.spearmanr), ("pearson", stats.pearsonr)]
)
def test_every_cell_is_scipys(matrices, method, reference):
    matrix = matrices(CorrelationQuery(suites=("pairbench",), level="tasks", method=method))
    axes = matrix.table.axes
    turned = matrix.table.scores.values * [1 if axis.higher else -1 for axis in axes]
    compared = 0
    for a, b in itertools.combinations(range(len(axes)), 2):
        both = ~np.isnan(turned[:, [a, b]]).any(axis=1)
        assert matrix.correlation.n[a, b] == both.sum()
        if both.sum() >= 4 and np.ptp(turned[both, a]) and np.ptp(turned[both, b]):
            assert matrix.correlation.r[a, b] == pytest.approx(
                reference(*turned[both][:, [a, b]].T).statistic, abs=1e-9
            )
            compared += 1
    assert compared > 100


def test_lower_is_better_columns_are_turned(matrices):
    matrix = matrices(CorrelationQuery(suites=("cfred-hpdv2",), level="tasks", method="pearson"))
    lower = [axis.key for axis in matrix.table.axes if not axis.higher]
    people = next(axis.key for axis in matrix.table.axes if axis.higher and axis.group == "People")
    assert lower
    pair = correlation_matrix.pair(matrix, lower[0], people)
    assert pair.r == pytest.approx(-stats.pearsonr(*pair.values.T).statistic, abs=1e-9)


def test_one_origin_at_a_time_and_one_row_a_model(matrices, suite_cache):
    matrix = matrices(CorrelationQuery(suites=("mieb",), level="tasks"))
    assert matrix.table.shown_origins == ["imported"]
    everything = matrices(CorrelationQuery(suites=("mieb",), level="tasks", origin="all"))
    assert len(set(everything.table.scores.models)) == len(everything.table.scores.models)
    with pytest.raises(BadInput, match="Choose other"):
        matrices(CorrelationQuery(suites=("mieb",), origin="computed"))


def test_too_few_models_is_blank_with_the_reason(matrices, suite_cache):
    query = CorrelationQuery(suites=("unisim-core", "unisim-ood", "pairbench"), origin="all", minimum=4, order="paper")
    matrix = matrices(query)
    img, coco = (matrix.index(key) for key in ("unisim-core:Img-2AFC", "pairbench:COCO"))
    assert np.isnan(matrix.correlation.r[img, coco])
    assert correlation_matrix.why_blank(matrix, img, coco) == "only 2 models have both, 4 are needed"
    pair = correlation_matrix.pair(matrix, "unisim-core:Img-2AFC", "pairbench:COCO")
    assert pair.why and len(pair.models) == 2
    line = next(row for row in rows(matrix) if row[7:] == ["unisim-core:Img-2AFC", "pairbench:COCO"])
    assert line[2] is None and line[5] == 2 and "4 are needed" in line[6]


@pytest.mark.parametrize(
    ("address", "origins"),
    [
        ({"suites": "mini"}, ["computed"]),
        ({"suites": "mini,unisim-core"}, ["published", "computed"]),
        ({}, ["imported"]),
    ],
    ids=["without published scores", "two suites", "the default"],
)
def test_a_view_opens_on_the_scores_that_its_suites_have(suite_cache, parameters, address, origins):
    assert gather(suite_cache, read(parameters, address)).shown_origins == origins
