"""Drawn words: sentences that share some, and pages retrieved by theirs."""

from __future__ import annotations

from functools import partial

import numpy as np

from compute.tasks.data import Retrieval, Sentences
from compute.tasks.drawing import compose
from compute.tasks.drawing.compose import sentence, sharing
from compute.tasks.mini.album import column, draws, graded, mixed, names, scene

PAIRS, PAGES, QUERIES = 200, 150, 100
POINTS = 1.25  # of similarity a shared word, so that four give 5


def sentences() -> Sentences:
    """Two texts of four words in other positions and colours; similarity is the share of words they have in common.

    From 0 to 5: a definition, not a human judgement.
    """
    rows = []
    for number, rng in draws("sentences", PAIRS):
        first, shared = sentence(rng, part="test"), number % 5
        rows.append((first, sharing(first, shared, rng, part="test"), shared * POINTS))
    first, second, score = zip(*rows, strict=True)
    return Sentences(
        names=names(PAIRS),
        first=column(first, of="mini/sentences, first"),
        second=column(second, of="mini/sentences, second"),
        human=np.array(score),
    )


def pages() -> Retrieval:
    """Pages of eight words, and queries of three words that are on one of them or on a few."""
    scenes = [scene(rng, partial(compose.written, count=8)) for _, rng in draws("pages", PAGES)]
    queries = [rng.sample(scenes[number].words, 3) for number, rng in draws("pages asked", QUERIES)]
    contained = np.array([[set(words) <= set(page.words) for page in scenes] for words in queries])
    return Retrieval(
        queries=mixed(
            texts=["the words " + " ".join(words) for words in queries], of="mini/pages, query", prefix="query-"
        ),
        documents=mixed(images=scenes, of="mini/pages", prefix="page-"),
        relevant=graded(np.nonzero(contained)),
    )
