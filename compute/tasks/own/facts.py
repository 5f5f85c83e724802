"""What follows from user data for its task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from compute.tasks.data import Data

MODALITIES = ("image", "text")  # in the order in which a task lists them


@dataclass(frozen=True, kw_only=True)
class OwnFacts:
    """What a task's row says of its items, and the items."""

    category: str
    metrics: tuple[str, ...]  # the first is the headline
    chance: float | None  # value of the headline by guessing
    n_items: int  # that are scored
    modalities: tuple[str, ...]
    counts: str  # in words: "120 questions of 3 alternatives"
    items: Callable[[], Data] = field(repr=False)  # of rows without a fault
    notes: str = ""
    comparisons: int | None = None  # pairs that a model without vectors compares
    questions: int | None = None  # that a judge is asked


def number_of(count: int, noun: str) -> str:
    """`1 image`, `2,000 images`, `2 queries`, `3 classes`."""
    if count == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{count:,} {plural}"


def modalities(kinds: Iterable[str]) -> tuple[str, ...]:
    """The modalities once each, in their order."""
    present = set(kinds)
    return tuple(kind for kind in MODALITIES if kind in present)
