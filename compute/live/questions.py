"""Questions about a few inputs and answers to them: which modes fit, which models can answer, and what a score
means.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from compute.analysis.calibrated import COLOURS, Calibrations, DomainCheck, Place, Reference, Seen, place
from compute.content.items import Column, joined
from compute.features.subject import Subject
from compute.live import examples
from compute.live.inputs import Input, column_of
from compute.models import model_rows
from compute.models.metrics.pixels import colour_histogram
from compute.procedures import choice, judging, odd_one_out
from compute.procedures.shared.similarity import embeds, symmetric
from compute.tasks.data import Choices, OddOneOut, RatedPairs
from compute.types import LETTERS, BadInput, CannotDo, Model

MOST_INPUTS = 9  # a reference with 8 alternatives
ATTRIBUTES = {
    "quality": "Quality",
    "brightness": "Brightness",
    "colorfulness": "Colourfulness",
    "contrast": "Contrast",
    "sharpness": "Sharpness",
}
ROUNDING = 1e-6  # the error of a cosine in float32 is about a tenth of this
WORDS = {"reader": "lenient"}  # a visitor asks a judge for a bare number


@dataclass(frozen=True, kw_only=True)
class Mode:
    """One kind of question, with `least` to `most` inputs. `kinds` lists the accepted modalities."""

    key: str
    title: str
    least: int
    most: int
    kinds: tuple[str, ...] = ("image", "text")


MODES: dict[str, Mode] = {
    mode.key: mode
    for mode in (
        Mode(key="pair", title="How similar are two", least=2, most=2),
        Mode(key="choice", title="Which is nearest", least=3, most=MOST_INPUTS),
        Mode(key="odd", title="Odd one out", least=3, most=8, kinds=("image",)),
        Mode(key="quality", title="Quality and attributes", least=1, most=8, kinds=("image",)),
    )
}


@dataclass(frozen=True, kw_only=True, eq=False)
class LiveQuestion:
    """A question about inputs, in order. In a choice the first input is the reference."""

    mode: str  # a key of MODES
    inputs: tuple[Input, ...]
    attribute: str = "quality"  # of mode quality: a key of ATTRIBUTES

    @property
    def key(self) -> tuple:
        """Returns a key that is equal for equal questions: inputs are compared by content."""
        return self.mode, self.attribute if self.mode == "quality" else "", tuple(each.key for each in self.inputs)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Returns the inputs' modalities."""
        return tuple(each.modality for each in self.inputs)

    @property
    def options(self) -> tuple[Input, ...]:
        """Returns the inputs that can be picked."""
        return self.inputs[1:] if self.mode == "choice" else self.inputs

    @property
    def pairing(self) -> str:
        """Returns the distribution of scores that it needs: two modalities, or the attribute of single images."""
        if self.mode == "quality":
            return self.attribute
        return "image-image" if self.mode == "odd" else model_rows.pairing_of(*self.kinds[:2])

    def checked(self) -> LiveQuestion:
        """Returns the question itself. Raises BadInput for inputs that do not fit the mode."""
        if why := problem(self.mode, self.kinds):
            raise BadInput(f"{MODES[self.mode].title}: {why[0].lower()}{why[1:]}")
        if self.mode == "quality" and self.attribute not in ATTRIBUTES:
            raise BadInput(f"There is no question {self.attribute!r}; there are: {', '.join(ATTRIBUTES)}")
        return self


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One model's answer. All numbers are on the model's own scale: higher is nearer or better. Only the model's own
    distribution gives a number a meaning.

    `scores`: one for a pair, else one per option. It is the similarity to the reference, how much more similar the
    others are without the option (odd one out), or the quality. `pairs`: the similarity of each pair of options (odd
    one out). `replies`: a judge's replies, one per order. `picks`: the option read from each reply, None if it could
    not be read.
    """

    row: Model
    scores: tuple[float, ...] = ()
    pairs: dict[tuple[int, int], float] = field(default_factory=dict)
    pick: int | None = None  # None: a tie, or a judge whose two orders disagree
    replies: tuple[str, ...] = ()
    picks: tuple[int | None, ...] = ()
    # The distribution that applies to these inputs, or why none does.
    domain: DomainCheck = field(default_factory=DomainCheck)
    controls: tuple[int, int] | None = None  # for a pair without percentile: unrelated examples scored lower, and all
    unit: str = ""  # unit of `scores`: cosine | own | rating (1 to 10) | votes (share of the orders)
    seconds: float = 0.0
    problem: str = ""  # why the answer is missing

    @property
    def reference(self) -> Reference | None:
        """Returns the distribution that gives its scores percentiles."""
        return self.domain.reference if self.domain.has_percentile and self.scores and not self.problem else None

    @property
    def few(self) -> Reference | None:
        """Returns the distribution that applies to the inputs but has too few scenes for a percentile."""
        return None if self.reference else self.domain.reference

    @property
    def why(self) -> str:
        """Returns why it has no percentile; also empty for a model that is not calibrated for the question."""
        return "" if self.reference else self.domain.why

    @cached_property
    def standings(self) -> tuple[Place, ...]:
        """Returns where each score falls in the distribution; empty without a distribution, and for odd one out."""
        if self.reference is None or self.pairs:
            return ()
        return tuple(place(self.reference, score) for score in self.scores)

    @cached_property
    def percentiles(self) -> tuple[float, ...]:
        """Returns one percentile per option; for odd one out, an image's mean over its pairs with the others."""
        if self.reference is None or not self.pairs:
            return tuple(standing.percentile for standing in self.standings)
        by_pair = {pair: place(self.reference, score).percentile for pair, score in self.pairs.items()}
        return tuple(
            float(np.mean([percentile for pair, percentile in by_pair.items() if option in pair]))
            for option in range(len(self.scores))
        )

    @property
    def margin(self) -> float | None:
        """Returns how far the pick leads the best of the others, in percentile points; None if either is missing.

        It can be negative only for odd one out, where the pick is made by raw scores.
        """
        sign = -1 if self.pairs else 1  # the odd one out is the least similar
        others = [sign * value for option, value in enumerate(self.percentiles) if option != self.pick]
        return None if self.pick is None or not others else sign * self.percentiles[self.pick] - max(others)

    @property
    def reading(self) -> str:
        """Returns how the score of a pair or of one image reads on its distribution, even one of few scenes; otherwise
        empty.
        """
        known = self.reference or self.few
        return place(known, self.scores[0]).reading if known and len(self.scores) == 1 else ""


def medians(reference: Reference) -> tuple[float, float]:
    """Returns the median scores of the unrelated and of the matching pairs."""
    return float(np.median(reference.unrelated)), float(np.median(reference.matching))


def problem(mode: str, kinds: Sequence[str]) -> str:
    """Returns why inputs of these modalities do not fit a mode, as a sentence; empty if they do. Raises BadInput."""
    if mode not in MODES:
        raise BadInput(f"There is no mode {mode!r}; there are: {', '.join(MODES)}")
    known = MODES[mode]
    if set(kinds) - set(known.kinds):
        return "It takes images only"
    if len(kinds) < known.least:
        return f"It takes at least {known.least} inputs"
    if len(kinds) > known.most:
        return f"It takes at most {known.most} inputs"
    if mode == "choice" and len(set(kinds[1:])) > 1:
        return "The alternatives must be all images or all texts"
    return ""


def natural(kinds: Sequence[str]) -> str:
    """Returns the default mode for these inputs; empty if nothing fits yet."""
    order = ("quality", "pair", "choice", "odd") if len(kinds) == 1 else ("pair", "choice", "odd", "quality")
    return next((mode for mode in order if not problem(mode, kinds)), "")


def needs(kinds: Sequence[str]) -> str:
    """Returns what to add or change before a question fits; empty if a mode fits."""
    if natural(kinds):
        return ""
    if not kinds:
        return "Add an image or a text to begin"
    if len(kinds) == 1:
        return "Add an image or another text to compare it with"
    if len(kinds) > MOST_INPUTS:
        return f"Remove some: at most {MOST_INPUTS} can be compared at once"
    return "After the first, all must be images or all texts"


def reference_first(kinds: Sequence[str]) -> int:
    """Returns the default index of a choice's reference: the only text among images, the only image among texts."""
    for kind in ("text", "image"):
        if list(kinds).count(kind) == 1 and len(kinds) > 2:
            return list(kinds).index(kind)
    return 0


def cannot(row: Model, mode: str, kinds: Sequence[str]) -> str:
    """Returns why a model cannot answer for inputs of these modalities, as a sentence; empty if it can."""
    able = set(row.abilities)
    if row.kind in ("generator", "distribution"):
        return "It judges no single images"
    if mode == "quality":
        able_alone = model_rows.embeds(row, "image-text") or ("choose" in able and len(kinds) > 1)
        return "" if able_alone else "It has neither a prompt nor a score for one image"
    for pairing in dict.fromkeys(model_rows.pairing_of(kinds[0], other) for other in kinds[1:]):
        in_words = pairing != "text-text" and (("score_pair" if mode == "pair" else "choose") in able)
        if not in_words and not model_rows.scores(row, pairing):
            return f"It compares no {pairing.replace('-', ' with ')}"
    return ""


def ask(
    subject: Subject,
    question: LiveQuestion,
    calibrations: Calibrations = Calibrations(),  # noqa: B008 (frozen)
    controls: bool = False,
) -> Answer:
    """Returns the model's answer, with the seconds it took and the model's calibration that applies to the inputs.

    With `controls`, a pair without a percentile is also compared with unrelated examples. Raises BadItem for an input
    that the model refuses, CannotDo for a question that it cannot answer.
    """
    started = time.perf_counter()
    if reason := cannot(subject.row, question.mode, question.kinds):
        raise CannotDo(reason)
    columns = [column_of([each]) for each in question.inputs]
    vectors = subject.can("embed_text") if question.mode == "quality" else embeds(subject, *columns)
    has_scores = vectors or subject.can("compare")
    if has_scores:
        subject.prepare(columns)
    result = (_scored if has_scores else _in_words)(subject, question, columns)
    seconds = time.perf_counter() - started
    if not has_scores:
        return replace(result, seconds=seconds)
    check = domain(subject, question.inputs, pairing=question.pairing, calibrations=calibrations)
    below = None
    if controls and question.mode == "pair" and not check.has_percentile:
        below = _above_unrelated(subject, *question.inputs)
    unit = "cosine" if vectors else "own"
    return replace(result, unit=unit, seconds=seconds, domain=check, controls=below)


def domain(subject: Subject, inputs: Sequence[Input], *, pairing: str, calibrations: Calibrations) -> DomainCheck:
    """Returns the model's distribution whose domain contains all inputs, or why there is none.

    Computes an encoder's vectors of the inputs if they are not known yet.
    """
    own = calibrations.of(subject.row.key, pairing)
    if not own.references:
        return DomainCheck()
    return own.judged(subject.row.key, pairing, [seen for each in inputs for seen in _seen(subject, each)])


def _seen(subject: Subject, one: Input) -> list[Seen]:
    """Returns the model's vector of an input, if it learned that modality, and the colour histogram of an image."""
    seen = []
    if one.modality in model_rows.learned_vectors(subject.row):
        seen.append(Seen(subject.row.key, one.modality, subject.embed(column_of([one]))[0]))
    if one.modality == "image":
        seen.append(Seen(COLOURS, "image", colour_histogram(one.content)))
    return seen


def _above_unrelated(subject: Subject, first: Input, second: Input) -> tuple[int, int]:
    """Returns how many unrelated examples are further from the first input of a pair than the second is, and how many
    were tried.

    It is used if no distribution applies to the inputs: it gives a direction, not a measure.
    """
    others = [each for each in examples.unrelated(second.modality) if each.key not in (first.key, second.key)]
    against = [second, *others]
    own, *controls = symmetric(subject, column_of([first] * len(against)), column_of(against)).tolist()
    return sum(score < own for score in controls), len(controls)


def _data(question: LiveQuestion, columns: Sequence[Column], *, orders: int = 1) -> Choices | OddOneOut:
    """Returns the question as its procedure expects it: a row with the options as given and, with two `orders`, one in
    reverse.
    """
    options = columns[1:] if question.mode == "choice" else columns
    rows = tuple(joined(both[:orders]) for both in zip(options, options[::-1], strict=True))
    names, right = ("live",) * orders, np.zeros(orders, dtype=int)  # in place of a task's labels
    if question.mode == "odd":
        return OddOneOut(names=names, members=rows, odd=right)
    if question.mode == "quality":
        return Choices(names=names, alternatives=rows, answer=right, question=question.attribute)
    return Choices(names=names, alternatives=rows, answer=right, reference=joined([columns[0]] * orders))


def _scored(subject: Subject, question: LiveQuestion, columns: Sequence[Column]) -> Answer:
    if question.mode == "pair":
        return Answer(row=subject.row, scores=(float(symmetric(subject, *columns)[0]),))
    data, pairs = _data(question, columns), {}
    if question.mode == "odd":
        pairs = odd_one_out.similarities(subject, data)
        scores = odd_one_out.oddness(pairs, len(columns))[0].tolist()
        pairs = {pair: float(score) for pair, (score,) in pairs.items()}
    else:
        scores = choice.run(subject, data, choice.PROCEDURE.usual).items["detail"][0]["scores"]
    return Answer(row=subject.row, scores=tuple(scores), pick=_best(scores), pairs=pairs)


def _best(scores: Sequence[float]) -> int | None:
    """Returns the index of the highest score; None for a tie or a single score.

    Scores that differ only by rounding are a tie. Otherwise a model that averages word vectors would prefer one order
    of the same words to another.
    """
    best = max(scores)
    indices = [i for i, score in enumerate(scores) if math.isclose(score, best, rel_tol=ROUNDING, abs_tol=ROUNDING)]
    return indices[0] if len(indices) == 1 < len(scores) else None


def _in_words(subject: Subject, question: LiveQuestion, columns: Sequence[Column]) -> Answer:
    """Asks a judge in words, in this order and in reverse. It picks an option only if it picks it both times."""
    if question.mode == "pair":
        return _rated(subject, *columns)
    data = _data(question, columns, orders=2)
    procedure = odd_one_out if question.mode == "odd" else choice
    items = procedure.run(subject, data, procedure.PROCEDURE.usual).items
    first, second = (
        None if math.isnan(read) else LETTERS.index(letter)
        for letter, read in zip(items["answer"], items["accuracy"], strict=True)
    )
    count = len(question.options)
    picks = (first, None if second is None else count - 1 - second)
    return Answer(
        row=subject.row,
        pick=picks[0] if picks[0] == picks[1] else None,
        picks=picks,
        replies=tuple(detail["reply"] for detail in items["detail"]),
        scores=tuple(picks.count(option) / 2 for option in range(count)),
        unit="votes",
    )


def _rated(subject: Subject, first: Column, second: Column) -> Answer:
    """Returns a judge's mean score from 1 to 10 over both orders. If the two scores differ, the judge is not
    symmetric.
    """
    evidence = judging.rated(subject, RatedPairs.of_one(first, second), judging.PROCEDURE.usual | WORDS)
    pair = evidence.items.iloc[0]
    known = [score for score in (pair["forward"], pair["reverse"]) if not math.isnan(score)]
    return Answer(
        row=subject.row,
        scores=(float(np.mean(known)),) if known else (),
        replies=tuple(pair["detail"]["replies"]),
        unit="rating",
        problem="" if known else "Neither of its replies holds a number from 1 to 10",
    )
