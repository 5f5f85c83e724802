"""Reference: scikit-learn's LogisticRegression on the same embeddings, draw by draw."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from compute.procedures.shared.logistic import decide, fit
from tests.compute.procedures.hard import Hard, hard


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The reference is many times slower on several threads of a busy machine."""
    with threadpool_limits(1):
        yield


def answers(found, test: np.ndarray) -> np.ndarray:
    return np.concatenate([scores.argmax(axis=-1) for _, scores in decide(found, test)])


def reference(data: Hard, rows: np.ndarray, *, iterations: int, tolerance: float = 1e-4) -> list[LogisticRegression]:
    return [
        LogisticRegression(max_iter=iterations, tol=tolerance).fit(
            data.train[draw].astype(float), data.train_labels[draw]
        )
        for draw in rows
    ]


def subsets(data: Hard, *, draws: int, size: int) -> np.ndarray:
    """Rows of each draw; all classes are in every one."""
    rng = np.random.default_rng(1)
    while True:
        rows = np.stack([rng.permutation(len(data.train))[:size] for _ in range(draws)])
        if all(len(set(data.train_labels[draw])) == data.train_labels.max() + 1 for draw in rows):
            return rows


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
@pytest.mark.parametrize("scale", [2.0, 12.0])
def test_stopped_at_a_hundred_iterations_as_scikit_learn_is(scale: float) -> None:
    data = hard(classes=40, each=24, width=192, test=5000, scale=scale)
    rows = subsets(data, draws=4, size=640)
    found = fit(data.train, rows=rows, targets=data.train_labels[rows], classes=40)
    models = reference(data, rows, iterations=100)
    assert all(model.n_iter_[0] == 100 for model in models)
    assert not found.converged.any() and (found.steps == 100).all()
    ours = (answers(found, data.test) == data.test_labels[:, None]).mean(axis=0)
    theirs = np.array([model.score(data.test, data.test_labels) for model in models])
    assert 0.1 < theirs.mean() < 0.9
    assert abs(ours.mean() - theirs.mean()) < 0.003
    assert np.abs(ours - theirs).max() < 0.003


def test_run_to_the_end_it_is_the_minimum() -> None:
    data = hard(classes=12, each=20, width=64, test=2000, noise=3)
    rows = subsets(data, draws=2, size=160)
    found = fit(data.train, rows=rows, targets=data.train_labels[rows], classes=12, iterations=1000)
    assert found.converged.all() and (found.steps < 1000).all()
    for draw, model in enumerate(reference(data, rows, iterations=5000, tolerance=1e-8)):
        same = answers(found, data.test)[:, draw] == model.predict(data.test)
        assert same.mean() > 0.997
        np.testing.assert_allclose(found.weights[draw, :-1].T, model.coef_, atol=0.03)


def test_stopped_early_by_tolerance_where_scikit_learn_is() -> None:
    """Long vectors meet the tolerance after a few steps, far from the minimum: the same few, and the same answers."""
    for scale in (30.0, 100.0, 300.0):
        data = hard(classes=20, each=16, width=512, test=1000, scale=scale, decay=0.0)
        rows = np.arange(320)[None]
        found = fit(data.train, rows=rows, targets=data.train_labels[rows], classes=20)
        (model,) = reference(data, rows, iterations=100)
        assert found.converged.all()
        assert found.steps[0] == model.n_iter_[0] < 30
        assert (answers(found, data.test)[:, 0] == model.predict(data.test)).mean() > 0.995


def test_two_classes_have_one_vector_of_weights() -> None:
    data = hard(classes=2, each=40, width=48, test=1000)
    rows = subsets(data, draws=3, size=60)
    found = fit(data.train, rows=rows, targets=data.train_labels[rows], classes=2)
    assert found.weights.shape == (3, 49, 1)
    for draw, model in enumerate(reference(data, rows, iterations=100)):
        assert found.steps[draw] == pytest.approx(model.n_iter_[0], rel=0.2)
        np.testing.assert_allclose(found.weights[draw, :-1, 0], model.coef_[0], atol=2e-3)
        assert (answers(found, data.test)[:, draw] == model.predict(data.test)).mean() > 0.997


@pytest.mark.filterwarnings("ignore:lbfgs failed to converge")
def test_scores_are_log_probabilities_up_to_a_constant_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = hard(classes=7, each=16, width=24, test=101)
    rows = np.arange(112)[None]
    found = fit(data.train, rows=rows, targets=data.train_labels[rows], classes=7)
    monkeypatch.setattr("compute.procedures.shared.logistic.BLOCK", 7 * 10)
    parts = list(decide(found, data.test))
    assert [part.start for part, _ in parts] == list(range(0, 101, 10))
    scores = np.concatenate([block[:, 0] for _, block in parts])
    (model,) = reference(data, rows, iterations=100)
    np.testing.assert_allclose(
        scores - scores.mean(axis=1, keepdims=True),
        model.decision_function(data.test) - model.decision_function(data.test).mean(axis=1, keepdims=True),
        atol=0.02,
    )


def test_the_same_every_time_and_alone_or_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compute.procedures.shared.logistic.SMALL", 1)  # every problem has a worker
    data = hard(classes=10, each=24, width=32, test=500)
    rows = subsets(data, draws=5, size=160)
    first, second = (fit(data.train, rows=rows, targets=data.train_labels[rows], classes=10) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
    with threadpool_limits(2):
        shared = fit(data.train, rows=rows, targets=data.train_labels[rows], classes=10)
    np.testing.assert_array_equal(first.weights, shared.weights)
    alone = fit(data.train, rows=rows[3:4], targets=data.train_labels[rows[3:4]], classes=10)
    assert (answers(alone, data.test)[:, 0] == answers(first, data.test)[:, 3]).mean() > 0.995


def test_one_batch_in_torch_is_the_same_as_numpy() -> None:
    """What CUDA runs, on torch's CPU: a device named otherwise than `cpu` is torch's."""
    for classes in (2, 9):
        data = hard(classes=classes, each=24, width=40, test=800, noise=3)
        rows = subsets(data, draws=4, size=classes * 16)
        batch, apart = (
            fit(data.train, rows=rows, targets=data.train_labels[rows], classes=classes, device=device)
            for device in ("cpu:0", "cpu")
        )
        assert np.abs(batch.steps - apart.steps).max() <= 10
        assert (answers(batch, data.test) == answers(apart, data.test)).mean() > 0.995


def test_items_that_tell_nothing_are_answered_by_the_intercept() -> None:
    targets = np.array([[0, 0, 0, 1, 2]])
    found = fit(np.zeros((5, 3), dtype=np.float32), rows=np.arange(5)[None], targets=targets, classes=3)
    assert answers(found, np.zeros((2, 3))).tolist() == [[0], [0]]
    model = LogisticRegression().fit(np.zeros((5, 3)), targets[0])
    scores = np.concatenate([block[:, 0] for _, block in decide(found, np.zeros((1, 3)))])[0]
    np.testing.assert_allclose(scores - scores.mean(), model.intercept_ - model.intercept_.mean(), atol=1e-3)
