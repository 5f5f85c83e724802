"""How columns of a suite's table correlate over models: what the first page and the page of correlations both say."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute.analysis.correlation import Correlation, correlate
from leaderboard.data.ranked import Ranked
from leaderboard.data.suite_table import SuiteTable

MINIMUM = 4  # models a cell needs, unless told


def correlate_columns(
    *, values: np.ndarray, higher: Sequence[bool], method: str, minimum: int = MINIMUM
) -> Correlation:
    """Correlations of the columns of `values` [models, columns], NaN missing, each turned so that more is better."""
    oriented = np.where(np.asarray(higher, bool), values, -values)
    return correlate(scores=oriented, method=method, minimum=minimum)


def correlate_categories(table: SuiteTable, ranked: Ranked, *, origin: str, method: str) -> Correlation:
    """Correlations of a suite's category means over every model of one origin that has both, with a rank or not."""
    return correlate_columns(
        values=ranked.category_means[table.rows_of(origin)],
        higher=[column.higher for column in table.category_columns],
        method=method,
    )
