"""Clusters and nearest neighbours.

References: scikit-learn's MiniBatchKMeans, its mutual information, and its KNeighborsClassifier leaving each item out.
"""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

from compute.engine.scoring import summarise
from compute.procedures import clustering, neighbours
from compute.tasks.data import Clusters
from compute.types import Undefined
from tests.compute.procedures.hard import hard
from tests.compute.procedures.known import Known, labelled, shown


def made(*, n=1300, classes=12):
    _, (vectors, labels) = hard(classes=classes, each=1, width=40, test=n, noise=0.8)
    known = {}
    data = Clusters(test=labelled(vectors, labels, "i", classes=classes + 3, known=known))
    return Known(known, abilities=("embed_image",)), data, vectors


def test_the_clusters_and_figure_of_scikit_learn():
    subject, data, vectors = made()
    found = clustering.run(subject, data, {})
    model = MiniBatchKMeans(n_clusters=12, batch_size=500, n_init="auto", random_state=42).fit(vectors)
    assert found.items["answer"].tolist() == [f"cluster {at}" for at in model.labels_]
    wanted = normalized_mutual_info_score(data.test.labels, model.labels_)
    assert 0.2 < wanted < 0.98
    assert summarise("nmi", found.items).value == pytest.approx(wanted, abs=1e-12)
    distances = np.sort(np.linalg.norm(vectors[:, None] - model.cluster_centers_[None], axis=2), axis=1)
    np.testing.assert_allclose(found.items["value"], distances[:, 1] - distances[:, 0], atol=1e-3)
    assert found.items["correct"].tolist() == [None] * 1300
    assert found.settings["k"] == 12  # three classes have no item


def test_classes_of_one_name_stay_apart():
    subject, data, _ = made(n=600, classes=4)
    named = Clusters(test=replace(data.test, classes=("crane", "crane", "owl", "wren", "a", "b", "c")))
    found = clustering.run(subject, named, {})
    assert set(found.items["expected"]) == {"crane (0)", "crane (1)", "owl", "wren"}
    assert summarise("nmi", found.items).value == pytest.approx(
        normalized_mutual_info_score(data.test.labels, found.items["answer"]), abs=1e-12
    )


def test_what_cannot_be_grouped():
    subject, data, _ = made(n=50)
    with pytest.raises(Undefined, match="1 label"):
        clustering.run(subject, Clusters(test=replace(data.test, labels=np.zeros(50, dtype=int))), {})


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
