"""Contents of an item and a model's answer, from the details stored by each procedure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, zip_longest
from typing import Any

from compute.procedures import VIEWS
from compute.types import LETTERS
from leaderboard.html.formatting import number

QUALITIES = ("IQA", "PAA")  # categories of choices without a reference
RATED = ("In this order", "The two swapped")  # the orders that a judge rates a pair in

Content = tuple[str, str]  # the key of an image, or a text; the other is empty
Part = dict[str, Any]  # role, label, image (content key or empty), text, right (or None); of a hit name and score


def drawn(procedure: str, detail: Mapping[str, Any], *, expected: str, category: str) -> list[Part]:
    """Returns the question, in reading order."""
    images, texts = _list(detail, "images"), _list(detail, "texts")
    inputs = [(each, "") for each in images] + [("", each) for each in texts]
    if procedure in ("choice", "odd_one_out"):
        reference, options = choices(detail, category=category) if procedure == "choice" else (None, inputs)
        role = "Alternative" if procedure == "choice" else "Image"
        return [_part("Reference", each) for each in [reference] if each] + [
            _part(role, each, letter, right=letter == expected)
            for each, letter in zip(options, letters(len(options)), strict=True)
        ]
    if procedure == "matching":  # of several with a single one the first is right
        sides = ("Image", inputs[: len(images)], len(texts)), ("Caption", inputs[len(images) :], len(images))
        return [
            _part(role, each, str(at + 1) * several, right=at == 0 if others == 1 and several else None)
            for role, side, others in sides
            for several in [len(side) > 1]
            for at, each in enumerate(side)
        ]
    if procedure in ("retrieval", "multiple_choice"):
        query = next(zip_longest(images, texts, fillvalue=""), ("", ""))
        return [_part("Query", query), *([] if procedure == "retrieval" else _hits(detail, role="Candidate"))]
    roles = zip_longest(VIEWS[procedure].roles, inputs, fillvalue="Item")
    return [_part(role, each) for role, each in roles if each != "Item"]


def answered(procedure: str, detail: Mapping[str, Any], *, answer: str) -> dict[str, Any]:
    """Returns a model's output besides its answer: `scores` (label, text), `picked`, `hits`, a judge's `reply`.

    Of a pair rated in both orders `replies` (order, text, problem) instead, or the `scores` that a model's own numbers
    were before they became ratings.
    """
    scores, out = _list(detail, "scores"), {"reply": str(detail["reply"])} if "reply" in detail else {}
    if procedure in ("choice", "odd_one_out"):
        picked = answer.split("/") if "reply" not in detail or answer in LETTERS else []
        return out | {"scores": _written(letters(len(scores)), scores), "picked": picked}
    if procedure == "matching":
        a, c = len(_list(detail, "images")), len(_list(detail, "texts"))
        if not scores or a * c != len(scores):
            return out
        side = "Caption" if a == 1 else "Image" if c == 1 else ""
        labels = (
            map(str, range(1, max(a, c) + 1))
            if side
            else [f"image {i + 1} with caption {j + 1}" for i in range(a) for j in range(c)]
        )
        picked = [f"{side} {answer.rpartition(' ')[2]}"] if side else []
        return out | {"scores": _written(labels, scores), "picked": picked}
    if procedure == "multiple_choice":
        best = max((score for score in scores if score is not None), default=None)
        picked = [str(at) for at, score in enumerate(scores, start=1) if score is not None and score == best]
        return out | {"scores": _written(map(str, range(1, len(scores) + 1)), scores), "picked": picked}
    if procedure == "retrieval":
        return out | {"hits": _hits(detail, role="Hit")}
    if procedure == "judging":
        replies = zip_longest(_list(detail, "replies"), _list(detail, "problems"))
        numbers = [value if isinstance(value, float | int) else None for value in _list(detail, "numbers")]
        return out | {
            "replies": [
                (order, str(reply), str(problem or "")) for order, (reply, problem) in zip(RATED, replies, strict=False)
            ],
            "scores": _written(map(str.lower, RATED), numbers),
        }
    return out | ({"scores": _written(map(str, _list(detail, "hits")), scores)} if procedure == "zero_shot" else {})


def choices(detail: Mapping[str, Any], *, category: str) -> tuple[Content | None, list[Content]]:
    """Returns the reference, if there is one, and the alternatives.

    Images and texts are separate, each in the order of the columns. A single one with several of the other kind is
    the reference; of one kind there is a reference if there is one more than there are scores, or, without scores,
    where more than two are shown and the question is not of a quality.
    """
    images = [(each, "") for each in _list(detail, "images")]
    texts = [("", each) for each in _list(detail, "texts")]
    if images and texts:
        return (images[0], texts) if len(images) == 1 else (texts[0], images)
    only = images or texts
    scores = detail.get("scores")
    with_reference = len(only) == len(scores) + 1 if scores else len(only) > 2 and category not in QUALITIES
    return (only[0], only[1:]) if with_reference else (None, only)


def letters(count: int) -> list[str]:
    """Returns the names of alternatives: letters, and beyond Z their numbers."""
    return [*LETTERS[:count], *map(str, range(len(LETTERS) + 1, count + 1))]


def _list(detail: Mapping[str, Any], name: str) -> list[Any]:
    """Returns a list of an item's detail; empty if it has none by that name."""
    values = detail.get(name)
    return values if isinstance(values, list) else []


def _hits(detail: Mapping[str, Any], *, role: str) -> list[Part]:
    """Returns what was retrieved for the query, the first of the inputs; a result without an input has only its
    name.
    """
    names = _list(detail, "hits")
    _, *inputs = [*zip_longest(_list(detail, "images"), _list(detail, "texts"), fillvalue="")] or [("", "")]
    rows = zip_longest(names, inputs, map(_number, _list(detail, "scores")), _list(detail, "relevant"))
    return [
        _part(role, content or ("", ""), str(at), right=None if mark is None else bool(mark))
        | {"name": str(name), "score": score or ""}
        for at, (name, content, score, mark) in enumerate(islice(rows, len(names)), start=1)
    ]


def _part(role: str, content: Content, label: str = "", *, right: bool | None = None) -> Part:
    return {"role": role, "label": label, "image": content[0], "text": content[1], "right": right}


def _written(labels: Iterable[str], scores: Sequence[float | None]) -> list[tuple[str, str]]:
    return [(label, _number(score)) for label, score in zip(labels, scores, strict=False)]


def _number(score: float | None) -> str:
    if score is None:
        return "—"
    if not math.isfinite(score):
        return "∞" if score > 0 else "−∞"
    return number(score, digits=3 if abs(score) < 100 else 1)
