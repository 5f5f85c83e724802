"""Where two images agree according to a model: which patches of each are most similar to which of the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from compute.analysis.maps import patches as patch_map
from compute.live.inputs import Input
from compute.live.models.subject import LiveSubject
from compute.models.encoders.framing import Seen
from compute.types import BadInput, CannotDo


@dataclass(frozen=True, kw_only=True, eq=False)
class PatchMap:
    """Two grids of patches and how similar each two are, among all pairs of these two images.

    `ranks` [first, second], 0..1: the share of all pairs of patches that are less similar; patches row by row.
    """

    first: tuple[int, int]  # rows and columns
    second: tuple[int, int]
    ranks: NDArray[np.float32]
    cosines: tuple[float, float]  # lowest and highest: ranks show an order even where nothing differs
    seen: tuple[Seen, Seen]  # which part of each image its grid covers


def agree(subject: LiveSubject, *, first: Input, second: Input) -> PatchMap:
    """The map of two images. Raises BadInput for a text, CannotDo where the model has no patch tokens."""
    for image in (first, second):
        if image.modality != "image":
            raise BadInput(f"{image.name} is a text: a map needs two images")
    if not hasattr(subject.model, "patches"):
        raise CannotDo("it has no patch tokens. Choose another model for a map")
    grids = [patch_map.reduced(grid=subject.model.patches(image.content)) for image in (first, second)]
    cosines = patch_map.similarities(first=grids[0], second=grids[1])
    return PatchMap(
        first=grids[0].shape[:2],
        second=grids[1].shape[:2],
        cosines=(float(cosines.min()), float(cosines.max())),
        ranks=patch_map.contrast(similarities=cosines).astype(np.float32),
        seen=(subject.model.seen(first.content), subject.model.seen(second.content)),
    )
