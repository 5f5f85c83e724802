"""References: scikit-learn's cosine_similarity, and MaxSim written out as loops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from compute.content.items import images, texts
from compute.procedures.shared import similarity
from compute.procedures.shared.similarity import Many
from compute.types import BadItem, CannotDo
from tests.compute.procedures.known import BOTH, Known


def maxsim(first: np.ndarray, second: np.ndarray) -> float:
    return sum(max(float(a @ b) for b in second) for a in first)


def many(rng: np.random.Generator, n: int) -> tuple[list[np.ndarray], Many]:
    items = [rng.standard_normal((int(rng.integers(1, 9)), 6)).astype(np.float32) for _ in range(n)]
    return items, Many(vectors=np.concatenate(items), offsets=np.cumsum([0, *map(len, items)]))


def test_cosine_row_by_row() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 50, 8)).astype(np.float32)
    np.testing.assert_allclose(similarity.alike(first, second), np.diag(cosine_similarity(first, second)), atol=1e-7)
    assert similarity.alike(first, first) == pytest.approx(1)
    assert similarity.alike(first, np.zeros_like(first)).tolist() == [0.0] * 50


def test_maxsim_row_by_row_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity, "QUERY_VECTORS", 20)  # several small blocks
    monkeypatch.setattr(similarity, "DOCUMENT_VECTORS", 30)
    rng = np.random.default_rng(3)
    (queries, first), (documents, second) = many(rng, 11), many(rng, 13)
    wanted = np.array([[maxsim(a, b) for b in documents] for a in queries])
    block = similarity.scorer(first, second)(slice(0, 11), slice(2, 13)).numpy()
    np.testing.assert_allclose(block, wanted[:, 2:], atol=1e-5)
    some = Many(vectors=second.vectors, offsets=second.offsets[:12])
    np.testing.assert_allclose(similarity.alike(first, some), np.diag(wanted), atol=1e-5)


def test_likeness_whichever_stands_first() -> None:
    """Cosines as they are, a metric by the mean of both orders; of text and image the text comes first."""
    column, other, said = images([b"a", b"b"], of="tests"), images([b"cc", b"d"], of="tests"), texts(["x", "y"], of="t")
    vectors = {b"a": [1, 0], b"b": [0, 1], b"cc": [1, 1], b"d": [0, 2], "x": [1, 1], "y": [2, 0]}
    encoder = Known(vectors, abilities=(*BOTH, "compare"), compare=lambda first, second: 9)
    metric = Known(abilities=("compare",), compare=lambda first, second: 3 * len(first) + len(second))
    seen: list[tuple] = []
    reader = Known(abilities=("compare",), compare=lambda first, second: seen.append((first, second)) or 1)
    for turn in (slice(None), slice(None, None, -1)):
        assert similarity.symmetric(encoder, *(column, other)[turn]) == pytest.approx([np.sqrt(0.5), 1])
        assert similarity.symmetric(metric, *(column, other)[turn]).tolist() == [(5 + 7) / 2, 4]
        similarity.symmetric(reader, *(column, said)[turn])
    assert seen == [("x", b"a"), ("y", b"b")] * 2
    with pytest.raises(CannotDo, match="neither embed"):
        similarity.symmetric(Known(vectors, abilities=("embed_text",)), column, other)


def test_what_cannot_be_used_is_named() -> None:
    column = images([b"a", b"b"], of="tests")
    for many, one, two, words in (
        (False, [1, 0], [np.nan, 1], "tests, image 1: its embedding is not finite"),
        (True, np.eye(2), [[np.inf, 1]], "image 1: its embedding is not finite"),
        (True, np.empty((0, 2)), np.eye(2), "image 0: the model gave no vector"),
    ):
        with pytest.raises(BadItem, match=words):
            similarity.embed(Known({b"a": one, b"b": two}, abilities=BOTH, many=many), column)
    silent = Known(abilities=("compare",), compare=lambda first, second: np.nan)
    with pytest.raises(BadItem, match="gave no number"):
        similarity.compared(silent, None, column)
    with pytest.raises(CannotDo, match="one vector for some"):
        similarity.alike(np.ones((1, 2)), Many(vectors=np.ones((1, 2), dtype=np.float32), offsets=np.array([0, 1])))
