"""A judge's similarity ratings of two items, from 1 to 10, in both orders and under a condition (PairBench section 3).

A judge that answers in words gets the paper's prompts. The numbers of a model without a prompt are mapped to 1 to 10
(section 4.2.2). They are the cosines of an encoder; under the invariant condition, its cosines of mean representations
over k random applications of the transformation. For a distance, they are its scores, averaged over the k applications
under that condition. The paper does not specify the map from numbers to scores, so every run records it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from compute.arrays import Bools, Floats
from compute.content.items import Column, joined
from compute.content.messages import Reply
from compute.features.subject import Subject
from compute.models import model_rows
from compute.procedures.evidence import Evidence, ItemView, Procedure, contents_of
from compute.procedures.shared import conditions, ratings, replies
from compute.procedures.shared.ratings import Rating
from compute.procedures.shared.similarity import against, alike, embeds
from compute.rounding import rounded
from compute.tasks.data import POSITION, RatedPairs
from compute.types import CannotDo, Undefined

LOWEST, HIGHEST = 1, 10  # of a score (section 3.2)
COSINES = {"-1..1": (-1.0, 1.0), "0..1": (0.0, 1.0)}  # the cosines mapped to LOWEST and HIGHEST
READERS = ("strict", "lenient")  # for answers in words: only PairBench's form, or bare numbers too
QUANTILES = (0.05, 0.95)  # of a run's scores; they are mapped to LOWEST and HIGHEST if a metric has no bounds
FLIP = 2  # difference of the two scores that 1-RelaxSym counts as a flip
ROUNDING = "to the nearest whole number, halves up; beyond the ends the end"


def run(subject: Subject, data: RatedPairs, options: Mapping[str, Any]) -> Evidence:
    """Returns `rated` for a judge that states at least one score. Otherwise raises Undefined with its first replies."""
    made = rated(subject, data, options)
    if "refused" in made.settings and len(made.items) and made.items[["forward", "reverse"]].isna().all(axis=None):
        details = list(made.items["detail"])
        problems = Counter(problem for detail in details for problem in detail["problems"])
        reasons = ", ".join(f"{count:,} {problem}" for problem, count in problems.items())
        raise Undefined(
            replies.unreadable(
                subject.row.key,
                [Reply(item="", text=text) for detail in details for text in detail["replies"]],
                f"states a score from {LOWEST} to {HIGHEST} ({reasons})",
                remedy="Answer as the prompt asks, `Score: 7`; the option reader=lenient reads a bare number too",
            )
        )
    return made


def rated(subject: Subject, data: RatedPairs, options: Mapping[str, Any]) -> Evidence:
    """Returns both scores of every pair, by embeddings if possible, else by comparisons, else by questions in words.

    Besides the usual columns: `forward` and `reverse` (1..10, NaN for an answer without a score), `expected_score`,
    `source`, `type` and `template`; `value` is the difference between the two scores. `settings` describes the map from
    numbers to scores, or counts the answers. Raises CannotDo if the model or the items lack what the condition needs.
    """
    if subject.can("choose") and not (subject.can("compare") or embeds(subject, data.first, data.second)):
        return _rated_in_words(subject, data, lenient=options.get("reader") == "lenient")
    return _measured(subject, data, options)


# ---- in words


def _rated_in_words(subject: Subject, data: RatedPairs, *, lenient: bool) -> Evidence:
    """Returns the scores that a judge states. An answer without one is NaN, with its reason in the detail.

    A pair with a question that could not be asked, after all attempts, has no row, because that says nothing about the
    judge. Raises Undefined if every pair has such a question.
    """
    answers = replies.received(subject, conditions.questions(data))
    n = len(data.names)
    answered = np.array([not reply.error for reply in answers], dtype=bool).reshape(2, n).all(axis=0)
    if not answered.any() and n:
        first = next(reply.error for reply in answers if reply.error)
        raise Undefined(
            f"{subject.row.key} answered no pair in both orders: {first}. Run again: stored answers are not "
            "asked for twice"
        )
    strict = [ratings.read(reply.text, finish=reply.finish) for reply in answers]
    read = [ratings.read(reply.text, finish=reply.finish, lenient=True) for reply in answers] if lenient else strict
    details = [
        {
            "replies": [reply.text for reply in both],
            "problems": [rating.problem for rating in (read[row], read[row + n])],
        }
        for row, both in enumerate(zip(answers[:n], answers[n:], strict=True))
    ]
    scores = np.array([np.nan if rating.value is None else rating.value for rating in read]).reshape(2, n)
    settings = _counted(read, answers)
    if lenient:
        added = sum(a.value is None and b.value is not None for a, b in zip(strict, read, strict=True))
        settings |= {"reader": "lenient", "rounding": ROUNDING, "added": added}
    made = _evidence(data, scores, details=details, settings=settings)
    return replace(made, items=made.items[answered].reset_index(drop=True), unasked=int((~answered).sum()))


def _counted(read: Sequence[Rating], answers: Sequence[Reply]) -> dict[str, Any]:
    """Counts the answers without a score, with refusals and truncated answers listed separately, and their total
    cost.
    """
    problems = Counter(
        rating.problem for rating, reply in zip(read, answers, strict=True) if rating.problem and not reply.error
    )
    apart = {name: problems.pop(name, 0) for name in ("refused", "truncated")}
    settings = {
        "asked": len(answers),
        "answer_tokens": conditions.ANSWER_TOKENS,
        "invalid": problems.total(),
        **apart,
        "errors": sum(bool(reply.error) for reply in answers),
        "reasons": dict(sorted(problems.items())),
    }
    return settings | replies.totals(answers)


# ---- by numbers


def _measured(subject: Subject, data: RatedPairs, options: Mapping[str, Any]) -> Evidence:
    """Returns scores from a model's numbers, and the map used."""
    numbers, bounds, how = _numbers(subject, data, options)
    known = bounds is not None and options["scale"] == "bounds"
    ends = bounds if known else _quantiles(numbers)
    settings = {
        **how,
        "scale": {
            "from": list(ends),
            "to": [LOWEST, HIGHEST],
            "ends": "bounds of the score" if known else f"quantiles {QUANTILES} of both orders' scores of this subset",
            "rounding": ROUNDING,
        },
        # Pairs whose numbers differ between the orders by more than rounding.
        "unequal": int((~np.isclose(numbers[0], numbers[1], rtol=1e-9, atol=1e-12)).sum()),
    }
    details = [{"numbers": both} for both in numbers.T.tolist()]
    return _evidence(data, scaled(numbers, ends=ends), details=details, settings=settings)


def _numbers(
    subject: Subject, data: RatedPairs, options: Mapping[str, Any]
) -> tuple[Floats, tuple[float, float] | None, dict[str, Any]]:
    """Returns (2, n) numbers of both orders, their bounds if they have any, and how they were computed."""
    pairs = _applications(data, k=options["k"])
    how = {"applications": len(pairs) if data.first_variants else 0}
    not_applied = [name for name in data.transformations if name == POSITION or not how["applications"]]
    not_applied = not_applied if how["applications"] or data.condition == "invariant" else []
    how |= {"not applied": not_applied} if not_applied else {}
    if not embeds(subject, data.first, data.second):
        how |= {"numbers": "comparison", "mean": "scores"}
        return _compared(subject, pairs), model_rows.bounds(subject.row), how
    one, other = (
        np.mean([subject.embed(column) for column in side], axis=0, dtype=np.float64)
        for side in zip(*pairs, strict=True)
    )
    how |= {"numbers": "cosine", "mean": "representations, not normalised"}
    return np.stack([alike(one, other), alike(other, one)]), COSINES[options["cosine"]], how


def _compared(subject: Subject, pairs: Sequence[tuple[Column, Column]]) -> Floats:
    """Returns (2, n): the mean of the model's own comparison over the pairs, in both orders.

    All comparisons are in one column. Those that share an image are consecutive, so that it is prepared only once.
    """
    first, second = (joined(side) for side in zip(*pairs, strict=True))
    rows = len(pairs[0][0])
    # (row, pair of columns, order): positions in the forward comparisons, followed by the reverse ones
    order = np.arange(2 * len(first)).reshape(2, len(pairs), rows).transpose(2, 1, 0).ravel()
    sides = (joined(both).take(order) for both in ([first, second], [second, first]))
    numbers = against(subject, next(sides), [next(sides)])[:, 0]
    return numbers.reshape(rows, len(pairs), 2).mean(axis=1).T


def _applications(data: RatedPairs, *, k: int) -> list[tuple[Column, Column]]:
    """Returns the pairs to compare: k versions of each under the invariant condition, otherwise the pairs themselves.

    Position, and any transformation of a pair with a text, cannot be applied, so a model without a prompt cannot be
    made to ignore it. Raises CannotDo if random applications are missing.
    """
    images = conditions.pairing(data.first, data.second) == "image-image"
    if data.condition != "invariant" or not images or set(data.transformations) == {POSITION}:
        return [(data.first, data.second)]
    variants = list(zip(data.first_variants, data.second_variants, strict=True))
    if len(variants) < k:
        raise CannotDo(
            f"A model without a prompt needs {k} random applications of {' and '.join(data.transformations)} to each "
            f"image under the invariant condition; these items have {len(variants)}. Make the pairs again with more, "
            "or set the option k"
        )
    return variants[:k]


def _quantiles(numbers: Floats) -> tuple[float, float]:
    """Returns the QUANTILES of the finite numbers; both ends are equal if all numbers are."""
    finite = numbers[np.isfinite(numbers)]
    low, high = np.quantile(finite, QUANTILES) if len(finite) else (0.0, 0.0)
    return float(low), float(high)


def scaled(numbers: Floats, *, ends: tuple[float, float]) -> Floats:
    """Maps numbers to whole scores 1..10 of the same shape: linearly between the ends. If the ends are equal, numbers
    at or above them get 10, others 1.
    """
    low, high = ends
    if not low < high:
        return np.where(numbers >= high, float(HIGHEST), float(LOWEST))
    return np.floor(LOWEST + (HIGHEST - LOWEST) * np.clip((numbers - low) / (high - low), 0, 1) + 0.5)


# ---- both


def _evidence(
    data: RatedPairs, scores: Floats, *, details: Sequence[dict[str, Any]], settings: dict[str, Any]
) -> Evidence:
    """Returns one row per pair from scores (2, n), NaN for an answer without a score."""
    shown = contents_of([data.first, data.second])
    types, templates = (np.asarray(values).tolist() for values in (data.types, data.templates))
    return Evidence.of(
        names=data.names,
        expected=[f"{score}" for score in np.asarray(data.expected).tolist()],
        answer=[
            " | ".join("no score" if np.isnan(score) else f"{score:.0f}" for score in both)
            for both in scores.T.tolist()
        ],
        value=np.abs(scores[0] - scores[1]),
        figures={
            "forward": scores[0],
            "reverse": scores[1],
            "expected_score": np.asarray(data.expected, dtype=float),
            "source": np.asarray(data.sources),
            "type": np.asarray(data.types),
            "template": np.asarray(data.templates),
        },
        detail=[
            contents | {"condition": data.condition, "type": kind, "template": template} | detail
            for contents, kind, template, detail in zip(shown, types, templates, details, strict=True)
        ],
        settings=settings,
    )


def apart(items: pd.DataFrame) -> dict[str, np.ndarray]:
    """Returns as `margin` the negated difference of a pair's two scores (`8 | 3`), and as `off` the negated distance of
    their mean from the expected score; 0 is best, NaN if a score is missing.
    """
    scores = items["answer"].fillna("").str.split(" | ", n=1, regex=False, expand=True).reindex(columns=[0, 1])
    mean = scores.apply(pd.to_numeric, errors="coerce").to_numpy(float).mean(axis=1)
    off = np.abs(mean - pd.to_numeric(items["expected"], errors="coerce").to_numpy(float))
    return {"margin": -items["value"].astype(float).to_numpy(), "off": -off}


def by_flips(margins: Floats) -> dict[str, tuple[str, Bools]]:
    """Returns the filters of pairs by the difference of their scores [pairs, models]."""
    return {
        "all": ("All", np.ones(len(margins), bool)),
        "flips": (f"Order flips by {FLIP} or more", (np.abs(margins) >= FLIP).any(axis=1)),
        "unread": ("Without two scores", np.isnan(margins).any(axis=1)),
    }


def flip_in_words(margin: float) -> str:
    """Describes the difference between the two scores."""
    return f"{rounded(-margin, 0)} apart" if margin else "the same in both orders"


# The version includes the wording of `conditions` and the length of answers; that of `ratings` is `replies.READING`.
PROCEDURE = Procedure(
    key="judging",
    needs=({"embed_image"}, {"compare"}, {"choose"}),
    run=run,
    options={"k": (5, 1, 2, 3, 4), "cosine": tuple(COSINES), "scale": ("bounds", "quantiles"), "reader": READERS},
    version=2,
    view=ItemView(
        roles=("First", "Second"),
        orders={
            "worst": "Largest order flip first",
            "far": "Farthest from expected first",
            "best": "Smallest order flip first",
        },
        graded=False,
        read=apart,
        filters=by_flips,
        margin=flip_in_words,
    ),
)
