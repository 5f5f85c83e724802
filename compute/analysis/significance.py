"""Which models differ significantly: the signs of whole data sets flipped at random, one rule for boards and pairs.

Null hypothesis of a pair: the two models are exchangeable on every data set. Then what a data set adds to the
difference of their means is as likely positive as negative, whatever its size. So flipping the signs of these parts
gives the distribution of the difference among equals, for any layout of categories, few models or many, and any spread
of tasks and models. A data set counts once over the whole board, in whichever categories its tasks are. Parts are not
centred: models whose profiles over the categories differ are told apart with care.

- On a board (`decisions`) all pairs share the flips, and the yardstick is the largest statistic of the pairs still in
  question, step by step (Romano and Wolf 2005, doi 10.1198/016214504000000539). The promise: on at most 5 percent of
  boards is any model called better than one that it equals.
- Of a pair by itself (`of_pair`) the interval inverts the same test.
- On fewer than FEWEST_SETS data sets nothing can be said of other tasks. Of other items of the same tasks it can where
  the errors of the scores are known (`decisions_on_items`), by the same steps over normal errors.

Both are exact for exchangeable models, and near-exact where the noise of two models is skewed in opposite directions.
docs/significance.md has the share of boards with a false decision and the share of true differences found.

A class is a run of the ranking in which no model is significantly better than another: it ends before the first model
that is significantly worse than any of its members, which begins the next. Two neighbours on either side of a border
need not differ from each other. A model whose differences are not known has no class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from compute.analysis.intervals import Difference
from compute.analysis.ranks.means import Block
from compute.arrays import Bools, Floats, Ints

ALPHA = 0.05
FEWEST_SETS = 6  # data sets: of five, no pattern of signs is rarer than 1 in 16
MOST_SETS = 512  # parts whose signs are flipped one by one; of more, some are flipped together
FLIPS, FEWEST_FLIPS = 9_999, 39  # the level is exact where flips + 1 is a multiple of 20
WORK = 1_000_000  # flips x pairs of a board, beyond which there are fewer flips
EQUAL = 1e-9  # within which two statistics are the same
SEED = 20261126
TOO_FEW = "there are too few tasks ({} independent), and no two models can differ significantly on fewer than {}"
SAME = "the difference is the same everywhere, so its spread is not known"


def decisions(*, scores: Floats, blocks: Sequence[Block], clusters: Ints | None, higher: bool) -> Bools:
    """Returns which models are significantly better than which, on the board as a whole: the row than the column.

    scores [models, tasks], NaN missing; blocks: what the mean is made of (`ScoreTable.blocks`); clusters [tasks], equal
    for tasks that share their data (None: none do); higher: whether a higher mean is better. Two models are compared on
    the tasks that both have, with their weights scaled to sum to 1 again; not where they share no task of a block.
    """
    models = len(scores)
    whole = np.argsort(np.isnan(scores[:, _columns(blocks)]).any(axis=1), kind="stable")  # complete rows first
    parts = _SetParts(scores[whole], blocks, clusters)
    if models < 2:
        return np.zeros((models, models), bool)
    signs = _signs(parts.sets, _flips(models))
    total, squares = parts.differences()
    # Flips leave it as it is, which is all that a scale needs. The constant keeps pairs that hardly vary from ruling.
    scale = np.sqrt(squares + np.median(squares[np.triu_indices(models, 1)]) / 2)
    sums = _flipped(signs, parts.own.T).T  # of complete models, with flipped signs: [models, flips]
    found = _step_down(total, scale, len(signs), lambda row, flips: parts.drawn(row, signs[flips], sums[:, flips]))
    return _turned(found, total if higher else -total, whole)


def decisions_on_items(*, means: Floats, errors: Floats, higher: bool) -> Bools:
    """Returns the same where there are too few data sets, about other items of these tasks: bool [models, models].

    means [models]; errors [models] > 0, their standard errors, taken as independent and normal.
    """
    models, order = len(means), np.lexsort((errors, means))  # their order decides nothing
    noise = np.random.default_rng(SEED).normal(size=(models, _flips(models))) * errors[order, None]
    total = np.subtract.outer(means[order], means[order])
    scale = np.hypot.outer(errors[order], errors[order])
    found = _step_down(total, scale, noise.shape[1], lambda row, at: noise[row, at] - noise[row + 1 :, at])
    return _turned(found, total if higher else -total, order)


def _flips(models: int) -> int:
    return int(np.clip(WORK // max(models * (models - 1) // 2, 1), FEWEST_FLIPS, FLIPS))


def _step_down(total: Floats, scale: Floats, count: int, drawn: Callable[[int, Ints], Floats]) -> Bools:
    """Which pairs the step-down test of the largest statistic finds: bool [models, models], above the diagonal.

    total, scale [models, models], above the diagonal; drawn: the differences of a row from those after it among equals
    [models, m], in m of the `count` draws.
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
    """Pairs above the diagonal, in `order`, as decisions in the order of the table."""
    back = np.argsort(order)
    return ((found & (ahead > 0)) | (found & (ahead < 0)).T)[np.ix_(back, back)]


def of_pair(parts: Floats, weights: Floats) -> Difference:
    """Tests whether the sum of `parts` [sets], each data set's part of a difference, is 0 by chance alone.

    weights [sets] >= 0, of which the parts are: a difference that is the same everywhere makes them proportional. The
    interval holds every difference that the same test of parts - difference * weights does not reject. For a flip that
    is so from the lesser to the greater of two means: of the data sets with one sign, and of those with the other.
    """
    order = np.lexsort((weights, parts, -np.abs(parts)))  # their order decides nothing
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
    """Returns what every data set adds to the mean of `gap` [tasks], NaN missing, and its weight: two [sets].

    The weights of the tasks that are there sum to 1, as do those of the blocks that have any.
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
    """Returns the standard error of a mean on other items of the same tasks; inf where that of a score is not known.

    stderr, there [tasks]: the errors of scores, and which scores there are. Errors of tasks that share their data are
    taken as wholly dependent.
    """
    errors = np.where(there, np.where(stderr > 0, stderr, np.inf), np.nan)
    return float(np.linalg.norm(set_parts(errors, blocks, clusters)[0]))


class _SetParts:
    """What every data set adds to the difference of every two models' means; models with every score come first."""

    def __init__(self, scores: Floats, blocks: Sequence[Block], clusters: Ints | None) -> None:
        columns = _columns(blocks)
        x = scores[:, columns]
        known = ~np.isnan(x)  # what all models share cancels, and would cost digits
        self.x = x - np.nan_to_num(x).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        self.whole = int(known.all(axis=1).sum())
        self.weights = np.concatenate([block.share * block.task_weights for block in blocks])
        self.share = np.array([block.share for block in blocks])
        of_block = np.repeat(np.arange(len(blocks)), [len(block.columns) for block in blocks])
        self.in_block = (of_block[:, None] == np.arange(len(blocks))).astype(float)  # [tasks, blocks]
        member = columns if clusters is None else clusters[columns]
        in_set = (member[:, None] == np.unique(member)).astype(float)  # [tasks, sets]
        # Signs go by size, so that the order of models, tasks and categories decides nothing.
        spread = np.nan_to_num((self._of(self.x) @ in_set) ** 2).sum(axis=0)
        self.in_set = in_set[:, np.argsort(np.round(spread / (spread.max() or 1), 12), kind="stable")]
        self.sets = in_set.shape[1]
        self.own = self._of(self.x[: self.whole]) @ self.in_set  # [complete models, sets]

    def _of(self, gap: Floats) -> Floats:
        """Every task's part of differences [pairs, tasks], NaN missing; NaN of pairs that share no task of a block."""
        there = np.where(np.isnan(gap), 0.0, self.weights) @ self.in_block
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(gap) * self.weights * ((self.share / there) @ self.in_block.T)

    def _parts(self, gap: Floats) -> Floats:
        """Every data set's part of differences [pairs, tasks]: [pairs, sets], 0 where not compared."""
        return np.nan_to_num(self._of(gap) @ self.in_set)

    def differences(self) -> Floats:
        """Every row's mean less those of the rows after it, and the sums of the parts' squares; 0 where not compared:
        [2, models, models], above the diagonal."""
        out, own = np.zeros((2, len(self.x), len(self.x))), self.own
        sums, sizes = own.sum(axis=1), (own**2).sum(axis=1)
        squares = np.abs(sizes[:, None] + sizes - 2 * own @ own.T)
        out[:, : self.whole, : self.whole] = sums[:, None] - sums, squares
        for row in range(self.whole, len(self.x)):
            parts = self._parts(self.x[:row] - self.x[row])
            out[:, :row, row] = parts.sum(axis=1), (parts**2).sum(axis=1)
        return out

    def drawn(self, row: int, signs: Ints, sums: Floats) -> Floats:
        """The differences of the row from those after it with flipped signs: [models, flips]."""
        of_whole = sums[row : row + 1] - sums[row + 1 :] if row < self.whole else sums[:0]
        if self.whole == len(self.x):
            return of_whole
        parts = self._parts(self.x[row] - self.x[max(row + 1, self.whole) :])
        return np.concatenate([of_whole, _flipped(signs, parts.T).T])


def _flipped(signs: Ints, parts: Floats) -> Floats:
    """Sums of `parts` [n, m] with flipped signs: [flips, m]. In blocks: numpy makes numbers of 8 bytes of the signs."""
    return np.concatenate([signs[at : at + 1000] @ parts for at in range(0, len(signs), 1000)])


def _signs(n: int, most: int) -> Ints:
    """Patterns of n signs [flips, n], but the one that changes nothing: all where there are no more than `most`.

    A pattern and its opposite are one.
    """
    if 2 ** (n - 1) - 1 <= most:
        return (1 - 2 * (np.arange(1, 2 ** (n - 1))[:, None] >> np.arange(n) & 1)).astype(np.int8)
    return np.random.default_rng(SEED).integers(0, 2, (most, n), np.int8) * np.int8(2) - np.int8(1)


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


def holm(p: ArrayLike) -> Bools:
    """Which hypotheses Holm's step-down method rejects at family-wise error ALPHA: bool [n]; never NaN."""
    return holm_adjusted(p) <= ALPHA


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
