"""No scale and no common offset of a model's vectors changes what a procedure finds.

Reference: the same procedure on the vectors as they were drawn; for cosines of vectors with an offset, which differ,
scikit-learn's cosine_similarity in float64.
"""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import ndcg_score
from sklearn.metrics.pairwise import cosine_similarity

from compute.procedures import (
    choice,
    clustering,
    matching,
    multiple_choice,
    odd_one_out,
    probe,
    retrieval,
    sts,
    zero_shot,
)
from compute.tasks.data import (
    Choices,
    Clusters,
    Labelled,
    Matches,
    Mixed,
    OddOneOut,
    Probe,
    Retrieval,
    Sentences,
    ZeroShot,
)
from tests.compute.procedures.known import BOTH, Known, shown

N, CLASSES, WIDTH = 240, 8, 48
LABELS = np.arange(N) % CLASSES
NAMES = tuple(f"{row:03d}" for row in range(N))
HUMAN = np.random.default_rng(1).random(N)
CENTRES, ITEMS, MATES = np.split(
    np.random.default_rng(0).standard_normal((CLASSES + 2 * N, WIDTH)), [CLASSES, CLASSES + N]
)
ITEMS, MATES = (side + 0.4 * CENTRES[LABELS] for side in (ITEMS, MATES))
DRAWN = {
    name: (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    for name, rows in (("item", ITEMS), ("mate", MATES), ("class", CENTRES))
}
MOVED = {
    "1e25": lambda rows: rows * np.float32(1e25),
    "1e-22": lambda rows: rows * np.float32(1e-22),
    "100 +": lambda rows: rows + np.float32(100),
}
SEVERAL = LABELS[:, None] // 2 == np.arange(CLASSES // 2)
SETTINGS = {"classifier": "knn", "iterations": 100, "device": "auto"}


def run(name, vectors):
    known = {}
    items, mates = (shown(vectors[side], side, known=known) for side in ("item", "mate"))
    words, prompts = (shown(vectors[side], side, kind="text", known=known) for side in ("mate", "class"))
    turned = items.take(np.roll(np.arange(N), 1))
    test = Labelled(names=NAMES, items=items, labels=LABELS, classes=NAMES[:CLASSES])
    every = Probe(train=replace(test, items=mates), test=test)
    labels = {"labels": SEVERAL, "classes": NAMES[: CLASSES // 2]}
    found = Retrieval(
        queries=Mixed(names=NAMES, text=words, text_at=np.arange(N)),
        documents=Mixed(names=NAMES, image=items, image_at=np.arange(N)),
        relevant=(*np.nonzero(LABELS[:, None] == LABELS), np.ones(N * N // CLASSES, dtype=int)),
    )
    own = (np.repeat(np.arange(N), 3), (np.arange(N)[:, None] + [0, 1, 2]).reshape(-1) % N)
    first = np.zeros(N, dtype=int)
    tasks = {
        "retrieval": (retrieval, found, {"fusion": "sum"}),
        "multiple choice": (multiple_choice, replace(found, candidates=own), {"fusion": "sum"}),
        "choice": (choice, Choices(names=NAMES, reference=words, alternatives=(items, turned), answer=first), {}),
        "odd one out": (odd_one_out, OddOneOut(names=NAMES, members=(turned, items, mates), odd=first), {}),
        "matching": (matching, Matches(names=NAMES, images=(mates,), captions=(words, words.take(own[1][1::3]))), {}),
        "sts": (sts, Sentences(names=NAMES, first=items, second=turned, human=HUMAN), {}),
        "zero-shot": (zero_shot, ZeroShot(test=test, prompts=prompts), {}),
        "clustering": (clustering, Clusters(test=test), {}),
        "probe": (probe, every, SETTINGS),
        "neighbours": (probe, Probe(train=replace(every.train, **labels), test=replace(test, **labels)), SETTINGS),
    }
    procedure, data, options = tasks[name]
    return procedure.run(Known(known, abilities=BOTH), data, options)


EUCLIDEAN = {"clustering": "answer", "probe": "accuracy", "neighbours": "lrap"}
COSINES = ("retrieval", "multiple choice", "choice", "odd one out", "matching", "sts", "zero-shot")


SCALED = [(name, by) for name in (*COSINES, *EUCLIDEAN) for by in ("1e25", "1e-22")]


@pytest.mark.parametrize("name, moved", [*SCALED, *((name, "100 +") for name in EUCLIDEAN)])
def test_no_scale_and_of_distances_no_offset_matters(name, moved):
    column = {"retrieval": "ndcg_at_10", "sts": "value", **EUCLIDEAN}.get(name, "correct")
    wanted = run(name, DRAWN).items[column]
    found = run(name, {side: MOVED[moved](rows) for side, rows in DRAWN.items()}).items[column]
    if column == "answer":
        assert found.equals(wanted)
    else:
        assert found.astype(float).mean() == pytest.approx(wanted.astype(float).mean(), abs=1e-3)


def test_cosines_of_vectors_with_an_offset_are_those_of_float64():
    vectors = {side: MOVED["100 +"](rows) for side, rows in DRAWN.items()}
    item, mate, prompts = (vectors[side].astype(np.float64) for side in ("item", "mate", "class"))
    cosines = cosine_similarity(mate, item)
    found = run("retrieval", vectors).items
    wanted = ndcg_score(LABELS[:, None] == LABELS, cosines, k=10)
    assert found["ndcg_at_10"].mean() == pytest.approx(wanted, abs=1e-3) and 0.2 < wanted < 0.9
    details = [detail() for detail in found["detail"]]
    best = -np.sort(-cosines, axis=1)[:, :5]
    np.testing.assert_allclose([detail["scores"] for detail in details], best, atol=1e-6)
    nearest = cosine_similarity(item, prompts).argmax(axis=1)
    assert run("zero-shot", vectors).items["answer"].tolist() == [NAMES[at] for at in nearest]
    pairs = np.diag(cosine_similarity(item, np.roll(item, 1, axis=0)))
    np.testing.assert_allclose(run("sts", vectors).items["value"], pairs, atol=1e-12)
