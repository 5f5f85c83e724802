"""Words: drawn sentences that share some and the same as texts, pages retrieved by theirs, relations told again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from compute.content import items
from compute.content.items import Column
from compute.tasks.data import Retrieval, Sentences
from compute.tasks.drawing import compose
from compute.tasks.drawing.captions import related
from compute.tasks.drawing.compose import sentence, sharing
from compute.tasks.drawing.scenes import Scene
from compute.tasks.mini.album import column, draws, graded, mixed, names, scene
from compute.tasks.mini.pairing import related_pair

PAIRS, PAGES, QUERIES = 200, 150, 100
POINTS = 1.25  # of similarity a shared word, so that four give 5


def sentences() -> Sentences:
    """Two images of four words in other positions and colours; similarity is the share of words they have in common.

    From 0 to 5: a definition, not a human judgement.
    """
    return _sharing(column, of="mini/sentences")


def texts() -> Sentences:
    """The words of `sentences`, as texts."""

    def side(scenes: Sequence[Scene], *, of: str) -> Column:
        return items.texts([" ".join(filter(None, each.words)) for each in scenes], of=of)

    return _sharing(side, of="mini/texts")


def _sharing(side: Callable[..., Column], *, of: str) -> Sentences:
    rows = []
    for number, rng in draws("sentences", PAIRS):
        first, shared = sentence(rng, part="test"), number % 5
        rows.append((first, sharing(first, shared, rng, part="test"), shared * POINTS))
    first, second, score = zip(*rows, strict=True)
    return Sentences(
        names=names(PAIRS),
        first=side(first, of=f"{of}, first"),
        second=side(second, of=f"{of}, second"),
        human=np.array(score),
    )


def retold() -> Retrieval:
    """A relation of two things, to be found as told from the other side; the reverse relation is there too."""
    queries, documents = [], []
    for _, rng in draws("retold", QUERIES):
        shown, how = related_pair(rng)
        first, second = (thing.name for thing in shown.things)
        queries.append(related(first, how, second).text)
        pairs = ((first, second), (second, first))
        documents += [related(one, how, other, wording=1, turned=True).text for one, other in pairs]
    return Retrieval(
        queries=mixed(texts=queries, of="mini/retold, query", prefix="query-"),
        documents=mixed(texts=documents, of="mini/retold"),
        relevant=graded((np.arange(QUERIES), 2 * np.arange(QUERIES))),
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
