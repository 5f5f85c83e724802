"""Computed runs of stand-in judges over pairs of drawn squares: nothing here is a score of a real judge.

The procedure, the engine and the build are the real ones. STEADY knows the truth; LEANING scores the reversed order
two or four points lower, refuses some pairs, and writes markup in its reasons; EYE is an encoder.
"""

from functools import partial

import numpy as np

from compute.content import items
from compute.content.messages import Reply
from compute.tasks.data import RatedPairs
from compute.types import Model
from tests.leaderboard.stand_ins import COLOURS, EYE, HOSTILE, bench, catalog, execute, square

SUITE = "mini-pairs"
SOURCES = 12
TYPES = ("identical", "transformed", "irrelevant")
TRUTH = {"sensitive": (10, 8, 1), "invariant": (10, 10, 1)}
STEADY, LEANING = (
    Model(
        key=f"example/{name}",
        title=f"{name.capitalize()} Judge",
        kind="mllm",
        adapter=name,
        abilities=("choose",),
        modalities=("image", "text"),
    )
    for name in ("steady", "leaning")
)
MODELS = (STEADY, LEANING, EYE)


class PairJudge:
    """Answers by the item's name alone: its type says the truth, its last word the order."""

    settings = {"temperature": 0}

    def __init__(self, *, leans):
        self.leans = leans

    def reply(self, questions):
        return [self._one(question) for question in questions]

    def _one(self, question):
        name, reverse = question.item.removesuffix(" (reverse)"), question.item.endswith("(reverse)")
        kind = name.rpartition("/")[2]
        told = " ".join(part for part in question.parts if isinstance(part, str)).lower()
        score = 10 if kind == "transformed" and "invariant" in told else dict(zip(TYPES, (10, 8, 1), strict=True))[kind]
        if self.leans and name.startswith("source 03"):
            return Reply(item=question.item, text="", finish="refusal", input_tokens=90, output_tokens=4)
        if self.leans and reverse:
            score = max(1, score - (4 if int(name[7:9]) % 2 else 2))
        text = f"Score: {score}\nReason: {HOSTILE if self.leans else 'similar'}"
        return Reply(item=question.item, text=text, input_tokens=90, output_tokens=4, seconds=0.25, cost=0.001)


def pairs(condition):
    """Three pairs of every source."""
    rows = [(source, at) for source in range(SOURCES) for at in range(len(TYPES))]
    colours = list(COLOURS.values())

    def column(of, shift):
        return items.images(
            [square(np.array(colours[(source + shift * at) % 4]) + 5 * shift, mark=source) for source, at in rows],
            of=f"{of} {condition}",
        )

    return RatedPairs(
        names=tuple(f"source {source:02d}/{TYPES[at]}" for source, at in rows),
        first=column("first", 0),
        second=column("second", 1),
        expected=np.array([TRUTH[condition][at] for _, at in rows]),
        types=np.array([TYPES[at] for _, at in rows]),
        sources=np.array([f"source {source:02d}" for source, _ in rows]),
        templates=np.array([source % 5 for source, _ in rows]),
        condition=condition,
        transformations=("rotate",),
        first_variants=(column("first variant", 0),) * (5 if condition == "invariant" else 0),
        second_variants=(column("second variant", 1),) * (5 if condition == "invariant" else 0),
    )


def make(results):
    """Writes the runs of every stand-in on every split of the suite, and thumbnails."""
    leaning, steady = (partial(PairJudge, leans=leans) for leans in (True, False))
    conditions = {condition: pairs(condition) for condition in TRUTH}
    made = bench(results, load=lambda task: conditions, leaning=leaning, steady=steady)
    execute(catalog(MODELS), suite=SUITE, bench=made)
