"""Every metric of two sets' features, with intervals over both, beside what alike sets of as many images give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from compute.engine.generators.record import GeneratorFigure

REFERENCE, GENERATED = "reference", "generated"
SHARES = ("precision", "recall", "density", "coverage")
METRICS = ("kid", *SHARES)  # beside the Fréchet distance, whose name varies
SPLITS_AT_INFINITY = 3  # random splits that are extrapolated: each is 37 distances


@dataclass(frozen=True, kw_only=True)
class MetricOfSets:
    """One metric of two sets; `alike_low` to `alike_high` is what random splits of all images give, with their mean.

    `alike_limits` is the range that such splits give at infinite N, where 0 is right. They are None where the metric is
    undefined.
    """

    figure: GeneratorFigure
    alike: float | None = None
    alike_low: float | None = None
    alike_high: float | None = None
    alike_limits: tuple[float, float] | None = None

    @property
    def differs(self) -> bool | None:
        """Whether the value is beyond every random split on the side that unlike sets have; None where undefined."""
        if self.figure.value is None or self.alike_low is None or self.alike_high is None:
            return None
        if self.figure.metric in SHARES:
            return self.figure.value < self.alike_low
        return self.figure.value > self.alike_high

    @property
    def is_nearer(self) -> bool:
        """Whether a distance is below every random split: the sets are nearer than samples of one distribution."""
        if self.figure.value is None or self.alike_low is None or self.figure.metric in SHARES:
            return False
        return self.figure.value < self.alike_low


def measuring(*, reference: NDArray, generated: NDArray, encoder: str) -> Iterator[tuple[MetricOfSets, ...] | None]:
    """The metrics of features (n, d) and (m, d) of an encoder's key: None after each part of the work, which takes
    some 0.1 s at most but for the first, and all of them at last."""
    from compute.engine.generators.backbones import Backbones, distance
    from compute.engine.generators.features import SetFeatures
    from compute.engine.generators.figures import figures
    from compute.metrics.distribution.extrapolation import frechet_at_infinity
    from compute.metrics.distribution.permutation import random_splits

    plain = distance(encoder)
    sets = {REFERENCE: reference, GENERATED: generated}
    rows = figures(
        SetFeatures(reference=REFERENCE, generated=(GENERATED,), images={encoder: sets}),
        chosen=Backbones(image=(encoder,), cfred=(), text=(), metrics=(plain, *METRICS)),
        fixed_reference=False,
    )
    yield None
    alike: dict[str, list[float]] = {row.metric: [] for row in rows if row.value is not None}
    limits: list[float] = []
    for at, split in enumerate(random_splits(real=reference, generated=generated)):
        for name, value in _values(tuple(alike), plain=plain, **split).items():
            alike[name].append(value)
        if at < SPLITS_AT_INFINITY and any(row.limit is not None for row in rows):
            limits.append(frechet_at_infinity(**split).value)
        yield None
    yield tuple(_beside(row, alike.get(row.metric, []), limits if row.limit is not None else []) for row in rows)


def _values(names: tuple[str, ...], *, plain: str, real: NDArray, generated: NDArray) -> dict[str, float]:
    """The named metrics of one split."""
    from compute.engine.generators.intervals import MANIFOLDS
    from compute.metrics.distribution.frechet import frechet
    from compute.metrics.distribution.kernel import kid
    from compute.metrics.distribution.manifold import manifold

    values = {}
    if plain in names:
        values[plain] = frechet(real=real, generated=generated).value
    if "kid" in names:
        values["kid"] = kid(real=real, generated=generated).value
    for quantities, k in MANIFOLDS.items():
        if set(quantities) <= set(names):
            shares = manifold(real=real, generated=generated, k=k)
            values |= {name: getattr(shares, name).value for name in quantities}
    return values


def _beside(figure: GeneratorFigure, alike: list[float], limits: list[float]) -> MetricOfSets:
    if not alike:
        return MetricOfSets(figure=figure)
    return MetricOfSets(
        figure=figure,
        alike=float(np.mean(alike)),
        alike_low=min(alike),
        alike_high=max(alike),
        alike_limits=(min(limits), max(limits)) if limits else None,
    )
