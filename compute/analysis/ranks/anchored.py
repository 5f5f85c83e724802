"""Scores of a category of which only the mean is whole, made ready for a ranking."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Bools, Floats


def anchor(*, scores: ArrayLike, categories: ArrayLike, means: ArrayLike, counted: ArrayLike) -> tuple[Floats, Bools]:
    """Scores to rank by where a source prints a category's mean but not every figure in it.

    scores float [models, tasks], NaN missing; categories int [tasks]; means float [models, categories] in the unit of
    the scores, NaN where none is printed; counted bool [tasks]. Returns scores [models, tasks] and bool
    [models, categories], True where the printed mean stands in. There the figures at hand keep their spread but are
    moved so that the category's mean is the printed one, and every other task of it takes that mean: the ranking then
    keeps to the printed mean, whose spread is not known. A category that lacks nothing, or
    of which only some tasks are counted, stays as it is.
    """
    out, codes = np.array(scores, float), np.asarray(categories)
    printed, included = np.asarray(means, float), np.asarray(counted, bool)
    stands_in = np.zeros(printed.shape, bool)
    for category in range(printed.shape[1]):
        members = np.flatnonzero(codes == category)
        if not len(members) or not included[members].all():
            continue
        present = ~np.isnan(out[:, members])
        for row in np.flatnonzero(~present.all(axis=1) & ~np.isnan(printed[:, category])):
            known, centre = members[present[row]], printed[row, category]
            moved = out[row, known] + (centre - out[row, known].mean()) if len(known) else out[row, known]
            out[row, members] = centre
            out[row, known] = moved
            stands_in[row, category] = True
    return out, stands_in
