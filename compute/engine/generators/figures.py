"""Every metric of every generator from features: values with intervals and limits, or the reason why there is none.

Intervals come from every metric again without each block of prompts. Where images are paired, both sides lose the same
prompts. Where they are not, or where the reference is saved moments, it is taken as fixed and the generator's images
are shared out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from compute.arrays import Floats, Ints, LazyRows
from compute.engine.generators import backbones
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.record import GeneratorFigure
from compute.metrics import METRICS
from compute.metrics.distribution.diversity import inception_score, vendi
from compute.metrics.distribution.extrapolation import Extrapolated, cfred_at_infinity, frechet_at_infinity
from compute.metrics.distribution.frechet import (
    Cfred,
    Conditioning,
    ImageMoments,
    cfred,
    frechet,
    repeated_rows,
    streams,
)
from compute.metrics.distribution.gaussian import Gaussian
from compute.metrics.distribution.intervals import (
    FEWEST_BLOCKS,
    Blocks,
    interval,
    leave_moments_out,
    leave_out,
    share_out,
)
from compute.metrics.distribution.kernel import cmmd, cmmd_of_subsets, kid, kid_of_subsets
from compute.metrics.distribution.manifold import manifold, manifold_of_subsets
from compute.metrics.distribution.means import mean_score
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.types import BadInput, Undefined

MOST = 20_000  # images above which metrics that compare every image with every other take a random draw
MANIFOLDS = {3: ("precision", "recall"), 5: ("density", "coverage")}  # by neighbours, as the papers of each pair take
PAIRWISE = ("cmmd", "kid", *MANIFOLDS[3], *MANIFOLDS[5], "vendi")
NO_PROMPTS = "the images have no prompts: give --prompts, or with features their condition"
_ROWS = {metric.key: metric for metric in METRICS}


@dataclass(frozen=True, kw_only=True)
class _Statistic:
    """A metric of one generator over one backbone.

    `compute` gives its record, `without` its values (blocks,) without each block of the generator's rows, `limit` its
    value at infinite N; `parts` are the fields of the record that stand beside the value.
    """

    generator: str
    metric: str
    backbone: str
    compute: Callable[[], Any]
    without: Callable[[Blocks], Floats]
    limit: Callable[[], Extrapolated] | None = None
    parts: tuple[str, ...] = ()


def figures(features: SetFeatures, *, chosen: Backbones, intervals: bool = True) -> list[GeneratorFigure]:
    """All chosen metrics that the features allow, generator by generator, in the order of METRICS."""
    made = []
    for statistic in _statistics(features, chosen):
        if statistic.metric in chosen.metrics:
            row = _value(statistic, n=features.count(statistic.generator))
            if intervals and row.value is not None:
                row = _with_limit(_with_interval(row, statistic, features), statistic)
            made.append(row)
    generators, metrics = features.generated, backbones.METRICS
    return sorted(made, key=lambda row: (generators.index(row.generator), metrics.index(row.metric)))


def _statistics(features: SetFeatures, chosen: Backbones) -> Iterator[_Statistic]:
    names = features.generated
    pairs = [(image, text) for text in chosen.text for image in chosen.cfred]
    for image, text in pairs if features.prompts else pairs[:1]:
        compare = cache(partial(_comparing, features, image, text))
        for name in names:
            yield _conditional(features, image, text, name, compare)
    for key in chosen.image:
        reference = cache(partial(_gaussian, features, key))
        for name in names:
            yield _distance(features, key, name, reference)
    for name in names if chosen.cmmd else ():
        yield _of_two(features, "cmmd", chosen.cmmd, name, cmmd, cmmd_of_subsets)
    for key in chosen.image:
        for name in names:
            yield _of_two(features, "kid", key, name, kid, kid_of_subsets)
            for k, quantities in MANIFOLDS.items():
                yield from _neighbours(features, quantities, key, name, k=k)
            yield _vendi(features, key, name)
    for name, logits in features.logits.items():
        yield _classes(logits, chosen.classes, name)
    for metric, key in chosen.scorers.items():
        for name in names:
            yield _mean(features, metric, key, name)


def _comparing(features: SetFeatures, image: str, text: str) -> Callable[[Any], Cfred]:
    """cFreD of a generator's features with the reference; what depends on the reference alone is computed once."""
    if not features.prompts:
        raise Undefined(NO_PROMPTS)
    real, condition = features.real(backbones.subset(image, text)), features.texts[text]
    if not isinstance(real, CrossMoments) and streams(len(condition), real, condition):
        real = CrossMoments.of(images=real, condition=condition, argument="real")
    if isinstance(real, CrossMoments):
        return lambda images: cfred(real=real, generated=images, condition=condition)
    conditioning, repeats = Conditioning.of(condition), repeated_rows(condition)
    reference = conditioning.split(ImageMoments.of(real, argument="real"))

    def compare(images: Any) -> Cfred:
        generated = conditioning.split(ImageMoments.of(images, argument="generated"))
        return conditioning.compare(reference, generated, repeats=repeats)

    return compare


def _conditional(
    features: SetFeatures, image: str, text: str, name: str, compare: Callable[[], Callable[[Any], Cfred]]
) -> _Statistic:
    key = backbones.subset(image, text)

    def sides() -> dict[str, Any]:
        real = features.real(key)
        if isinstance(real, CrossMoments):
            raise Undefined("no prompt can be left out of a saved reference")
        return {"real": real, "generated": features.images[image][name], "condition": features.texts[text]}

    def without(blocks: Blocks) -> Floats:
        real, generated, condition = sides().values()
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

    return _Statistic(
        generator=name,
        metric="cfred",
        backbone=key,
        compute=lambda: compare()(features.images[image][name]),
        without=without,
        limit=lambda: cfred_at_infinity(**sides()),
        parts=("means", "cross", "conditional", "realism", "fidelity", "cutoff", "rank"),
    )


def _gaussian(features: SetFeatures, key: str) -> Gaussian:
    return Gaussian.of(features.real(key), argument="real")


def _distance(features: SetFeatures, key: str, name: str, reference: Callable[[], Gaussian]) -> _Statistic:
    def without(blocks: Blocks) -> Floats:
        real, generated = features.real(key), features.images[key][name]
        fixed = reference() if isinstance(real, Moments) or not features.prompts else None
        if not streams(len(generated), generated):

            def distance(rows: Ints) -> float:
                left = Gaussian.of(real, rows=rows) if fixed is None else fixed
                return frechet(real=left, generated=Gaussian.of(generated, rows=rows)).value

            return leave_out(distance, blocks)
        sides = {"generated": partial(Moments.of, generated)} | ({} if fixed else {"real": partial(Moments.of, real)})
        return leave_moments_out(lambda **left: frechet(**{"real": fixed, **left}).value, blocks, **sides)

    def limit() -> Extrapolated:
        real = features.real(key)
        found = frechet_at_infinity(real=real, generated=features.images[key][name], paired=bool(features.prompts))
        if not isinstance(real, Moments):
            return found
        bias = f"At infinite N of the generator alone: the bias of the reference's {real.n:,} images stays"
        return replace(found, warnings=(*found.warnings, bias))

    return _Statistic(
        generator=name,
        metric=backbones.distance(key),
        backbone=key,
        compute=lambda: frechet(real=reference(), generated=features.images[key][name]),
        without=without,
        limit=limit,
        parts=("means", "covariances"),
    )


def _of_two(
    features: SetFeatures,
    metric: str,
    key: str,
    name: str,
    compute: Callable[..., Any],
    of_subsets: Callable[..., Floats],
    parts: tuple[str, ...] = (),
) -> _Statistic:
    """A metric that compares single images with the reference's: `of_subsets` computes it of marked rows."""

    def without(blocks: Blocks) -> Floats:
        rows = _both(features, key, name)
        real_kept = blocks.remaining if features.prompts else np.ones((blocks.count, len(rows["real"])), bool)
        return of_subsets(**rows, real_kept=real_kept, generated_kept=blocks.remaining)

    return _Statistic(
        generator=name,
        metric=metric,
        backbone=key,
        compute=lambda: compute(**_both(features, key, name)),
        without=without,
        parts=parts,
    )


def _both(features: SetFeatures, key: str, name: str) -> dict[str, Any]:
    return {"real": drawn_rows(features.real_rows(key)), "generated": drawn_rows(features.images[key][name])}


def _neighbours(
    features: SetFeatures, quantities: tuple[str, ...], key: str, name: str, *, k: int
) -> Iterator[_Statistic]:
    shares = cache(lambda: manifold(**_both(features, key, name), k=k))  # all quantities at once
    for quantity in quantities:
        one = _of_two(
            features,
            quantity,
            key,
            name,
            manifold,
            lambda quantity=quantity, **sides: manifold_of_subsets(**sides, k=k)[quantity],
            parts=("k",),
        )
        yield replace(one, compute=lambda quantity=quantity: getattr(shares(), quantity))


def _vendi(features: SetFeatures, key: str, name: str) -> _Statistic:
    def without(blocks: Blocks) -> Floats:
        rows = np.asarray(drawn_rows(features.images[key][name]))
        return leave_out(lambda left: vendi(features=rows[left]).value, blocks)

    return _Statistic(
        generator=name,
        metric="vendi",
        backbone=key,
        compute=lambda: vendi(features=drawn_rows(features.images[key][name])),
        without=without,
        parts=("order",),
    )


def _classes(logits: np.ndarray, key: str, name: str) -> _Statistic:
    return _Statistic(
        generator=name,
        metric="inception_score",
        backbone=key,
        compute=lambda: inception_score(logits=logits),
        without=partial(leave_out, lambda rows: inception_score(logits=logits[rows]).value),
    )


def _mean(features: SetFeatures, metric: str, key: str, name: str) -> _Statistic:
    def scores() -> Floats:
        if metric not in features.scores:
            raise Undefined(NO_PROMPTS)
        return features.scores[metric][name]

    return _Statistic(
        generator=name,
        metric=metric,
        backbone=key,
        compute=lambda: mean_score(scores=scores(), prompts=features.prompt_codes if features.prompts else None),
        without=partial(leave_out, lambda rows: float(scores()[rows].mean())),
    )


def _value(statistic: _Statistic, *, n: int) -> GeneratorFigure:
    """The figure that a statistic gives, or why there is none."""
    empty = GeneratorFigure(
        generator=statistic.generator, metric=statistic.metric, backbone=statistic.backbone, value=None, n=n
    )
    try:
        record = statistic.compute()
    except (BadInput, Undefined) as error:
        return replace(empty, reason=str(error))
    value = float(record.value)
    if not np.isfinite(value):
        return replace(empty, reason="the value is not finite")
    warnings = tuple(record.warnings)
    if statistic.metric in PAIRWISE and n > MOST:
        warnings += (f"Computed on {MOST:,} of the images, drawn at random: its cost grows with their square",)
    return replace(
        empty,
        value=value,
        low=getattr(record, "low", None),
        high=getattr(record, "high", None),
        stderr=getattr(record, "stderr", None),
        parts={name: float(getattr(record, name)) for name in statistic.parts},
        warnings=warnings,
    )


def _with_interval(row: GeneratorFigure, statistic: _Statistic, features: SetFeatures) -> GeneratorFigure:
    """The figure with its interval and the values that it comes from, or with the reason why there is none among its
    warnings. Means over images have their interval already."""
    paired = bool(features.prompts)
    rows = drawn_rows(np.arange(row.n)) if row.metric in PAIRWISE else np.arange(row.n)
    blocks = share_out(features.prompt_codes[rows] if paired else len(rows))
    if row.metric in features.scores and blocks.count < FEWEST_BLOCKS:
        return row
    try:
        values = statistic.without(blocks)
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No interval: {error}"))
    tested = row
    if not (paired and features.moments and row.metric in backbones.DISTANCES):
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


def _with_limit(row: GeneratorFigure, statistic: _Statistic) -> GeneratorFigure:
    """The figure with its value at infinite N, or with the reason why there is none among its warnings."""
    if statistic.limit is None:
        return row
    try:
        found = statistic.limit()
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No value at infinite N: {error}"))
    return replace(
        row,
        limit=found.value,
        limit_low=found.low,
        limit_high=found.high,
        warnings=tuple(dict.fromkeys((*row.warnings, *found.warnings))),
    )


def drawn_rows(rows: np.ndarray | LazyRows) -> np.ndarray | LazyRows:
    """At most MOST rows, the same random ones of every set of one size."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
