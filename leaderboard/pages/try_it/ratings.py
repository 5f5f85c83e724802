"""The section Perturb: each model's scores from 1 to 10 of an image and its changed copy, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from compute.live import changes
from compute.live.changes import ChangedPair, PairRating, answers_in_words
from compute.tasks.data import CONDITIONS
from compute.tasks.pairbench.splits import expected
from compute.tasks.perturb import PERTURBATIONS
from compute.types import Model, shortened
from leaderboard.html.formatting import number
from leaderboard.html.templates import render
from leaderboard.live.live import MOST_MODELS
from leaderboard.page import Site

KINDS = ("image", "image")
TOLD = {"sensitive": "Told that the change matters", "invariant": "Told to ignore the change"}
PROBLEMS = {
    "missing": "has no score",
    "several": "names several scores",
    "out of range": "is not from 1 to 10",
    "not an integer": "is not a whole number",
    "refused": "is a refusal",
    "truncated": "was cut off",
}
LONGEST = 300  # characters of an answer that are shown
Scores = Mapping[str, "PairRating | str"]  # by condition; as Live.ratings gives them


def models(site: Site, ticked: Sequence[object]) -> tuple[list[tuple[str, str]], list[str]]:
    """Returns titles and keys of all models that are ready to rate two images, and the keys of those selected at first.

    These are what the visitor has `ticked` for the question, and the models that are ticked by default; a judge that
    answers in words only where it is ticked.
    """
    ready = [each for each in site.live.roster.listed(mode="pair", kinds=KINDS) if each.availability.is_ready]
    keys = [each.row.key for each in ready if each.row.key in ticked]
    keys += [each.row.key for each in ready if each.first and each.row.key not in keys]
    ready.sort(key=lambda each: answers_in_words(each.row))
    choices = [(f"{each.row.title}{' (judge)' if answers_in_words(each.row) else ''}", each.row.key) for each in ready]
    return choices, keys[:MOST_MODELS]


def table(pair: ChangedPair, models: Sequence[Model], scores: Mapping[str, Scores]) -> Markup:
    """Returns the scores as a table; for a model without scores, the reason or that it is still working."""
    perturbation = PERTURBATIONS[pair.kind]
    amount = perturbation.amount(pair.strength, changes.size(pair.image))
    known = [rating for each in scores.values() for rating in each.values() if isinstance(rating, PairRating)]
    return render(
        "pages/try_it/ratings.html",
        change=f"{perturbation.title}: {amount}" if pair.strength else "unchanged",
        columns=[(TOLD[condition], expected(pair.type, condition)) for condition in CONDITIONS],
        rows=[(row, answers_in_words(row), cells(scores.get(row.key, {}))) for row in models],
        prompts=[(TOLD[condition], changes.prompt(pair.kind, condition)) for condition in CONDITIONS],
        totals=totals(known),
    )


def cells(scores: Scores) -> list[dict[str, Any]] | str:
    """Returns a cell per condition; one sentence if all conditions have the same."""
    first, *others = values = [scores.get(condition, "…") for condition in CONDITIONS]
    return first if isinstance(first, str) and others == [first] else list(map(_cell, values))


def _cell(rating: PairRating | str) -> dict[str, Any]:
    if isinstance(rating, str):
        return {"why": rating}
    return {
        "why": "",
        "scores": [("no score" if score is None else score, score is None) for score in rating.scores],
        "apart": rating.apart,
        "measure": "cosine" if rating.settings.get("numbers") == "cosine" else "score",
        "numbers": " and ".join(dict.fromkeys(number(value, digits=3) for value in rating.detail.get("numbers", ()))),
        "invalid": [
            (PROBLEMS.get(problem, problem), shortened(" ".join(reply.split()), LONGEST))
            for problem, reply in zip(rating.detail.get("problems", ()), rating.detail.get("replies", ()), strict=False)
            if problem
        ],
    }


def totals(ratings: Sequence[PairRating]) -> str:
    """Describes the cost of the judges' answers: `at least` if some answers do not report it, empty if none does."""
    asked = [rating.settings for rating in ratings if "asked" in rating.settings]
    tokens, all_tokens = _sum(asked, ("input_tokens", "output_tokens"))
    cost, all_costs = _sum(asked, ("cost",))
    parts = [f"{'' if all_tokens else 'at least '}{tokens:,.0f} tokens"] if tokens else []
    if all_costs or cost:
        parts.append(f"{'' if all_costs else 'at least '}${number(cost, digits=4)}")
    return ", ".join(parts)


def _sum(settings: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[float, bool]:
    """Returns the sum of the reported values under these names, and whether all are reported."""
    in_part = [each.get("in_part", {}) for each in settings]
    total = sum(each.get(name, 0) for each in settings for name in names)
    total += sum(each[name]["at_least"] for each in in_part for name in names if name in each)
    return total, bool(settings) and all(name in each for each in settings for name in names)
