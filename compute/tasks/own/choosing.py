"""Questions with alternatives: the nearest to a reference, by an answer or by votes, and the odd one out."""

from __future__ import annotations

import numpy as np

from compute.tasks.data import Choices, OddOneOut, take
from compute.tasks.own.facts import OwnFacts, modalities, number_of
from compute.tasks.own.rows import OwnContent, OwnRows


def choices_facts(rows: OwnRows) -> OwnFacts:
    """Of questions whose right answer is known."""
    columns = _columns(rows, "reference")
    k = len(columns) - 1
    _numbers(rows, "answer", k, what="alternative")
    rows.check_names()
    return _facts(columns, n=len(rows), counts=f"{number_of(len(rows), 'question')} of {k} alternatives")


def choices(rows: OwnRows) -> Choices:
    """The questions."""
    columns = _columns(rows, "reference")
    return _choices(rows, columns, answer=_numbers(rows, "answer", len(columns) - 1, what="alternative") - 1)


def odd_facts(rows: OwnRows) -> OwnFacts:
    """Of rows of images of which one does not belong."""
    k = len([rows.content(name, only="image") for name in rows.numbered("member")])
    _numbers(rows, "odd", k, what="member")
    rows.check_names()
    return OwnFacts(
        category="OOO",
        metrics=("accuracy",),
        chance=1 / k,
        n_items=len(rows),
        modalities=("image",),
        counts=f"{number_of(len(rows), 'row')} of {k} images",
        comparisons=len(rows) * k * (k - 1),  # both orders of every pair
        questions=len(rows),
    )


def odd(rows: OwnRows) -> OddOneOut:
    """The rows of images."""
    members = [rows.content(name, only="image") for name in rows.numbered("member")]
    return OddOneOut(
        names=rows.names(),
        members=tuple(part.column(rows.cache) for part in members),
        odd=_numbers(rows, "odd", len(members), what="member") - 1,
    )


def votes_facts(rows: OwnRows) -> OwnFacts:
    """Of questions that people voted on: what most chose counts as right.

    Rows without a vote and rows whose most votes are shared have no right answer: they are left out and counted.
    """
    columns = _columns(rows, "prompt")
    k = len(columns) - 1
    if len(rows.numbered("votes")) != k:
        rows.whole(f"there are {k} alternatives and votes for {len(rows.numbered('votes'))}: each has its own column")
        return _facts(columns, n=0, counts="")
    votes = _votes(rows, k)
    rows.check_names()
    most, total = votes.max(axis=1), votes.sum(axis=1)
    asked = _decided(votes)
    if not asked.any() and not rows.faults.count:
        rows.whole("no row has more votes for one alternative than for every other: there is no right answer")
    silent, tied = int((total == 0).sum()), int(((total > 0) & ~asked).sum())
    agreement = float((most[asked] / total[asked]).mean()) if asked.any() else 0.0
    left = [f"{count:,} {what}" for count, what in ((tied, "with a tie"), (silent, "without a vote")) if count]
    return _facts(
        columns,
        n=int(asked.sum()),
        counts=f"{number_of(int(asked.sum()), 'question')} of {k} alternatives, {int(total[asked].sum()):,} votes",
        notes=" ".join(
            (
                "Right is what most people chose.",
                f"On average {agreement:.1%} of a question's votes are for it: a person agrees with it so often.",
                *([f"Left out: {' and '.join(left)}, which have no right answer."] if left else []),
            )
        ),
    )


def votes(rows: OwnRows) -> Choices:
    """The questions that have a right answer."""
    columns = _columns(rows, "prompt")
    votes = _votes(rows, len(columns) - 1)
    whole = _choices(rows, columns, answer=votes.argmax(axis=1).astype(np.int64))
    decided = _decided(votes)
    return whole if decided.all() else take(whole, np.flatnonzero(decided))


def _votes(rows: OwnRows, k: int) -> np.ndarray:
    """(n, k) votes."""
    return np.stack([rows.numbers(f"votes_{at}", least=0) for at in range(1, k + 1)], axis=1)


def _decided(votes: np.ndarray) -> np.ndarray:
    """(n,) bool: whether one alternative has more votes than every other."""
    ordered = np.sort(votes, axis=1)
    return ordered[:, -1] > ordered[:, -2]


def _columns(rows: OwnRows, reference: str) -> list[OwnContent]:
    """The reference and the alternatives; alternatives of unlike kinds are a fault."""
    alternatives = [rows.content(name) for name in rows.numbered("alternative")]
    rows.one_kind(alternatives, what="alternatives")
    return [rows.content(reference, only="text" if reference == "prompt" else ""), *alternatives]


def _numbers(rows: OwnRows, name: str, k: int, *, what: str) -> np.ndarray:
    """(n,) from 1 to k."""
    return rows.whole_numbers(name, least=1, most=k, meaning=f"the number of one of the {k} {what}s, 1 to {k}")


def _choices(rows: OwnRows, columns: list[OwnContent], *, answer: np.ndarray) -> Choices:
    reference, *alternatives = columns
    return Choices(
        names=rows.names(),
        reference=reference.column(rows.cache),
        alternatives=tuple(part.column(rows.cache) for part in alternatives),
        answer=answer,
    )


def _facts(columns: list[OwnContent], *, n: int, counts: str, notes: str = "") -> OwnFacts:
    reference, first = columns[0].modality, columns[1].modality
    k = len(columns) - 1
    return OwnFacts(
        category="Text-2AFC" if first == "text" else "IT-2AFC" if reference == "text" else "Img-2AFC",
        metrics=("accuracy",),
        chance=1 / k,
        n_items=n,
        modalities=modalities((reference, first)),
        counts=counts,
        notes=notes,
        comparisons=n * k,
        questions=n,
    )
