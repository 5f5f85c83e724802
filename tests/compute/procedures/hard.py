"""Made-up embeddings of classes that are hard to tell apart: a falling spectrum and an offset, as real ones have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Hard:
    train: np.ndarray  # (n, d) float32
    train_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray


def hard(
    *,
    classes,
    each,
    width,
    test,
    noise=4.0,
    scale=1.0,
    seed=0,
):
    """`each` training items a class; `noise` is the spread within a class over that between classes."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, width + 1) ** -0.7
    centres, offset = rng.normal(size=(classes, width)), 2 * rng.normal(size=width)

    def items(labels):
        found = centres[labels] + noise * rng.normal(size=(len(labels), width)) + offset
        return (scale * found * spectrum).astype(np.float32)

    labels = rng.permutation(np.repeat(np.arange(classes), each))
    asked = rng.integers(classes, size=test)
    return Hard(train=items(labels), train_labels=labels, test=items(asked), test_labels=asked)
