"""One of k: who is picked, what that is worth, and by what margin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.arrays import Bools, Floats
from compute.procedures.evidence import Evidence
from compute.types import LETTERS


def credit(scores: NDArray[np.floating], right: Bools) -> Floats:
    """What picking the best of each row is worth: (..., k) scores and which are right -> (...,) in 0..1.

    Exactly equal best scores share the pick, as a fair draw among them would on average: no position is favoured. That
    differs from an arg max, which gives a tie to whichever stands first.
    """
    best = scores == scores.max(axis=-1, keepdims=True)
    return (best & right).sum(axis=-1) / best.sum(axis=-1)


def is_shared(worth: Floats) -> Bools:
    """Whether a pick of this worth, as `credit` gives it, is shared by right and wrong candidates."""
    return (worth > 0) & (worth < 1)


def margin(scores: NDArray[np.floating], right: Bools) -> Floats:
    """Best right score less best wrong one: negative where the pick is wrong, 0 for a tie."""
    good = np.where(right, scores, -np.inf).max(axis=-1)
    bad = np.where(right, -np.inf, scores).max(axis=-1)
    return np.subtract(good, bad, out=np.zeros(good.shape), where=good != bad)


def one_hot(right: NDArray[np.integer], k: int) -> Bools:
    """(n,) positions as (n, k) truth values."""
    return np.asarray(right)[:, None] == np.arange(k)


def picked(scores: NDArray[np.floating]) -> list[str]:
    """The letters of each row's best: `B`, or `A/C` where two are equal."""
    best = scores == scores.max(axis=-1, keepdims=True)
    return ["/".join(LETTERS[at] for at in np.flatnonzero(row)) for row in best]


def evidence(
    *, names: Sequence[str], right: NDArray[np.integer], scores: Floats, details: Sequence[dict[str, Any]]
) -> Evidence:
    """One row an item from scores (n, k) and the right positions (n,)."""
    hot = one_hot(right, scores.shape[1])
    worth = credit(scores, hot)
    return Evidence.of(
        settings={"tied": int(is_shared(worth).sum())},
        names=names,
        expected=[LETTERS[at] for at in right.tolist()],
        answer=picked(scores),
        worth=worth,
        value=margin(scores, hot),
        figures={"accuracy": worth},
        detail=[detail | {"scores": row} for detail, row in zip(details, scores.tolist(), strict=True)],
    )
