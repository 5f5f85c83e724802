"""Reference: scikit-learn's KNeighborsClassifier, leaving each item out."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from compute.engine.scoring import summarise
from compute.procedures import neighbours
from compute.tasks.data import Clusters
from compute.types import Undefined
from tests.compute.procedures.known import Known, shown
from tests.compute.procedures.test_clustering import made


def test_the_majority_of_scikit_learn():
    subject, data, vectors = made(n=120, classes=12)
    found = neighbours.run(subject, data, {}).items
    labels, classes = data.test.labels, np.array(data.test.classes)
    for at in range(120):
        others = np.delete(np.arange(120), at)
        model = KNeighborsClassifier(n_neighbors=5, metric="cosine").fit(vectors[others], labels[others])
        shares = model.predict_proba(vectors[[at]])[0]
        best = model.classes_[shares == shares.max()]
        assert found["answer"][at] in classes[best]  # of a tie one of the two
    assert 0.2 < summarise("accuracy", found).value == (found["answer"] == found["expected"]).mean() < 0.98
    assert (found["correct"] == (found["value"] > 0)).all()


def test_of_a_tie_the_nearer_class_is_the_answer_and_few_items_have_no_score():
    known = {}
    angles = np.arange(6)[:, None] / 10
    items = shown(np.hstack([np.cos(angles), np.sin(angles)]), "i", known=known)
    _, data, _ = made(n=6, classes=3)
    tied = Clusters(test=replace(data.test, items=items, labels=np.array([0, 1, 1, 2, 2, 0])))
    found = neighbours.run(Known(known, abilities=("embed_image",)), tied, {})
    assert found.items["answer"][0] == data.test.classes[1]
    subject, data, _ = made(n=5)
    with pytest.raises(Undefined, match="5 items"):
        neighbours.run(subject, data, {})
