"""Reference: scikit-learn's MiniBatchKMeans and normalized_mutual_info_score."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import normalized_mutual_info_score

from compute.engine.scoring import summarise
from compute.procedures import clustering
from compute.tasks.data import Clusters
from compute.types import Undefined
from tests.compute.procedures.hard import hard
from tests.compute.procedures.known import Known, labelled


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
