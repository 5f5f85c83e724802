"""Methods that preserve what the base can do on tasks that are not trained, whose accuracy falls with tuning.

The paper reports the fall (UniSim, Table 3) and leaves the remedy open. Three of the literature's are here, as pure
functions: the weights of base and tuned model interpolated after training, and two terms of the loss in training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from compute.types import BadInput, suggestion

if TYPE_CHECKING:
    from torch import Tensor

# `none`: as the paper trains. `interpolate` changes nothing in training; the others add `strength` x their term.
METHODS = ("none", "interpolate", "distill", "features")
VERSION = 3  # of the terms: a run that was begun with others does not go on
COMPARED = 64  # images of a step, or of a part of one, that a term compares with the base at most


def check(keep: str, strength: float) -> None:
    """Raises BadInput for a method that is not in METHODS, or a strength outside its bounds.

    The strength of `interpolate` is the share of the base, from 0 (the tuned model) to 1 (the base).
    """
    if keep not in METHODS:
        raise BadInput(f"Training option keep: {keep!r} is none of {', '.join(METHODS)}.{suggestion(keep, METHODS)}")
    if keep == "none" and strength:
        raise BadInput(
            f"Training option strength: {strength} of nothing, for keep is none. Add keep=METHOD, one of "
            f"{', '.join(METHODS[1:])}"
        )
    if strength < 0 or not strength < float("inf") or (keep == "interpolate" and strength > 1):
        bounds = "from 0 to 1, the base's share of the weights" if keep == "interpolate" else "0 or more"
        raise BadInput(f"Training option strength: {strength} is not {bounds}, as keep={keep} takes it")


class KnowsBase(Protocol):
    """A model in training that still gives what its base gave."""

    def base_vectors(
        self, prepared: Sequence[Mapping[str, Any]], texts: Sequence[str] = ()
    ) -> tuple[Tensor, Tensor | None]:
        """(n, d) of images and (k, d) of texts, None without any; of length 1, without gradients."""
        ...


class ImageBatch(Protocol):
    """What the terms need of a batch: its images as prepared and (n, d) by the model that is trained, and captions."""

    @property
    def base(self) -> KnowsBase: ...
    @property
    def prepared(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def images(self) -> Tensor: ...
    @property
    def stated(self) -> Sequence[str]:
        """The batch's texts but the prompt on quality, which tuning is to change."""
        ...

    @property
    def captions(self) -> Tensor | None:
        """(k, d) of these by the model that is trained; None without any."""
        ...


@dataclass(frozen=True, kw_only=True)
class Preserving:
    """The term of `distill` or `features` as the loop takes it, times its strength."""

    key: str  # of METHODS
    strength: float

    def __call__(self, batch: ImageBatch) -> Tensor:
        """The term over at most COMPARED of the batch's images, in float32 whatever the loop's precision."""
        import torch

        chosen = spread(len(batch.prepared))
        base, base_captions = batch.base.base_vectors([batch.prepared[at] for at in chosen], batch.stated)
        captions = None if batch.captions is None else (batch.captions, base_captions)
        with torch.autocast(batch.images.device.type, enabled=False):
            term = penalty(self.key, tuned=batch.images[chosen].float(), base=base.float(), captions=captions)
        if term is None:
            raise BadInput(f"keep={self.key} adds no term to the loss")
        return self.strength * term


def spread(count: int) -> list[int]:
    """At most COMPARED of `count` positions, evenly from the first to the last.

    Not every k-th: images stand in the order of their examples, so that these might all be references.
    """
    most = min(count, COMPARED)
    return [round(at * (count - 1) / max(1, most - 1)) for at in range(most)]


def penalties(keep: str, strength: float) -> list[Preserving]:
    """What `keep` adds to the loop's losses: nothing for `none` and `interpolate`, and at strength 0."""
    return [Preserving(key=keep, strength=strength)] if keep in ("distill", "features") and strength else []


def penalty(keep: str, *, tuned: Tensor, base: Tensor, captions: tuple[Tensor, Tensor] | None = None) -> Tensor | None:
    """The term that `keep` adds to the loss, before its strength; None where it adds none.

    tuned, base: (n, d) of length 1, images by the model that is trained and by the base; captions: (k, d) of length 1,
    texts by both alike, whose similarities `distill` preserves: without them those of the images with each other.
    """
    if keep == "distill":
        return similarity_distance(tuned, base) if captions is None else caption_distance(tuned, base, *captions)
    if keep == "features":
        return feature_distance(tuned, base) + (0 if captions is None else feature_distance(*captions))
    return None


def similarity_distance(tuned: Tensor, base: Tensor) -> Tensor:
    """The mean squared difference of the batch's cosines, (n, n) of tuned and of base images, without the diagonal.

    Both (n, d) of length 1; 0 of a single image, which is compared with none. The images may turn together, as the
    cosines do not change: learning without forgetting on the new tasks' own inputs (Li and Hoiem, 2016), of
    similarities (Tung and Mori, 2019, equation 4).
    """
    gap = tuned @ tuned.T - base @ base.T
    n = len(gap)
    return (gap.square().sum() - gap.diagonal().square().sum()) / max(n * (n - 1), 1)


def caption_distance(tuned: Tensor, base: Tensor, tuned_captions: Tensor, base_captions: Tensor) -> Tensor:
    """The mean squared difference of the cosines of images (n, d) with texts (k, d), by tuned and by base; length 1.

    What texts say of images stays as it was, and images may come nearer to each other in all directions in which no
    text lies: learning without forgetting (Li and Hoiem, 2016), where the texts are the old task's classes.
    """
    return (tuned @ tuned_captions.to(tuned.dtype).T - base @ base_captions.to(base.dtype).T).square().mean()


def feature_distance(tuned: Tensor, base: Tensor) -> Tensor:
    """The mean squared distance of each vector to the base's, both (n, d) of length 1; from 0 to 4.

    Small for images and texts, it also preserves their similarities. Regularisation towards the start, on features in
    place of weights (Li et al., 2018, L2-SP; Li et al., 2019, DELTA, section 3.3).
    """
    return (tuned - base).square().sum(dim=-1).mean()


def interpolated(*, base: Mapping[str, Tensor], tuned: Mapping[str, Tensor], base_share: float) -> dict[str, Tensor]:
    """Weights between the two models': `base_share` of the base, the rest of the tuned one; 0 is tuned, 1 is base.

    Any share without training again (WiSE-FT, Wortsman et al., 2022, section 3, whose alpha is 1 - `base_share`). Sums
    are taken in float32, each weight comes back in its own dtype; whole numbers are the tuned model's. Raises BadInput
    where the share is outside 0..1, or names or shapes differ.
    """
    check("interpolate", base_share)
    if unlike := sorted(base.keys() ^ tuned.keys()):
        raise BadInput(f"Weights of unlike models cannot be interpolated: only one of the two has {unlike[0]}")
    out = {}
    for name, end in tuned.items():
        start = base[name]
        if start.shape != end.shape:
            raise BadInput(f"{name}: {tuple(start.shape)} in the base, {tuple(end.shape)} in the tuned model")
        if not end.is_floating_point():
            out[name] = end.clone()
            continue
        mixed = base_share * start.float().to(end.device) + (1 - base_share) * end.float()
        out[name] = mixed.to(end.dtype)
    return out
