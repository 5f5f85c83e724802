"""Made-up judges (synthetic) for tests: evidence of both conditions, a row a pair, three pairs a source."""

import numpy as np
import pandas as pd

GOOD, POOR = (9.5, 7.8, 1.5), (7.0, 6.5, 5.0)  # mean scores by pair type


def expected(condition, sources):
    return np.tile([10, 8 if condition == "sensitive" else 10, 1], sources)


def frame(*, expected, forward, reverse):
    """Evidence of three pairs a source."""
    return pd.DataFrame(
        {
            "expected_score": expected,
            "forward": np.broadcast_to(np.asarray(forward, float), expected.shape),
            "reverse": np.broadcast_to(np.asarray(reverse, float), expected.shape),
            "source": [f"photo {row // 3}" for row in range(len(expected))],
        }
    )


def noisy(rng, *, sources, means=GOOD, invalid=0.03, lean=0.0):
    """Rounded normal scores around `means`, with effects that a source's pairs, and a pair's two orders, share.

    `lean` is added to the forward order; a share of answers is `invalid`.
    """
    of_source, evidence = rng.normal(size=(sources, 1, 1)), {}
    for condition in ("sensitive", "invariant"):
        scores = np.array(means)[None, :, None] + of_source
        scores = scores + 0.7 * rng.normal(size=(sources, 3, 2)) + 0.7 * rng.normal(size=(sources, 3, 1))
        scores[:, :, 0] += lean
        scores = np.clip(np.rint(scores), 1, 10)
        scores[rng.random(scores.shape) < invalid] = np.nan
        evidence[condition] = frame(
            expected=expected(condition, sources), forward=scores[:, :, 0].ravel(), reverse=scores[:, :, 1].ravel()
        )
    return evidence
