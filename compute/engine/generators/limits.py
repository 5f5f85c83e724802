"""Fréchet distances and cFreD extrapolated to infinitely many images, with their intervals."""

from __future__ import annotations

from dataclasses import replace

from compute.engine.generators.backbones import DISTANCES, JOIN
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.metrics.distribution.extrapolation import cfred_at_infinity, frechet_at_infinity
from compute.types import BadInput, Undefined


def with_limit(row: GeneratorFigure, *, features: SetFeatures) -> GeneratorFigure:
    """The figure with its value at infinite N, or with the reason why there is none among its warnings."""
    if row.value is None or row.metric not in (*DISTANCES, "cfred"):
        return row
    image, _, text = row.backbone.partition(JOIN)
    sets = features.images[image]
    real, generated = sets[features.reference], sets[row.generator]
    try:
        if row.metric == "cfred":
            found = cfred_at_infinity(real=real, generated=generated, condition=features.texts[text])
        else:
            found = frechet_at_infinity(real=real, generated=generated)
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No value at infinite N: {error}"))
    return replace(
        row,
        limit=found.value,
        limit_low=found.low,
        limit_high=found.high,
        warnings=tuple(dict.fromkeys((*row.warnings, *found.warnings))),
    )
