"""References: scikit-learn's cosine_similarity, and the rule written out."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from compute.procedures import odd_one_out
from compute.tasks.data import OddOneOut
from tests.compute.procedures.known import Known, shown

N = 60


def made(k):
    rng = np.random.default_rng(k)
    vectors = rng.standard_normal((N, k, 6)).astype(np.float32)
    known = {}
    data = OddOneOut(
        names=tuple(f"i{row}" for row in range(N)),
        odd=rng.integers(0, k, N),
        members=tuple(shown(vectors[:, at], f"{at} ", known=known) for at in range(k)),
    )
    return data, known, vectors


@pytest.mark.parametrize("k", [3, 5])
def test_it_is_the_one_least_like_the_others(k):
    """Of three, that is the one outside the most similar pair."""
    data, known, vectors = made(k)
    items = odd_one_out.run(Known(known, abilities=("embed_image",)), data, {}).items
    for row in range(N):
        odd = cosine_similarity(vectors[row]).sum(axis=1).argmin()
        assert items["answer"][row] == "ABCDE"[odd] and items["accuracy"][row] == float(odd == data.odd[row])


def test_a_comparison_that_depends_on_the_order_counts_both_ways():
    data, _, _ = made(3)
    scores = {b"01": 5, b"10": 0, b"02": 2, b"20": 2, b"12": 3, b"21": 3}
    model = Known(abilities=("compare",), compare=lambda first, second: scores[first[:1] + second[:1]])
    items = odd_one_out.run(model, data, {}).items
    assert set(items["answer"]) == {"A"}  # 1 with 2 gives 3, 0 with 1 gives 2.5, 0 with 2 gives 2
    assert items["detail"][0]["scores"] == [3, 2, 2.5]


def test_a_judge_is_asked():
    data, _, _ = made(3)
    found = odd_one_out.run(Known(abilities=("choose",), reply=lambda question: "(C) Image 3"), data, {})
    assert found.items["accuracy"].mean() == np.mean(data.odd == 2)
    assert found.settings["unread"] == 0 and found.settings["asked"] == N
