"""Reference: scikit-learn's cosine_similarity and an arg max over each query's own candidates."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from compute.content.items import texts
from compute.procedures import multiple_choice
from compute.tasks.data import Mixed, Retrieval
from tests.compute.procedures.known import BOTH, Known, shown

SUM = {"fusion": "sum"}
N, M = 30, 25


def made():
    """Queries of image and text, documents of text; 2 to 5 candidates a query, the first of them right.

    Of query 3 none is right, and of query 5 nothing is known.
    """
    rng = np.random.default_rng(0)
    pictures, words = rng.standard_normal((2, N, 6)).astype(np.float32)
    answers = rng.standard_normal((M, 6)).astype(np.float32)
    known = {}
    own = [rng.choice(M, rng.integers(2, 6), replace=False) for _ in range(N)]
    rows = np.arange(N)
    query, document = np.repeat(rows, [len(one) for one in own]), np.concatenate(own)
    shuffled = rng.permutation(len(query))
    data = Retrieval(
        queries=Mixed(
            names=tuple(f"q{row}" for row in range(N)),
            image=shown(pictures, "image ", known=known),
            image_at=rows,
            text=shown(words, "question ", kind="text", known=known),
            text_at=rows,
        ),
        documents=Mixed(
            names=tuple(f"d{row}" for row in range(M)),
            text=shown(answers, "answer ", kind="text", known=known),
            text_at=np.arange(M),
        ),
        relevant=tuple(np.delete(side, 5) for side in (rows, [one[0] for one in own], rows != 3)),
        candidates=(query[shuffled], document[shuffled]),
    )
    return data, known, cosine_similarity(pictures + words, answers), own


def test_the_first_among_a_querys_own_candidates():
    """A query whose candidates are all wrong scores 0, and one without judgement nothing."""
    data, known, cosines, own = made()
    found = multiple_choice.run(Known(known, abilities=BOTH), data, SUM)
    items = found.items
    wrong, unjudged = items.iloc[3], items.iloc[5]
    assert wrong["accuracy"] == 0 and wrong["correct"] is False and np.isnan(wrong["value"])
    assert np.isnan(unjudged["accuracy"]) and unjudged["correct"] is None
    assert (found.settings["all_irrelevant"], found.settings["without_relevant"]) == (1, 1)
    for query in {*range(N)} - {3, 5}:
        candidates = own[query]
        best = candidates[cosines[query, candidates].argmax()]
        assert items["answer"][query] == f"d{best}" and items["expected"][query] == f"d{candidates[0]}"
        assert items["accuracy"][query] == float(best == candidates[0])
        others = cosines[query, candidates[1:]].max()
        assert items["value"][query] == pytest.approx(cosines[query, candidates[0]] - others, abs=1e-6)
        detail = items["detail"][query]
        assert sorted(detail["hits"]) == sorted(f"d{at}" for at in candidates)
        assert detail["texts"][0] == f"question {query}" and len(detail["texts"]) == len(candidates) + 1
        assert detail["images"][0] and not any(detail["images"][1:])


def test_equal_candidates_share_the_pick_and_two_may_be_right():
    text = texts(["a", "b", "c"], of="tests")
    known = {"a": [1, 0], "b": [1, 0], "c": [0, 1], "q": [1, 0]}
    documents = Mixed(names=("a", "b", "c"), text=text, text_at=np.arange(3))
    queries = Mixed(names=("q",), text=texts(["q"], of="tests"), text_at=np.array([0]))

    def accuracy(right, *, tied=0):
        data = Retrieval(
            queries=queries,
            documents=documents,
            candidates=(np.zeros(3, dtype=int), np.arange(3)),
            relevant=(np.zeros(len(right), dtype=int), np.array(right), np.ones(len(right))),
        )
        evidence = multiple_choice.run(Known(known, abilities=("embed_text",)), data, SUM)
        assert evidence.settings["tied"] == tied
        return evidence.items["accuracy"][0]

    assert accuracy([0], tied=1) == accuracy([1], tied=1) == 0.5
    assert accuracy([0, 1]) == 1
    assert accuracy([2]) == 0
