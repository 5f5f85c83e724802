"""One question about a few inputs, and what a model answers."""

from __future__ import annotations

from dataclasses import dataclass, field

from compute.analysis.domain import DomainCheck
from compute.live import modes
from compute.live.inputs import Input
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True, eq=False)
class LiveQuestion:
    """The question about which inputs, in order. Of a choice the first input is the reference."""

    mode: str  # a key of modes.MODES
    inputs: tuple[Input, ...]
    attribute: str = "quality"  # of mode quality: a key of modes.ATTRIBUTES

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

    def checked(self) -> LiveQuestion:
        """Itself. Raises BadInput, as a sentence, for inputs that do not fit the mode."""
        problem = modes.problem(self.mode, self.kinds)
        if problem:
            raise BadInput(f"{modes.MODES[self.mode].title}: {problem[0].lower()}{problem[1:]}")
        if self.mode == "quality" and self.attribute not in modes.ATTRIBUTES:
            raise BadInput(f"There is no question {self.attribute!r}; there are: {', '.join(modes.ATTRIBUTES)}")
        return self


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One model's answer. All numbers are on its own scale: higher is nearer or better, and only its own distribution
    gives one of them a meaning.

    `scores`: one for a pair, else one per option: similarity to the reference, how much more alike the others are
    without it (odd one out), or the quality. `pairs` of odd one out: the similarity of each two. `replies` of a judge:
    one per order; `picks` what could be read of them, None where nothing.
    """

    model: str
    scores: tuple[float, ...] = ()
    pairs: dict[tuple[int, int], float] = field(default_factory=dict)
    pick: int | None = None  # None: a tie, or a judge whose two orders disagree
    replies: tuple[str, ...] = ()
    picks: tuple[int | None, ...] = ()
    domain: DomainCheck = field(
        default_factory=DomainCheck
    )  # the distribution that speaks for these inputs, or why none
    controls: tuple[int, int] | None = None  # of a pair without percentile: unrelated examples scored below, and all
    unit: str = ""  # what `scores` are: cosine | own | rating (1 to 10) | votes (share of the orders)
    seconds: float = 0.0
    problem: str = ""  # why there is no answer
