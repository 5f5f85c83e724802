"""cFreD over a grid of image and text backbones (Figures B.1-B.3 of the cFreD paper).

What depends on one backbone alone is computed once: means, covariances and the plain distance of an image backbone, the
rotation of the prompts of a text backbone. A cell adds their cross-covariance and what follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from compute.metrics.distribution.features import check_paired, feature_array, feature_rows
from compute.metrics.distribution.frechet import Cfred, Conditioning, ImageMoments, frechet, repeated_rows
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
) -> Iterator[GridCell]:
    """Every generator under every pair of backbones, cell by cell as computed: image backbones in order, texts within.

    real: image backbone to features (n, d); generated: generator to the same; condition: text backbone to features
    (n, p). Row i of each belongs to prompt i. Mappings that read on access are read one backbone at a time; beside it
    8 n p bytes a text backbone are held. Equal to `cfred` of each. `check_grid` says beforehand what does not fit.
    """
    texts = {}
    for key in condition:
        rows = feature_array(condition[key], argument=f"condition {key}")
        texts[key] = Conditioning.of(rows, argument=f"condition {key}"), repeated_rows(rows)
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


def check_grid(
    *, real: Mapping[str, Any], generated: Mapping[str, Mapping[str, Any]], condition: Mapping[str, Any]
) -> None:
    """Raises BadInput where rows or columns do not fit, or a row is not finite."""
    first_key = next(iter(real))
    first = feature_array(real[first_key], argument=f"real {first_key}")

    def checked(values: Any, argument: str) -> np.ndarray:
        array = feature_array(values, argument=argument)
        check_paired(first, array, names=(f"real {first_key}", argument))
        feature_rows(array, argument=argument)
        return array

    for key in real:
        width = checked(real[key], f"real {key}").shape[1]
        for generator, sets in generated.items():
            other = checked(sets[key], f"{generator} {key}").shape[1]
            if other != width:
                raise BadInput(f"{generator} {key} has {other} columns where real {key} has {width}")
    for key in condition:
        checked(condition[key], f"condition {key}")
