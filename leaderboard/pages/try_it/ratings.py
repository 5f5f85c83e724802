"""The section Perturb: each model's scores from 1 to 10 of an image and its changed copy, as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic_ns
from typing import Any

from markupsafe import Markup

from compute.live import changes
from compute.live.changes import ChangedPair, PairRating, answers_in_words
from compute.live.inputs import Input
from compute.live.questions import LiveQuestion
from compute.live.roster import requests_per_question
from compute.tasks.data import CONDITIONS
from compute.tasks.pairbench.splits import expected
from compute.tasks.perturb import PERTURBATIONS
from compute.types import BadInput, Model, shortened
from leaderboard.html.formatting import number
from leaderboard.html.templates import render
from leaderboard.live.live import MOST_MODELS
from leaderboard.page import Site, script_json

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
LARGEST = 1e6  # of an amount in any unit
Scores = Mapping[str, "PairRating | str | None"]  # by condition; as Live.ratings gives them


@dataclass(frozen=True, kw_only=True)
class ShownChange:
    """What the section shows: an image of the question, and a transformation of it by an amount in its own unit."""

    image: int
    kind: str
    amount: float

    @classmethod
    def read(cls, payload: Any) -> ShownChange:
        """From what a page sends: {"image", "by", "amount"}. Raises BadInput for anything else."""
        fields = payload if isinstance(payload, Mapping) else {}
        image, kind, amount = (fields.get(name) for name in ("image", "by", "amount"))
        if not isinstance(kind, str) or kind not in PERTURBATIONS:
            raise BadInput(f"There is no transformation {str(kind)[:40]!r}; there are: {', '.join(PERTURBATIONS)}")
        if type(image) is not int or not 0 <= image < 100:
            raise BadInput("Choose an image to change first")
        if type(amount) not in (int, float) or not 0 <= amount <= LARGEST:
            raise BadInput(f"The amount of a change is a number from 0; got {str(amount)[:40]!r}")
        return cls(image=image, kind=kind, amount=float(amount))

    def pair(self, question: LiveQuestion) -> ChangedPair:
        """The image of the question and its copy; beyond the most of an amount it is the most. Raises BadInput."""
        image = self.image_of(question)
        most = largest(self.kind, image)
        return ChangedPair(image=image, kind=self.kind, strength=min(1.0, self.amount / most))

    def image_of(self, question: LiveQuestion) -> Input:
        """The image of the question that is changed. Raises BadInput."""
        if self.image >= len(question.inputs) or question.inputs[self.image].modality != "image":
            raise BadInput("Choose an image to change first")
        return question.inputs[self.image]

    @classmethod
    def current(cls, state: Any, *, image: int, amounts: Mapping[str, Any]) -> ShownChange:
        """What the controls say on a page with this `state`: a drag may have moved another slider since. Raises
        BadInput, also where the state shows no change."""
        try:
            view = json.loads(state)["view"]
        except (KeyError, TypeError, ValueError):
            view = None
        shown = cls.read(view).kind
        kind = next((kind for kind, amount in amounts.items() if amount and kind != shown), shown)
        return cls.read({"image": image, "by": kind, "amount": amounts[kind]})


def largest(kind: str, image: Input) -> float:
    """What a strength of 1 is for the image, in the kind's unit."""
    return PERTURBATIONS[kind].largest(changes.size(image))


def models(site: Site, ticked: Sequence[object]) -> tuple[list[tuple[str, str]], list[str]]:
    """Titles and keys of all models that are ready to rate two images, and the keys that rate them at first.

    These are what the visitor has `ticked` for the question, and the models that are ticked by default; a judge that
    answers in words only where it is ticked.
    """
    ready = [each for each in site.live.roster.listed(mode="pair", kinds=KINDS) if each.availability.is_ready]
    keys = [each.row.key for each in ready if each.row.key in ticked]
    keys += [each.row.key for each in ready if each.first and each.row.key not in keys]
    ready.sort(key=lambda each: answers_in_words(each.row))
    choices = [(f"{each.row.title}{' (judge)' if answers_in_words(each.row) else ''}", each.row.key) for each in ready]
    return choices, keys[:MOST_MODELS]


def rows(site: Site, keys: Any) -> list[Model]:
    """The models that a page names; none where it names none. Raises BadInput as Live.models."""
    return site.live.models(keys) if isinstance(keys, list) and keys else []


def table(pair: ChangedPair, models: Sequence[Model], scores: Mapping[str, Scores], *, amount: str) -> Markup:
    """The scores as a table; of a model without them why, or that it still works. `amount` has its unit."""
    title = PERTURBATIONS[pair.kind].title
    known = [rating for each in scores.values() for rating in each.values() if isinstance(rating, PairRating)]
    return render(
        "pages/try_it/ratings.html",
        change=f"{title}: {amount}" if pair.strength else "unchanged",
        columns=[(TOLD[condition], expected(pair.type, condition)) for condition in CONDITIONS],
        rows=[
            (row, in_words, cells(scores.get(row.key), missing="not asked yet" if in_words else "…"))
            for row, in_words in ((row, answers_in_words(row)) for row in models)
        ],
        prompts=[(TOLD[condition], changes.prompt(pair.kind, condition)) for condition in CONDITIONS],
        totals=totals(known),
    )


def cells(scores: Scores | None, *, missing: str) -> list[dict[str, Any]] | str:
    """A cell a condition, `missing` for a score to come; one sentence where all conditions have the same."""
    if scores is None:
        return missing
    values = [scores[condition] for condition in CONDITIONS]
    if isinstance(values[0], str) and all(value == values[0] for value in values):
        return values[0]
    return [_cell(value, missing) for value in values]


def _cell(rating: PairRating | str | None, missing: str) -> dict[str, Any]:
    if rating is None or isinstance(rating, str):
        return {"why": rating or missing}
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
    """What the judges' answers have taken: `at least` where some answers do not state it, empty where none does."""
    asked = [rating.settings for rating in ratings if "asked" in rating.settings]
    tokens, all_tokens = _sum(asked, ("input_tokens", "output_tokens"))
    cost, all_costs = _sum(asked, ("cost",))
    parts = [f"{'' if all_tokens else 'at least '}{tokens:,.0f} tokens"] if tokens else []
    if all_costs or cost:
        parts.append(f"{'' if all_costs else 'at least '}${number(cost, digits=4)}")
    return ", ".join(parts)


def _sum(settings: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[float, bool]:
    """The sum of what is stated under these names, and whether all of it is."""
    in_part = [each.get("in_part", {}) for each in settings]
    total = sum(each.get(name, 0) for each in settings for name in names)
    total += sum(each[name]["at_least"] for each in in_part for name in names if name in each)
    return total, bool(settings) and all(name in each for each in settings for name in names)


def state(
    view: ShownChange | None,
    models: Sequence[Model] = (),
    *,
    turn: int | None = None,
    message: str = "",
    complete: bool = True,
) -> str:
    """What the script of the buttons needs, as JSON: what is shown, the judges to ask and what that costs.

    `turn` numbers the answer to a press; without one, something else is shown than before. `message` is why a judge
    could not be asked. Where it is not `complete`, the scores are missing that are made once a drag rests.
    """
    facts: dict[str, Any] = {"at": monotonic_ns(), "turn": turn, "message": message, "complete": complete, "view": None}
    if view is not None:
        each = changes.QUESTIONS * len(CONDITIONS)
        judges = [
            {
                "key": row.key,
                "title": row.title,
                "questions": each,
                "requests": requests_per_question(row) * len(CONDITIONS),
            }
            for row in models
            if answers_in_words(row)
        ]
        facts |= {"view": {"image": view.image, "by": view.kind, "amount": view.amount}, "judges": judges}
    return script_json(facts)
