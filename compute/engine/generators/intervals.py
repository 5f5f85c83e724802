"""Intervals of the figures: every metric again without each block of prompts.

Where images are paired, both sides lose the same prompts. Where they are not, or where the reference is saved moments,
it is taken as fixed and the generator's images are shared out. A reference of as few images as the generator's can be
shared out too, by itself: the two variances add up. In simulated samples of 40 and 100 images a side, the interval then
holds the mean in 90 to 100%; with a fixed reference in 80 to 99%, least for density.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from compute.arrays import Bools, Floats, LazyRows
from compute.engine.generators.backbones import DISTANCES, JOIN, Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.metrics import METRICS
from compute.metrics.distribution import intervals
from compute.metrics.distribution.diversity import inception_score, vendi
from compute.metrics.distribution.frechet import cfred, frechet, streams
from compute.metrics.distribution.gaussian import Gaussian
from compute.metrics.distribution.intervals import FEWEST_BLOCKS, Blocks, LeftOut
from compute.metrics.distribution.kernel import cmmd_of_subsets, kid_of_subsets
from compute.metrics.distribution.manifold import manifold_of_subsets
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined

MOST = 20_000  # images above which metrics that compare every image with every other take a random draw
PAIRWISE = ("cmmd", "kid", "precision", "recall", "density", "coverage", "vendi")
MANIFOLDS = {("precision", "recall"): 3, ("density", "coverage"): 5}  # neighbours, as the papers of each pair take
COMPARED = (*DISTANCES, "cmmd", "kid", "precision", "recall", "density", "coverage")  # with the reference
_ROWS = {metric.key: metric for metric in METRICS}


def with_interval(
    row: GeneratorFigure, *, features: SetFeatures, chosen: Backbones, fixed_reference: bool = True
) -> GeneratorFigure:
    """The figure with its interval and the values that it comes from, or with the reason why there is none among its
    warnings. Means over images have their interval already. Without `fixed_reference` a reference that is not paired is
    a sample too."""
    if row.value is None:
        return row
    n = min(row.n, MOST) if row.metric in PAIRWISE else row.n
    paired = bool(features.prompts)
    drawn = drawn_rows(np.arange(row.n)) if n < row.n else np.arange(row.n)
    blocks = intervals.share_out(features.prompt_codes[drawn] if paired else n)
    if row.metric in features.scores and blocks.count < FEWEST_BLOCKS:
        return row
    others = []
    try:
        left = LeftOut(values=_without(row, features, blocks, paired=paired), blocks=blocks)
        if not paired and not fixed_reference and row.metric in COMPARED:
            others.append(_without_real(row, features))
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No interval: {error}"))
    figure = from_left_out(row, left, *others)
    if paired and features.moments and row.metric in COMPARED:
        # No test of differences: other runs of these prompts leave them out of the reference too.
        return replace(figure, left_out=(), block_sizes=())
    return figure


def from_left_out(row: GeneratorFigure, left: LeftOut, *others: LeftOut) -> GeneratorFigure:
    """The figure with its values without blocks of prompts and the interval that they give, within the metric's bounds.
    `others` are of independent samples. Means over images have their interval already."""
    tested = replace(row, left_out=tuple(left.values.tolist()), block_sizes=tuple(left.blocks.sizes.tolist()))
    if row.low is not None:
        return tested
    metric = _ROWS[row.metric]
    interval = intervals.interval(
        row.value,
        left,
        *others,
        lower=-np.inf if metric.lower is None else metric.lower,
        upper=np.inf if metric.upper is None else metric.upper,
    )
    if interval.low is None:
        return replace(row, warnings=(*row.warnings, f"No interval: {interval.reason}"))
    return replace(tested, low=interval.low, high=interval.high, stderr=interval.stderr)


def _without(row: GeneratorFigure, features: SetFeatures, blocks: Blocks, *, paired: bool) -> Floats:
    """(blocks,) the metric without each block of the generator's rows."""
    remaining = blocks.remaining
    if row.metric in features.scores:
        scores = features.scores[row.metric][row.generator]
        return _each(remaining, lambda rows: float(scores[rows].mean()))
    if row.metric == "inception_score":
        logits = features.logits[row.generator]
        return _each(remaining, lambda rows: inception_score(logits=logits[rows]).value)
    image, _, text = row.backbone.partition(JOIN)
    generated = features.images[image][row.generator]
    if row.metric == "cfred":
        return _without_cfred(features.real(row.backbone), generated, features.texts[text], blocks)
    if row.metric in DISTANCES:
        return _without_distance(features.real(image), generated, blocks, paired=paired)
    generated = np.asarray(drawn_rows(generated))
    if row.metric == "vendi":
        return _each(remaining, lambda at: vendi(features=generated[at]).value)
    real = drawn_rows(features.real_rows(image))
    real_kept = remaining if paired else np.ones((len(remaining), len(real)), bool)
    return _of_subsets(row.metric, real=real, generated=generated, real_kept=real_kept, generated_kept=remaining)


def _without_real(row: GeneratorFigure, features: SetFeatures) -> LeftOut:
    """The metric without each block of the reference's rows, where the generator keeps all of its own."""
    real, generated = features.real_rows(row.backbone), features.images[row.backbone][row.generator]
    if row.metric in DISTANCES:
        blocks, fixed = intervals.share_out(len(real)), Gaussian.of(generated)
        values = _each(blocks.remaining, lambda at: frechet(real=Gaussian.of(real, rows=at), generated=fixed).value)
        return LeftOut(values=values, blocks=blocks)
    real, generated = drawn_rows(real), np.asarray(drawn_rows(generated))
    blocks = intervals.share_out(len(real))
    whole = np.ones((blocks.count, len(generated)), bool)
    values = _of_subsets(row.metric, real=real, generated=generated, real_kept=blocks.remaining, generated_kept=whole)
    return LeftOut(values=values, blocks=blocks)


def _of_subsets(
    metric: str, *, real: np.ndarray, generated: np.ndarray, real_kept: Bools, generated_kept: Bools
) -> Floats:
    """(s,) a metric that compares single images, of s subsets in one pass."""
    sides = {"real": real, "generated": generated, "real_kept": real_kept, "generated_kept": generated_kept}
    if metric == "cmmd":
        return cmmd_of_subsets(**sides)
    if metric == "kid":
        return kid_of_subsets(**sides)
    k = next(k for names, k in MANIFOLDS.items() if metric in names)
    return manifold_of_subsets(**sides, k=k)[metric]


def _without_cfred(real: Any, generated: Any, condition: Any, blocks: Blocks) -> Floats:
    if isinstance(real, CrossMoments):
        raise Undefined("no prompt can be left out of a saved reference")
    if not streams(len(condition), real, generated, condition):
        return _each(
            blocks.remaining, lambda at: cfred(real=real, generated=generated, condition=condition, rows=at).value
        )
    sides = {
        name: _Shards(partial(CrossMoments.of, images=rows, condition=condition), blocks)
        for name, rows in (("real", real), ("generated", generated))
    }
    return intervals.leave_moments_out(lambda **left: cfred(**left).value, blocks, sides=sides).values


def _without_distance(real: Any, generated: Any, blocks: Blocks, *, paired: bool) -> Floats:
    fixed = Gaussian.of(real) if isinstance(real, Moments) or not paired else None
    if not streams(len(generated), generated):

        def distance(at: np.ndarray) -> float:
            others = Gaussian.of(generated, rows=at)
            return frechet(real=Gaussian.of(real, rows=at) if fixed is None else fixed, generated=others).value

        return _each(blocks.remaining, distance)
    sides = {"generated": _Shards(partial(Moments.of, generated), blocks)}
    if fixed is None:
        sides["real"] = _Shards(partial(Moments.of, real), blocks)
        return intervals.leave_moments_out(lambda **left: frechet(**left).value, blocks, sides=sides).values
    return intervals.leave_moments_out(
        lambda *, generated: frechet(real=fixed, generated=generated).value, blocks, sides=sides
    ).values


@dataclass(frozen=True)
class _Shards(Sequence[Any]):
    """The moments of each block, computed when it is read, so that one is in memory at a time."""

    of: Callable[..., Moments | CrossMoments]
    blocks: Blocks

    def __len__(self) -> int:
        return self.blocks.count

    def __getitem__(self, index: int) -> Moments | CrossMoments:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.of(rows=np.flatnonzero(self.blocks.block == index))


def _each(remaining: Bools, statistic: Callable[[np.ndarray], float]) -> Floats:
    return np.array([statistic(np.flatnonzero(rows)) for rows in remaining])


def drawn_rows(rows: np.ndarray | LazyRows) -> np.ndarray | LazyRows:
    """At most MOST rows, the same random ones of every set of one size."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
