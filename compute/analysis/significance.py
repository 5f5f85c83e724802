"""Which models differ significantly: one matrix of decisions, from which rank ranges, classes and marks are read.

The promise: on at most 5 percent of boards is any model called better than one that it equals. Each pair's difference
of means is divided by its standard error, and the largest of all pairs is compared with what it would be among equal
models (a max-t test). Three things make that test as strong as it is:

- The variance of a pair, known from few tasks, is moderated: drawn towards what the board's pairs have in common, as
  far as they have it in common (Smyth 2004, doi 10.2202/1544-6115.1027).
- The largest t among equals comes from the board's own deviations, whose signs are flipped at random, a task's for all
  models together. So it takes into account that similar models err on the same tasks.
- It steps down (Romano and Wolf 2005, doi 10.1198/016214504000000539): once pairs are found, the next are compared with
  the largest t of those that are left.

A pair is called significant only if its own t test, of this pair alone, says so too. Of fewer than five models too
little is in common to moderate by: there Holm's method over all pairs decides. docs/significance.md has the
share of boards with a false decision and the share of true differences found, compared with other rules.

A class is a run of the ranking in which no model is significantly better than another: it ends before the first model
that is significantly worse than any of its members, which begins the next. Two neighbours on either side of a border
need not differ from each other. A model whose interval is not known has no class.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.ranks import variance
from compute.analysis.ranks.means import rank
from compute.arrays import Bools, Floats

ALPHA = 0.05
NOT_SIGNIFICANT = 1.6  # of t: below the one-sided quantile of 95 percent, 1.645 or more
DRAWS, FEWEST_DRAWS = 399, 39  # random signs for each task; the level is exact where draws + 1 is a multiple of 20
HELD = 8_000_000  # values of draws x pairs held at once, beyond which there are fewer draws
MOST_FOR_PRIOR = 10_000  # pairs that show what all have in common
ROWS, CACHED = 128, 65_536  # models whose pairs, and values, are computed at once
ENOUGH_TASKS = 5  # of a category, for random signs
FEW_MODELS = 5
SEED = 20261126


def decisions(*, mean: Floats, parts: Sequence[variance.CategoryVariance], higher: bool) -> tuple[Bools, Floats]:
    """Which models are significantly better than which, on the board as a whole, and the p of each pair by itself.

    mean [models], none NaN; parts: what each category adds to their variance (`variance.by_category`); higher: whether
    a higher mean is better. Returns `better` bool [models, models], whether the row is significantly better than the
    column; and p [models, models], one-sided, 0.5 if clearly above 5 percent, NaN where unknown or of a model with
    itself. A model of unknown variance is neither better nor worse than any other.
    """
    known = np.flatnonzero(variance.known_rows(parts))
    known = known[np.argsort(mean[known], kind="stable")]  # the order of the table decides nothing, not even a draw
    inner, better, p = np.ix_(known, known), np.zeros(2 * [len(mean)], bool), np.full(2 * [len(mean)], np.nan)
    if len(known) > 1:
        mean_of, parts = mean[known], [part.rows(known) for part in parts]
        between = variance.of_differences(parts)
        own = _of_pairs(mean_of, between, scored=sum(part.scored for part in parts))
        p[inner] = own
        if len(known) < FEW_MODELS or not between.variance.any():
            pairs = np.triu_indices(len(known), 1)
            found = np.zeros(own.shape, bool)
            found[pairs] = holm(2 * own[pairs])
        else:
            found = _step_down(mean_of, between, parts) & (2 * own <= ALPHA)
        better[inner] = found | found.T
    place = rank(mean, higher=higher)
    return better & (place[:, None] < place), p


def _of_pairs(mean: Floats, between: variance.Differences, *, scored: Floats) -> Floats:
    p = np.full(between.variance.shape, 0.5)
    np.fill_diagonal(p, np.nan)
    gap = np.subtract.outer(mean, mean)
    # The distribution function is slow, and what no number of degrees of freedom makes significant is not asked for.
    at = np.nonzero(np.triu(gap**2 > NOT_SIGNIFICANT**2 * between.variance, 1))
    p[at] = p.T[at] = variance.one_sided(
        difference=gap[at],
        variance=between.variance[at],
        dof=between.dof[at],
        tasks=np.minimum(scored[at[0]], scored[at[1]]),
    )
    return p


def _step_down(mean: Floats, between: variance.Differences, parts: Sequence[variance.CategoryVariance]) -> Bools:
    """Which pairs the step-down max-t test finds: bool [models, models], in at least one of the two orders.

    mean [models], in order; between: the variance of their differences; parts: of their means.
    """
    pairs = np.flatnonzero(np.triu(np.ones(between.variance.shape, bool), 1))
    at = pairs[:: 1 + len(pairs) // MOST_FOR_PRIOR]
    unit = between.variance.flat[pairs].max()  # draws are held in single precision, whatever the scores' size
    at = at[(between.variance.flat[at] > 0) & np.isfinite(between.plain_dof.flat[at])]
    prior, common = _prior(between.variance.flat[at] / unit, between.plain_dof.flat[at]) if len(at) else (np.inf, 1.0)
    draws = int(np.clip(HELD // len(pairs), FEWEST_DRAWS, DRAWS))
    moved, means = _flipped(parts, draws, unit=np.sqrt(unit))
    # Rows are compared with those from them on, some at a time, so that what is computed fits the processor's cache.
    blocks = [(slice(start, start + ROWS), slice(start, None)) for start in range(0, len(mean), ROWS)]
    shapes = [between.variance[block].shape for block in blocks]
    ends = np.cumsum([rows * on for rows, on in shapes])
    squared_t, drawn = np.empty(ends[-1]), np.empty((draws, ends[-1]), np.float32)
    for block, shape, end in zip(blocks, shapes, ends, strict=True):
        part = slice(end - shape[0] * shape[1], end)
        # Of what is common, in a pair's variance: nothing where that is known exactly.
        dof = between.plain_dof[block]
        share = np.isfinite(dof).astype(float) if np.isinf(prior) else prior / (prior + dof)
        base, own = share * common, 1 - share
        gap = np.subtract.outer(mean[block[0]], mean[block[1]])
        squared_t[part] = (gap**2 / (unit * base + own * between.variance[block])).ravel()
        base += own * (between.flipped[block] / unit)
        _draw(
            moved, means, base.astype(np.float32), own.astype(np.float32), block, drawn[:, part].reshape(draws, *shape)
        )
    found, largest = np.zeros(ends[-1], bool), drawn.argmax(axis=1)
    while True:
        limit = np.sort(drawn[np.arange(draws), largest])[-int(ALPHA * (draws + 1))]
        more = ~found & (squared_t > limit)
        if not more.any():
            break
        found |= more
        stale, gone = np.flatnonzero(found[largest]), np.flatnonzero(found)
        for draw in stale:  # the largest of what is left
            drawn[draw, gone] = 0
            largest[draw] = drawn[draw].argmax()
    out = np.zeros(between.variance.shape, bool)
    for block, shape, end in zip(blocks, shapes, ends, strict=True):
        out[block] = found[end - shape[0] * shape[1] : end].reshape(shape)
    return out


def _prior(own: Floats, dof: Floats) -> tuple[float, float]:
    """What pairs have in common: degrees of freedom of the common variance (inf: all of it) and the variance itself.

    own [pairs] > 0, the variances estimated on dof [pairs]. By the moments of their logarithms (Smyth 2004, section
    6.2): as they scatter more than chi squared does, the variances themselves differ.
    """
    from scipy.special import digamma, polygamma  # slow to import: not at start

    logs = np.log(own) - digamma(dof / 2) + np.log(dof / 2)
    scatter = logs.var(ddof=1) - polygamma(1, dof / 2).mean() if len(own) > 1 else 0.0
    if scatter <= 0:
        return np.inf, float(np.exp(logs.mean()))
    half = 0.5 + 1 / scatter  # solves trigamma(half) = scatter; Newton's steps on 1 / trigamma never overshoot
    for _ in range(20):
        value = polygamma(1, half)
        half += value * (1 - value / scatter) / polygamma(2, half)
    return float(2 * half), float(np.exp(logs.mean() + digamma(half) - np.log(half)))


def _flipped(parts: Sequence[variance.CategoryVariance], draws: int, *, unit: float) -> tuple[Floats, Floats]:
    """The means of equal models [draws, models], and what each category's takes off the spread [draws, models, parts].

    A draw multiplies each task's deviations by 1 or -1 (`_signs`). The squares of flipped deviations are those of the
    deviations, and their mean alone differs. Deviations are from a mean over few tasks, which makes their squares too
    small by a factor of 1 - 1/n.
    """
    generator = np.random.default_rng(SEED)
    moved, means = np.zeros((draws, len(parts[0].scored))), []
    # Signs go by size, so that the order of tasks and categories in the table decides nothing.
    for deviations in sorted((part.deviations / unit for part in parts), key=lambda x: float((x**2).sum())):
        x = deviations[:, np.argsort((deviations**2).sum(axis=0), kind="stable")]
        n = x.shape[1]
        if n == 1:  # only the noise of the score varies, independently, and how far is known
            moved += generator.normal(size=moved.shape) * x[:, 0]
            continue
        mean = np.sqrt(n / (n - 1)) * _signs(generator, draws, n) @ x.T
        moved += mean
        mean -= mean.mean(axis=1, keepdims=True)  # cancels in every difference; left in, products would lose digits
        means.append(mean / np.sqrt(n - 1))
    each = np.stack(means, axis=2, dtype=np.float32) if means else np.zeros((*moved.shape, 1), np.float32)
    return moved.astype(np.float32), each


def _draw(moved: Floats, means: Floats, base: Floats, share: Floats, block: tuple[slice, slice], out: Floats) -> None:
    """Writes to `out` [draws, *pairs] the squared t among equal models of a block's rows and columns.

    Its variance is base - share * (what the draw's means take off), of the block.
    """
    rows, on = block
    at_once = max(1, CACHED // base.size)
    for start in range(0, len(moved), at_once):
        draws = slice(start, start + at_once)
        variances = base
        if share.any():  # not where pairs have all of their variance in common
            one, other = means[draws, rows], means[draws, on]
            # |a - b|^2 as one product, of (a, |a|^2, 1) and (-2 b, 1, |b|^2).
            one = np.concatenate([one, (one**2).sum(axis=2, keepdims=True), np.ones_like(one[..., :1])], axis=2)
            other = np.concatenate(
                [-2 * other, np.ones_like(other[..., :1]), (other**2).sum(axis=2, keepdims=True)], axis=2
            )
            variances = one @ other.swapaxes(1, 2)
            variances *= share
            np.subtract(base, variances, out=variances)
            np.maximum(variances, np.finfo(np.float32).tiny, out=variances)
        gap = np.subtract(moved[draws, rows, None], moved[draws, None, on], out=out[draws])
        gap *= gap
        gap /= variances


def _signs(generator: np.random.Generator, draws: int, n: int) -> Floats:
    """Random signs of n tasks: [draws, n], the squares of each row sum to n.

    Few tasks have so few patterns of signs that none is rare: there any direction in space is drawn.
    """
    if n >= ENOUGH_TASKS:
        return generator.choice([-1.0, 1.0], size=(draws, n))
    directions = generator.normal(size=(draws, n))
    return directions * np.sqrt(n) / np.linalg.norm(directions, axis=1, keepdims=True)


def class_letters(better: Bools) -> list[str]:
    """The class of every model, A, B, ..., Z, AA, ...; better bool [models, models] as in `decisions`, best first."""
    letters, start, number = [], 0, 0
    for model in range(len(better)):
        if better[start:model, model].any():
            start, number = model, number + 1
        letters.append(letter(number))
    return letters


def letter(index: int) -> str:
    """Name of a class by its number from 0."""
    name = ""
    while index >= 0:
        index, digit = divmod(index, 26)
        name = chr(ord("A") + digit) + name
        index -= 1
    return name


def holm(p: ArrayLike, *, alpha: float = ALPHA) -> Bools:
    """Which hypotheses Holm's step-down method rejects at family-wise error `alpha`: bool [n]; never NaN."""
    return holm_adjusted(p) <= alpha


def holm_adjusted(p: ArrayLike) -> Floats:
    """The least family-wise error at which Holm's step-down method rejects each hypothesis [n].

    In order of p, the k-th smallest (from 0) is multiplied by n - k, and is at least the one before. NaN counts in n,
    and gives 1. Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    values = np.nan_to_num(np.asarray(p, float), nan=1.0)
    order = np.argsort(values, kind="stable")
    out = np.empty(len(values))
    out[order] = np.minimum(np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values)))), 1.0)
    return out
