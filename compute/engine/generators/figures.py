"""Every metric of every generator from features: values with intervals, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from compute.engine.generators import backbones
from compute.engine.generators.backbones import Backbones
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.intervals import MANIFOLDS, MOST, PAIRWISE, drawn_rows, with_interval, with_limit
from compute.engine.generators.record import GeneratorFigure
from compute.metrics.distribution.diversity import inception_score, vendi
from compute.metrics.distribution.frechet import (
    Cfred,
    ConditionalMoments,
    Conditioning,
    ImageMoments,
    cfred,
    frechet,
    repeated_rows,
    streams,
)
from compute.metrics.distribution.gaussian import Gaussian
from compute.metrics.distribution.kernel import cmmd, kid
from compute.metrics.distribution.manifold import manifold
from compute.metrics.distribution.means import mean_score
from compute.metrics.distribution.moments import CrossMoments
from compute.types import BadInput, Undefined


def figures(features: SetFeatures, *, chosen: Backbones, intervals: bool = True) -> list[GeneratorFigure]:
    """All chosen metrics that the features allow, generator by generator, in the order of METRICS."""
    rows = [
        *_undefined(features, chosen),
        *_conditional(features, chosen),
        *_distances(features, chosen),
        *_samples(features, chosen),
        *_means(features),
    ]
    order = {name: at for at, name in enumerate(features.generated)}
    metrics = {name: at for at, name in enumerate(backbones.METRICS)}
    figures = [row for row in rows if row.metric in chosen.metrics]
    if intervals:
        figures = [with_limit(with_interval(row, features=features), features=features) for row in figures]
    return sorted(figures, key=lambda row: (order[row.generator], metrics[row.metric]))


def _undefined(features: SetFeatures, chosen: Backbones) -> Iterator[GeneratorFigure]:
    """Why there is none of the metrics that need prompts where there are none, and of those under backbones that a
    saved reference has no statistics of."""
    missing: list[tuple[str, str, Callable[[], Any]]] = []
    pairs = [backbones.subset(image, text) for image in chosen.cfred for text in chosen.text]
    if not features.prompts:
        keys = {"cfred": pairs[0] if pairs else "", "clipscore": chosen.clip, **backbones.PREFERENCE}
        missing += [
            (metric, keys[metric], _no_prompts)
            for metric in backbones.NEED_PROMPTS
            if metric in chosen.possible and keys[metric]
        ]
    if features.moments:
        distances = [(backbones.distance(key), key) for key in chosen.image]
        distances += [("cfred", key) for key in pairs if features.prompts]
        missing += [
            (metric, key, partial(features.real, key)) for metric, key in distances if key not in features.moments
        ]
        if chosen.cmmd and chosen.cmmd not in features.images:
            missing.append(("cmmd", chosen.cmmd, partial(features.real_rows, chosen.cmmd)))
    for metric, key, why in missing:
        for name in features.generated:
            yield _figure(name, metric, key, features.count(name), why)


def _no_prompts() -> Any:
    raise Undefined("the images have no prompts: give --prompts, or with features their condition")


def _distances(features: SetFeatures, chosen: Backbones) -> Iterator[GeneratorFigure]:
    for key in chosen.image:
        if key not in features.images or features.moments and key not in features.moments:
            continue
        sets, metric = features.images[key], backbones.distance(key)
        reference = _attempt(partial(Gaussian.of, features.real(key), ddof=1, argument="real"))
        for name in features.generated:
            yield _figure(
                name,
                metric,
                key,
                len(sets[name]),
                partial(_frechet, reference, sets[name]),
                parts=("means", "covariances"),
            )


def _conditional(features: SetFeatures, chosen: Backbones) -> Iterator[GeneratorFigure]:
    for text in chosen.text:
        if text not in features.texts:
            continue
        for image in chosen.cfred:
            key = backbones.subset(image, text)
            if image not in features.images or features.moments and key not in features.moments:
                continue
            compare = _comparing(features, image, text)
            for name in features.generated:
                yield _figure(
                    name,
                    "cfred",
                    key,
                    features.count(name),
                    partial(compare, features.images[image][name]),
                    parts=("means", "cross", "conditional", "realism", "fidelity", "cutoff", "rank"),
                )


def _comparing(features: SetFeatures, image: str, text: str) -> Callable[[Any], Cfred]:
    """cFreD of a generator's features with the reference, what depends on the reference alone computed once."""
    condition, real = features.texts[text], features.real(backbones.subset(image, text))
    if not isinstance(real, CrossMoments) and streams(len(condition), real, condition):
        real = _attempt(partial(CrossMoments.of, images=real, condition=condition, argument="real"))
    if isinstance(real, CrossMoments | Exception):
        return lambda images: cfred(real=_held(real), generated=images, condition=condition)
    conditioning = _attempt(partial(Conditioning.of, condition))
    reference = _attempt(partial(_split, conditioning, real, "real"))
    return partial(_cfred, conditioning, reference, repeats=repeated_rows(condition))


def _samples(features: SetFeatures, chosen: Backbones) -> Iterator[GeneratorFigure]:
    """What compares single images with each other: its cost grows with the square of their number."""
    metrics = set(chosen.metrics)
    if chosen.cmmd in features.images and "cmmd" in metrics:
        sets = features.images[chosen.cmmd]
        for name in features.generated:
            yield _figure(
                name, "cmmd", chosen.cmmd, len(sets[name]), partial(_of_two, cmmd, features, chosen.cmmd, name)
            )
    for key in chosen.image:
        if key not in features.images:
            continue
        sets = features.images[key]
        for name in features.generated:
            n = len(sets[name])
            if "kid" in metrics:
                yield _figure(name, "kid", key, n, partial(_of_two, kid, features, key, name))
            for quantities, k in MANIFOLDS.items():
                if not metrics & set(quantities):
                    continue
                shares = _attempt(partial(_of_two, partial(manifold, k=k), features, key, name))
                for quantity in quantities:
                    yield _figure(
                        name,
                        quantity,
                        key,
                        n,
                        lambda shares=shares, quantity=quantity: getattr(_held(shares), quantity),
                        parts=("k",),
                    )
            if "vendi" in metrics:
                yield _figure(name, "vendi", key, n, partial(vendi, features=drawn_rows(sets[name])), parts=("order",))
    for name, logits in features.logits.items():
        yield _figure(name, "inception_score", chosen.classes, len(logits), partial(inception_score, logits=logits))


def _means(features: SetFeatures) -> Iterator[GeneratorFigure]:
    for metric, of in features.scores.items():
        for name, scores in of.items():
            compute = partial(mean_score, scores=scores, prompts=features.prompt_codes if features.prompts else None)
            yield _figure(name, metric, features.scored_by[metric], len(scores), compute)


def _of_two(metric: Callable[..., Any], features: SetFeatures, key: str, name: str) -> Any:
    return metric(real=drawn_rows(features.real_rows(key)), generated=drawn_rows(features.images[key][name]))


def _split(conditioning: Any, images: np.ndarray, argument: str) -> ConditionalMoments:
    return _held(conditioning).split(ImageMoments.of(images, argument=argument))


def _cfred(conditioning: Any, reference: Any, images: np.ndarray, *, repeats: int) -> Cfred:
    generated = _split(conditioning, images, "generated")
    return _held(conditioning).compare(_held(reference), generated, repeats=repeats)


def _frechet(reference: Any, images: np.ndarray) -> Any:
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
    few = metric in PAIRWISE and n > MOST
    drawn = f"Computed on {MOST:,} of the images, drawn at random: its cost grows with their square"
    return replace(
        empty,
        value=value,
        low=getattr(record, "low", None),
        high=getattr(record, "high", None),
        stderr=getattr(record, "stderr", None),
        parts={name: float(getattr(record, name)) for name in parts},
        warnings=(*record.warnings, drawn) if few else tuple(record.warnings),
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
