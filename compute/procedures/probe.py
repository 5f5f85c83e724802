"""Few-shot probes: a classifier is trained on draws of the training items and tested on all others (MIEB).

With one label per item, the classifier is logistic regression on raw embeddings. With several labels, it is five
nearest neighbours, as in the published numbers; see FACTS, protocols table.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Bools, Floats, Floats32, Ints
from compute.content.items import Column
from compute.features.subject import Subject
from compute.procedures.evidence import Evidence, ItemView, Procedure, contents_of
from compute.procedures.shared.similarity import in_range
from compute.rounding import rounded
from compute.tasks.data import Probe
from compute.types import BadInput, Undefined

SEED = 42


def one_label(labels: NDArray[np.integer], *, samples_per_label: int, draws: int) -> Ints:
    """Returns positions (draws, m) of the first `samples_per_label` items of each label, in shuffled order.

    `labels` (n,) int. Every draw shuffles the list left by the previous draw with a generator of the same seed, so
    draws are not independent. A label with fewer items contributes all of them.
    """
    order = np.arange(len(labels))
    samples = []
    for _ in range(draws):
        np.random.RandomState(SEED).shuffle(order)
        samples.append(order[_rank_within(labels[order]) < samples_per_label])
    return np.stack(samples)


def many_labels(labels: Bools, *, samples_per_label: int, draws: int, seed: int = SEED) -> list[Ints]:
    """Returns the positions of each draw: an item is taken while any of its labels has fewer than `samples_per_label`.

    `labels` (n, classes) bool. One generator is used for all draws; each draw shuffles the list in its original order.
    """
    generator = np.random.default_rng(seed)
    samples = []
    for _ in range(draws):
        order = np.arange(len(labels))
        generator.shuffle(order)
        counts, taken = np.zeros(labels.shape[1], dtype=int), []
        for item, has in zip(order, labels[order], strict=True):
            if (counts[has] < samples_per_label).any():
                taken.append(item)
                counts += has
        samples.append(np.array(taken, dtype=np.int64))
    return samples


def _rank_within(labels: NDArray[np.integer]) -> Ints:
    """Returns for each item how many items with its label precede it."""
    by_label = np.argsort(labels, kind="stable")
    sorted_labels = labels[by_label]
    rank = np.empty(len(labels), dtype=np.int64)
    rank[by_label] = np.arange(len(labels)) - np.searchsorted(sorted_labels, sorted_labels)
    return rank


NEIGHBOURS = 5
ROWS = 4096  # test items compared at once


def run(subject: Subject, data: Probe, options: Mapping[str, Any]) -> Evidence:
    """Measures accuracy, or label ranking average precision (LRAP) if items have several labels, averaged over draws.

    Only the test items and the drawn training items are encoded. `answer` and `value` (the margin of the correct class
    in log-probability) are from the first draw; with several labels, `value` is the item's LRAP over all draws.
    `correct` means correct in more than half of the draws. Settings hold each draw's value and their standard
    deviation. Raises Undefined if there are fewer than two classes.
    """
    return (_one_label if data.train.labels.ndim == 1 else _many_labels)(subject, data, options)


def _draw(data: Probe) -> Sequence[Ints]:
    rule = one_label if data.train.labels.ndim == 1 else many_labels
    return rule(data.train.labels, samples_per_label=data.samples_per_label, draws=data.draws)


def training_items(data: Probe) -> Column:
    """Returns the distinct training items of all draws, the only ones of the training split that are encoded."""
    return data.train.items.take(np.unique(np.concatenate(_draw(data))))


def _one_label(subject: Subject, data: Probe, options: Mapping[str, Any]) -> Evidence:
    present = np.unique(data.train.labels)  # a class without training items is never predicted
    if len(present) < 2:
        raise Undefined(f"The training items have {len(present)} class: a probe needs two")
    taken, union, train, test = _encoded(subject, data)
    draws = [(train[np.searchsorted(union, draw)], data.train.labels[draw]) for draw in taken]
    known = _known(data)
    right = known[data.test.labels]
    right = np.where(np.isin(right, present), np.searchsorted(present, right), -1)
    answers, steps, value = np.empty((len(right), len(draws)), dtype=int), [], None
    for at, (scores, taken_steps) in enumerate(regressions(draws, test, iterations=options["iterations"])):
        value = _margin(scores, right) if value is None else value
        answers[:, at] = scores.argmax(axis=1)
        steps.append(taken_steps)
    hits = answers == right[:, None]
    classes = np.array(data.train.classes, dtype=object)
    settings = {
        "classifier": "logistic",
        "iterations": steps,
        "converged": [each < options["iterations"] for each in steps],
        "classes_without_training_items": len(data.test.classes) - int(np.isin(known, present).sum()),
    }
    return _evidence(
        data,
        metric="accuracy",
        of_draws=hits,
        train_items=len(union),
        settings=settings,
        expected=np.array(data.test.classes, dtype=object)[data.test.labels],
        answer=classes[present[answers[:, 0]]],
        hits=hits,
        value=value,
    )


def _known(data: Probe) -> Ints:
    """Returns the position of each test class among the training classes, -1 if it is missing."""
    if data.test.classes == data.train.classes:
        return np.arange(len(data.test.classes))
    position = {name: at for at, name in enumerate(data.train.classes)}
    if len(position) < len(data.train.classes):
        raise BadInput(
            "Training and test items have different lists of classes, and names appear twice: they cannot "
            "be matched. Is it the pinned revision?"
        )
    return np.array([position.get(name, -1) for name in data.test.classes])


def _margin(scores: Floats32, right: Ints) -> Floats:
    """Returns the correct class's score minus the best other's, (n,) from (n, k); NaN if the correct class is
    missing.
    """
    at = np.arange(len(scores))
    others = scores.copy()
    others[at, right] = -np.inf
    return np.where(right >= 0, scores[at, right] - others.max(axis=1), np.nan).astype(float)


def _many_labels(subject: Subject, data: Probe, options: Mapping[str, Any]) -> Evidence:
    taken, union, train, test = _encoded(subject, data)
    # The classes are those of the test items; classes that only training items have are ignored.
    known = _known(data)
    truth = data.test.labels
    table = np.where(known >= 0, data.train.labels[:, np.maximum(known, 0)], False)
    present = truth.any(axis=0)
    predicted, lrap = [], []
    for draw in taken:
        vectors, labels = train[np.searchsorted(union, draw)], table[draw][:, present]
        # The public code ranks the predicted labels, not the number of neighbours that have them.
        predicted.append(votes(vectors, labels, test) > 0)
        lrap.append(ranking_precision(truth[:, present], predicted[-1]))
    lrap = np.stack(lrap, axis=1)
    hits = np.stack([(labels == truth[:, present]).all(axis=1) for labels in predicted], axis=1)
    names = np.array(data.test.classes, dtype=object)
    return _evidence(
        data,
        metric="lrap",
        of_draws=lrap,
        train_items=len(union),
        settings={"classifier": "knn"},
        expected=_joined(truth[:, present], names[present]),
        answer=_joined(predicted[0], names[present]),
        hits=hits,
        value=lrap.mean(axis=1),
    )


def votes(train: Floats32, labels: Bools, test: Floats32) -> Ints:
    """Returns (n, labels): the number of neighbours with a label minus those without it; a label is predicted if this
    is positive.

    `train` (m, d) with `labels` (m, labels), `test` (n, d); the neighbours are the five nearest by Euclidean distance,
    as in scikit-learn's KNeighborsClassifier. Raises Undefined for fewer training items.
    """
    from sklearn.neighbors import NearestNeighbors

    if len(train) < NEIGHBOURS:
        raise Undefined(f"{len(train)} training items are drawn: {NEIGHBOURS} neighbours need as many")
    index = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(train)
    counts = [
        labels[index.kneighbors(test[start : start + ROWS], return_distance=False)].sum(axis=1)
        for start in range(0, len(test), ROWS)
    ]
    return 2 * np.concatenate(counts) - NEIGHBOURS


def regressions(
    problems: Sequence[tuple[Floats32, NDArray]], test: Floats32, *, iterations: int
) -> Iterator[tuple[Floats32, int]]:
    """Fits a logistic regression to each pair of vectors (n, d) and labels (n,), as MIEB's public code does.

    Yields the log-probabilities (n, k) of the test items, up to a constant per row, in the order of the labels, and the
    number of L-BFGS steps, which is the maximum if it has not converged.

    Each fit uses one thread, so that results do not depend on the number of cores; fits run in parallel on all cores.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        warnings.simplefilter("ignore", ConvergenceWarning)  # the protocol stops early
        fits = list(pool.map(lambda problem: LogisticRegression(max_iter=iterations).fit(*problem), problems))
    for model in fits:  # one at a time, because scores are large for many items and classes
        scores = model.decision_function(test)
        whole = scores if scores.ndim == 2 else np.stack([np.zeros_like(scores), scores], axis=1)
        yield whole, int(model.n_iter_.max())


def ranking_precision(truth: Bools, scores: NDArray[Any]) -> Floats:
    """Returns the LRAP of each item, (n,) from (n, labels): the share of true labels among those scored at least as
    high as a true label.

    It is averaged over the item's true labels, and is 1 for an item with no label or with all labels (as in
    scikit-learn).
    """
    out = np.ones(len(truth))
    step = max(1, 4_000_000 // truth.shape[1] ** 2)
    for start in range(0, len(truth), step):
        part = slice(start, start + step)
        true, rated = truth[part], scores[part]
        as_high = rated[:, None, :] >= rated[:, :, None]  # [item, label, other label]
        precision = (as_high & true[:, None, :]).sum(axis=2) / as_high.sum(axis=2)
        count = true.sum(axis=1)
        mixed = (count > 0) & (count < true.shape[1])
        out[part][mixed] = ((precision * true).sum(axis=1) / np.maximum(count, 1))[mixed]
    return out


def _joined(table: Bools, names: NDArray[np.object_]) -> NDArray[np.object_]:
    """Returns the names of each row's labels, joined by commas; distinct rows are joined only once."""
    rows, again = np.unique(table, axis=0, return_inverse=True)
    return np.array([", ".join(names[row]) for row in rows], dtype=object)[again.reshape(-1)]


def _encoded(subject: Subject, data: Probe) -> tuple[Sequence[Ints], Ints, Floats32, Floats32]:
    """Returns the draws, the training items in any draw, and the vectors of these and of the test items."""
    taken = _draw(data)
    union = np.unique(np.concatenate(taken))
    return taken, union, *in_range(subject.embed(data.train.items.take(union)), subject.embed(data.test.items))


def _evidence(
    data: Probe,
    *,
    metric: str,
    of_draws: Floats,
    train_items: int,
    settings: dict[str, Any],
    expected: NDArray[np.object_],
    answer: NDArray[np.object_],
    hits: Bools,
    value: Floats,
) -> Evidence:
    """Makes the evidence from the metric's values [items, draws], and whether each draw answers an item correctly
    [items, draws].
    """
    figures = of_draws.mean(axis=0)
    return Evidence.of(
        settings={
            "draws": data.draws,
            "samples_per_label": data.samples_per_label,
            "seed": SEED,
            "train_items": train_items,
            f"{metric}_of_draws": figures.tolist(),
            f"{metric}_sd_of_draws": float(figures.std(ddof=1)) if len(figures) > 1 else None,
            **settings,
        },
        names=data.test.names,
        expected=expected,
        answer=answer,
        worth=hits.mean(axis=1) > 0.5,
        value=value,
        figures={metric: of_draws.mean(axis=1)},
        detail=contents_of((data.test.items,)),
    )


def lrap_in_words(value: float) -> str:
    """Describes the LRAP of an item with several labels."""
    return f"LRAP {rounded(value, 3)}"


LABELS = ItemView(  # items with several labels have their own score and no margin
    orders={"worst": "Lowest LRAP first", "best": "Highest LRAP first"},
    margin=lrap_in_words,
)
PROCEDURE = Procedure(
    key="probe",
    needs=({"embed_image"}, {"embed_text"}),
    run=run,
    options={
        "iterations": (100, 1000),
        # These are no longer choices but remain part of the fingerprints of stored runs.
        "classifier": ("knn",),
        "device": ("auto",),
    },
)
