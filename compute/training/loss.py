"""What tuning lowers: the paper's hinge, and a term that keeps the similarities of the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

COMPARED = 64  # images of a step that are compared with the base, at most


def hinge(reference: Tensor, first: Tensor, second: Tensor, *, preferred: Tensor, margin: float) -> Tensor:
    """(n,) losses of equation 1: max(0, (2y - 1)(sim(reference, first) - sim(reference, second)) + margin).

    `reference`, `first`, `second`: (n, d) embeddings of length 1, so that sim is their cosine; `preferred`: (n,) the
    preferred index y, 0 or 1. It is 0 where the preferred alternative wins by the margin or more.
    """
    difference = (reference * first).sum(dim=-1) - (reference * second).sum(dim=-1)
    return ((2 * preferred - 1) * difference + margin).clamp(min=0)


def distance(tuned: Tensor, base: Tensor, captions: tuple[Tensor, Tensor] | None = None) -> Tensor:
    """The mean squared difference of cosines by the tuned model and by its base: of images (n, d) with captions (k, d),
    both pairs of tuned and base, or without captions of the images with each other. Vectors have length 1.

    What texts say of images stays as it was, and images may come nearer to each other in all directions in which no
    text lies: learning without forgetting on the new tasks' own inputs (Li and Hoiem, 2016), where the texts are the
    old task's classes. Images alone may turn together: similarities are kept (Tung and Mori, 2019, equation 4).
    """
    if captions is not None:
        return (tuned @ captions[0].T - base @ captions[1].T).square().mean()
    gap = tuned @ tuned.T - base @ base.T
    n = len(gap)
    return (gap.square().sum() - gap.diagonal().square().sum()) / max(n * (n - 1), 1)


def spread(count: int) -> list[int]:
    """At most COMPARED of `count` positions, evenly from the first to the last.

    Not every k-th: images are in the order of their examples, so that these might all be references.
    """
    most = min(count, COMPARED)
    return [round(at * (count - 1) / max(1, most - 1)) for at in range(most)]
