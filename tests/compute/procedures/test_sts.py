"""Reference: scipy's spearmanr over scikit-learn's cosine_similarity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import cosine_similarity

from compute.engine.scoring import summarise
from compute.procedures import sts
from compute.tasks.data import Sentences
from tests.compute.procedures.known import Known, shown


def test_similarity_beside_what_people_say() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 120, 5)).astype(np.float32)
    known: dict[bytes | str, np.ndarray] = {}
    human = rng.integers(0, 6, 120).astype(float)
    data = Sentences(
        names=tuple(map(str, range(120))),
        first=shown(first, "a", known=known),
        second=shown(second, "b", known=known),
        human=human,
    )
    items = sts.run(Known(known, abilities=("embed_image",)), data, {}).items
    cosines = np.diag(cosine_similarity(first, second))
    np.testing.assert_allclose(items["value"], cosines, atol=1e-6)
    assert summarise("cosine_spearman", items).value == pytest.approx(spearmanr(cosines, human).statistic, abs=1e-9)
    assert items["correct"].tolist() == [None] * 120
    assert len(items["detail"][0]["images"]) == 2

    own = Known(abilities=("compare",), compare=lambda a, b: -abs(int(a[1:]) - int(b[1:]) + 3))
    assert sts.run(own, data, {}).items["value"].tolist() == [-3] * 120
