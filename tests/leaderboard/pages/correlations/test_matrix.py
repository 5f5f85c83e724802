"""Which scores correlations are of, and where there are gaps; the values are frozen in tests/golden."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from compute.types import BadInput
from leaderboard.pages.correlations import matrix as correlation_matrix
from leaderboard.pages.correlations.matrix import matrix_of
from leaderboard.pages.correlations.query import CorrelationQuery
from leaderboard.pages.correlations.routes import rows


@pytest.fixture(scope="module")
def matrices(suite_cache):
    return partial(matrix_of, suite_cache)


def test_one_origin_at_a_time_and_one_row_a_model(matrices, suite_cache):
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
