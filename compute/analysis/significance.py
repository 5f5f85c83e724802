"""Tests which models differ significantly by random sign flips of whole data sets; one rule for boards and pairs.

Null hypothesis of a pair: the two models are exchangeable on every data set. The contribution of a data set to the
difference of their means is then as likely positive as negative, whatever its size. Flipping the signs of these
contributions gives the null distribution of the difference, for any layout of categories, few models or many, and any
spread of tasks and models. A data set counts once on the whole board, even if its tasks are in several categories.
Contributions are not centred, so the test is conservative for models with different profiles over the categories.

- On a board (`decisions`) all pairs share the flips, and the reference is the largest statistic of the pairs not yet
  rejected, step by step (Romano and Wolf 2005, doi 10.1198/016214504000000539). The guarantee: on at most 5 percent of
  boards is any model called better than an equal one.
- For a single pair (`of_pair`), the interval inverts the same test.
- With fewer than FEWEST_SETS data sets, no claim about other tasks is possible. Claims about other items are, if
  the errors of the scores are known (`decisions_on_items`), by the same steps with normal errors.

Both are exact for exchangeable models, and nearly exact if the noise of two models is skewed in opposite directions.
docs/significance.md has the share of boards with a false decision and the share of true differences found.

A class is a run of the ranking in which no model is significantly better than another: it ends before the first model
that is significantly worse than any of its members, which begins the next. Two neighbours on either side of a border
need not differ from each other. A model with unknown differences has no class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.intervals import Difference
from compute.analysis.ranks.means import Block
from compute.arrays import Bools, Floats, Ints

ALPHA = 0.05
FEWEST_SETS = 6  # data sets: with five, no pattern of signs is rarer than 1 in 16
MOST_SETS = 512  # contributions flipped one by one; if there are more, some are flipped together
FLIPS, FEWEST_FLIPS = 9_999, 39  # the level is exact if flips + 1 is a multiple of 20
WORK = 1_000_000  # flips x pairs of a board, above which fewer flips are drawn
EQUAL = 1e-9  # tolerance for equal statistics
SEED = 20261126
TOO_FEW = "there are too few tasks ({} independent), and no two models can differ significantly on fewer than {}"
SAME = "the difference is the same everywhere, so its spread is not known"


def decisions(*, scores: Floats, blocks: Sequence[Block], clusters: Ints | None, higher: bool) -> Bools:
    """Returns which models are significantly better than which, for all pairs together: the row than the column.

    scores [models, tasks], NaN if missing; blocks: the parts of the mean (`ScoreTable.blocks`); clusters [tasks], equal
    for tasks that share their data (None: none do); higher: whether a higher mean is better. Two models are compared on
    the tasks that both have, with weights rescaled to sum to 1. They are not compared if they share no task of a block.
    """
    models = len(scores)
    whole = np.argsort(np.isnan(scores[:, _columns(blocks)]).any(axis=1), kind="stable")  # complete rows first
    parts = _SetParts(scores[whole], blocks, clusters)
    if models < 2:
        return np.zeros((models, models), bool)
    signs = _signs(parts.sets, _flips(models))
    total, squares = parts.differences()
    # The scale only has to be invariant under flips. The constant keeps pairs with little variation from dominating.
    scale = np.sqrt(squares + np.median(squares[np.triu_indices(models, 1)]) / 2)
    sums = _flipped(signs, parts.own.T).T  # of complete models, with flipped signs: [models, flips]
    found = _step_down(total, scale, len(signs), lambda row, flips: parts.drawn(row, signs[flips], sums[:, flips]))
    return _turned(found, total if higher else -total, whole)


def decisions_on_items(*, means: Floats, errors: Floats, higher: bool) -> Bools:
    """Returns the decisions of boards with too few data sets, about other items of these tasks: bool [models, models].

    means [models]; errors [models] > 0, their standard errors, taken as independent and normal.
    """
    models, order = len(means), np.lexsort((errors, means))  # the order of the table does not matter
    noise = np.random.default_rng(SEED).normal(size=(models, _flips(models))) * errors[order, None]
    total = np.subtract.outer(means[order], means[order])
    scale = np.hypot.outer(errors[order], errors[order])
    found = _step_down(total, scale, noise.shape[1], lambda row, at: noise[row, at] - noise[row + 1 :, at])
    return _turned(found, total if higher else -total, order)


def _flips(models: int) -> int:
    return int(np.clip(WORK // max(models * (models - 1) // 2, 1), FEWEST_FLIPS, FLIPS))


def _step_down(total: Floats, scale: Floats, count: int, drawn: Callable[[int, Ints], Floats]) -> Bools:
    """Returns which pairs the step-down test of the largest statistic rejects: bool [models, models], above the
    diagonal.

    total, scale [models, models], above the diagonal. drawn: returns the differences under the null hypothesis between
    a row and the rows after it [models, m], for m of the `count` draws.
    """
    models, above = len(total), np.triu(np.ones(total.shape, bool), 1)
    per_scale = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    t = np.abs(total) * per_scale
    found, largest, pair = np.zeros_like(above), np.zeros(count), np.zeros((2, count), np.int64)
    stale, rarest = np.arange(count), int(ALPHA * (count + 1))
    while len(stale) and rarest:
        largest[stale], left = 0.0, np.where(found, 0.0, per_scale)
        for row in range(models - 1):
            values = np.abs(drawn(row, stale))
            values *= left[row, row + 1 :, None]
            value = values.max(axis=0)
            more = value > largest[stale]
            at = stale[more]
            largest[at], pair[0, at], pair[1, at] = value[more], row, row + 1 + values[:, more].argmax(axis=0)
        new = above & ~found & (t > np.partition(largest, -rarest)[-rarest] + EQUAL)
        found |= new
        stale = np.flatnonzero(found[tuple(pair)]) if new.any() else stale[:0]
    return found


def _turned(found: Bools, ahead: Floats, order: Ints) -> Bools:
    """Returns pairs above the diagonal, in `order`, as decisions in the order of the table."""
    back = np.argsort(order)
    return ((found & (ahead > 0)) | (found & (ahead < 0)).T)[np.ix_(back, back)]


def of_pair(parts: Floats, weights: Floats) -> Difference:
    """Tests whether the sum of `parts` [sets], the contributions of data sets to a difference, is 0 by chance alone.

    weights [sets] >= 0 of the parts: if the difference is the same everywhere, parts and weights are proportional. The
    interval contains every difference for which the same test of parts - difference * weights does not reject. For one
    flip these are the values between two means: that of the data sets with one sign, and that of the others.
    """
    order = np.lexsort((weights, parts, -np.abs(parts)))  # the order of the table does not matter
    parts, weights = (np.bincount(np.arange(len(order)) % MOST_SETS, values[order]) for values in (parts, weights))
    signs = _signs(len(parts), FLIPS)
    total, weight = parts.sum(), weights.sum()
    moved, held = _flipped(signs, np.stack([parts, weights], axis=1)).T
    p = (1 + int((np.abs(moved) >= abs(total) - EQUAL * np.abs(parts).sum()).sum())) / (len(signs) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.array([(total - moved) / (weight - held), (total + moved) / (weight + held)])
    low, high = np.sort(np.fmin(*ends)), np.sort(np.fmax(*ends))
    rarest = int(ALPHA * (len(signs) + 1))
    if not rarest or high[-1] - low[0] <= EQUAL * np.abs(ends).max(initial=0, where=~np.isnan(ends)):
        return Difference(value=float(total), p=p)
    low, high = (
        0.0 if abs(end) <= EQUAL * max(high[-1], -low[0]) else float(end) for end in (low[rarest - 1], high[-rarest])
    )
    return Difference(value=float(total), low=low, high=high, p=p)


def set_parts(gap: Floats, blocks: Sequence[Block], clusters: Ints | None) -> tuple[Floats, Floats]:
    """Returns the contribution of every data set to the mean of `gap` [tasks], NaN if missing, and its weight: two
    [sets].

    The weights of the present tasks sum to 1 within a block, as do those of the blocks with any task.
    """
    there = [block for block in blocks if not np.isnan(gap[block.columns]).all()]
    weights, total = np.zeros(len(gap)), sum(block.share for block in there)
    for block in there:
        own = np.where(np.isnan(gap[block.columns]), 0.0, block.task_weights)
        weights[block.columns] = block.share / total * own / own.sum()
    used = weights > 0
    member = np.unique((np.arange(len(gap)) if clusters is None else clusters)[used], return_inverse=True)[1]
    return np.bincount(member, gap[used] * weights[used]), np.bincount(member, weights[used])


def _columns(blocks: Sequence[Block]) -> Ints:
    return np.concatenate([block.columns for block in blocks])


def item_error(stderr: Floats, there: Bools, blocks: Sequence[Block], clusters: Ints | None) -> float:
    """Returns the standard error of a mean over other items of the same tasks; inf if the error of a score is unknown.

    stderr [tasks]: the errors of scores; there [tasks]: which scores are present. Errors of tasks that share their data
    are treated as fully dependent.
    """
    errors = np.where(there, np.where(stderr > 0, stderr, np.inf), np.nan)
    return float(np.linalg.norm(set_parts(errors, blocks, clusters)[0]))


class _SetParts:
    """The contributions of data sets to the differences of the means of every two models; complete
    models come first.
    """

    def __init__(self, scores: Floats, blocks: Sequence[Block], clusters: Ints | None) -> None:
        columns = _columns(blocks)
        x = scores[:, columns]
        known = ~np.isnan(x)  # subtracting what all models share preserves digits
        self.x = x - np.nan_to_num(x).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        self.whole = int(known.all(axis=1).sum())
        self.weights = np.concatenate([block.share * block.task_weights for block in blocks])
        self.share = np.array([block.share for block in blocks])
        of_block = np.repeat(np.arange(len(blocks)), [len(block.columns) for block in blocks])
        self.in_block = (of_block[:, None] == np.arange(len(blocks))).astype(float)  # [tasks, blocks]
        member = columns if clusters is None else clusters[columns]
        in_set = (member[:, None] == np.unique(member)).astype(float)  # [tasks, sets]
        # Signs are assigned by size, so that the order of models, tasks and categories does not matter.
        spread = np.nan_to_num((self._of(self.x) @ in_set) ** 2).sum(axis=0)
        self.in_set = in_set[:, np.argsort(np.round(spread / (spread.max() or 1), 12), kind="stable")]
        self.sets = in_set.shape[1]
        self.own = self._of(self.x[: self.whole]) @ self.in_set  # [complete models, sets]

    def _of(self, gap: Floats) -> Floats:
        """Returns every task's contribution to differences [pairs, tasks], NaN if missing; NaN for pairs that share no
        task of a block.
        """
        there = np.where(np.isnan(gap), 0.0, self.weights) @ self.in_block
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(gap) * self.weights * ((self.share / there) @ self.in_block.T)

    def _parts(self, gap: Floats) -> Floats:
        """Returns every data set's contribution to differences [pairs, tasks]: [pairs, sets], 0 if not compared."""
        return np.nan_to_num(self._of(gap) @ self.in_set)

    def differences(self) -> Floats:
        """Returns every row's mean minus those of the rows after it, and the sums of squared contributions.

        Shape [2, models, models], above the diagonal; 0 if not compared.
        """
        out, own = np.zeros((2, len(self.x), len(self.x))), self.own
        sums, sizes = own.sum(axis=1), (own**2).sum(axis=1)
        squares = np.abs(sizes[:, None] + sizes - 2 * own @ own.T)
        out[:, : self.whole, : self.whole] = sums[:, None] - sums, squares
        for row in range(self.whole, len(self.x)):
            parts = self._parts(self.x[:row] - self.x[row])
            out[:, :row, row] = parts.sum(axis=1), (parts**2).sum(axis=1)
        return out

    def drawn(self, row: int, signs: Ints, sums: Floats) -> Floats:
        """Returns the differences between the row and the rows after it with flipped signs: [models, flips]."""
        of_whole = sums[row : row + 1] - sums[row + 1 :] if row < self.whole else sums[:0]
        if self.whole == len(self.x):
            return of_whole
        parts = self._parts(self.x[row] - self.x[max(row + 1, self.whole) :])
        return np.concatenate([of_whole, _flipped(signs, parts.T).T])


def _flipped(signs: Ints, parts: Floats) -> Floats:
    """Returns sums of `parts` [n, m] with flipped signs: [flips, m]. In blocks, because numpy casts the signs to 8
    bytes each.
    """
    return np.concatenate([signs[at : at + 1000] @ parts for at in range(0, len(signs), 1000)])


def _signs(n: int, most: int) -> Ints:
    """Returns patterns of n signs [flips, n], except the one that changes nothing: all, if there are at most `most`.

    A pattern and its opposite count as one.
    """
    if 2 ** (n - 1) - 1 <= most:
        return (1 - 2 * (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n) & 1)).astype(np.int8)
    return np.random.default_rng(SEED).integers(0, 2, (most, n), np.int8) * np.int8(2) - np.int8(1)


def class_letters(better: Bools) -> list[str]:
    """Returns the class of every model, A, B, ..., Z, AA, ...; better bool [models, models] as in `decisions`, best
    first.
    """
    letters, start, number = [], 0, 0
    for model in range(len(better)):
        if better[start:model, model].any():
            start, number = model, number + 1
        letters.append(letter(number))
    return letters


def letter(index: int) -> str:
    """Returns the name of a class by its number from 0."""
    name = ""
    while index >= 0:
        index, digit = divmod(index, 26)
        name = chr(ord("A") + digit) + name
        index -= 1
    return name


def holm(p: ArrayLike) -> Bools:
    """Returns which hypotheses Holm's step-down method rejects at family-wise error ALPHA: bool [n]; never NaN."""
    return holm_adjusted(p) <= ALPHA


def holm_adjusted(p: ArrayLike) -> Floats:
    """Returns the smallest family-wise error at which Holm's step-down method rejects each hypothesis [n].

    In order of p, the k-th smallest (from 0) is multiplied by n - k, and is at least the one before. NaN counts in n
    and gives 1. Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    values = np.nan_to_num(np.asarray(p, float), nan=1.0)
    order = np.argsort(values, kind="stable")
    out = np.empty(len(values))
    out[order] = np.minimum(np.maximum.accumulate(values[order] * (len(values) - np.arange(len(values)))), 1.0)
    return out
