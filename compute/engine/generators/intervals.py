"""Intervals of the figures: every metric again without each block of prompts.

Where images are paired, both sides lose the same prompts. Where they are not, the reference is taken as fixed and the
generator's images are shared out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from compute.arrays import Bools, Floats
from compute.engine.generators.backbones import DISTANCES, JOIN, Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.metrics import METRICS
from compute.metrics.distribution import intervals
from compute.metrics.distribution.diversity import inception_score, vendi
from compute.metrics.distribution.frechet import cfred, frechet
from compute.metrics.distribution.intervals import LeftOut
from compute.metrics.distribution.kernel import cmmd_of_subsets, kid_of_subsets
from compute.metrics.distribution.manifold import manifold_of_subsets
from compute.types import BadInput, Undefined

MOST = 20_000  # images above which metrics that compare every image with every other take a random draw
PAIRWISE = ("cmmd", "kid", "precision", "recall", "density", "coverage", "vendi")
FEWEST_BLOCKS = 3  # that tell the error of a difference
MANIFOLDS = {("precision", "recall"): 3, ("density", "coverage"): 5}  # neighbours, as the papers of each pair take
_ROWS = {metric.key: metric for metric in METRICS}


def with_interval(row: GeneratorFigure, *, features: SetFeatures, chosen: Backbones) -> GeneratorFigure:
    """The figure with its interval and the values that it comes from, or with the reason why there is none among its
    warnings. Means over images have their interval already."""
    if row.value is None:
        return row
    n = min(row.n, MOST) if row.metric in PAIRWISE else row.n
    paired = bool(features.prompts)
    drawn = drawn_rows(np.arange(row.n)) if n < row.n else np.arange(row.n)
    blocks = intervals.share_out([features.prompts[at] for at in drawn] if paired else n)
    scored = row.metric in features.scores
    if scored and blocks.count < FEWEST_BLOCKS:
        return row
    try:
        left = LeftOut(values=_without(row, features, blocks.kept, paired=paired), blocks=blocks)
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No interval: {error}"))
    tested = replace(row, left_out=tuple(left.values.tolist()), block_sizes=tuple(blocks.sizes.tolist()))
    if scored:
        return tested
    metric = _ROWS[row.metric]
    bounds = (
        -np.inf if metric.lower is None else metric.lower,
        np.inf if metric.upper is None else metric.upper,
    )
    found = intervals.interval(row.value, left, lower=bounds[0], upper=bounds[1])
    if found.low is None:
        return replace(row, warnings=(*row.warnings, f"No interval: {found.reason}"))
    return replace(tested, low=found.low, high=found.high, stderr=found.stderr)


def _without(row: GeneratorFigure, features: SetFeatures, kept: Bools, *, paired: bool) -> Floats:
    """(blocks,) the metric without each block; `kept` (blocks, n) marks the generator's rows that remain."""
    if row.metric in features.scores:
        scores = features.scores[row.metric][row.generator]
        return _each(kept, lambda rows: float(scores[rows].mean()))
    if row.metric == "inception_score":
        logits = features.logits[row.generator]
        return _each(kept, lambda rows: inception_score(logits=logits[rows]).value)
    image, _, text = row.backbone.partition(JOIN)
    sets: Mapping[str, np.ndarray] = features.images[image]
    real, generated = sets[features.reference], sets[row.generator]
    if row.metric == "cfred":
        condition = features.texts[text]
        return _each(kept, lambda at: cfred(real=real[at], generated=generated[at], condition=condition[at]).value)
    if row.metric in DISTANCES:
        return _each(kept, lambda at: frechet(real=real[at] if paired else real, generated=generated[at]).value)
    real, generated = drawn_rows(real), drawn_rows(generated)
    if row.metric == "vendi":
        return _each(kept, lambda at: vendi(features=generated[at]).value)
    sides = {
        "real": real,
        "generated": generated,
        "real_kept": kept if paired else np.ones((len(kept), len(real)), bool),
        "generated_kept": kept,
    }
    if row.metric == "cmmd":
        return cmmd_of_subsets(**sides)
    if row.metric == "kid":
        return kid_of_subsets(**sides)
    k = next(k for names, k in MANIFOLDS.items() if row.metric in names)
    return manifold_of_subsets(**sides, k=k)[row.metric]


def _each(kept: Bools, statistic: Callable[[np.ndarray], float]) -> Floats:
    return np.array([statistic(np.flatnonzero(rows)) for rows in kept])


def drawn_rows(rows: np.ndarray) -> np.ndarray:
    """At most MOST rows, the same random ones of every set of one size."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
