"""Queries by hand; accuracies are compared with the public code in tests/compute/test_parity.py."""

import numpy as np

from compute.content.items import texts
from compute.procedures import multiple_choice
from compute.tasks.data import Mixed, Retrieval
from tests.compute.procedures.known import Known

KNOWN = {"east": [1, 0], "orient": [1, 0], "north": [0, 1], "between": [0.6, 0.8]}
QUERIES = (  # a query, its candidates, and those that are right; then what is expected, answered, its worth and margin
    ("east", "east north between", "east", "east", "east", 1, 0.4),
    ("north", "east between", "east", "east", "between", 0, -0.8),
    ("north", "east between", "", "", "between", 0, np.nan),  # all of them judged wrong
    ("north", "east between", None, "", "between", np.nan, np.nan),  # not judged
    ("east", "east orient north", "orient", "orient", "east / orient", 0.5, 0),
    ("east", "east orient north", "east orient", "east / orient", "east / orient", 1, 1),
)


def mixed(words, names):
    return Mixed(names=tuple(names), text=texts(words, of="tests"), text_at=np.arange(len(words)))


def test_the_nearest_of_a_querys_own_candidates():
    """Equal ones share the pick."""
    asked, own, right, *stated = zip(*QUERIES, strict=True)
    words = list(KNOWN)
    pairs = [(row, words.index(word)) for row, candidates in enumerate(own) for word in candidates.split()]
    judged = [(row, at, words[at] in right[row].split()) for row, at in pairs if right[row] is not None]
    data = Retrieval(
        queries=mixed(asked, map(str, range(len(asked)))),
        documents=mixed(words, words),
        candidates=tuple(np.array(pairs[::-1]).T),
        relevant=tuple(np.array(judged).T),
    )
    found = multiple_choice.run(Known(KNOWN, abilities=("embed_text",)), data, {"fusion": "sum"})
    items = found.items
    assert [items["expected"].tolist(), items["answer"].tolist()] == list(map(list, stated[:2]))
    np.testing.assert_allclose(items[["accuracy", "value"]].to_numpy(float).T, stated[2:], atol=1e-6)
    assert items["correct"].tolist() == [True, False, False, None, None, True]
    assert found.settings == {"candidates": 15, "tied": 1, "without_relevant": 1, "all_irrelevant": 1}
    detail = items["detail"][0]
    assert detail["texts"] == ["east", "east", "north", "between"] and detail["hits"] == ["east", "north", "between"]
    assert detail["relevant"] == [True, False, False] and detail["images"] == []
    np.testing.assert_allclose(detail["scores"], [1, 0, 0.6], atol=1e-6)
