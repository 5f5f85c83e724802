"""Questions with alternatives: the nearest to a reference, by an answer or by votes, and the odd one out."""

from __future__ import annotations

from compute.tasks.data import Choices
from compute.tasks.own.facts import OwnFacts, modalities
from compute.tasks.own.rows import OwnContent, OwnRows


def choices_facts(rows: OwnRows) -> OwnFacts:
    """Of questions whose right answer is known."""
    columns = _columns(rows)
    k = len(columns) - 1
    rows.whole_numbers("answer", least=1, most=k, meaning=f"a number from 1 to {k}, the alternative's")
    rows.check_names()
    return _facts(rows, columns, n=len(rows), counts=f"{len(rows):,} questions of {k} alternatives")


def choices(rows: OwnRows) -> Choices:
    """The questions."""
    reference, *alternatives = _columns(rows)
    k = len(alternatives)
    answer = rows.whole_numbers("answer", least=1, most=k, meaning="")
    return Choices(
        names=rows.names(),
        reference=reference.column(rows.cache),
        alternatives=tuple(part.column(rows.cache) for part in alternatives),
        answer=answer - 1,
    )


def _columns(rows: OwnRows) -> list[OwnContent]:
    """The reference and the alternatives; alternatives of unlike kinds are a fault."""
    alternatives = [rows.content(name) for name in rows.numbered("alternative")]
    unlike = next((part for part in alternatives if part.modality != alternatives[0].modality), None)
    if unlike is not None:
        rows.whole(
            f"{alternatives[0].name} holds {alternatives[0].modality}s, {unlike.name} {unlike.modality}s: the "
            "alternatives are all images or all texts"
        )
    return [rows.content("reference"), *alternatives]


def _facts(rows: OwnRows, columns: list[OwnContent], *, n: int, counts: str, notes: str = "") -> OwnFacts:
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
