"""Fréchet distances and cFreD extrapolated to infinitely many images, with their intervals."""

from __future__ import annotations

from dataclasses import replace

from compute.engine.generators.backbones import JOIN, LIMITED
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.metrics.distribution.extrapolation import cfred_at_infinity, frechet_at_infinity
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined


def with_limit(row: GeneratorFigure, *, features: SetFeatures) -> GeneratorFigure:
    """The figure with its value at infinite N, or with the reason why there is none among its warnings."""
    if row.value is None or row.metric not in LIMITED:
        return row
    image, _, text = row.backbone.partition(JOIN)
    real, generated = features.real(row.backbone), features.images[image][row.generator]
    try:
        if isinstance(real, CrossMoments):
            raise Undefined("no prompt can be left out of a saved reference")
        if row.metric == "cfred":
            extrapolated = cfred_at_infinity(real=real, generated=generated, condition=features.texts[text])
        else:
            extrapolated = frechet_at_infinity(real=real, generated=generated, paired=bool(features.prompts))
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No value at infinite N: {error}"))
    warnings = [*row.warnings, *extrapolated.warnings]
    if isinstance(real, Moments):
        warnings.append(f"At infinite N of the generator alone: the bias of the reference's {real.n:,} images stays")
    return replace(
        row,
        limit=extrapolated.value,
        limit_low=extrapolated.low,
        limit_high=extrapolated.high,
        warnings=tuple(dict.fromkeys(warnings)),
    )
