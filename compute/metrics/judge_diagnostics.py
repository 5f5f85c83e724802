"""What else a judge's ratings show, beyond PairBench's metrics: leaning to an order, errors, prompts, cost.

Ratings and sources are as in `judge`; intervals are over source items, as `resampling` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats, Ints
from compute.metrics import judge, resampling
from compute.metrics.figures import Figure
from compute.metrics.judge import SCALE, Ratings, nmi_of_counts
from compute.types import BadInput, Undefined

INVALID = "invalid"
PERMUTATIONS = 1000


def template_name(number: int) -> str:
    """What the paper calls a prompt template (Appendix C.1): V1 to V5, where evidence and manifests count from 0."""
    return f"V{number + 1}"


def position_bias(forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None) -> Figure:
    """Mean of forward minus reverse score over pairs with two valid scores, in -9..9; `n` counts these pairs.

    Above 0 where the judge rates a pair higher when the original comes first. A judge may lean to an order in single
    pairs and not on average: RelaxSym shows that, this does not. Raises Undefined without a valid pair.
    """
    ratings = Ratings.of(forward=forward, reverse=reverse, sources=sources)
    valid = (ratings.forward > 0) & (ratings.reverse > 0)
    if not valid.any():
        raise Undefined("No pair has two valid scores, so there is no difference of the two orders")
    gaps = np.where(valid, ratings.forward - ratings.reverse, 0)
    figure = resampling.ratio(top=gaps, bottom=valid, sources=ratings.sources)
    low, high = resampling.interval(figure, lower=1 - SCALE, upper=SCALE - 1)
    return Figure(value=figure.whole, n=int(valid.sum()), stderr=figure.stderr, low=low, high=high)


def problem_rates(
    forward: ArrayLike, reverse: ArrayLike, sources: ArrayLike | None = None, *, problems: tuple[str, ...] = ()
) -> dict[str, Figure]:
    """The share of answers without a score, as INVALID, and of each problem among all answers; in 0..1.

    `forward` and `reverse` (n,) name the problem of each answer, "" where it has a score; `problems` are listed even
    where they do not occur. `n` counts answers, two a pair. Raises Undefined without answers.
    """
    both = [np.asarray(side).astype(str) for side in (forward, reverse)]
    if both[0].ndim != 1 or both[0].shape != both[1].shape:
        raise BadInput(f"Expected two lists of the same length, got shapes {both[0].shape} and {both[1].shape}")
    answers = np.concatenate(both)
    if not len(answers):
        raise Undefined("There are no answers to count problems in")
    names = np.arange(len(both[0])) if sources is None else np.asarray(sources)
    rates = {}
    for name in (INVALID, *dict.fromkeys([*problems, *sorted(set(answers.tolist()) - {""})])):
        hits = answers != "" if name == INVALID else answers == name
        figure = resampling.ratio(top=hits, bottom=np.ones(len(hits)), sources=np.concatenate([names, names]))
        low, high = resampling.share_interval(figure)
        rates[name] = Figure(value=figure.whole, n=len(answers), stderr=figure.stderr, low=low, high=high)
    return rates


@dataclass(frozen=True, kw_only=True)
class Effort:
    """What 1,000 pairs in both orders take: of 2,000 questions. None where it is not known."""

    seconds: float | None
    cost: float | None  # in the currency of the prices


@dataclass(frozen=True, kw_only=True)
class TemplateRobustness:
    """MMScore by prompt template, and how far apart the templates are compared with chance."""

    scores: dict[int, Figure]  # template -> MMScore of its pairs
    spread: float  # standard deviation of the templates' MMScores
    by_chance: float  # its mean if templates did not matter
    chance_low: float  # 95% of the spreads by chance lie between these two
    chance_high: float
    p: float  # share of spreads by chance at least as large


def template_robustness(
    expected: ArrayLike,
    forward: ArrayLike,
    reverse: ArrayLike,
    templates: ArrayLike,
    sources: ArrayLike | None = None,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> TemplateRobustness:
    """Whether a judge's MMScore depends on the prompt template; `templates` (n,) numbers each pair's.

    With few pairs a template, MMScores differ (and are too high) by chance alone. Templates are drawn at random for
    each pair, so their spread after shuffling them among the pairs is what chance does: a permutation test, exact
    whatever the pairs have in common. Raises Undefined for fewer than two templates, or one without an MMScore.
    """
    ratings = Ratings.of(expected=expected, forward=forward, reverse=reverse, sources=sources)
    numbers = np.asarray(templates)
    if numbers.shape != (len(ratings),):
        raise BadInput(f"Expected one template per pair, {len(ratings)} of them, got shape {numbers.shape}")
    levels, template = np.unique(numbers, return_inverse=True)
    if len(levels) < 2:
        raise Undefined(f"Templates are compared where there are at least two, here are {len(levels)}")
    scores = {
        int(level): judge.mmscore(
            ratings.expected[template == code],
            *(_given(side[template == code]) for side in (ratings.forward, ratings.reverse)),
            ratings.sources[template == code],
        )
        for code, level in enumerate(levels)
    }
    cells, pair, width = judge.MMSCORE.cells(ratings)
    generator = np.random.default_rng(seed)
    spreads = np.array(
        [
            _spread(generator.permutation(template)[pair], cells, templates=len(levels), width=width)
            for _ in range(permutations)
        ]
    )
    spread = float(np.std([figure.value for figure in scores.values()]))
    known = spreads[~np.isnan(spreads)]
    low, high = np.quantile(known, [0.025, 0.975])
    return TemplateRobustness(
        scores=scores,
        spread=spread,
        by_chance=float(known.mean()),
        chance_low=float(low),
        chance_high=float(high),
        p=float((1 + (known >= spread - 1e-12).sum()) / (1 + len(known))),
    )


def _given(scores: Ints) -> Floats:
    return np.where(scores > 0, scores, np.nan)


def _spread(template: Ints, cells: Ints, *, templates: int, width: int) -> float:
    counts = np.bincount(template * width + cells, minlength=templates * width)
    return float(np.std(nmi_of_counts(counts.reshape(templates, -1, SCALE + 1).astype(float))))
