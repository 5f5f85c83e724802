"""Images and texts that belong together: pairs that people scored, and rows of images and captions."""

from __future__ import annotations

from compute.tasks.data import Matches, Sentences
from compute.tasks.own.facts import OwnFacts, modalities, number_of
from compute.tasks.own.rows import OwnContent, OwnRows

IMAGES, CAPTIONS = "image", "caption"


def rated_facts(rows: OwnRows) -> OwnFacts:
    """Of pairs with a score by people."""
    sides = [rows.content(name) for name in ("first", "second")]
    score = rows.numbers("score")
    rows.check_names()
    if len(rows) > 1 and (score == score[0]).all():
        rows.whole(f"{rows.columns['score']} is {score[0]:g} in every row: no order can follow it", name="score")
    elif len(rows) < 3 and not rows.faults.count:
        rows.whole("a rank correlation needs three pairs or more")
    kinds = [side.modality for side in sides]
    return OwnFacts(
        category="Rated pairs",
        metrics=("cosine_spearman",),
        chance=0.0,
        n_items=len(rows),
        modalities=modalities(kinds),
        counts=f"{number_of(len(rows), 'pair')} of {_pair_in_words(*kinds)}",
        comparisons=len(rows),
    )


def rated(rows: OwnRows) -> Sentences:
    """The pairs."""
    first, second = (rows.content(name).column(rows.cache) for name in ("first", "second"))
    return Sentences(names=rows.names(), first=first, second=second, human=rows.numbers("score"))


def _pair_in_words(first: str, second: str) -> str:
    return f"{first}s" if first == second else f"{first} and {second}"


def matches_facts(rows: OwnRows) -> OwnFacts:
    """Of rows of images and captions: with one image the first caption is its own, with one caption the first image,
    with as many of each i goes with i."""
    images, captions = _sides(rows)
    a, c = len(images), len(captions)
    rows.check_names()
    if not (min(a, c) == 1 < max(a, c) or a == c > 1):
        rows.whole(
            f"a row has {number_of(a, 'image')} and {number_of(c, 'caption')}: give it one image and several captions, "
            "one caption and several images, or as many of each"
        )
    metric, chance = "group_accuracy", (1 / 6 if a == c == 2 else None)  # of the 24 orders of four scores 4 are right
    if min(a, c) == 1:
        metric, chance = ("text_accuracy" if a == 1 else "image_accuracy"), 1 / max(a, c)
    return OwnFacts(
        category="Compositionality",
        metrics=(metric,) if min(a, c) == 1 else ("group_accuracy", "text_accuracy", "image_accuracy"),
        chance=chance,
        n_items=len(rows),
        modalities=("image", "text"),
        counts=f"{number_of(len(rows), 'row')} of {number_of(a, 'image')} and {number_of(c, 'caption')}",
        comparisons=len(rows) * a * c,
    )


def matches(rows: OwnRows) -> Matches:
    """The rows."""
    images, captions = _sides(rows)
    return Matches(
        names=rows.names(),
        images=tuple(part.column(rows.cache) for part in images),
        captions=tuple(part.column(rows.cache) for part in captions),
    )


def _sides(rows: OwnRows) -> tuple[list[OwnContent], list[OwnContent]]:
    images = [rows.content(name, only="image") for name in rows.numbered(IMAGES)]
    return images, [rows.content(name, only="text") for name in rows.numbered(CAPTIONS)]
