"""Reference: a plain sort of each query's documents by falling score, then by precedence."""

import numpy as np
import pytest
import torch

from compute.procedures import retrieval


def plain(scores, precedence, depth, gone):
    return [
        sorted(np.flatnonzero(~gone[query]), key=lambda document: (-row[document], precedence[document]))[:depth]
        for query, row in enumerate(scores)
    ]


def searched(scores, precedence, depth, block, ignored=None):
    return list(
        retrieval.search(
            lambda rows, columns: torch.from_numpy(scores[rows, columns].copy()),
            queries=len(scores),
            documents=scores.shape[1],
            depth=depth,
            precedence=precedence,
            ignored=ignored,
            block=block,
        )
    )


@pytest.mark.parametrize("seed", range(12))
def test_it_is_the_plain_sort_whatever_the_blocks(seed):
    """Few values, both signs and both zeros: most documents tie with others, within and across blocks."""
    rng = np.random.default_rng(seed)
    queries, documents, depth = (int(rng.integers(1, most)) for most in (20, 120, 130))
    scores = (rng.integers(-4, 5, (queries, documents)) / rng.choice([1, 3, 7])).astype(np.float32)
    scores *= rng.choice([1, -1], scores.shape)  # -0.0 beside 0.0
    precedence = rng.permutation(documents)
    gone = rng.random(scores.shape) < rng.choice([0, 0.1, 0.9])
    block = int(rng.integers(1, 9)), int(rng.integers(1, 60))
    found = searched(scores, precedence, depth, block, np.nonzero(gone))
    documents_found, scores_found = (np.concatenate(parts) for parts in list(zip(*found, strict=True))[1:])
    for query, wanted in enumerate(plain(scores, precedence, depth, gone)):
        row = documents_found[query]
        assert row[row >= 0].tolist() == wanted
        assert (row[len(wanted) :] == -1).all() and (scores_found[query, len(wanted) :] == -np.inf).all()
        assert scores_found[query, : len(wanted)].tolist() == scores[query, wanted].tolist()


def test_later_blocks_of_which_little_enters():
    """Enough documents that later blocks are picked over, not sorted; ten equal values straddle the last place kept."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((5, 4000)).astype(np.float32)
    scores[:, rng.permutation(4000)[:200]] = np.float32(2.0)
    precedence = rng.permutation(4000)
    found = searched(scores, precedence, 150, (5, 500))
    assert np.concatenate([documents for _, documents, _ in found]).tolist() == plain(
        scores, precedence, 150, np.zeros(scores.shape, dtype=bool)
    )
