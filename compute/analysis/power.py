"""The smallest difference between two models that a test over n items can be expected to detect.

Both models answer the same items, so the test is paired. A difference is detected if the test finds it at 5%,
two-sided, in 80% of such data sets. Smaller differences may be real, but a data set of this size is too small to detect
them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from statistics import NormalDist

import numpy as np

from compute.types import Undefined

LEVEL, POWER = 0.05, 0.8
# Default share of items that exactly one of two models has right, if no runs are known: two models at 75% whose errors
# correlate by 0.5 differ on 19%, at 90% on 9%.
DISCORDANCE = 0.2
_BY_LEVEL, _BY_POWER = NormalDist().inv_cdf(1 - LEVEL / 2), NormalDist().inv_cdf(POWER)


def of_proportions(n: int, *, discordance: float = DISCORDANCE) -> float:
    """Returns the smallest detectable difference between two shares of right answers over n items, as a fraction.

    `discordance` is the share of items that exactly one of the models has right. Solves difference √n = 1.96
    √discordance + 0.84 √(discordance - difference²), the sample size of McNemar's test (Miettinen 1968, Biometrics 24;
    Connor 1987, Biometrics 43), for the difference. Raises Undefined if not even a model that wins all such items would
    be detected.
    """
    # With d the difference: (d √n - a)² = b² (discordance - d²). The larger root has d √n >= a.
    a, b = _BY_LEVEL * math.sqrt(discordance), _BY_POWER
    square, half, constant = n + b**2, a * math.sqrt(n), a**2 - b**2 * discordance
    root = half**2 - square * constant
    difference = (half + math.sqrt(root)) / square if root >= 0 else math.inf
    if difference > discordance:
        raise Undefined(f"of two models that differ on {discordance:.0%} of the items, neither is significantly better")
    return difference


def of_means(n: int, *, deviation: float) -> float:
    """Returns the smallest detectable difference between two means over n items, in the unit of `deviation`.

    `deviation` is the standard deviation of the per-item differences. Solves the power of the paired t test, which
    follows a noncentral t distribution (Cohen 1988, section 2.3), for the difference. Raises Undefined for fewer than 2
    items.
    """
    from scipy.optimize import brentq
    from scipy.stats import nct, t

    if n < 2:
        raise Undefined("a single item shows no spread")
    bound = float(t.ppf(1 - LEVEL / 2, n - 1))

    def missing(shift: float) -> float:
        """Returns by how much the power falls short if the mean is `shift` standard errors above 0."""
        return POWER - float(nct.sf(bound, n - 1, shift))

    shift = brentq(missing, 0.0, 4 * bound, xtol=1e-10)
    return float(shift) * deviation / math.sqrt(n)


def spread(scores: Sequence[np.ndarray]) -> float:
    """Returns the spread of per-item differences between two models: the median over all pairs of models of their
    standard deviation.

    For right-or-wrong answers this is the root of the discordance minus the squared difference. `scores` holds one row
    [items] per model, over the same items; items that are NaN for either model are skipped. Raises Undefined for fewer
    than two models, or if no pair shares two items.
    """
    return _median(float(gaps.std(ddof=1)) for gaps in _differences(scores) if len(gaps) > 1)


def discordance(scores: Sequence[np.ndarray]) -> float:
    """Returns the share of items that exactly one of two models has right: the median over all pairs of models.

    `scores` as in `spread`, of 0 and 1. Raises Undefined for fewer than two models, or if no pair shares an item.
    """
    return _median(float(np.abs(gaps).mean()) for gaps in _differences(scores) if len(gaps))


def _differences(scores: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    for first, second in combinations(scores, 2):
        gaps = np.asarray(first, float) - np.asarray(second, float)
        yield gaps[~np.isnan(gaps)]


def _median(values: Iterable[float]) -> float:
    known = list(values)
    if not known:
        raise Undefined("fewer than two models answered the same items")
    return float(np.median(known))


def more_items(n: int, *, z: float, bound: float = _BY_LEVEL) -> int:
    """Returns how many more items are needed to detect a difference that is z standard errors large after n items and
    stays as large.

    The statistic grows with the root of the number of items. It is detected with POWER if it is 0.84 above `bound`, by
    default that of one test at LEVEL. Raises Undefined for a difference of 0.
    """
    if z == 0:
        raise Undefined("there is no difference to find")
    return max(0, math.ceil(n * ((bound + _BY_POWER) / z) ** 2) - n)
