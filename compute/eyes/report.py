"""Reports which models agree with a person, how consistent the person is, and how many answers would separate two
models.

The agreement of a model is the share of the uniformly drawn questions on which it picks the rater's choice. "cannot
tell" is skipped and counted; an exact tie of the model is worth half. Two models are compared on the questions where
they pick differently, over all questions asked, each weighted by the inverse of its probability of being asked. Several
raters of one question count as one.

Models are compared only after LOOKS judgments, and a verdict stays until the next look: a rater may look after every
answer and stop at any time. All pairs and looks share one error of ALPHA. The signs of the questions are flipped at
random, the same signs at every look, and each pair's statistic is compared with the largest of all pairs (Westfall and
Young 1993). Each look spends an equal part of ALPHA (Lan and DeMets 1983): it removes that share of the random paths,
those that are largest at that look, and a pair is significant if the rater's path would be among them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from compute.analysis.intervals import Estimate, wilson
from compute.analysis.power import more_items
from compute.analysis.significance import ALPHA, class_letters
from compute.arrays import Bools, Floats
from compute.eyes import asking
from compute.eyes.study import NO_PICK, Judgment, Study, standing
from compute.types import BadInput, Undefined

# Numbers of judgments after which models are compared, about a fifth apart, in addition to all of a study's.
LOOKS = (
    20,
    25,
    30,
    36,
    43,
    50,
    60,
    72,
    86,
    100,
    120,
    145,
    175,
    210,
    250,
    300,
    350,
    400,
    480,
    580,
    700,
    850,
    1000,
    3000,
)
FIRST_REPORT = LOOKS[0]
FLIPS, SEED = 1999, 20261127
NEAR = 1e-9  # tolerance for equal statistics
MOST_MISTAKES = 12
FARTHEST = 1000  # further questions, above which two models count as equal


@dataclass(frozen=True, kw_only=True)
class Share(Estimate):
    """A share of n with its 95% interval (Wilson); NaN if n is 0."""

    n: int

    @classmethod
    def of(cls, values: Sequence[float] | Floats) -> Share:
        """Returns the mean of values from 0 to 1."""
        return cls.at(float(np.mean(values)) if len(values) else math.nan, len(values))

    @classmethod
    def at(cls, value: float, n: int) -> Share:
        """Returns a share from the mean of n values."""
        low, high = wilson(value, n)
        return cls(value=value, low=low, high=high, n=n)

    def percent(self, digits: int = 0) -> str:
        """Formats as percent with the interval."""
        return f"{self.value:.{digits}%} (95% interval {self.low:.{digits}%} to {self.high:.{digits}%})"


class ModelAgreement(NamedTuple):
    """One model's row: agreement on the uniformly drawn questions, and its class."""

    key: str
    title: str
    agreement: Share
    letter: str


class PairOfModels(NamedTuple):
    """Two models on the questions where they pick differently: the weighted share of the first, and
    its significance.
    """

    first: str  # titles; the first agrees more often
    second: str
    sided: float
    n: int  # questions on which they differ
    is_significant: bool  # at 5% over all pairs and looks
    more: int | None  # further questions until a look that would detect it with 80% power; None: over FARTHEST


class Mistake(NamedTuple):
    """A question on which some of the best models do not pick the rater's choice."""

    question: int
    chosen: int
    models: tuple[str, ...]  # titles


@dataclass(frozen=True, kw_only=True)
class EyesReport:
    """All results of one study's judgments."""

    judgments: int  # answered new questions, including "cannot tell"
    compared: int  # the number of them behind the classes and pairs
    next_look: int | None  # number of judgments at the next comparison of models
    cannot_tell: int
    raters: tuple[str, ...]
    models: tuple[ModelAgreement, ...]  # the highest agreement first
    pairs: tuple[PairOfModels, ...]  # the best model with each other model, then the rest
    consistency: Share  # share of repeated questions with the same answer
    ceiling: float | None  # the maximum agreement of any model, given this consistency
    left: Share  # choices of the left image
    alpha: float | None  # Krippendorff's, over several raters; None if no two answered the same question
    mistakes: tuple[Mistake, ...]
    notes: tuple[str, ...]

    @property
    def lead(self) -> str:
        """The result in one sentence."""
        if not self.models:
            return "No model is ready on this machine, so nothing was compared."
        best = self.models[0]
        if not best.agreement.n:
            return "No question of the uniform draw was answered by a choice, so no model can be ranked."
        rest = [pair for pair in self.pairs if best.title in (pair.first, pair.second)]
        near = [pair.second for pair in rest if pair.first == best.title and not pair.is_significant]
        near += [pair.first for pair in rest if pair.second == best.title]
        whom = "you" if len(self.raters) == 1 else f"the {len(self.raters)} raters"
        share = (
            f"{best.title} agrees with {whom} most often: {best.agreement.percent()} of {best.agreement.n} questions"
        )
        if not rest:
            return f"{share}. No other model was asked."
        if not near:
            return f"{share}, significantly more often than every other model."
        named = ", ".join(near[:3]) + (f" and {len(near) - 3} more" if len(near) > 3 else "")
        return f"{share}. It is not significantly better than {named}."

    @property
    def rests_on(self) -> str:
        """The data behind classes, and the guarantee of intervals, in two sentences."""
        following = f" and are renewed after {self.next_look:,}" if self.next_look else ""
        return (
            f"Classes rest on the first {self.compared:,} judgments{following}; they hold for all models together and "
            "however often you look. Each interval holds for its model alone, at one look."
        )


def report(study: Study, judgments: Sequence[Judgment]) -> EyesReport:
    """Returns the report on a study's judgments. Raises BadInput before FIRST_REPORT of them, or all of a smaller
    study.
    """
    counted = standing(judgments)
    new = [each for each in counted if each.draw != asking.REPEAT]
    needed = min(FIRST_REPORT, len(study.questions))
    if len(new) < needed:
        raise BadInput(f"{len(new)} judgments say too little: the answer comes after {needed}")
    raters = tuple(dict.fromkeys(each.rater for each in counted))
    titles = list(study.models.values())
    picks = np.array([study.picks[key] for key in study.models], dtype=int).reshape(len(titles), len(study.questions))
    asked = {
        rater: list(asking.order(study, seed=rater[1], early=asking.early(study, own)))
        for rater, own in _by_rater(judgments).items()
    }
    worth, uniform, _ = _worth(study, new, picks, asked)
    shares = [Share.of(row[uniform]) for row in worth]
    order = sorted(range(len(titles)), key=lambda at: (-np.nan_to_num(shares[at].value, nan=-1.0), titles[at]))
    looks = sorted({*LOOKS, len(study.questions)})
    reached = [look for look in looks if look <= len(new)]
    compared = [_worth(study, new[:look], picks[order], asked)[::2] for look in reached]
    named = [titles[at] for at in order]
    pairs, better = _pairs(compared, looks=looks, judgments=len(new), titles=named, picks=picks[order])
    letters = class_letters(better)
    keys = list(study.models)
    answered = [each for each in counted if each.choice is not None]
    first = {(each.rater, each.seed, each.question): each.choice for each in answered if each.draw != asking.REPEAT}
    again = [
        (each.choice, first.get((each.rater, each.seed, each.question)))
        for each in answered
        if each.draw == asking.REPEAT
    ]
    consistency = Share.of([float(one == other) for one, other in again if other is not None])
    chosen = {each.question: each.choice for each in new if each.choice is not None}  # by the last rater who chose
    mistakes = [
        Mistake(question, choice, models=tuple(np.array(named[:3])[wrong].tolist()))
        for question, choice in chosen.items()
        if (wrong := picks[order[:3], question] == 1 - choice).any()
    ]
    answers: dict[int, dict[str, Hashable]] = defaultdict(dict)
    for each in new:
        answers[each.question][each.rater] = each.choice
    return EyesReport(
        judgments=len(new),
        compared=reached[-1],
        next_look=next((look for look in looks if look > len(new)), None),
        cannot_tell=sum(each.choice is None for each in new),
        raters=raters,
        models=tuple(
            ModelAgreement(keys[at], titles[at], agreement=shares[at], letter=letter)
            for at, letter in zip(order, letters, strict=True)
        ),
        pairs=tuple(pairs),
        consistency=consistency,
        ceiling=(1 + math.sqrt(2 * consistency.value - 1)) / 2 if consistency.value >= 0.5 else None,
        left=Share.of([float(each.choice == each.left) for each in answered]),
        alpha=krippendorff_alpha([list(own.values()) for own in answers.values()]),
        mistakes=tuple(sorted(mistakes, key=lambda each: -len(each.models))[:MOST_MISTAKES]),
        notes=tuple(study.notes),
    )


def _by_rater(judgments: Sequence[Judgment]) -> dict[tuple[str, int], list[Judgment]]:
    """Groups judgments by rater and seed."""
    found: dict[tuple[str, int], list[Judgment]] = defaultdict(list)
    for each in judgments:
        found[each.rater, each.seed].append(each)
    return found


def _worth(
    study: Study,
    new: Sequence[Judgment],
    picks: np.ndarray,
    asked: Mapping[tuple[str, int], Sequence[asking.AskedQuestion]],
) -> tuple[Floats, Bools, Floats]:
    """Returns each model's agreement on each question [models, questions], NaN without a choice; which questions were
    drawn uniformly; and the inverse of each question's probability of being asked, 0 without a choice.

    With several raters the mean counts, on a uniform question over those who were asked it uniformly. `asked`: the
    orders by rater and seed.
    """
    count = len(study.questions)
    spared = np.ones(count)
    chosen: dict[bool, list[list[int]]] = {is_uniform: [[] for _ in range(count)] for is_uniform in (True, False)}
    for rater, own in _by_rater(new).items():
        order = () if any(each.draw == asking.GIVEN for each in own) else asked[rater]
        uniform, probability = asking.drawn(study, order, seed=rater[1], answered={each.question for each in own})
        spared *= 1 - probability
        for each in own:
            if each.choice is not None:
                chosen[bool(uniform[each.question])][each.question].append(each.choice)
    worth, weight = np.full(picks.shape, np.nan), np.zeros(count)
    for question in range(count):
        answers = chosen[True][question] or chosen[False][question]
        if answers:
            pick = picks[:, question, None]
            worth[:, question] = np.where(pick == NO_PICK, 0.5, pick == np.array(answers)).mean(axis=1)
            weight[question] = 1 / (1 - spared[question])
    return worth, np.array([bool(answers) for answers in chosen[True]], bool), weight


def _pairs(
    compared: Sequence[tuple[Floats, Floats]],
    *,
    looks: Sequence[int],
    judgments: int,
    titles: Sequence[str],
    picks: np.ndarray,
) -> tuple[list[PairOfModels], Bools]:
    """Returns all pairs of models with the rater's preference between them, and which model is significantly better, as
    of the last look.

    `compared`: the models' worth and the questions' weights at each look so far, as in `_worth`.
    """
    count = len(titles)
    better = np.zeros((count, count), bool)
    worth, weight = compared[-1]
    asked = np.flatnonzero(weight > 0)
    if count < 2 or not len(asked):
        return [], better
    z, bound = lead_and_bound([np.nan_to_num(worth) * weight for worth, weight in compared], looks=len(looks))
    out = []
    for one, other in zip(*np.triu_indices(count, 1), strict=True):
        ahead, behind = (one, other) if z[one, other] >= 0 else (other, one)
        better[ahead, behind] = z[ahead, behind] > bound
        differ = asked[picks[one, asked] != picks[other, asked]]
        sided = (worth[ahead, differ] - worth[behind, differ] + 1) / 2
        try:
            # Chance alone has an expected square of 1; the rest is due to the difference.
            look = looks[len(compared) - 1]
            wanted = look + more_items(look, z=math.sqrt(max(float(z[one, other]) ** 2 - 1, 0)), bound=bound)
            more = max(0, next((each for each in looks if each >= wanted), math.inf) - judgments)
        except Undefined:
            more = math.inf
        out.append(
            PairOfModels(
                first=titles[ahead],
                second=titles[behind],
                sided=float(np.average(sided, weights=weight[differ])) if len(differ) else math.nan,
                n=len(differ),
                is_significant=bool(better[ahead, behind]),
                more=None if more > FARTHEST else int(more),
            )
        )
    return out, better


def lead_and_bound(parts: Sequence[Floats], *, looks: int) -> tuple[Floats, float]:
    """Returns the lead of each model over each other in standard errors at the last look [models, models], and its
    bound.

    A lead exceeds the bound for at most ALPHA of all studies of equal models, at any of `looks`. `parts` are the looks
    so far [models, questions]: a question's contribution to each model's sum, 0 until it is asked.
    """
    signs = np.random.default_rng(SEED).integers(2, size=(parts[0].shape[1], FLIPS), dtype=np.int8) * 2.0 - 1
    first, second = np.triu_indices(len(parts[0]), 1)
    left = np.ones(FLIPS, bool)  # random paths that no look has removed
    for look, part in enumerate(parts, 1):
        spread = np.sqrt(((part[first] - part[second]) ** 2).sum(axis=1))
        scale = np.divide(1, spread, out=np.zeros(len(spread)), where=spread > 0)
        sums = part @ signs
        drawn = np.abs((sums[first] - sums[second]) * scale[:, None]).max(axis=0)
        taken = int(ALPHA * look / looks * (FLIPS + 1)) - int((~left).sum())
        largest = np.sort(drawn[left])[::-1]
        left &= drawn <= largest[taken] + NEAR
    z = np.zeros((len(part), len(part)))
    total = part.sum(axis=1)
    z[first, second] = (total[first] - total[second]) * scale
    return z - z.T, float(largest[taken - 1]) + NEAR


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float | None:
    """Returns the agreement of several raters beyond chance: 1 is perfect, 0 is chance.

    `units` contains the nominal values that each unit received. None if no unit has two values, or if all values are
    equal. Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    totals: Counter[Hashable] = Counter()
    observed = 0.0  # disagreeing pairs, normalised per unit by its number of values
    for values in units:
        if len(values) > 1:
            own = Counter(values)
            totals += own
            observed += (len(values) ** 2 - sum(number**2 for number in own.values())) / (len(values) - 1)
    n = totals.total()
    expected = n**2 - sum(number**2 for number in totals.values())
    if not expected:
        return None
    return 1 - (n - 1) * observed / expected
