"""cFreD over a grid of image and text backbones (Figures B.1-B.3 of the cFreD paper).

What depends on one backbone alone is computed once: means, covariances and the plain distance of an image backbone, the
rotation of the prompts of a text backbone. A cell adds their cross-covariance and what follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.metrics.distribution.frechet import CUTOFF, Cfred, Conditioning, ImageMoments, frechet, repeated_rows
from compute.metrics.distribution.moments import check_paired, feature_array
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """cFreD of one generator under one image and one text backbone."""

    generator: str
    image: str
    text: str
    cfred: Cfred


def cfred_grid(
    *,
    real: Mapping[str, Any],
    generated: Mapping[str, Mapping[str, Any]],
    condition: Mapping[str, Any],
    cutoff: float = CUTOFF,
) -> Iterator[GridCell]:
    """Every generator under every pair of backbones, cell by cell as computed: image backbones in order, texts within.

    real: image backbone to features (n, d); generated: generator to the same; condition: text backbone to features
    (n, p). Row i of each belongs to prompt i. Memory-mapped features are read one image backbone at a time; beside them
    8 n p bytes a text backbone are held. Equal to `cfred` of each. Raises BadInput before the first cell.
    """
    checked = _check(real, generated, condition)
    texts = {
        key: (Conditioning.of(rows, cutoff=cutoff, argument=f"condition {key}"), repeated_rows(rows))
        for key, rows in checked.items()
    }
    return _cells(real, generated, texts)


def _cells(
    real: Mapping[str, Any], generated: Mapping[str, Mapping[str, Any]], texts: Mapping[str, tuple[Conditioning, int]]
) -> Iterator[GridCell]:
    for image, features in real.items():
        reference = ImageMoments.of(features, argument=f"real {image}")
        others = {
            generator: ImageMoments.of(sets[image], argument=f"{generator} {image}")
            for generator, sets in generated.items()
        }
        realism = {
            generator: frechet(real=reference.gaussian, generated=other.gaussian).value
            for generator, other in others.items()
        }
        for text, (conditioning, repeats) in texts.items():
            conditional = conditioning.split(reference)
            for generator, other in others.items():
                record = conditioning.compare(
                    conditional, conditioning.split(other), realism=realism[generator], repeats=repeats
                )
                yield GridCell(generator=generator, image=image, text=text, cfred=record)


def _check(
    real: Mapping[str, Any], generated: Mapping[str, Mapping[str, Any]], condition: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """The text features as arrays. Raises BadInput where backbones, rows or columns do not fit."""
    if not (real and generated and condition):
        raise BadInput("A grid needs at least one image backbone, one generator and one text backbone")
    images = {key: feature_array(values, argument=f"real {key}") for key, values in real.items()}
    texts = {key: feature_array(values, argument=f"condition {key}") for key, values in condition.items()}
    first_key, first = next(iter(images.items()))
    for key, array in images.items():
        check_paired(first, array, names=(f"real {first_key}", f"real {key}"))
    for key, array in texts.items():
        check_paired(first, array, names=(f"real {first_key}", f"condition {key}"))
    for generator, sets in generated.items():
        if set(sets) != set(images):
            raise BadInput(
                f"{generator} has features of {', '.join(sorted(sets))}, the real images of {', '.join(sorted(images))}"
                ": encode both with the same backbones"
            )
        for key, values in sets.items():
            array = feature_array(values, argument=f"{generator} {key}")
            check_paired(images[key], array, names=(f"real {key}", f"{generator} {key}"))
            if array.shape[1] != images[key].shape[1]:
                raise BadInput(
                    f"{generator} {key} has {array.shape[1]} columns where real {key} has {images[key].shape[1]}"
                )
    return texts
