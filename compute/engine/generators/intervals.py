"""Intervals of the figures, from every metric again without each block of prompts, and their values at infinite N.

Where images are paired, both sides lose the same prompts. Where they are not, or where the reference is saved moments,
it is taken as fixed and the generator's images are shared out.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats, LazyRows
from compute.engine.generators.backbones import DISTANCES, JOIN, LIMITED
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.metrics import METRICS
from compute.metrics.distribution.diversity import inception_score, vendi
from compute.metrics.distribution.extrapolation import cfred_at_infinity, frechet_at_infinity
from compute.metrics.distribution.frechet import cfred, frechet, streams
from compute.metrics.distribution.gaussian import Gaussian
from compute.metrics.distribution.intervals import (
    FEWEST_BLOCKS,
    Blocks,
    interval,
    leave_moments_out,
    leave_out,
    share_out,
)
from compute.metrics.distribution.kernel import cmmd_of_subsets, kid_of_subsets
from compute.metrics.distribution.manifold import manifold_of_subsets
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined

MOST = 20_000  # images above which metrics that compare every image with every other take a random draw
PAIRWISE = ("cmmd", "kid", "precision", "recall", "density", "coverage", "vendi")
MANIFOLDS = {("precision", "recall"): 3, ("density", "coverage"): 5}  # neighbours, as the papers of each pair take
COMPARED = (*DISTANCES, "cmmd", "kid", "precision", "recall", "density", "coverage")  # with the reference
_ROWS = {metric.key: metric for metric in METRICS}


def with_interval(row: GeneratorFigure, *, features: SetFeatures) -> GeneratorFigure:
    """The figure with its interval and the values that it comes from, or with the reason why there is none among its
    warnings. Means over images have their interval already."""
    if row.value is None:
        return row
    paired = bool(features.prompts)
    rows = drawn_rows(np.arange(row.n)) if row.metric in PAIRWISE else np.arange(row.n)
    blocks = share_out(features.prompt_codes[rows] if paired else len(rows))
    if row.metric in features.scores and blocks.count < FEWEST_BLOCKS:
        return row
    try:
        values = _without(row, features, blocks, paired=paired)
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No interval: {error}"))
    tested = row
    if not (paired and features.moments and row.metric in COMPARED):
        # Else no test of differences: other runs of these prompts leave them out of the reference too.
        tested = replace(row, left_out=tuple(values.tolist()), block_sizes=tuple(blocks.sizes.tolist()))
    if row.low is not None:
        return tested
    metric = _ROWS[row.metric]
    found = interval(
        row.value,
        values,
        blocks,
        lower=-np.inf if metric.lower is None else metric.lower,
        upper=np.inf if metric.upper is None else metric.upper,
    )
    if found.reason:
        return replace(row, warnings=(*row.warnings, f"No interval: {found.reason}"))
    return replace(tested, low=found.low, high=found.high, stderr=found.stderr)


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


def _without(row: GeneratorFigure, features: SetFeatures, blocks: Blocks, *, paired: bool) -> Floats:
    """(blocks,) the metric without each block of the generator's rows."""
    if row.metric in features.scores:
        scores = features.scores[row.metric][row.generator]
        return leave_out(lambda rows: float(scores[rows].mean()), blocks)
    if row.metric == "inception_score":
        logits = features.logits[row.generator]
        return leave_out(lambda rows: inception_score(logits=logits[rows]).value, blocks)
    image, _, text = row.backbone.partition(JOIN)
    generated = features.images[image][row.generator]
    if row.metric == "cfred":
        return _without_cfred(features.real(row.backbone), generated, features.texts[text], blocks)
    if row.metric in DISTANCES:
        return _without_distance(features.real(image), generated, blocks, paired=paired)
    generated = np.asarray(drawn_rows(generated))
    if row.metric == "vendi":
        return leave_out(lambda rows: vendi(features=generated[rows]).value, blocks)
    real = drawn_rows(features.real_rows(image))
    real_kept: Bools = blocks.remaining if paired else np.ones((blocks.count, len(real)), bool)
    sides = {"real": real, "generated": generated, "real_kept": real_kept, "generated_kept": blocks.remaining}
    if row.metric == "cmmd":
        return cmmd_of_subsets(**sides)
    if row.metric == "kid":
        return kid_of_subsets(**sides)
    k = next(k for names, k in MANIFOLDS.items() if row.metric in names)
    return manifold_of_subsets(**sides, k=k)[row.metric]


def _without_cfred(real: Any, generated: Any, condition: Any, blocks: Blocks) -> Floats:
    if isinstance(real, CrossMoments):
        raise Undefined("no prompt can be left out of a saved reference")
    if not streams(len(condition), real, generated, condition):
        return leave_out(
            lambda rows: cfred(real=real, generated=generated, condition=condition, rows=rows).value, blocks
        )
    return leave_moments_out(
        lambda **left: cfred(**left).value,
        blocks,
        real=partial(CrossMoments.of, images=real, condition=condition),
        generated=partial(CrossMoments.of, images=generated, condition=condition),
    )


def _without_distance(real: Any, generated: Any, blocks: Blocks, *, paired: bool) -> Floats:
    fixed = Gaussian.of(real) if isinstance(real, Moments) or not paired else None
    if not streams(len(generated), generated):

        def distance(rows: np.ndarray) -> float:
            reference = Gaussian.of(real, rows=rows) if fixed is None else fixed
            return frechet(real=reference, generated=Gaussian.of(generated, rows=rows)).value

        return leave_out(distance, blocks)
    sides = {"generated": partial(Moments.of, generated)} | ({} if fixed else {"real": partial(Moments.of, real)})
    return leave_moments_out(lambda **left: frechet(**{"real": fixed, **left}).value, blocks, **sides)


def drawn_rows(rows: np.ndarray | LazyRows) -> np.ndarray | LazyRows:
    """At most MOST rows, the same random ones of every set of one size."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
