"""Reference: scikit-learn's cosine_similarity, NumPy's arg max and scikit-learn's accuracy_score."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import cosine_similarity

from compute.content.items import texts
from compute.engine.scoring import summarise
from compute.procedures import zero_shot
from compute.tasks.data import ZeroShot
from tests.compute.procedures.known import BOTH, Known, labelled, shown


def made(*, n=500, classes=9):
    rng = np.random.default_rng(1)
    prompts = rng.normal(size=(classes, 16))
    labels = rng.integers(classes, size=n)
    vectors = prompts[labels] + 1.5 * rng.normal(size=(n, 16))
    known = {}
    test = labelled(vectors, labels, "i", classes=classes, known=known)
    words = shown(prompts, "a photo of class ", kind="text", known=known)
    return Known(known, abilities=BOTH), ZeroShot(test=test, prompts=words), vectors, prompts


def test_the_nearest_prompt(monkeypatch):
    subject, data, vectors, prompts = made()
    monkeypatch.setattr(zero_shot, "SCORES", 9 * 64)  # several blocks, the last one short
    found = zero_shot.run(subject, data, {})
    cosines = cosine_similarity(vectors, prompts)
    answers, labels = cosines.argmax(axis=1), data.test.labels
    assert found.items["answer"].tolist() == [f"class {at}" for at in answers]
    assert found.items["expected"].tolist() == [f"class {at}" for at in labels]
    wanted = accuracy_score(labels, answers)
    assert 0.3 < wanted < 0.95
    assert summarise("accuracy", found.items).value == pytest.approx(wanted)
    assert found.items["correct"].tolist() == (answers == labels).tolist()
    others = cosines.copy()
    others[np.arange(500), labels] = -np.inf
    np.testing.assert_allclose(found.items["value"], cosines[np.arange(500), labels] - others.max(axis=1), atol=1e-6)
    order, detail = np.argsort(-cosines[7])[:3], found.items["detail"][7]
    assert detail["hits"] == [f"class {at}" for at in order]
    np.testing.assert_allclose(detail["scores"], cosines[7, order], atol=1e-6)
    assert detail["images"] == [data.test.items.keys[7].decode()]


def test_of_equal_prompts_the_first_class_has_it():
    subject, data, _, _ = made(classes=4)
    again = texts([data.prompts.read(at) for at in (0, 1, 2, 0)], of="tests")
    found = zero_shot.run(subject, replace(data, prompts=again), {})
    assert "class 3" not in set(found.items["answer"])
    first = found.items[found.items["answer"] == "class 0"]
    tied = first["expected"].isin(["class 0", "class 3"])
    assert (first["value"][tied] == 0).all() and (first["expected"] == "class 3").any()
    assert found.settings == {"prompts": 4, "distinct_prompts": 3, "tied": int(tied.sum())}
