"""Compares judges of pairs with people's votes: their agreement, and whether they answer by more than position.

A vote is `first`, `second` or a tie. People decided a question if their vote is for a side. Balanced accuracy is the
mean of the accuracies on the questions for which people chose the first and the second side: a judge with a constant
answer has 50%. It is computed in two ways. On the questions that both people and the judge decided, it favours a judge
that answers only the easy ones. On all questions that people decided, with ties and unreadable answers counted as
wrong, it penalises such a judge.

A judge answers by position if it chooses the same side significantly more often than not, whichever side people chose:
both intervals are on that side of 50%. Its accuracy may still be better than chance.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pandas as pd

from compute.analysis.intervals import wilson
from compute.analysis.ranks.means import Block
from compute.analysis.significance import ALPHA, MOST_SETS, decisions, holm_adjusted
from compute.arrays import Floats, Ints
from compute.io.votes import ANSWERS
from compute.metrics.figures import Figure
from compute.metrics.resampling import DRAWS

SIDES = ANSWERS[:2]
MEASURES = ("decided", "all")  # balanced accuracy on questions that both decided, and on all that people decided


class Judged(NamedTuple):
    """A judge of pairs on one task; shares with 95% intervals over questions, and the number `n` of each."""

    judge: str
    accuracy: Figure  # on the questions that people and the judge decided
    decided: Figure  # the same share, balanced over sides
    all: Figure  # balanced, on the questions that people decided; ties and unreadable answers are wrong
    exact: Figure  # share of all questions with the identical answer, including the kind of tie
    readable: Figure
    first: Figure  # of its answers for a side
    ties: Figure  # of its readable answers
    kappa: Figure  # Cohen's, of its readable answers: first, second or tie
    by_position: str  # the side it prefers regardless of people's choice; empty if none
    p: float  # of independence between its sides and people's: Fisher's exact test


class Judges(NamedTuple):
    """The judges on one task, sorted by balanced accuracy on questions that both decided, the best first."""

    judges: tuple[Judged, ...]
    first: Figure  # of people's votes for a side
    ties: Figure  # of people's votes
    informed: frozenset[str]  # significantly better than chance, tested over all judges together
    tested: frozenset[str]  # against each other: asked at least half as many questions as the judge asked most
    better: dict[str, frozenset[tuple[str, str]]]  # by measure: pairs (better, worse), tested over all judges together

    def lead(self, measure: str) -> tuple[Judged, list[str]]:
        """Returns the best judge by a measure, and the judges that it is not significantly better than."""
        tested = [one for one in self.judges if one.judge in self.tested]
        best = max(tested, key=lambda one: float(np.nan_to_num(getattr(one, measure).value)))
        others = [one.judge for one in tested if one is not best]
        return best, [name for name in others if (best.judge, name) not in self.better[measure]]


def judged(votes: pd.DataFrame) -> Judges:
    """Compares the judges of one task with people: `votes` has judge, item, human and answer, None if unreadable.

    Judges are tested against each other like models on a board, on the questions that both have
    (`significance.decisions`). Judges with few questions are excluded because they would determine how large a
    difference must be.
    """
    found = sorted(
        (_judged(str(name), own) for name, own in votes.groupby("judge")),
        key=lambda one: (-np.nan_to_num(one.decided.value), one.judge),
    )
    people = votes.drop_duplicates("item")["human"]
    asked = votes.groupby("judge")["item"].transform("size")
    tested = votes[asked >= asked.max() / 2]
    informed = [
        one.judge
        for one, p in zip(found, holm_adjusted([one.p for one in found]), strict=True)
        if p <= ALPHA and one.decided.value > 0.5
    ]
    return Judges(
        judges=tuple(found),
        first=_share(people[people.isin(SIDES)] == SIDES[0]),
        ties=_share(~people.isin(SIDES)),
        informed=frozenset(informed),
        tested=frozenset(tested["judge"]),
        better={measure: _better(tested, decided=measure == MEASURES[0]) for measure in MEASURES},
    )


def _judged(name: str, own: pd.DataFrame) -> Judged:
    human, answer = own["human"], own["answer"]
    sided, readable = answer.isin(SIDES), answer.notna()
    right, both = answer == human, human.isin(SIDES) & sided
    of_side = [_share(right[both & (human == side)]) for side in SIDES]
    table = pd.crosstab(human[both], answer[both]).reindex(index=SIDES, columns=SIDES, fill_value=0)
    lows, highs = ([getattr(side, end) for side in of_side] for end in ("low", "high"))
    from scipy.stats import fisher_exact

    return Judged(
        judge=name,
        accuracy=_share(right[both]),
        decided=_mean(*of_side),
        all=_mean(*(_share(right[human == side]) for side in SIDES)),
        exact=_share(right),
        readable=_share(readable),
        first=_share(answer[sided] == SIDES[0]),
        ties=_share(~sided[readable]),
        kappa=_kappa(_kinds(human[readable]) * 3 + _kinds(answer[readable])),
        by_position="".join(side for at, side in enumerate(SIDES) if lows[at] > 0.5 > highs[1 - at]),
        p=float(fisher_exact(table).pvalue),
    )


def _share(hits: pd.Series) -> Figure:
    value = float(hits.mean())
    low, high = wilson(value, len(hits))
    return Figure(value=value, n=len(hits), low=low, high=high)


def _mean(first: Figure, second: Figure) -> Figure:
    """Returns the mean of two independent shares, with the interval of Newcombe (1998) from their intervals."""
    value = (first.value + second.value) / 2
    below, above = (
        math.hypot(*(getattr(one, end) - one.value for one in (first, second))) / 2 for end in ("low", "high")
    )
    return Figure(value=value, n=first.n + second.n, low=value - below, high=value + above)


def _kinds(votes: pd.Series) -> Ints:
    return np.select([votes == side for side in SIDES], [0, 1], 2)


def _kappa(cells: Ints) -> Figure:
    """Returns Cohen's kappa of answers, given as cells of a 3 x 3 table, with an interval by resampling questions."""
    n, counts = len(cells), np.bincount(cells, minlength=9)

    def kappa(counts: Ints) -> Floats:
        tables = counts.reshape(*counts.shape[:-1], 3, 3) / max(n, 1)
        chance = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
        with np.errstate(invalid="ignore"):
            return (np.trace(tables, axis1=-2, axis2=-1) - chance) / (1 - chance)

    drawn = kappa(np.random.default_rng(0).multinomial(n, counts / max(n, 1), DRAWS))
    low, high = np.nanquantile(drawn, [0.025, 0.975]).tolist() if n else (None, None)
    return Figure(value=float(kappa(counts)), n=n, low=low, high=high)


def _better(votes: pd.DataFrame, *, decided: bool) -> frozenset[tuple[str, str]]:
    """Returns which judges are significantly better than which by balanced accuracy."""
    asked = votes[votes["human"].isin(SIDES) & (votes["answer"].isin(SIDES) | (not decided))]
    right = asked.assign(right=(asked["answer"] == asked["human"]).astype(float))
    scores = right.pivot(index="judge", columns="item", values="right")
    human = asked.drop_duplicates("item").set_index("item")["human"][scores.columns]
    of_side = [columns for side in SIDES if len(columns := np.flatnonzero(human == side))]
    blocks = [
        Block(columns=columns, task_weights=np.full(len(columns), 1 / len(columns)), share=1 / len(of_side))
        for columns in of_side
    ]
    if not blocks:
        return frozenset()
    together = np.arange(len(human)) % MOST_SETS
    found = decisions(scores=scores.to_numpy(), blocks=blocks, clusters=together, higher=True)
    return frozenset((scores.index[a], scores.index[b]) for a, b in np.argwhere(found))
