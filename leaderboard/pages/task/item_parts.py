"""What an item shows and what a model answered, from the details that each procedure stores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import zip_longest
from typing import Any

from compute.procedures import VIEWS
from compute.types import LETTERS
from leaderboard.html.formatting import number

QUALITIES = ("IQA", "PAA")  # categories of choices without a reference
RATED = ("In this order", "The two swapped")  # the orders that a judge rates a pair in

Part = dict[str, Any]  # role, label, image (content key or empty), text, right (or None), missing


def drawn(
    procedure: str, detail: Mapping[str, Any], *, expected: str, category: str, pictured: AbstractSet[str]
) -> list[Part]:
    """The question, in reading order. `pictured`: which images have a thumbnail; others are shown as missing."""
    images, texts = detail.get("images") or [], detail.get("texts") or []
    if procedure == "choice":
        reference, options = choices(detail, category=category)
        parts = [_part("Reference", "", reference, pictured)] if reference else []
        return parts + [
            _part("Alternative", _letter(at), each, pictured, right=_letter(at) == expected)
            for at, each in enumerate(options)
        ]
    if procedure == "odd_one_out":
        return [
            _part("Image", _letter(at), each, pictured, right=_letter(at) == expected)
            for at, each in enumerate(_inputs(images, texts))
        ]
    if procedure == "matching":
        return _row(images, texts, pictured)
    if procedure in ("retrieval", "multiple_choice"):
        query, *others = aligned(images, texts) or [("", "")]
        candidates = [] if procedure == "retrieval" else _hits(detail, others, pictured, role="Candidate")
        return [_part("Query", "", query, pictured), *candidates]
    roles = zip_longest(VIEWS[procedure].roles, _inputs(images, texts), fillvalue="Item")
    return [_part(role, "", each, pictured) for role, each in roles if each != "Item"]


def answered(
    procedure: str, detail: Mapping[str, Any], *, answer: str, category: str, pictured: AbstractSet[str]
) -> dict[str, Any]:
    """What a model returned besides its answer: `scores` (label, text), `hits` with pictures, a judge's `reply`.

    Of a pair rated in both orders `replies` (order, text, problem) instead, or the `scores` that a model's own numbers
    were before they became ratings.
    """
    out: dict[str, Any] = {}
    scores = detail.get("scores") or []
    if "reply" in detail:
        out["reply"] = str(detail["reply"])
    if procedure in ("choice", "odd_one_out"):
        out["scores"] = [(_letter(at), _number(score)) for at, score in enumerate(scores)]
        out["picked"] = answer.split("/") if "reply" not in detail or answer in LETTERS else []
    elif procedure == "matching":
        a, c = len(detail.get("images") or []), len(detail.get("texts") or [])
        if a * c == len(scores) and scores:
            labels = (
                [str(at + 1) for at in range(max(a, c))]
                if 1 in (a, c)
                else [f"image {i + 1} with caption {j + 1}" for i in range(a) for j in range(c)]
            )
            out["scores"] = [(label, _number(score)) for label, score in zip(labels, scores, strict=True)]
            side = "Caption" if a == 1 else "Image" if c == 1 else ""
            out["picked"] = [f"{side} {answer.rpartition(' ')[2]}"] if side else []
    elif procedure == "multiple_choice":
        out["scores"] = [(str(at + 1), _number(score)) for at, score in enumerate(scores)]
        best = max((score for score in scores if score is not None), default=None)
        out["picked"] = [str(at + 1) for at, score in enumerate(scores) if score is not None and score == best]
    elif procedure == "retrieval":
        others = aligned(detail.get("images") or [], detail.get("texts") or [])[1:]
        out["hits"] = _hits(detail, others, pictured, role="Hit")
    elif procedure == "judging":
        replies, problems, numbers = (_list(detail, name) for name in ("replies", "problems", "numbers"))
        out["replies"] = [
            (order, str(reply), str(problem or ""))
            for order, reply, problem in zip(RATED, replies, problems or [""] * len(replies), strict=False)
        ]
        out["scores"] = [
            (order.lower(), _number(value if isinstance(value, float | int) else None))
            for order, value in zip(RATED, numbers, strict=False)
        ]
    elif procedure == "zero_shot":
        out["scores"] = [
            (str(name), _number(score)) for name, score in zip(detail.get("hits") or [], scores, strict=False)
        ]
    return out


def choices(detail: Mapping[str, Any], *, category: str) -> tuple[tuple[str, str] | None, list[tuple[str, str]]]:
    """The reference, if there is one, and the alternatives, each as (image, text).

    Images and texts are separate, each in the order of the columns. A single one with several of the other kind is
    the reference; of one kind there is a reference where there is one more than there are scores, or, without scores,
    where more than two are shown and the question is not of a quality.
    """
    images = [(each, "") for each in detail.get("images") or []]
    texts = [("", each) for each in detail.get("texts") or []]
    if images and texts:
        return (images[0], texts) if len(images) == 1 else (texts[0], images)
    only = images or texts
    scores = detail.get("scores")
    with_reference = len(only) == len(scores) + 1 if scores else len(only) > 2 and category not in QUALITIES
    return (only[0], only[1:]) if with_reference else (None, only)


def aligned(images: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
    """Aligned lists, one of them possibly empty, as (image, text) pairs."""
    return list(zip_longest(images, texts, fillvalue=""))


def _list(detail: Mapping[str, Any], name: str) -> list[Any]:
    """A list of an item's detail; empty where it has none by that name."""
    values = detail.get(name)
    return values if isinstance(values, list) else []


def _row(images: Sequence[str], texts: Sequence[str], pictured: AbstractSet[str]) -> list[Part]:
    """The images and captions of one row; of several with a single one the first is right."""
    sides = ("Image", _inputs(images, ()), len(texts)), ("Caption", _inputs((), texts), len(images))
    return [
        _part(role, str(at + 1) * several, each, pictured, right=at == 0 if others == 1 and several else None)
        for role, inputs, others in sides
        for several in [len(inputs) > 1]
        for at, each in enumerate(inputs)
    ]


def _hits(
    detail: Mapping[str, Any], inputs: Sequence[tuple[str, str]], pictured: AbstractSet[str], *, role: str
) -> list[Part]:
    names, scores = detail.get("hits") or [], detail.get("scores") or []
    marks = detail.get("relevant") or []
    out = []
    for at, name in enumerate(names):
        content = inputs[at] if at < len(inputs) else ("", "")
        part = _part(role, str(at + 1), content, pictured, right=bool(marks[at]) if at < len(marks) else None)
        out.append(part | {"name": str(name), "score": _number(scores[at]) if at < len(scores) else ""})
    return out


def _inputs(images: Sequence[str], texts: Sequence[str]) -> list[tuple[str, str]]:
    return [(each, "") for each in images] + [("", each) for each in texts]


def _part(
    role: str, label: str, content: tuple[str, str], pictured: AbstractSet[str], *, right: bool | None = None
) -> Part:
    image, text = content
    return {
        "role": role,
        "label": label,
        "image": image if image in pictured else "",
        "text": text,
        "right": right,
        "missing": bool(image) and image not in pictured,
    }


def _letter(at: int) -> str:
    """The name of an alternative: a letter, and beyond Z its number."""
    return LETTERS[at] if at < len(LETTERS) else str(at + 1)


def _number(score: float | None) -> str:
    if score is None:
        return "—"
    if not math.isfinite(score):
        return "∞" if score > 0 else "−∞"
    return number(score, digits=3 if abs(score) < 100 else 1)
