"""Questions about a few inputs, and answers: which modes fit, which models can answer, and what a score means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from compute.analysis.calibrated import DomainCheck, Place, Reference, place
from compute.live.inputs import Input
from compute.models import abilities
from compute.types import BadInput, Model

MOST_INPUTS = 9  # a reference with 8 alternatives
ATTRIBUTES = {
    "quality": "Quality",
    "brightness": "Brightness",
    "colorfulness": "Colourfulness",
    "contrast": "Contrast",
    "sharpness": "Sharpness",
}


@dataclass(frozen=True, kw_only=True)
class Mode:
    """One kind of question. `least` to `most` inputs; `kinds` are the modalities it takes."""

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
    """The question about which inputs, in order. Of a choice the first input is the reference."""

    mode: str  # a key of MODES
    inputs: tuple[Input, ...]
    attribute: str = "quality"  # of mode quality: a key of ATTRIBUTES

    @property
    def key(self) -> tuple:
        """Equal for equal questions: inputs count by their content."""
        return self.mode, self.attribute if self.mode == "quality" else "", tuple(each.key for each in self.inputs)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The inputs' modalities."""
        return tuple(each.modality for each in self.inputs)

    @property
    def options(self) -> tuple[Input, ...]:
        """What can be picked."""
        return self.inputs[1:] if self.mode == "choice" else self.inputs

    @property
    def pairing(self) -> str:
        """Which distribution of scores it needs: two modalities, or the attribute of single images."""
        if self.mode == "quality":
            return self.attribute
        return "image-image" if self.mode == "odd" else abilities.pairing_of(*self.kinds[:2])

    def checked(self) -> LiveQuestion:
        """Itself. Raises BadInput, as a sentence, for inputs that do not fit the mode."""
        if why := problem(self.mode, self.kinds):
            raise BadInput(f"{MODES[self.mode].title}: {why[0].lower()}{why[1:]}")
        if self.mode == "quality" and self.attribute not in ATTRIBUTES:
            raise BadInput(f"There is no question {self.attribute!r}; there are: {', '.join(ATTRIBUTES)}")
        return self


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One model's answer. All numbers are on its own scale: higher is nearer or better, and only its own distribution
    gives one of them a meaning.

    `scores`: one for a pair, else one per option: similarity to the reference, how much more similar the others are
    without it (odd one out), or the quality. `pairs` of odd one out: the similarity of each two. `replies` of a judge:
    one per order; `picks` what could be read of them, None where nothing.
    """

    row: Model
    scores: tuple[float, ...] = ()
    pairs: dict[tuple[int, int], float] = field(default_factory=dict)
    pick: int | None = None  # None: a tie, or a judge whose two orders disagree
    replies: tuple[str, ...] = ()
    picks: tuple[int | None, ...] = ()
    # The distribution that speaks for these inputs, or why none does.
    domain: DomainCheck = field(default_factory=DomainCheck)
    controls: tuple[int, int] | None = None  # of a pair without percentile: unrelated examples scored below, and all
    unit: str = ""  # what `scores` are: cosine | own | rating (1 to 10) | votes (share of the orders)
    seconds: float = 0.0
    problem: str = ""  # why the answer is missing

    @property
    def reference(self) -> Reference | None:
        """The distribution that gives its scores percentiles."""
        return self.domain.reference if self.domain.has_percentile and self.scores and not self.problem else None

    @property
    def few(self) -> Reference | None:
        """The distribution that speaks for the inputs and has too few scenes for a percentile."""
        return None if self.reference else self.domain.reference

    @property
    def why(self) -> str:
        """Why it has no percentile; empty also for a model that is not calibrated for the question."""
        return "" if self.reference else self.domain.why

    @cached_property
    def standings(self) -> tuple[Place, ...]:
        """Where each score is in the distribution; empty without one, and of odd one out."""
        if self.reference is None or self.pairs:
            return ()
        return tuple(place(self.reference, score) for score in self.scores)

    @cached_property
    def percentiles(self) -> tuple[float, ...]:
        """One per option; of odd one out an image's mean over its pairs with the others."""
        if self.reference is None or not self.pairs:
            return tuple(standing.percentile for standing in self.standings)
        by_pair = {pair: place(self.reference, score).percentile for pair, score in self.pairs.items()}
        return tuple(
            float(np.mean([percentile for pair, percentile in by_pair.items() if option in pair]))
            for option in range(len(self.scores))
        )

    @property
    def margin(self) -> float | None:
        """How far the pick leads the best of the others, in percentile points; None without both.

        Negative only in odd one out, where the pick goes by raw scores.
        """
        sign = -1 if self.pairs else 1  # the odd one is the least similar
        others = [sign * value for option, value in enumerate(self.percentiles) if option != self.pick]
        return None if self.pick is None or not others else sign * self.percentiles[self.pick] - max(others)

    @property
    def reading(self) -> str:
        """How the score of a pair or of one image reads on its distribution, even of few scenes; else empty."""
        known = self.reference or self.few
        return place(known, self.scores[0]).reading if known and len(self.scores) == 1 else ""


def medians(reference: Reference) -> tuple[float, float]:
    """The median scores of its unrelated and of its matching pairs."""
    return float(np.median(reference.unrelated)), float(np.median(reference.matching))


def problem(mode: str, kinds: Sequence[str]) -> str:
    """Why inputs of these modalities do not fit a mode, as a sentence; empty where they do. Raises BadInput."""
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
    """The default mode for these inputs; empty where nothing fits yet."""
    order = ("quality", "pair", "choice", "odd") if len(kinds) == 1 else ("pair", "choice", "odd", "quality")
    return next((mode for mode in order if not problem(mode, kinds)), "")


def needs(kinds: Sequence[str]) -> str:
    """What to add or change before a question fits; empty where a mode fits."""
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
    """The default index of a choice's reference: the only text among images, the only image among texts."""
    for kind in ("text", "image"):
        if list(kinds).count(kind) == 1 and len(kinds) > 2:
            return list(kinds).index(kind)
    return 0


def cannot(row: Model, mode: str, kinds: Sequence[str]) -> str:
    """Why a model cannot answer for inputs of these modalities, as a sentence; empty where it can."""
    able = set(row.abilities)
    if row.kind in ("generator", "distribution"):
        return "It judges no single images"
    if mode == "quality":
        able_alone = abilities.embeds(row, "image-text") or ("choose" in able and len(kinds) > 1)
        return "" if able_alone else "It has neither a prompt nor a score for one image"
    for pairing in dict.fromkeys(abilities.pairing_of(kinds[0], other) for other in kinds[1:]):
        in_words = pairing != "text-text" and (("score_pair" if mode == "pair" else "choose") in able)
        if not in_words and not abilities.scores(row, pairing):
            return f"It compares no {pairing.replace('-', ' with ')}"
    return ""
