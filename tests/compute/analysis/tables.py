"""Rankings of arrays."""

import numpy as np

from compute.analysis.ranking import Ranking
from compute.analysis.table import ScoreTable

ARRAYS = ("stderr", "higher", "weights", "task_weights")


def table(scores, categories=None, **more):
    """Scores [models, tasks] with the category of each task by number."""
    values = np.asarray(scores, float)
    codes = np.zeros(values.shape[1], int) if categories is None else np.asarray(categories)
    names = tuple(f"category {code}" for code in range(int(codes.max()) + 1))
    arrays = {name: np.asarray(more[name]) for name in ARRAYS if more.get(name) is not None}
    return ScoreTable(**{"values": values, "codes": codes, "categories": names, "least": 0.0, **more, **arrays})


def ranked(scores, categories=None, **more):
    return Ranking.of(table(scores, categories, **more))
