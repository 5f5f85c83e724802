"""Made-up embeddings of classes that are hard to tell apart: a falling spectrum and an offset, as real ones have."""

import numpy as np


def hard(*, classes, each, width, test, noise=4.0, scale=1.0, seed=0):
    """`each` training items a class and so many others, (n, d) float32, each with their labels; `noise` is the spread
    within a class over that between classes."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, width + 1) ** -0.7
    centres, offset = rng.normal(size=(classes, width)), 2 * rng.normal(size=width)

    def items(labels):
        found = centres[labels] + noise * rng.normal(size=(len(labels), width)) + offset
        return (scale * found * spectrum).astype(np.float32), labels

    labels = rng.permutation(np.repeat(np.arange(classes), each))
    asked = rng.integers(classes, size=test)
    return items(labels), items(asked)
