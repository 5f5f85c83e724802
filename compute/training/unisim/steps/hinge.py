"""The loss of UniSim (section 3.3, equation 1): the preferred alternative must win by a margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def hinge(reference: Tensor, first: Tensor, second: Tensor, *, preferred: Tensor, margin: float) -> Tensor:
    """(n,) losses: max(0, (2y - 1)(sim(reference, first) - sim(reference, second)) + margin), y the preferred index.

    `reference`, `first`, `second`: (n, d) embeddings of length 1, so that sim is their cosine; `preferred`: (n,) of 0,
    the first alternative, or 1, the second. It is 0 where the preferred alternative wins by the margin or more.
    """
    difference = (reference * first).sum(dim=-1) - (reference * second).sum(dim=-1)
    return ((2 * preferred - 1) * difference + margin).clamp(min=0)
