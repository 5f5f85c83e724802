"""Drawn words: sentences that share some, and pages to be found by theirs."""

from __future__ import annotations

from random import Random

import numpy as np

from compute.content.items import texts
from compute.tasks.data import Data, Mixed, Retrieval, Sentences
from compute.tasks.drawing import compose
from compute.tasks.drawing.scenes import Scene
from compute.tasks.drawing.variants import sentence, sharing
from compute.tasks.mini.album import PART, column, lots, names, of_images

PAIRS, PAGES, QUERIES = 200, 150, 100
ASKED = 3  # words of a query
POINTS = 1.25  # of similarity a shared word, so that four give 5


def sentences() -> dict[str, Data]:
    """Two texts of four words in other places and colours; similarity is the share of words they have in common.

    From 0 to 5: a definition, not a human judgement.
    """
    rows = []
    for number in range(PAIRS):
        rng = lots("sentences", number)
        first, shared = sentence(rng, part=PART), number % 5
        rows.append((first, sharing(first, shared, rng, part=PART), shared * POINTS))
    one, other, score = zip(*rows, strict=True)
    return {
        "default": Sentences(
            names=names(PAIRS),
            first=column(one, of="mini/sentences, first"),
            second=column(other, of="mini/sentences, second"),
            human=np.array(score),
        )
    }


def pages() -> dict[str, Data]:
    """Pages of eight words, and queries of three words that stand on one of them or on a few."""
    drawn = [compose.scene(lots("pages", number), part=PART, kind=_page) for number in range(PAGES)]
    asked: list[tuple[str, ...]] = []
    for number in range(QUERIES):
        rng = lots("pages asked", number)
        asked.append(tuple(rng.sample(drawn[number].words, ASKED)))
    pairs = [
        (query, page)
        for query, words in enumerate(asked)
        for page, scene in enumerate(drawn)
        if set(words) <= set(scene.words)
    ]
    query, page = (np.array(side) for side in zip(*pairs, strict=True))
    lines = ["the words " + " ".join(words) for words in asked]
    return {
        "default": Retrieval(
            queries=Mixed(
                names=names(QUERIES, "query-"), text=texts(lines, of="mini/pages, query"), text_at=np.arange(QUERIES)
            ),
            documents=of_images(drawn, of="mini/pages", prefix="page-"),
            relevant=(query, page, np.ones(len(query))),
        )
    }


def _page(rng: Random, *, part: str) -> Scene:
    return compose.written(rng, part=part, count=8)
