"""Questions with alternatives: the nearest to a reference, by a known answer or by votes, and the odd one out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute.content.items import joined
from compute.tasks.data import Choices, OddOneOut, take
from compute.tasks.own.rows import OwnContent, OwnFacts, OwnRows
from compute.types import counted

SEED = 42  # of the positions of correct alternatives


def choices(rows: OwnRows) -> OwnFacts:
    """Returns questions with known answers."""
    alternatives = _alternatives(rows)
    reference = rows.content("reference")
    answer = _numbers(rows, "answer", len(alternatives), what="alternative")
    rows.check_names()
    return _facts(rows, reference, alternatives, answer=answer, asked=np.ones(len(rows), bool))


def triplets(rows: OwnRows) -> OwnFacts:
    """Returns anchors with a positive and negatives each: the positive is correct, at a random position fixed for every
    row.
    """
    anchor, others = rows.content("anchor"), _alternatives(rows, ("positive", *rows.numbered("negative")))
    rows.check_names()
    order = np.random.RandomState(SEED).rand(len(rows), len(others)).argsort(axis=1)
    told = f"Right is {others[0].name}, at a place drawn once for each row."
    rows.notes.append(f"{rows.table.title} is read as questions about {anchor.name}. {told}")
    asked = np.ones(len(rows), bool)
    return _facts(rows, anchor, others, answer=(order == 0).argmax(axis=1), asked=asked, order=order, notes=told)


def odd(rows: OwnRows) -> OwnFacts:
    """Returns rows of images with one that does not belong."""
    members = [rows.content(name, only="image") for name in rows.numbered("member")]
    k = len(members)
    answer = _numbers(rows, "odd", k, what="member")
    rows.check_names()
    return OwnFacts(
        category="OOO",
        metrics=("accuracy",),
        chance=1 / k,
        n_items=len(rows),
        modalities=("image",),
        counts=f"{counted(len(rows), 'row')} of {k} images",
        comparisons=len(rows) * k * (k - 1),  # both orders of every pair
        questions=len(rows),
        items=lambda: OddOneOut(
            names=rows.names(), members=tuple(part.column(rows.cache) for part in members), odd=answer
        ),
    )


def votes(rows: OwnRows) -> OwnFacts | None:
    """Returns questions that people voted on: the alternative with most votes is correct.

    Rows without votes, and rows with a tie for most votes, have no correct answer: they are skipped and counted.
    """
    alternatives = _alternatives(rows)
    prompt = rows.content("prompt")
    columns, k = rows.numbered("votes"), len(alternatives)
    if len(columns) != k:
        rows.whole(f"there are {k} alternatives and votes for {len(columns)}: each has its own column")
        return None
    votes = np.stack([rows.numbers(name, least=0) for name in columns], axis=1)  # (n, k)
    rows.check_names()
    ordered, total = np.sort(votes, axis=1), votes.sum(axis=1)
    asked = ordered[:, -1] > ordered[:, -2]
    if not asked.any() and not rows.faults.count:
        rows.whole("no row has more votes for one alternative than for every other: there is no right answer")
    silent, tied = int((total == 0).sum()), int(((total > 0) & ~asked).sum())
    agreement = float((ordered[asked, -1] / total[asked]).mean()) if asked.any() else 0.0
    left = [f"{count:,} {what}" for count, what in ((tied, "with a tie"), (silent, "without a vote")) if count]
    return _facts(
        rows,
        prompt,
        alternatives,
        answer=votes.argmax(axis=1).astype(np.int64),
        asked=asked,
        more=f", {int(total[asked].sum()):,} votes",
        notes=" ".join(
            (
                "Right is what most people chose.",
                f"On average {agreement:.1%} of a question's votes are for it: a person agrees with it so often.",
                *([f"Skipped: {' and '.join(left)}, which have no right answer."] if left else []),
            )
        ),
    )


def _alternatives(rows: OwnRows, names: Sequence[str] = ()) -> list[OwnContent]:
    """Returns the alternatives in these columns; different modalities are a fault."""
    alternatives = [rows.content(name) for name in names or rows.numbered("alternative")]
    first = alternatives[0]
    unlike = next((part for part in alternatives if part.modality != first.modality), None)
    if unlike is not None:
        rows.whole(
            f"{first.name} holds {first.modality}s, {unlike.name} {unlike.modality}s: the alternatives are all images "
            "or all texts"
        )
    return alternatives


def _numbers(rows: OwnRows, name: str, k: int, *, what: str) -> np.ndarray:
    """Returns (n,) from 0 to k - 1. The file counts from 1, or from 0 if it contains 0 but not k."""
    meaning = f"the number of one of the {k} {what}s, 1 to {k}"
    values, column = rows.numbers(name, least=0, most=k, whole=True, meaning=meaning), rows.columns[name]
    if not (values == 0).any():
        return values - 1
    if (values == k).any():
        rows.fault(name, values == 0, lambda at: f"is '0', not {meaning}: {k} in other rows says that it counts from 1")
    rows.notes.append(f"{rows.table.title}: {column} counts from 0, the first {what} is 0.")
    return values


def _facts(
    rows: OwnRows,
    reference: OwnContent,
    alternatives: list[OwnContent],
    *,
    answer: np.ndarray,
    asked: np.ndarray,
    order: np.ndarray | None = None,
    more: str = "",
    notes: str = "",
) -> OwnFacts:
    """Makes the facts. `asked` (n,) bool: rows with a correct answer; `order` (n, k): the alternative at each
    position.
    """
    kind, n, k = alternatives[0].modality, int(asked.sum()), len(alternatives)

    def items() -> Choices:
        columns = [part.column(rows.cache) for part in alternatives]
        if order is not None:
            every = joined(columns)
            columns = [every.take(order[:, at] * len(rows) + np.arange(len(rows))) for at in range(k)]
        whole = Choices(
            names=rows.names(),
            reference=reference.column(rows.cache),
            alternatives=tuple(columns),
            answer=answer,
        )
        return whole if asked.all() else take(whole, np.flatnonzero(asked))

    return OwnFacts(
        category="Text-2AFC" if kind == "text" else "IT-2AFC" if reference.modality == "text" else "Img-2AFC",
        metrics=("accuracy",),
        chance=1 / k,
        n_items=n,
        modalities=tuple(sorted({reference.modality, kind})),
        counts=f"{counted(n, 'question')} of {k} alternatives{more}",
        notes=notes,
        comparisons=n * k,
        questions=n,
        items=items,
    )
