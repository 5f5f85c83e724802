"""References: cosines by hand, and MaxSim written out as loops."""

from dataclasses import replace

import numpy as np
import pytest

from compute.content.items import images
from compute.procedures.shared import similarity
from compute.types import BadItem, CannotDo
from tests.compute.procedures.known import BOTH, Known, ragged


def maxsim(first, second):
    return sum(max(float(a @ b) for b in second) for a in first)


def test_cosine_row_by_row():
    first, second = np.array([[[3, 4], [0, 2], [5, 1]], [[4, 3], [0, -1], [0, 0]]], np.float32)
    np.testing.assert_allclose(similarity.alike(first, second), [0.96, -1, 0], atol=1e-7)


def test_maxsim_in_blocks(monkeypatch):
    """No more of the documents are in memory at once than a block's."""
    monkeypatch.setattr(similarity, "QUERY_VECTORS", 20)
    monkeypatch.setattr(similarity, "DOCUMENT_VECTORS", 30)
    rng = np.random.default_rng(3)
    queries, documents = (
        [rng.standard_normal((int(rng.integers(1, 9)), 6)).astype(np.float32) for _ in range(n)] for n in (11, 13)
    )
    first, second, seen = ragged(queries), ragged(documents), []
    watched = replace(second, read=lambda at: seen.append(sum(second.lengths[at])) or second.read(at))
    score = similarity.MaxSim(first, watched)
    wanted = np.array([[maxsim(a, b) for b in documents] for a in queries])
    for rows, columns in ((slice(0, 11), slice(2, 13)), (slice(4, 9), slice(0, 5))):
        np.testing.assert_allclose(score(rows, columns).numpy(), wanted[rows, columns], atol=1e-5)
    assert len(seen) > 3 and max(seen) <= 30


def test_likeness_whichever_stands_first():
    """Cosines as they are, a metric by the mean of both orders."""
    column, other = images([b"a", b"b"], of="tests"), images([b"cc", b"d"], of="tests")
    vectors = {b"a": [1, 0], b"b": [0, 1], b"cc": [1, 1], b"d": [0, 2]}
    encoder = Known(vectors, abilities=(*BOTH, "compare"), compare=lambda first, second: 9)
    metric = Known(abilities=("compare",), compare=lambda first, second: 3 * len(first) + len(second))
    for turn in (slice(None), slice(None, None, -1)):
        assert similarity.symmetric(encoder, *(column, other)[turn]) == pytest.approx([np.sqrt(0.5), 1])
        assert similarity.symmetric(metric, *(column, other)[turn]).tolist() == [(5 + 7) / 2, 4]
    with pytest.raises(CannotDo, match="neither embed"):
        similarity.symmetric(Known(vectors, abilities=("embed_text",)), column, other)


def test_a_comparison_without_a_number_is_named():
    silent = Known(abilities=("compare",), compare=lambda first, second: np.nan)
    with pytest.raises(BadItem, match="tests, image 0: known gave no number"):
        similarity.compared(silent, *[images([b"a", b"b"], of="tests")] * 2)
