"""Reference: the rule of FACTS (protocols table), item by item as MIEB's public code goes about it, in plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np

from compute.procedures.shared.sampling import many_labels, one_label


def replayed(labels: list[int], *, k: int, draws: int) -> list[list[int]]:
    """The list is shuffled where it lies by a generator started anew with 42; the first k of each label are taken."""
    order, found = list(range(len(labels))), []
    for _ in range(draws):
        np.random.RandomState(42).shuffle(order)
        seen: Counter[int] = Counter()
        found.append([])
        for item in order:
            if seen[labels[item]] < k:
                seen[labels[item]] += 1
                found[-1].append(item)
    return found


def test_one_label_as_replayed() -> None:
    rng = np.random.default_rng(3)
    for n, classes, k in ((500, 7, 16), (90, 30, 8), (2000, 100, 16), (11, 2, 4)):
        labels = rng.integers(classes, size=n) * 3 + 1
        found = one_label(labels, samples_per_label=k, draws=5)
        assert found.tolist() == replayed(labels.tolist(), k=k, draws=5)


def test_many_labels_as_replayed() -> None:
    """One generator goes on through the draws, each of which shuffles a fresh list; an item counts for all it shows."""
    rng = np.random.default_rng(5)
    table = rng.random((300, 9)) < 0.18
    rows = [np.flatnonzero(row).tolist() for row in table]
    generator, wanted = np.random.default_rng(42), []
    for _ in range(5):
        order = list(range(300))
        generator.shuffle(order)
        seen: Counter[int] = Counter()
        wanted.append([])
        for item in order:
            if any(seen[label] < 8 for label in rows[item]):
                wanted[-1].append(item)
                seen.update(rows[item])
    found = many_labels(table, samples_per_label=8, draws=5)
    assert [draw.tolist() for draw in found] == wanted
    assert all((table[draw].sum(axis=0) >= 8).all() for draw in found)
