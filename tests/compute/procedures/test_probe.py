"""Reference: scikit-learn's LogisticRegression on the same draws."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from compute.procedures import probe
from compute.procedures.probe import one_label
from compute.tasks.data import Probe
from compute.types import BadInput, Undefined
from tests.compute.procedures.hard import hard
from tests.compute.procedures.known import Known, labelled


@pytest.fixture(autouse=True)
def one_thread():
    """The reference is many times slower on several threads of a busy machine."""
    with threadpool_limits(1):
        yield


OPTIONS = {"classifier": "knn", "iterations": 100, "device": "auto"}


def made(*, classes, draws=5, scale=2.0, test=1500, width=64, noise=4.0):
    known = {}
    train, tested = hard(classes=classes, each=30, width=width, test=test, scale=scale, noise=noise)
    task = Probe(
        train=labelled(*train, "a", classes=classes, known=known),
        test=labelled(*tested, "b", classes=classes, known=known),
        draws=draws,
    )
    return Known(known, abilities=("embed_image",)), task, known


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("classes", [2, 25])
def test_accuracy_and_margins(classes):
    """Accuracy is compared with the public code in test_parity.py."""
    subject, data, known = made(classes=classes, test=6000)
    found = probe.run(subject, data, OPTIONS)
    train, test = (
        np.stack([known[side.items.read(row)] for row in range(len(side.items))]) for side in (data.train, data.test)
    )
    draw = one_label(data.train.labels, samples_per_label=16, draws=5)[0]
    model = LogisticRegression(max_iter=100).fit(train[draw].astype(float), data.train.labels[draw])
    logs = model.predict_log_proba(test)
    rows = np.arange(len(test))
    right = logs[rows, data.test.labels].copy()
    logs[rows, data.test.labels] = -np.inf
    # Neither has converged after 100 steps: on some processors one margin of 6,000 ends a little over 0.25 apart.
    apart = np.abs(found.items["value"] - (right - logs.max(axis=1)))
    assert np.quantile(apart, 0.999) <= 0.25 and apart.max() <= 0.3
    answered = found.items["answer"] == found.items["expected"]
    np.testing.assert_array_equal(answered, found.items["value"] > 0)
    draws = found.settings["accuracy_of_draws"]
    assert found.settings["accuracy_sd_of_draws"] == pytest.approx(np.std(draws, ddof=1))
    assert found.items["detail"][3] == {"images": [data.test.items.keys[3].decode()], "texts": []}


def test_the_same_on_any_number_of_threads():
    subject, data, _ = made(classes=5, test=300)
    first = probe.run(subject, data, OPTIONS).items
    with threadpool_limits(2):
        assert first.equals(probe.run(subject, data, OPTIONS).items)


def test_a_class_without_training_items_is_never_right():
    subject, data, _ = made(classes=4, test=200)
    keep = np.flatnonzero(data.train.labels != 2)
    names = tuple(data.train.names[at] for at in keep)
    train = replace(data.train, names=names, items=data.train.items.take(keep), labels=data.train.labels[keep])
    found = probe.run(subject, replace(data, train=train), OPTIONS)
    missing = found.items["expected"] == "class 2"
    assert found.items["accuracy"][missing].eq(0).all() and found.items["value"][missing].isna().all()
    assert found.items["accuracy"][~missing].mean() > 0.3
    assert found.settings["classes_without_training_items"] == 1


def test_unlike_lists_of_classes_are_matched_by_name():
    subject, data, _ = made(classes=4, test=200)
    order = np.array([2, 0, 3, 1])
    classes = tuple(data.test.classes[at] for at in order)
    turned = replace(data.test, classes=classes, labels=np.argsort(order)[data.test.labels])
    first, second = (probe.run(subject, replace(data, test=test), OPTIONS).items for test in (data.test, turned))
    assert first.equals(second)
    twice = ("class 0", "class 0", "class 2", "class 3")
    for error, wrong in ((BadInput, {"classes": twice}), (Undefined, {"labels": 0 * data.train.labels})):
        with pytest.raises(error, match="class"):
            probe.run(subject, replace(data, train=replace(data.train, **wrong)), OPTIONS)


def test_several_labels_of_which_a_draw_lacks_one():
    """Compared with the public code in test_parity.py."""
    subject, data, _ = made(classes=12, test=200)
    train, test = (replace(side, labels=side.labels[:, None] == np.arange(12)) for side in (data.train, data.test))
    train.labels[:, 3] = test.labels[5] = False
    lacking = probe.run(subject, replace(data, train=train, test=test), OPTIONS)
    assert lacking.items["lrap"].between(0, 1).all() and lacking.items["expected"][5] == ""
