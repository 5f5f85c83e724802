"""The metrics of generated images, a class each, and the figures that they give.

Intervals come from every metric again without each block of prompts. Where images are paired, both sides lose the same
prompts. Where they are not, or where the reference is saved moments, it is taken as fixed and the generator's images
are shared out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from compute.arrays import Floats, Ints, LazyRows
from compute.engine.generators import backbones
from compute.engine.generators.backbones import JOIN, Backbones
from compute.engine.generators.table import FIGURE, framed
from compute.metrics import METRICS
from compute.metrics.distribution import cfred, frechet, intervals, pairwise, reference_free
from compute.metrics.distribution.frechet import Gaussian
from compute.metrics.distribution.intervals import Blocks, Extrapolated, extrapolate, leave_moments_out, leave_out
from compute.metrics.distribution.moments import CrossMoments, Moments, SetScore, blocks
from compute.tasks.generators.pairing import REFERENCE
from compute.types import BadInput, Undefined

MOST = 20_000  # images above which metrics that compare every image with every other take a random draw
NO_PROMPTS = "the images have no prompts: give --prompts, or with features their condition"
_METRICS = {metric.key: metric for metric in METRICS}

Features = np.ndarray | LazyRows


@dataclass(frozen=True, kw_only=True)
class SetFeatures:
    """What the metrics take. Rows of all arrays go with the pairs, or with a set's images where nothing is paired.

    `images[backbone][set]` (n, d), of REFERENCE and the generators, and `texts[backbone]` (n, p) are features, which
    may stay on disk (LazyRows, memory maps); `scores[metric][set]` (n,) one number an image, higher is better;
    `logits[set]` (n, classes) a classifier's answers. `prompts` (n,) are the prompts' texts, empty where nothing is
    paired. `moments[subset]` are statistics of the reference where they stand for its images: then no metric has its
    features.
    """

    generated: tuple[str, ...]
    prompts: tuple[str, ...] = ()
    images: Mapping[str, Mapping[str, Features]] = field(default_factory=dict)
    texts: Mapping[str, Features] = field(default_factory=dict)
    scores: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    logits: Mapping[str, np.ndarray] = field(default_factory=dict)
    moments: Mapping[str, Moments | CrossMoments] = field(default_factory=dict)

    @cached_property
    def prompt_codes(self) -> np.ndarray:
        """(n,) which prompt each pair has, as numbers: as an array, texts would each take the room of the longest."""
        return np.unique(np.array(self.prompts, object), return_inverse=True)[1]

    def real(self, subset: str) -> Features | Moments | CrossMoments:
        """The reference under a backbone, or two: its features, or the moments that stand for them. Raises Undefined
        without either."""
        if not self.moments:
            return self.images[subset.partition(JOIN)[0]][REFERENCE]
        if subset not in self.moments:
            raise Undefined(f"the saved reference has no statistics under {subset.replace(JOIN, ' with ')}")
        return self.moments[subset]

    def count(self, generator: str) -> int:
        """The images of a generator."""
        return len(next(of[generator] for of in (*self.images.values(), *self.scores.values(), self.logits) if of))

    @property
    def distance_backbone(self) -> str:
        """The backbone of `paired_distances`: the last, cFreD's where there is one."""
        return list(self.images)[-1]

    def paired_distances(self, generator: str) -> np.ndarray:
        """(n,) squared distance of each image from the reference's of its prompt. Their mean is what cFreD becomes
        where prompts are few."""
        sets = self.images[self.distance_backbone]
        real, generated = sets[REFERENCE], sets[generator]
        parts = blocks(len(real), width=real.shape[1])
        steps = (np.subtract(generated[part], real[part], dtype=np.float64) for part in parts)
        return np.concatenate([(step**2).sum(axis=1) for step in steps])


# ---- a class a metric


@dataclass(frozen=True, kw_only=True, eq=False)
class SetMetric:
    """One metric over one backbone, or several that one pass gives: their `keys`.

    Methods take a generator's name, answer key by key, and raise BadInput or Undefined. `parts` are a record's fields
    besides its value. With `draws` at most MOST images of a set are taken.
    """

    features: SetFeatures
    backbone: str
    keys: Sequence[str]
    parts: ClassVar[tuple[str, ...]] = ()
    draws: ClassVar[bool] = False

    def of(self, name: str, rows: Ints | None = None) -> list[SetScore]:
        """The records of all images, or of these `rows` of them and of what is paired with them.

        A class with its own `without` may take no rows.
        """
        raise NotImplementedError

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        """(keys, blocks) the values without each block of the generator's rows."""
        return [leave_out(lambda rows: self.of(name, rows)[0].value, blocks)]

    def at_infinity(self, name: str) -> Extrapolated | None:
        """The value at infinite N, of a metric that has one."""
        return None


class CfredMetric(SetMetric):
    parts = cfred.PARTS

    @cached_property
    def _reference(self) -> cfred.ConditionalReference:
        if not self.features.prompts:
            raise Undefined(NO_PROMPTS)
        real = self.features.real(self.backbone)
        return cfred.ConditionalReference(real=real, condition=self.features.texts[self.backbone.partition(JOIN)[2]])

    def _sides(self, name: str) -> dict[str, Any]:
        if self.features.moments:
            raise Undefined("a saved reference cannot omit a prompt")
        image, _, text = self.backbone.partition(JOIN)
        sets = self.features.images[image]
        return {"real": sets[REFERENCE], "generated": sets[name], "condition": self.features.texts[text]}

    def of(self, name: str, rows: Ints | None = None) -> list[SetScore]:
        if rows is not None:
            return [cfred.cfred(**self._sides(name), rows=rows)]
        reference = self._reference
        return [reference.compare(self.features.images[self.backbone.partition(JOIN)[0]][name])]

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        sides = self._sides(name)
        if not cfred.streams(len(sides["condition"]), *sides.values()):
            return super().without(name, blocks)
        condition = sides.pop("condition")
        moments = {side: partial(CrossMoments.of, images=rows, condition=condition) for side, rows in sides.items()}
        return [leave_moments_out(lambda **left: cfred.cfred(**left).value, blocks, **moments)]

    def at_infinity(self, name: str) -> Extrapolated:
        sides = self._sides(name)
        d, p = sides["generated"].shape[1], sides["condition"].shape[1]
        return extrapolate(
            lambda rows: self.of(name, rows[0])[0].value,
            counts=(len(sides["condition"]),),
            needed=2 * (d + p),
            what=f"twice the {d} + {p} dimensions of the image and text features",
        )


class FidMetric(SetMetric):
    """The Fréchet distance: FID over Inception's features, FD-DINOv2 over DINOv2's."""

    parts = ("means", "covariances")

    @cached_property
    def _reference(self) -> Gaussian:
        return Gaussian.of(self.features.real(self.backbone), argument="real")

    @property
    def _fixed(self) -> bool:
        """Whether the reference stays whole where some of the generator's rows are left out."""
        return not self.features.prompts or bool(self.features.moments)

    def of(self, name: str, rows: Ints | None = None, real_rows: Ints | None = None) -> list[SetScore]:
        """`real_rows` of the reference, where they are not those paired with `rows`."""
        if real_rows is None and not self._fixed:
            real_rows = rows
        real = self._reference if real_rows is None else Gaussian.of(self.features.real(self.backbone), rows=real_rows)
        made = Gaussian.of(self.features.images[self.backbone][name], rows=rows, argument="generated")
        return [frechet.frechet(real=real, generated=made)]

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        generated = self.features.images[self.backbone][name]
        if not cfred.streams(len(generated), generated):
            return super().without(name, blocks)
        sides = {"generated": partial(Moments.of, generated)}
        fixed = {"real": self._reference} if self._fixed else {}
        if not fixed:
            sides["real"] = partial(Moments.of, self.features.real(self.backbone))
        return [leave_moments_out(lambda **left: frechet.frechet(**fixed, **left).value, blocks, **sides)]

    def at_infinity(self, name: str) -> Extrapolated:
        """Of pairs prompts are split, so that a part has both images of each; saved moments stay whole."""
        real, generated = self.features.real(self.backbone), self.features.images[self.backbone][name]
        saved, d = isinstance(real, Moments), generated.shape[1]
        found = extrapolate(
            lambda rows: self.of(name, rows[-1], rows[0] if len(rows) > 1 else None)[0].value,
            counts=(len(generated),) if saved or self.features.prompts else (len(real), len(generated)),
            needed=2 * d,
            what=f"twice the {d} dimensions of the features",
        )
        if not saved:
            return found
        bias = f"At infinite N of the generator alone: the bias of the reference's {real.n:,} images stays"
        return replace(found, warnings=(*found.warnings, bias))


class PairwiseMetric(SetMetric):
    """Compares single images with the reference's: `whole` gives the record, `subsets` the values of marked rows."""

    draws = True
    whole: ClassVar[Callable[..., Any]]
    subsets: ClassVar[Callable[..., Any]]

    def _sides(self, name: str) -> dict[str, Features]:
        if self.features.moments:
            raise Undefined("single images are compared, and a saved reference holds only moments: give its images")
        images = self.features.images[self.backbone]
        return {"real": drawn_rows(images[REFERENCE]), "generated": drawn_rows(images[name])}

    def of(self, name: str) -> list[SetScore]:
        found = type(self).whole(**self._sides(name))
        return [getattr(found, key) for key in self.keys] if isinstance(found, pairwise.Manifold) else [found]

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        sides, kept = self._sides(name), blocks.remaining
        real_kept = kept if self.features.prompts else np.ones((blocks.count, len(sides["real"])), bool)
        found = type(self).subsets(**sides, real_kept=real_kept, generated_kept=kept)
        return [found[key] for key in self.keys] if isinstance(found, dict) else [found]


class CmmdMetric(PairwiseMetric):
    whole, subsets = pairwise.cmmd, pairwise.cmmd_of_subsets


class KidMetric(PairwiseMetric):
    whole, subsets = pairwise.kid, pairwise.kid_of_subsets


class PrecisionRecallMetric(PairwiseMetric):
    """By 3 neighbours, as their paper takes."""

    parts = ("k",)
    whole, subsets = partial(pairwise.manifold, k=3), partial(pairwise.manifold_of_subsets, k=3)


class DensityCoverageMetric(PairwiseMetric):
    """By 5 neighbours, as their paper takes."""

    parts = ("k",)
    whole, subsets = partial(pairwise.manifold, k=5), partial(pairwise.manifold_of_subsets, k=5)


class VendiMetric(SetMetric):
    parts, draws = ("order",), True

    def of(self, name: str) -> list[SetScore]:
        return [reference_free.vendi(features=np.asarray(drawn_rows(self.features.images[self.backbone][name])))]

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        images = np.asarray(drawn_rows(self.features.images[self.backbone][name]))  # read once
        return [leave_out(lambda rows: reference_free.vendi(features=images[rows]).value, blocks)]


class InceptionScoreMetric(SetMetric):
    def of(self, name: str, rows: Ints | None = None) -> list[SetScore]:
        logits = self.features.logits[name]
        return [reference_free.inception_score(logits=logits if rows is None else logits[rows])]


class MeanScoreMetric(SetMetric):
    """CLIPScore and models of preference: one number an image. The record of all has its own interval, over prompts."""

    def of(self, name: str, rows: Ints | None = None) -> list[SetScore]:
        if self.keys[0] not in self.features.scores:
            raise Undefined(NO_PROMPTS)
        scores = self.features.scores[self.keys[0]][name]
        if rows is not None:
            return [reference_free.mean_score(scores=scores[rows])]
        prompts = self.features.prompt_codes if self.features.prompts else None
        return [reference_free.mean_score(scores=scores, prompts=prompts)]


SET_METRICS: tuple[tuple[type[SetMetric], tuple[str, ...]], ...] = (
    (CfredMetric, ("cfred",)),
    *((FidMetric, (key,)) for key in backbones.DISTANCES),
    (CmmdMetric, ("cmmd",)),
    (KidMetric, ("kid",)),
    (PrecisionRecallMetric, ("precision", "recall")),
    (DensityCoverageMetric, ("density", "coverage")),
    (VendiMetric, ("vendi",)),
    (InceptionScoreMetric, ("inception_score",)),
    *((MeanScoreMetric, (key,)) for key in ("clipscore", *backbones.PREFERENCE)),
)


# ---- figures


def figures(features: SetFeatures, *, chosen: Backbones, with_intervals: bool = True) -> pd.DataFrame:
    """All chosen metrics that the features allow, generator by generator, in the order of METRICS, with the columns of
    FIGURE: values with intervals and limits, or the reason why there is none."""

    @cache
    def shared(n: int, drawn: bool) -> Blocks:
        rows = drawn_rows(np.arange(n)) if drawn else np.arange(n)
        return intervals.share_out(features.prompt_codes[rows] if features.prompts else len(rows))

    made = []
    for kind, keys in SET_METRICS:
        asked = [key for key in keys if key in chosen.metrics]
        subsets = chosen.by_metric.get(keys[0], []) if asked else []
        if kind is CfredMetric and not features.prompts:
            subsets = subsets[:1]  # one reason says it
        for backbone in subsets:
            metric = kind(features=features, backbone=backbone, keys=asked)
            for name in features.generated:
                known = {"generator": name, "backbone": backbone, "n": features.count(name)}
                rows = [FIGURE | known | {"metric": key} for key in asked]
                _add_values(rows, metric)
                if with_intervals and not any(row["reason"] for row in rows):
                    _add_intervals(rows, metric, shared(known["n"], metric.draws))
                    _add_limit(rows, metric)
                made += rows
    generators, metrics = features.generated, backbones.METRICS
    return framed(sorted(made, key=lambda row: (generators.index(row["generator"]), metrics.index(row["metric"]))))


Rows = list[dict[str, Any]]  # of one generator, a row a key of the metric


def _add_values(rows: Rows, metric: SetMetric) -> None:
    """Adds the values, or why there are none."""
    try:
        records = metric.of(rows[0]["generator"])
    except (BadInput, Undefined) as error:
        for row in rows:
            row["reason"] = str(error)
        return
    few = f"Computed on {MOST:,} of the images, drawn at random: its cost grows with their square"
    for row, record in zip(rows, records, strict=True):
        if not np.isfinite(record.value):
            row["reason"] = "the value is not finite"
            continue
        row.update({name: getattr(record, name, None) for name in ("value", "low", "high", "stderr")})
        row["parts"] = {name: float(getattr(record, name)) for name in metric.parts}
        row["warnings"] = (*record.warnings, *[few] * (metric.draws and row["n"] > MOST))


def _add_intervals(rows: Rows, metric: SetMetric, shares: Blocks) -> None:
    """Adds intervals, and the values that they come from. Means over images have theirs."""
    if isinstance(metric, MeanScoreMetric) and shares.count < intervals.FEWEST_BLOCKS:
        return
    try:
        every = metric.without(rows[0]["generator"], shares)
    except (BadInput, Undefined) as error:
        return _note(rows, f"No interval: {error}")
    # No test of differences against saved moments: other runs of these prompts omit them of the reference too.
    tested = not (isinstance(metric, FidMetric) and metric.features.prompts and metric.features.moments)
    for row, values in zip(rows, every, strict=True):
        about = _METRICS[row["metric"]]
        try:
            if row["low"] is None:
                row.update(vars(intervals.interval(row["value"], values, shares, lower=about.lower, upper=about.upper)))
            if tested:
                row.update(left_out=tuple(values.tolist()), block_sizes=tuple(shares.sizes.tolist()))
        except Undefined as error:
            _note([row], f"No interval: {error}")


def _add_limit(rows: Rows, metric: SetMetric) -> None:
    """Adds the value at infinite N."""
    try:
        found = metric.at_infinity(rows[0]["generator"])
    except (BadInput, Undefined) as error:
        return _note(rows, f"No value at infinite N: {error}")
    if found is not None:
        rows[0].update(limit=found.value, limit_low=found.low, limit_high=found.high)
        _note(rows, *found.warnings)


def _note(rows: Rows, *lines: str) -> None:
    for row in rows:
        row["warnings"] = tuple(dict.fromkeys((*row["warnings"], *lines)))


def drawn_rows(rows: Features) -> Features:
    """At most MOST rows, the same random ones of every set of one size."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
