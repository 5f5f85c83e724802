"""Every metric of every generator from features: values with intervals, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from compute.engine.generators import backbones
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.metrics.distribution.frechet import (
    Cfred,
    ConditionalMoments,
    Conditioning,
    Frechet,
    ImageMoments,
    frechet,
    repeated_rows,
)
from compute.metrics.distribution.gaussian import Gaussian
from compute.types import BadInput, Undefined


@dataclass(frozen=True, kw_only=True)
class GeneratorFigure:
    """One metric of one generator over one backbone; `value` None where undefined, with the `reason`.

    `low` to `high` is a 95% interval over images or prompts; `limit` the value extrapolated to infinitely many images,
    with its own interval. `parts` are what the metric reports beside its value.
    """

    generator: str
    metric: str
    backbone: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    stderr: float | None = None
    limit: float | None = None
    limit_low: float | None = None
    limit_high: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    reason: str = ""


def figures(features: SetFeatures, *, roster: Backbones) -> list[GeneratorFigure]:
    """All metrics of the roster that the features allow, generator by generator in the order of the roster."""
    rows = [*_conditional(features, roster), *_distances(features, roster)]
    order = {name: at for at, name in enumerate(features.generated)}
    metrics = {name: at for at, name in enumerate(backbones.METRICS)}
    wanted = [row for row in rows if row.metric in roster.metrics]
    return sorted(wanted, key=lambda row: (order[row.generator], metrics[row.metric]))


def _distances(features: SetFeatures, roster: Backbones) -> Iterator[GeneratorFigure]:
    for key in roster.image:
        if key not in features.images:
            continue
        sets, metric = features.images[key], backbones.distance(key)
        reference = _attempt(partial(Gaussian.of, sets[features.reference], ddof=1, argument="real"))
        for name in features.generated:
            yield _figure(
                name,
                metric,
                key,
                len(sets[name]),
                partial(_frechet, reference, sets[name]),
                parts=("means", "covariances"),
            )


def _conditional(features: SetFeatures, roster: Backbones) -> Iterator[GeneratorFigure]:
    for text in roster.text:
        if text not in features.texts:
            continue
        condition = features.texts[text]
        conditioning = _attempt(partial(Conditioning.of, condition))
        repeats = repeated_rows(condition)
        for image in roster.cfred:
            if image not in features.images:
                continue
            sets = features.images[image]
            reference = _attempt(partial(_split, conditioning, sets[features.reference], "real"))
            for name in features.generated:
                yield _figure(
                    name,
                    "cfred",
                    backbones.subset(image, text),
                    len(condition),
                    partial(_cfred, conditioning, reference, sets[name], repeats),
                    parts=("means", "cross", "conditional", "realism", "fidelity", "cutoff", "rank"),
                )


def _split(conditioning: Any, images: np.ndarray, argument: str) -> ConditionalMoments:
    return _held(conditioning).split(ImageMoments.of(images, argument=argument))


def _cfred(conditioning: Any, reference: Any, images: np.ndarray, repeats: int) -> Cfred:
    real, generated = _held(reference), _split(conditioning, images, "generated")
    realism = frechet(real=real.marginal, generated=generated.marginal).value
    return _held(conditioning).compare(real, generated, realism=realism, repeats=repeats)


def _frechet(reference: Any, images: np.ndarray) -> Frechet:
    return frechet(real=_held(reference), generated=images)


def _figure(
    generator: str, metric: str, backbone: str, n: int, compute: Callable[[], Any], *, parts: tuple[str, ...] = ()
) -> GeneratorFigure:
    """The figure that `compute` gives, or why there is none."""
    empty = GeneratorFigure(generator=generator, metric=metric, backbone=backbone, value=None, n=n)
    try:
        record = compute()
    except (BadInput, Undefined) as error:
        return replace(empty, reason=str(error))
    value = float(record.value)
    if not np.isfinite(value):
        return replace(empty, reason="the value is not finite")
    return replace(
        empty,
        value=value,
        parts={name: float(getattr(record, name)) for name in parts},
        warnings=tuple(record.warnings),
    )


def _attempt(make: Callable[[], Any]) -> Any:
    """What `make` gives, or the error that it raises, to be raised where it is used."""
    try:
        return make()
    except (BadInput, Undefined) as error:
        return error


def _held(made: Any) -> Any:
    if isinstance(made, Exception):
        raise made
    return made
