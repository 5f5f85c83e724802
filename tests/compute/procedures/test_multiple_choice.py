"""Reference: scikit-learn's cosine_similarity and an arg max over each query's own candidates."""

from dataclasses import replace

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
    """Queries of image and text, documents of text; 2 to 5 candidates a query, the first of them right."""
    rng = np.random.default_rng(0)
    pictures, words = rng.standard_normal((2, N, 6)).astype(np.float32)
    answers = rng.standard_normal((M, 6)).astype(np.float32)
    known = {}
    own = [rng.choice(M, rng.integers(2, 6), replace=False) for _ in range(N)]
    query, document = np.repeat(np.arange(N), [len(one) for one in own]), np.concatenate(own)
    shuffled = rng.permutation(len(query))
    data = Retrieval(
        queries=Mixed(
            names=tuple(f"q{row}" for row in range(N)),
            image=shown(pictures, "image ", known=known),
            image_at=np.arange(N),
            text=shown(words, "question ", kind="text", known=known),
            text_at=np.arange(N),
        ),
        documents=Mixed(
            names=tuple(f"d{row}" for row in range(M)),
            text=shown(answers, "answer ", kind="text", known=known),
            text_at=np.arange(M),
        ),
        relevant=(np.arange(N), np.array([one[0] for one in own]), np.ones(N)),
        candidates=(query[shuffled], document[shuffled]),
    )
    return data, known, cosine_similarity(pictures + words, answers), own


def test_the_first_among_a_querys_own_candidates():
    data, known, cosines, own = made()
    items = multiple_choice.run(Known(known, abilities=BOTH), data, SUM).items
    for query, candidates in enumerate(own):
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


def test_a_query_whose_candidates_are_all_wrong_scores_0_and_one_without_judgement_nothing():
    data, known, *_ = made()
    query, document, grade = (part[data.relevant[0] != 5] for part in data.relevant)
    unsure = replace(data, relevant=(query, document, np.where(query == 3, 0, grade)))
    found = multiple_choice.run(Known(known, abilities=BOTH), unsure, SUM)
    accuracy, correct = found.items["accuracy"], found.items["correct"]
    assert accuracy[3] == 0 and correct[3] is False and np.isnan(found.items["value"][3])
    assert np.isnan(accuracy[5]) and correct[5] is None and accuracy.drop(5).notna().all()
    assert (found.settings["all_irrelevant"], found.settings["without_relevant"]) == (1, 1)
