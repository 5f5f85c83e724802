"""One judge by its ratings: its scores of pairs, the effect of the order, and its cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd

from compute.metrics import judge, judge_diagnostics
from compute.metrics.figures import Figure
from compute.metrics.judge import SCALE
from compute.types import BadInput, Undefined, shortened
from leaderboard.data.database import Database, shared
from leaderboard.data.suite_cache import SuiteCache
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


@partial(shared, most=64)
def diagnose(cache: SuiteCache, suite: str, model: str) -> dict[str, Any]:
    """Returns a judge's ratings of the pairs of a suite; empty without stored pairs.

    `of`: the pairs of its tasks; of a partial run some were not put to it in both orders. `curve`: RelaxSym at 0..9.
    `bias`: a Figure, or in words why there is none. `scored`: pairs with two scores, `flipped` with unlike ones, `far`
    with scores more than one point apart; `flips`: the largest first.
    """
    db = cache.db
    own = db.query("ratings", suite=suite, model=model)
    runs = db.records("judged_runs", suite=suite, model=model)
    if own.empty:
        return {}
    forward, reverse, sources = own["forward"], own["reverse"], own["source"]
    gaps = (forward - reverse).abs()
    try:
        bias = judge_diagnostics.position_bias(forward, reverse, sources)
    except (BadInput, Undefined) as error:
        bias = str(error)
    return {
        "pairs": len(own),
        "of": sum(run["total"] for run in runs),
        "in_words": bool(own["template"].notna().all()),
        "histograms": histograms(own),
        "curve": judge.relax_sym_curve(forward, reverse, sources),
        "bias": bias,
        "problems": judge_diagnostics.problem_rates(
            own["forward_problem"], own["reverse_problem"], sources, problems=(REFUSED, TRUNCATED)
        ),
        "effort": effort(runs),
        "flips": flips(db, suite=suite, model=model, tasks=list(own["task"].unique())),
        "scored": int(gaps.notna().sum()),
        "flipped": int((gaps > 0).sum()),
        "far": int((gaps > 1).sum()),
    }


def histograms(pairs: pd.DataFrame) -> list[dict[str, Any]]:
    """Returns how often a judge gave each score of 1..10 to the pairs of a type under a condition, both orders
    together.

    A row per condition and type, the types in reading order.
    """
    out = []
    parts = pairs.groupby(["condition", "type"])
    for (condition, kind), own in sorted(parts, key=lambda part: [*TYPES, part[0][1]].index(part[0][1])):
        answers = pd.concat([own["forward"], own["reverse"]])
        out.append(
            {
                "condition": condition,
                "title": TYPES.get(kind, kind),
                "expected": int(own["expected_score"].mode().iloc[0]),
                "counts": [int((answers == score).sum()) for score in range(1, SCALE + 1)],
                "invalid": int(answers.isna().sum()),
                "total": len(answers),
            }
        )
    return out


def effort(runs: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Returns seconds and US dollars per 1,000 pairs, over the pairs whose answers report them; None if none does.

    A judge in words counts the requests of its answers that came, two a pair. The time of another model is its run's,
    over the pairs that it rated.
    """
    sums = {"seconds": [0.0, 0.0], "cost": [0.0, 0.0]}  # what was taken, and by how many pairs
    for run in runs:
        parts = (json.loads(run["settings"] or "{}").get("found") or {}).values()
        for part in parts:
            for name, total in sums.items():
                taken, replies = _stated(part, name)
                total[0] += taken
                total[1] += replies / 2
        if run["seconds"] is not None and not any("asked" in part for part in parts):
            sums["seconds"][0] += run["seconds"]
            sums["seconds"][1] += run["stored"]
    return {name: 1000 * taken / pairs if pairs else None for name, (taken, pairs) in sums.items()}


def _stated(part: dict[str, Any], name: str) -> tuple[float, float]:
    """Returns the cost of a subset's replies, as far as reported, and how many report it."""
    if name in part:
        return part[name], part["asked"] - part.get("errors", 0)
    stated = part.get("in_part", {}).get(name, {"at_least": 0.0, "replies": 0})
    return stated["at_least"], stated["replies"]


def flips(db: Database, *, suite: str, model: str, tasks: list[str]) -> list[dict[str, Any]]:
    """Returns the pairs with the largest difference between orders among those that a page can open, with all their
    pictures; others if none has. An image without a small picture is empty; replies are in both orders, empty if there
    are none.
    """
    pictures = set(db.query("pictured_pairs", suite=suite).itertuples(index=False, name=None))
    rows = []
    for row in db.records("flips", suite=suite, model=model, tasks=tasks, most=LOOKED_THROUGH):
        detail = json.loads(row["detail"])
        images = [image * ((row["task"], image) in pictures) for image in detail.get("images", ())]
        replies = [shortened(reply, MOST_TEXT) for reply in detail.get("replies", ())]
        rows.append(
            row
            | {
                "kind": TYPES.get(row["type"], row["type"]),
                "images": images,
                "texts": detail.get("texts", ()),
                "replies": replies if len(replies) == 2 else ["", ""],
            }
        )
    return ([row for row in rows if all(row["images"])] or rows)[:EXAMPLES]


def reading(found: Mapping[str, Any]) -> Sequence[str]:
    """Returns what the ratings show, in sentences."""
    out = []
    if not found["scored"]:
        return ["It gave no pair two scores."]
    if not found["flipped"]:
        out.append(f"All {found['scored']:,} pairs with two scores were rated the same in both orders.")
    else:
        pairs = "pair gets" if found["flipped"] == 1 else "pairs get"
        far = f"{found['far']:,}" if found["far"] else "none"
        out.append(
            f"{found['flipped']:,} of {found['scored']:,} {pairs} another score when the order is reversed, "
            f"{far} of them by more than one point."
        )
        out.append(f"{found['bias']}." if isinstance(found["bias"], str) else _leaning(found["bias"]))
    invalid = found["problems"][judge_diagnostics.INVALID]
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
