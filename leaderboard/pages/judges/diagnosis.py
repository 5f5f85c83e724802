"""One judge by its ratings: what it says of which pairs, how the order matters, and what it took."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from compute.metrics import judge, judge_diagnostics
from compute.metrics.figures import Figure
from compute.metrics.judge import CONDITIONS, SCALE
from compute.metrics.judge_diagnostics import Effort
from compute.types import BadInput, Undefined, shortened
from leaderboard.data.database import Database
from leaderboard.html.formatting import number, percent, span

TYPES = {
    "identical": "Identical",
    "transformed": "Transformed",
    "transformed-2": "Transformed, second",
    "irrelevant": "Irrelevant",
}
REFUSED, TRUNCATED = "refused", "truncated"
EXAMPLES = 12
LOOKED_THROUGH = 400  # flips whose pictures are looked up
MOST_TEXT = 500  # characters of a reply


@dataclass(frozen=True, kw_only=True)
class Histogram:
    """How often a judge gave each score to the pairs of a type under a condition, both orders together."""

    condition: str
    kind: str
    expected: int
    counts: tuple[int, ...]  # of 1..10
    invalid: int

    @property
    def total(self) -> int:
        """Answers."""
        return sum(self.counts) + self.invalid

    @property
    def title(self) -> str:
        """The pairs' type in words."""
        return TYPES.get(self.kind, self.kind)


@dataclass(frozen=True, kw_only=True)
class Flip:
    """A pair that was rated unlike in its two orders."""

    task: str
    condition: str
    kind: str
    expected: int
    scores: tuple[int, int]
    replies: tuple[str, str]  # empty where there are none
    images: tuple[str, ...]  # content keys with a small picture, in the pair's order
    texts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """A judge's ratings of the pairs of a suite. A figure that is undefined is the reason in words."""

    pairs: int
    of: int  # pairs of its tasks; of a partial run some were not put to it in both orders
    in_words: bool
    histograms: tuple[Histogram, ...]
    curve: tuple[Figure, ...]  # RelaxSym at 0..9
    bias: Figure | str
    problems: dict[str, Figure]
    effort: Effort
    flips: tuple[Flip, ...]  # the largest first
    scored: int  # pairs with two scores
    flipped: int  # of them with unlike scores
    far: int  # of them with scores more than one point apart


def diagnose(db: Database, *, suite: str, model: str) -> Diagnosis | None:
    """A judge on all splits of a suite; None without stored pairs."""
    own, runs = db.query("ratings", suite=suite, model=model), db.query("judged_runs", suite=suite)
    own_runs = runs[(runs["model"] == model) & runs["task"].isin(own["task"].unique())]
    if own.empty:
        return None
    forward, reverse, sources = own["forward"], own["reverse"], own["source"]
    gaps = (forward - reverse).abs()
    in_words = bool(own["template"].notna().all())
    return Diagnosis(
        pairs=len(own),
        of=int(own_runs["total"].fillna(own_runs["stored"]).sum()),
        in_words=in_words,
        histograms=tuple(histograms(own)),
        curve=judge.relax_sym_curve(forward, reverse, sources),
        bias=_figure(lambda: judge_diagnostics.position_bias(forward, reverse, sources)),
        # A number can be without a score only because it is NaN.
        problems=judge_diagnostics.problem_rates(
            *(
                own[problem].astype(object).where(own[problem].notna(), np.where(own[side].notna(), "", "missing"))
                for side, problem in (("forward", "forward_problem"), ("reverse", "reverse_problem"))
            ),
            sources,
            problems=(REFUSED, TRUNCATED),
        ),
        effort=effort(own_runs),
        flips=tuple(flips(db, suite=suite, model=model, tasks=list(own["task"].unique()))),
        scored=int(gaps.notna().sum()),
        flipped=int((gaps > 0).sum()),
        far=int((gaps > 1).sum()),
    )


def histograms(pairs: pd.DataFrame) -> list[Histogram]:
    """One a condition and type of pair, in reading order."""
    order = {kind: at for at, kind in enumerate(TYPES)}
    out = []
    for condition in CONDITIONS:
        part = pairs[pairs["condition"] == condition]
        for kind in sorted(part["type"].unique(), key=lambda kind: (order.get(kind, len(order)), kind)):
            own = part[part["type"] == kind]
            answers = np.concatenate([own["forward"], own["reverse"]])
            out.append(
                Histogram(
                    condition=condition,
                    kind=str(kind),
                    expected=int(own["expected_score"].mode().iloc[0]),
                    counts=tuple(int((answers == score).sum()) for score in range(1, SCALE + 1)),
                    invalid=int(np.isnan(answers).sum()),
                )
            )
    return out


def effort(runs: pd.DataFrame) -> Effort:
    """Seconds and US dollars per 1,000 pairs, over the pairs whose answers state them; None where none does.

    A judge in words counts the requests of its answers that came, two a pair. The time of another model is its run's,
    over the pairs that it rated.
    """
    sums = {"seconds": [0.0, 0.0], "cost": [0.0, 0.0]}  # what was taken, and by how many pairs
    for row in runs.itertuples():
        parts = (json.loads(row.settings or "{}").get("found") or {}).values()
        for part in parts:
            for name, total in sums.items():
                taken, replies = _stated(part, name)
                total[0] += taken
                total[1] += replies / 2
        if pd.notna(row.seconds) and not any("asked" in part for part in parts):
            sums["seconds"][0] += float(row.seconds)
            sums["seconds"][1] += int(row.stored)
    return Effort(**{name: 1000 * taken / pairs if pairs else None for name, (taken, pairs) in sums.items()})


def _stated(part: dict[str, Any], name: str) -> tuple[float, float]:
    """What the replies of a subset took, as far as they state it, and how many do."""
    if name in part:
        return part[name], part["asked"] - part.get("errors", 0)
    stated = part.get("in_part", {}).get(name, {"at_least": 0.0, "replies": 0})
    return stated["at_least"], stated["replies"]


def flips(db: Database, *, suite: str, model: str, tasks: list[str]) -> list[Flip]:
    """The pairs whose orders are farthest apart of those that a page can open, with all their pictures; others where
    none has."""
    pictures = set(db.query("pictured_pairs", suite=suite).itertuples(index=False, name=None))
    found = db.query("flips", suite=suite, model=model, tasks=tasks, most=LOOKED_THROUGH)
    rows = [(row, json.loads(row.detail)) for row in found.itertuples()]
    whole = [
        (row, detail)
        for row, detail in rows
        if all((row.task, image) in pictures for image in detail.get("images", ()))
    ]
    return [
        _flip(row, detail, pictures={image for task, image in pictures if task == row.task})
        for row, detail in (whole or rows)[:EXAMPLES]
    ]


def _flip(row: Any, detail: dict[str, Any], *, pictures: set[str]) -> Flip:
    replies = [shortened(reply, MOST_TEXT) for reply in detail.get("replies", ())]
    return Flip(
        task=row.task,
        condition=row.condition,
        kind=TYPES.get(row.type, row.type),
        expected=int(row.expected_score),
        scores=(int(row.forward), int(row.reverse)),
        replies=(replies[0], replies[1]) if len(replies) == 2 else ("", ""),
        images=tuple(image if image in pictures else "" for image in detail.get("images", ())),
        texts=tuple(detail.get("texts", ())),
    )


def _figure(make: Callable[[], Any]) -> Any:
    """The figure, or why it has no value."""
    try:
        return make()
    except (BadInput, Undefined) as error:
        return str(error)


def reading(diagnosis: Diagnosis) -> Sequence[str]:
    """What the ratings show, in sentences."""
    out = []
    if not diagnosis.scored:
        return ["It gave no pair two scores."]
    if not diagnosis.flipped:
        out.append(f"All {diagnosis.scored:,} pairs with two scores were rated the same in both orders.")
    else:
        pairs = "pair gets" if diagnosis.flipped == 1 else "pairs get"
        far = "none" if not diagnosis.far else f"{diagnosis.far:,}"
        out.append(
            f"{diagnosis.flipped:,} of {diagnosis.scored:,} {pairs} another score when the order is reversed, "
            f"{far} of them by more than one point."
        )
        out.append(f"{diagnosis.bias}." if isinstance(diagnosis.bias, str) else _leaning(diagnosis.bias))
    invalid = diagnosis.problems[judge_diagnostics.INVALID]
    out.append(
        f"{percent(invalid.value, digits=1)} of its answers have no score."
        if invalid.value
        else "Every answer is a score."
    )
    return out


def _leaning(bias: Figure) -> str:
    side = "first" if bias.value > 0 else "second"
    size = f"{number(abs(bias.value), digits=2)} points"
    if bias.low is None or bias.high is None:
        return f"On average it rates a pair {size} higher when the original comes {side}; the interval is not known."
    if bias.low <= 0 <= bias.high:
        return (
            "On average it leans to neither order: the mean difference is "
            f"{number(bias.value, digits=2, sign=True)} ({span(bias.low, bias.high, digits=2)})."
        )
    ends = sorted(abs(end) for end in (bias.low, bias.high))
    return f"It rates a pair {size} ({span(*ends, digits=2)}) higher when the original comes {side}."
