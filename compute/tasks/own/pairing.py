"""Images and texts that belong together: pairs that people scored, and rows of images and captions."""

from __future__ import annotations

from compute.tasks.data import Matches, Sentences
from compute.tasks.own.facts import OwnFacts, modalities, number_of
from compute.tasks.own.rows import OwnRows

IMAGES, CAPTIONS = "image", "caption"


def rated(rows: OwnRows) -> OwnFacts:
    """Pairs with a score by people."""
    first, second = rows.content("first"), rows.content("second")
    score = rows.numbers("score")
    rows.check_names()
    if len(rows) > 1 and (score == score[0]).all():
        rows.whole(f"{rows.columns['score']} is {score[0]:g} in every row: no order can follow it")
    elif len(rows) < 3 and not rows.faults.count:
        rows.whole("a rank correlation needs three pairs or more")
    kinds = first.modality, second.modality
    return OwnFacts(
        category="Rated pairs",
        metrics=("cosine_spearman",),
        chance=0.0,
        n_items=len(rows),
        modalities=modalities(kinds),
        counts=f"{number_of(len(rows), 'pair')} of {f'{kinds[0]}s' if kinds[0] == kinds[1] else ' and '.join(kinds)}",
        comparisons=len(rows),
        items=lambda: Sentences(
            names=rows.names(), first=first.column(rows.cache), second=second.column(rows.cache), human=score
        ),
    )


def matches(rows: OwnRows) -> OwnFacts:
    """Rows of images and captions: with one image the first caption is its own, with one caption the first image,
    with as many of each i goes with i."""
    images = [rows.content(name, only="image") for name in rows.numbered(IMAGES)]
    captions = [rows.content(name, only="text") for name in rows.numbered(CAPTIONS)]
    a, c = len(images), len(captions)
    rows.check_names()
    if not (min(a, c) == 1 < max(a, c) or a == c > 1):
        rows.whole(
            f"a row has {number_of(a, 'image')} and {number_of(c, 'caption')}: give it one image and several captions, "
            "one caption and several images, or as many of each"
        )
    metrics, chance = ("group_accuracy", "text_accuracy", "image_accuracy"), None
    if min(a, c) == 1:
        metrics, chance = (("text_accuracy",) if a == 1 else ("image_accuracy",)), 1 / max(a, c)
    elif a == c == 2:
        chance = 1 / 6  # of the 24 orders of four scores 4 are right
    return OwnFacts(
        category="Compositionality",
        metrics=metrics,
        chance=chance,
        n_items=len(rows),
        modalities=("image", "text"),
        counts=f"{number_of(len(rows), 'row')} of {number_of(a, 'image')} and {number_of(c, 'caption')}",
        comparisons=len(rows) * a * c,
        items=lambda: Matches(
            names=rows.names(),
            images=tuple(part.column(rows.cache) for part in images),
            captions=tuple(part.column(rows.cache) for part in captions),
        ),
    )
