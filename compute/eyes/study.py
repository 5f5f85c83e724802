"""The questions of one study, models' picks, and a person's judgments: the records that are stored and sent."""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import blake2b
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from compute.io.files import parse_json, validated
from compute.types import BadInput

Kind = Literal["image", "text", "quality"]
ASKS: dict[Kind, str] = {
    "image": "Which is more like the reference?",
    "text": "Which fits the text better?",
    "quality": "Which has the better quality?",
}
MOST_QUESTIONS, MOST_CONTENTS, MOST_MODELS, MOST_JUDGMENTS, MOST_RATERS = 1_000, 3_000, 40, 10_000, 40
MOST_NOTES = 100
MOST_VALUES = 250_000  # per file: more than a study can contain; a list of numbers alone would take seconds
LONGEST_NAME, LONGEST_TEXT = 60, 1_000  # characters of a rater's name, and of a file's name or a text
TUNES_FROM = 200  # answered questions required for tuning
NO_PICK = -1  # an exact tie, or no answer
Name = Annotated[str, Field(max_length=LONGEST_TEXT)]


class Study(BaseModel):
    """The pool of questions about images, each of two alternatives, and what every model picks.

    `contents` are names of images, and texts; a question is (reference, first, second), numbers of contents, where a
    question of quality has no reference, -1. `chance` is the probability, relative to the highest, that a question is
    drawn for the half where models disagree; it is empty until the models have picked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    contents: Annotated[list[Name], Field(max_length=MOST_CONTENTS)]
    questions: Annotated[list[tuple[int, int, int]], Field(max_length=MOST_QUESTIONS)]
    chance: Annotated[list[Annotated[float, Field(ge=0, le=1)]], Field(max_length=MOST_QUESTIONS)] = []
    models: Annotated[dict[Name, Name], Field(max_length=MOST_MODELS)] = {}  # key -> title
    picks: dict[Name, Annotated[list[Annotated[int, Field(ge=NO_PICK, le=1)]], Field(max_length=MOST_QUESTIONS)]] = {}
    notes: Annotated[list[Name], Field(max_length=MOST_NOTES)] = []  # what was skipped, and why

    @model_validator(mode="after")
    def _fits(self) -> Self:
        count = len(self.questions)
        if any(not -1 <= at < len(self.contents) for question in self.questions for at in question):
            raise ValueError("a question names a content that is not there")
        if self.chance and len(self.chance) != count:
            raise ValueError("there is not one chance for each question")
        if self.picks.keys() != self.models.keys() or any(len(own) != count for own in self.picks.values()):
            raise ValueError("the models' picks are not one for each question")
        return self

    @property
    def key(self) -> str:
        """Equal for studies of the same questions, whose judgments can be merged."""
        parts = json.dumps([self.kind, self.contents, self.questions]).encode()
        return blake2b(parts, digest_size=8).hexdigest()


class Judgment(BaseModel):
    """One answer: a row of the log. Of several with one rater, seed and order the last counts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    time: Annotated[str, Field(max_length=40)]  # ISO 8601, UTC
    rater: Annotated[str, Field(max_length=LONGEST_NAME)] = "me"
    seed: Annotated[int, Field(ge=0, lt=2**53)] = 0  # exact in any JSON
    order: Annotated[int, Field(ge=0, lt=MOST_JUDGMENTS)]  # position in the rater's order, from 0
    question: Annotated[int, Field(ge=0, lt=MOST_QUESTIONS)]
    draw: Literal["uniform", "disagreement", "repeat", "given", "early"]  # given: judged elsewhere; early: uniform
    left: Annotated[int, Field(ge=0, le=1)]  # which alternative was on the left
    choice: Annotated[int, Field(ge=0, le=1)] | None  # which alternative; None: cannot tell
    undone: bool = False
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0


class StudyFile(BaseModel):
    """A study with its judgments, as one file: what the page saves and reads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    study: Study
    judgments: Annotated[list[Judgment], Field(max_length=MOST_JUDGMENTS)] = []

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if any(each.question >= len(self.study.questions) for each in self.judgments):
            raise ValueError("a judgment is about a question that is not there")
        if len({(each.rater, each.seed) for each in self.judgments}) > MOST_RATERS:
            raise ValueError(f"there are more than {MOST_RATERS} raters")
        return self


def parsed(content: Any, *, name: str) -> StudyFile:
    """Parses a file's or a request's JSON, as text, bytes or objects. Raises BadInput."""
    try:
        if isinstance(content, str | bytes):
            content = content.encode("utf-8", "replace") if isinstance(content, str) else content
            if sum(map(content.count, (b"[", b"{", b","))) > MOST_VALUES:
                raise ValueError(f"it holds more than {MOST_VALUES:,} values")
            content = parse_json(content.decode(), name="it")
        return validated(content, StudyFile)
    except ValueError as error:
        raise BadInput(f"{name} is not a study of this app: {str(error)[:200]}") from error


def standing(judgments: Iterable[Judgment]) -> list[Judgment]:
    """Returns the judgments that count, in the order of the log: the last of each rater, seed and
    order, unless undone.
    """
    last = {(each.rater, each.seed, each.order): each for each in judgments}
    return [each for each in last.values() if not each.undone]
