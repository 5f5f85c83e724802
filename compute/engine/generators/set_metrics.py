"""The metrics of generated images, one class each, and their scores.

Intervals come from recomputing every metric without each block of prompts. If images are paired, the same prompts are
removed from both sides. If not, or if the reference is saved moments, the reference is fixed and the generator's images
are divided into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from compute.arrays import Floats, Ints
from compute.engine.generators.features import DISTANCES, PREFERENCE, Backbones, Features, SetFeatures
from compute.engine.generators.features import METRICS as ORDER
from compute.engine.generators.table import FIGURE, framed, of_record
from compute.metrics import METRICS
from compute.metrics.distribution import cfred, frechet, intervals, pairwise, reference_free
from compute.metrics.distribution.frechet import Gaussian
from compute.metrics.distribution.intervals import Blocks, extrapolate, leave_moments_out, leave_out
from compute.metrics.distribution.moments import CrossMoments, Moments, SetScore, streams, taken
from compute.progress import followed
from compute.types import BadInput, Undefined

MOST = 20_000  # images above which metrics that compare all pairs use a random sample
NO_PROMPTS = "the images have no prompts: give --prompts, or with features their condition"
_METRICS = {metric.key: metric for metric in METRICS}


@dataclass(frozen=True, kw_only=True, eq=False)
class SetMetric:
    """One metric over one backbone, or several metrics computed in one pass: their `keys`.

    Methods take a generator's name, return results in the order of the keys, and raise BadInput or Undefined. `parts`
    are a record's fields besides its value. With `draws`, at most MOST images of a set are used.
    """

    features: SetFeatures
    backbone: str
    keys: Sequence[str]
    parts: ClassVar[tuple[str, ...]] = ()
    draws: ClassVar[bool] = False

    def sides(self, name: str) -> dict[str, Any]:
        """Returns real and generated features and, with a text backbone, the condition."""
        return self.features.sides(name, self.backbone)

    def of(self, name: str, rows: Ints | None = None) -> list[SetScore]:
        """Returns the records of all images, or of these `rows` and their paired rows.

        A class that overrides `without` may take no rows.
        """
        raise NotImplementedError

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        """Returns the values (keys, blocks) without each block of the generator's rows."""
        return [leave_out(lambda rows: self.of(name, rows)[0].value, blocks)]

    def at_infinity(self, name: str) -> SetScore | None:
        """Returns the value at infinite N, if the metric has one."""
        return None


class DistanceMetric(SetMetric):
    """A Fréchet distance, conditional or not. With many images it is computed from moments."""

    distance: ClassVar[Callable[..., SetScore]]

    @property
    def _fixed(self) -> bool:
        """Whether the reference stays whole if some of the generator's rows are excluded."""
        return not self.features.prompts or self.features.saved

    def parted(self, name: str) -> dict[str, Any]:
        """Returns the sides from which rows are excluded."""
        return self.sides(name)

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        sides = self.parted(name)
        texts = {"condition": sides.pop("condition")} if "condition" in sides else {}
        if not streams(len(sides["generated"]), sides["generated"], *texts.values()):
            return super().without(name, blocks)
        fixed = {"real": self._reference} if self._fixed else {}
        left = {side: {"images": sides[side], **texts} for side in sides.keys() - fixed.keys()}
        distance, of = type(self).distance, CrossMoments.of if texts else Moments.of
        return [leave_moments_out(lambda **moments: distance(**fixed, **moments).value, blocks, of=of, **left)]

    def at_infinity(self, name: str) -> SetScore:
        """Returns the value at infinite N. Pairs are split by prompt, so that a part has both images of each; saved
        moments stay whole.
        """
        real, *others = self.parted(name).values()
        saved, widths, n = self.features.saved, [each.shape[1] for each in others], len(others[0])
        kinds = "image and text features" if len(widths) > 1 else "features"
        found = extrapolate(
            lambda rows: self.of(name, *rows[::-1])[0].value,
            counts=(n,) if saved or self.features.prompts else (len(real), n),
            needed=2 * sum(widths),
            what=f"twice the {' + '.join(map(str, widths))} dimensions of the {kinds}",
        )
        if not saved:
            return found
        bias = f"At infinite N of the generator alone: the bias of the reference's {real.n:,} images stays"
        return replace(found, warnings=(*found.warnings, bias))


class CfredMetric(DistanceMetric):
    parts, distance = cfred.PARTS, cfred.cfred

    @cached_property
    def _against(self) -> Callable[[Any], cfred.Cfred]:
        if not self.features.prompts:
            raise Undefined(NO_PROMPTS)
        real, _, condition = self.sides(self.features.generated[0]).values()
        return cfred.against(real=real, condition=condition)

    def parted(self, name: str) -> dict[str, Any]:
        if self.features.saved:
            raise Undefined("a saved reference cannot omit a prompt")
        return self.sides(name)

    def of(self, name: str, rows: Ints | None = None) -> list[SetScore]:
        if rows is not None:
            return [cfred.cfred(**self.parted(name), rows=rows)]
        return [self._against(self.sides(name)["generated"])]


class FidMetric(DistanceMetric):
    """The Fréchet distance: FID with Inception's features, FD-DINOv2 with DINOv2's."""

    parts, distance = ("means", "covariances"), frechet.frechet

    @cached_property
    def _reference(self) -> Gaussian:
        return Gaussian.of(self.sides(self.features.generated[0])["real"], argument="real")

    def of(self, name: str, rows: Ints | None = None, real_rows: Ints | None = None) -> list[SetScore]:
        """Returns the record; `real_rows` are the reference's rows if they differ from those paired with `rows`."""
        real, generated = self.sides(name).values()
        if real_rows is None and not self._fixed:
            real_rows = rows
        first = self._reference if real_rows is None else taken(real, real_rows)
        return [frechet.frechet(real=first, generated=generated if rows is None else taken(generated, rows))]


class PairwiseMetric(SetMetric):
    """Compares single images with the reference's by PAIRWISE."""

    draws = True

    def sides(self, name: str) -> dict[str, Features]:
        if self.features.saved:
            raise Undefined("single images are compared, and a saved reference holds only moments: give its images")
        return {side: drawn_rows(rows) for side, rows in super().sides(name).items()}

    def of(self, name: str) -> list[SetScore]:
        whole, _ = PAIRWISE[self.keys[0]]
        return self._by_key(whole(**self.sides(name)))

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        sides, kept = self.sides(name), blocks.remaining
        real_kept = kept if self.features.prompts else np.ones((blocks.count, len(sides["real"])), bool)
        _, subsets = PAIRWISE[self.keys[0]]
        return self._by_key(subsets(**sides, real_kept=real_kept, generated_kept=kept))

    def _by_key(self, found: Any) -> list[Any]:
        return [found[key] for key in self.keys] if isinstance(found, dict) else [found]


def _manifold(k: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return partial(pairwise.manifold, k=k), partial(pairwise.manifold_of_subsets, k=k)


# Numbers of neighbours as in the papers.
PAIRWISE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "cmmd": (pairwise.cmmd, pairwise.cmmd_of_subsets),
    "kid": (pairwise.kid, pairwise.kid_of_subsets),
    **dict.fromkeys(("precision", "recall"), _manifold(k=3)),
    **dict.fromkeys(("density", "coverage"), _manifold(k=5)),
}


class VendiMetric(SetMetric):
    draws = True

    def _read(self, name: str) -> np.ndarray:
        return np.asarray(drawn_rows(self.features.images[name][self.backbone]))

    def of(self, name: str) -> list[SetScore]:
        return [pairwise.vendi(features=self._read(name))]

    def without(self, name: str, blocks: Blocks) -> Sequence[Floats]:
        images = self._read(name)  # once
        return [leave_out(lambda rows: pairwise.vendi(features=images[rows]).value, blocks)]


class InceptionScoreMetric(SetMetric):
    def of(self, name: str, rows: Ints | slice = slice(None)) -> list[SetScore]:
        return [reference_free.inception_score(logits=self.features.logits[name][rows])]


class MeanScoreMetric(SetMetric):
    """CLIPScore and preference models: one number per image. The record of all images has its own interval, over
    prompts.
    """

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
    *((FidMetric, (key,)) for key in DISTANCES),
    (PairwiseMetric, ("cmmd",)),
    (PairwiseMetric, ("kid",)),
    (PairwiseMetric, ("precision", "recall")),
    (PairwiseMetric, ("density", "coverage")),
    (VendiMetric, ("vendi",)),
    (InceptionScoreMetric, ("inception_score",)),
    *((MeanScoreMetric, (key,)) for key in ("clipscore", *PREFERENCE)),
)


# ---- figures

Rows = list[dict[str, Any]]  # scores of one generator, a row per key of the metric


def figures(features: SetFeatures, *, chosen: Backbones, with_intervals: bool = True) -> pd.DataFrame:
    """Returns all chosen metrics that the features allow, by generator and in ORDER, with the columns of FIGURE.

    Each has a value with interval and limit, or the reason why it is undefined.
    """

    @cache
    def shared(n: int, drawn: bool) -> Blocks:
        rows = drawn_rows(np.arange(n)) if drawn else np.arange(n)
        return intervals.share_out(features.prompt_codes[rows] if features.prompts else len(rows))

    asked = []
    for kind, keys in SET_METRICS:
        some = [key for key in keys if key in chosen.metrics]
        subsets = chosen.by_metric.get(keys[0], []) if some else []
        if kind is CfredMetric and not features.prompts:
            subsets = subsets[:1]  # one reason is enough
        asked += [(kind, backbone, some) for backbone in subsets]
    made = []
    for kind, backbone, some in followed(asked, "Comparing", "metric"):
        metric = kind(features=features, backbone=backbone, keys=some)
        for name in features.generated:
            n = features.count(name)
            rows = [FIGURE | {"generator": name, "backbone": backbone, "n": n, "metric": key} for key in some]
            _add_values(rows, metric)
            if with_intervals and not any(row["reason"] for row in rows):
                _add_intervals(rows, metric, shared(n, metric.draws))
                with _noting(rows, "No value at infinite N"):
                    if limit := metric.at_infinity(name):
                        rows[0].update(limit=limit.value, limit_low=limit.low, limit_high=limit.high)
                        _note(rows, *limit.warnings)
            made += rows
    generators, metrics = features.generated, ORDER
    return framed(sorted(made, key=lambda row: (generators.index(row["generator"]), metrics.index(row["metric"]))))


def _add_values(rows: Rows, metric: SetMetric) -> None:
    """Adds the values, or why they are undefined."""
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
        row.update(of_record(record, metric.parts))
        _note([row], *[few] * (metric.draws and row["n"] > MOST))


def _add_intervals(rows: Rows, metric: SetMetric, shares: Blocks) -> None:
    """Adds intervals, and the values behind them. Means over images already have intervals."""
    if isinstance(metric, MeanScoreMetric) and shares.count < intervals.FEWEST_BLOCKS:
        return
    # Differences against saved moments are not tested: other runs with these prompts also exclude them from the
    # reference.
    tested = not (isinstance(metric, FidMetric) and metric.features.prompts and metric.features.saved)
    with _noting(rows, "No interval"):
        for row, values in zip(rows, metric.without(rows[0]["generator"], shares), strict=True):
            about = _METRICS[row["metric"]]
            with _noting([row], "No interval"):
                if row["low"] is None:
                    found = intervals.interval(row["value"], values, shares, lower=about.lower, upper=about.upper)
                    row.update(low=found.low, high=found.high, stderr=found.stderr)
                if tested:
                    row.update(left_out=tuple(values.tolist()), block_sizes=tuple(shares.sizes.tolist()))


@contextmanager
def _noting(rows: Rows, what: str) -> Iterator[None]:
    """Notes why something is undefined."""
    try:
        yield
    except (BadInput, Undefined) as error:
        _note(rows, f"{what}: {error}")


def _note(rows: Rows, *lines: str) -> None:
    for row in rows:
        row["warnings"] = tuple(dict.fromkeys((*row["warnings"], *lines)))


def drawn_rows(rows: Features) -> Features:
    """Returns at most MOST rows, the same random ones for all sets of one size."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
