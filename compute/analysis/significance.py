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
share of boards with a false decision and the share of true differences found, beside those of other rules.

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
from compute.arrays import Bools, Floats, Ints

ALPHA = 0.05
NOT_SIGNIFICANT = 1.6  # of t: below the one-sided quantile of 95 percent, 1.645 or more
DRAWS, FEWEST_DRAWS = 399, 39  # random signs for each task; the level is exact where draws + 1 is a multiple of 20
HELD = 8_000_000  # values of draws x pairs held at once, beyond which there are fewer draws
MOST_FOR_PRIOR = 10_000  # pairs that show what all have in common
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
    between, dof = variance.of_differences(parts)
    p = _of_pairs(mean, between, dof, scored=sum(part.scored for part in parts))
    better = np.zeros(p.shape, bool)
    known = np.flatnonzero(variance.known_rows(parts))
    known = known[np.argsort(mean[known], kind="stable")]  # the order of the table decides nothing, not even a draw
    if len(known) > 1:
        inner = np.ix_(known, known)
        pairs = np.flatnonzero(np.triu(np.ones(2 * [len(known)], bool), 1))  # of the flat matrix
        spread, own, found = between[inner], 2 * p[inner].flat[pairs], np.zeros(len(known) ** 2, bool)
        if len(known) < FEW_MODELS or not spread.flat[pairs].any():
            found[pairs] = holm(own)
        else:
            unit = np.sqrt(spread.flat[pairs].max())  # draws are held in single precision, whatever the scores' size
            deviations = [(part.deviations[known] / unit, part.dof[known]) for part in parts]
            tested = _step_down(mean[known] / unit, spread / unit**2, deviations, pairs=pairs)
            found[pairs] = tested & (own <= ALPHA)
        found = found.reshape(spread.shape)
        better[inner] = found | found.T
    place = rank(mean, higher=higher)
    return better & (place[:, None] < place), p


def _of_pairs(mean: Floats, between: Floats, dof: Floats, *, scored: Floats) -> Floats:
    p = np.where(np.isnan(between), np.nan, 0.5)
    np.fill_diagonal(p, np.nan)
    gap = np.subtract.outer(mean, mean)
    # The distribution function is slow, and what no number of degrees of freedom makes significant is not asked for.
    at = np.nonzero(np.triu(gap**2 > NOT_SIGNIFICANT**2 * between, 1))
    p[at] = p.T[at] = variance.one_sided(
        difference=gap[at], variance=between[at], dof=dof[at], tasks=np.minimum(scored[at[0]], scored[at[1]])
    )
    return p


def _step_down(mean: Floats, between: Floats, parts: Sequence[tuple[Floats, Floats]], *, pairs: Ints) -> Bools:
    """Which pairs the step-down max-t test finds: bool [pairs].

    mean [models]; between [models, models], variances of differences; parts: of each category, the deviations
    [models, tasks] and degrees of freedom [models]; pairs: their positions in the flat matrix.
    """
    dof = _degrees_of_freedom(parts)
    at = pairs[:: 1 + len(pairs) // MOST_FOR_PRIOR]
    at = at[(between.flat[at] > 0) & np.isfinite(dof.flat[at])]
    prior, common = _prior(between.flat[at], dof.flat[at]) if len(at) else (np.inf, between.flat[pairs].max())
    # Of what is common, in a pair's variance: nothing where that is known exactly.
    share = np.isfinite(dof).astype(float) if np.isinf(prior) else prior / (prior + dof)
    moderated = share * common + (1 - share) * between
    squared_t = (np.subtract.outer(mean, mean) ** 2 / moderated).flat[pairs]
    drawn, left = _drawn(parts, share * common, 1 - share, pairs), np.arange(len(pairs))
    found = np.zeros(len(pairs), bool)
    while len(left):
        largest = np.sort(drawn.max(axis=1))
        more = squared_t[left] > largest[-int(ALPHA * (len(largest) + 1))]
        if not more.any():
            break
        found[left[more]] = True
        left, drawn = left[~more], drawn[:, ~more]
    return found


def _degrees_of_freedom(parts: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Satterthwaite's, of the variance of every pair's difference: [models, models], at least 1.

    inf where all of it is the noise of fixed tasks, which is known.
    """
    total, squares = 0.0, 0.0
    for deviations, dof in parts:
        if deviations.shape[1] == 1:
            total += np.add.outer(deviations[:, 0] ** 2, deviations[:, 0] ** 2)
            continue
        v = _squared_distances(deviations)
        total += v
        squares += v**2 / np.minimum.outer(dof, dof)
    return np.maximum(np.divide(total**2, squares, out=np.where(total > 0, np.inf, 1.0), where=squares > 0), 1.0)


def _squared_distances(x: Floats) -> Floats:
    """Between every two rows: [rows, rows]."""
    x = x - x.mean(axis=0)  # cancels in every difference; left in, the products would lose digits to it
    squares = np.einsum("ij,ij->i", x, x)
    out = x @ (-2 * x.T)
    out += squares
    out += squares[:, None]
    return np.maximum(out, 0, out=out)


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


def _drawn(parts: Sequence[tuple[Floats, Floats]], base: Floats, share: Floats, pairs: Ints) -> Floats:
    """The squared t of every pair among equal models: [draws, pairs], with variances base + share * (the draw's own).

    A draw multiplies each task's deviations by 1 or -1 (`_signs`). Its own variance of a pair comes from the flipped
    deviations, whose squares are those of the deviations and whose mean alone differs. Deviations are from a mean over
    few tasks, which makes their squares too small by a factor of 1 - 1/n.
    """
    generator = np.random.default_rng(SEED)
    draws, models = int(np.clip(HELD // len(pairs), FEWEST_DRAWS, DRAWS)), len(base)
    moved, means, squares = np.zeros((draws, models)), [], np.zeros_like(base)
    # Signs go by size, so that the order of tasks and categories in the table decides nothing.
    for deviations, _ in sorted(parts, key=lambda part: float((part[0] ** 2).sum())):
        x = deviations[:, np.argsort((deviations**2).sum(axis=0), kind="stable")]
        n = x.shape[1]
        if n == 1:  # only the noise of the score varies, independently, and how far is known
            moved += generator.normal(size=(draws, models)) * x[:, 0]
            squares += np.add.outer(x[:, 0] ** 2, x[:, 0] ** 2)
            continue
        mean = np.sqrt(n / (n - 1)) * _signs(generator, draws, n) @ x.T
        moved += mean
        means.append(mean / np.sqrt(n - 1))
        squares += _squared_distances(x) * (n / (n - 1)) ** 2
    share, base = share.astype(np.float32), (base + share * squares).astype(np.float32)
    each = np.stack(means, axis=2, dtype=np.float32) if means else np.zeros((draws, models, 1), np.float32)
    out = np.empty((draws, len(pairs)), np.float32)
    for draw, row in enumerate(moved.astype(np.float32)):
        variances = base - share * _squared_distances(each[draw])
        gap = np.subtract.outer(row, row)
        gap *= gap
        gap /= np.maximum(variances, np.finfo(np.float32).tiny, out=variances)
        out[draw] = gap.reshape(-1)[pairs]
    return out


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
    """Which hypotheses Holm's step-down method rejects at family-wise error `alpha`: bool [n].

    In order of p, the k-th smallest (from 0) is rejected while it is at most alpha / (n - k). NaN is never
    rejected but counts in n. Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    values = np.nan_to_num(np.asarray(p, float), nan=1.0)
    order = np.argsort(values, kind="stable")
    passes = values[order] <= alpha / (len(values) - np.arange(len(values)))
    out = np.zeros(len(values), bool)
    out[order[: len(values) if passes.all() else int(passes.argmin())]] = True
    return out
