"""Which training items each draw of a few-shot probe takes; after MIEB's public code (FACTS, protocols table).

Everything is decided on labels alone, so that only the items of the draws need to be encoded.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Bools, Ints

SEED = 42


def one_label(labels: NDArray[np.integer], *, samples_per_label: int, draws: int, seed: int = SEED) -> Ints:
    """Positions (draws, m) of the first `samples_per_label` items of each label, in shuffled order.

    `labels` (n,) int. Every draw shuffles the list that the one before left behind, with the same generator started
    anew, so draws are not independent. A label with fewer items gives all it has.
    """
    order = np.arange(len(labels))
    samples = []
    for _ in range(draws):
        np.random.RandomState(seed).shuffle(order)
        samples.append(order[_rank_within(labels[order]) < samples_per_label])
    return np.stack(samples)


def many_labels(labels: Bools, *, samples_per_label: int, draws: int, seed: int = SEED) -> list[Ints]:
    """Positions of each draw: an item is taken while any of its labels has fewer than `samples_per_label`.

    `labels` (n, classes) bool. One generator goes on through all draws; each shuffles the list in its first order.
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
    """For each item, how many with its label stand before it."""
    by_label = np.argsort(labels, kind="stable")
    sorted_labels = labels[by_label]
    rank = np.empty(len(labels), dtype=np.int64)
    rank[by_label] = np.arange(len(labels)) - np.searchsorted(sorted_labels, sorted_labels)
    return rank
