"""The comparison of generators with a reference: features of all sets, statistics of them, every metric.

Intervals come from every metric again without each block of prompts. Where images are paired, both sides lose the same
prompts. Where they are not, or where the reference is saved moments, it is taken as fixed and the generator's images
are shared out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np

from compute.arrays import Floats, Ints, LazyRows
from compute.catalog import Catalog
from compute.content import items
from compute.content.items import Column
from compute.engine.generators import backbones
from compute.engine.generators.backbones import JOIN, PREFERENCE, Backbones
from compute.engine.generators.table import GeneratorFigure, GeneratorTable
from compute.engine.workspace import Bench
from compute.features.subject import LoadedSubject
from compute.metrics import METRICS
from compute.metrics.distribution import cfred, frechet, intervals, pairwise, reference_free
from compute.metrics.distribution.frechet import Gaussian
from compute.metrics.distribution.intervals import Blocks, Extrapolated, leave_moments_out, leave_out
from compute.metrics.distribution.moments import CrossMoments, Moments, blocks
from compute.models.encoders import inception
from compute.progress import duration
from compute.tasks.generators.human import HumanTable
from compute.tasks.generators.pairing import REFERENCE, PromptedSets
from compute.types import BadInput, Undefined

MOST = 20_000  # images above which metrics that compare every image with every other take a random draw
MANIFOLDS = {3: ("precision", "recall"), 5: ("density", "coverage")}  # by neighbours, as the papers of each pair take
PAIRWISE = ("cmmd", "kid", *MANIFOLDS[3], *MANIFOLDS[5], "vendi")
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


@dataclass(frozen=True, kw_only=True)
class GeneratorComparison:
    """What a comparison was made of and gave, ready to be stored."""

    sets: PromptedSets  # without what could not be decoded
    chosen: Backbones
    features: SetFeatures
    figures: tuple[GeneratorFigure, ...]
    settings: Mapping[str, Any]  # of the backbones, by key
    saved: Mapping[str, Any] = field(default_factory=dict)  # by subset, the SavedReference that stood for the images
    seconds: float = 0.0

    def table(self, human: HumanTable | None = None) -> GeneratorTable:
        """The scores, with people's ratings next to them. Raises as `GeneratorTable.beside`."""
        table = GeneratorTable(figures=self.figures, warnings=self.sets.warnings)
        if human is None:
            return table
        return table.beside(human, scores=self.features.scores if self.features.prompts else {})


def compare(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    catalog: Catalog,
    bench: Bench,
    saved: Mapping[str, Any],
    with_intervals: bool = True,
    report: Callable[[str], None] = lambda line: None,
) -> GeneratorComparison:
    """Encodes the sets with the backbones chosen and computes every metric; nothing but features is stored.

    `saved` statistics (SavedReference) by subset stand for the reference's images. Raises NotHere for weights that are
    missing, BadItem for an image that cannot be decoded, BadInput, also for backbones with other settings than those of
    `saved`, UnknownKey.
    """
    started = time.perf_counter()
    needed = chosen.beside(saved) if saved else chosen
    needed = needed if sets.prompts is not None else needed.without_prompts()
    if not needed.keys:
        why = "the images have no prompts. Give --prompts"
        if saved and sets.prompts is not None:
            why = "a saved reference holds moments alone. Give the reference's images"
        raise BadInput(f"{', '.join(chosen.metrics)}: {why}, or other metrics")
    features, settings, left = encode(sets, chosen=needed, catalog=catalog, bench=bench, saved=saved, report=report)
    features = replace(features, moments={key: each.moments for key, each in saved.items()})
    return GeneratorComparison(
        sets=left,
        chosen=chosen,
        features=features,
        figures=tuple(figures(features, chosen=chosen, with_intervals=with_intervals)),
        settings=settings,
        saved=saved,
        seconds=time.perf_counter() - started,
    )


# ---- features


def encode(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    catalog: Catalog,
    bench: Bench,
    saved: Mapping[str, Any] | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> tuple[SetFeatures, dict[str, Mapping[str, Any]], PromptedSets]:
    """The features of all sets, the settings that made them by backbone, and the sets without what could not be
    decoded.

    One backbone is in memory at a time. What is finished is stored, so that an interrupted comparison resumes. Raises
    NotHere for weights that are not here, BadItem for an image that cannot be decoded unless the bench skips it, and
    BadInput for a backbone with other settings than in `saved`.
    """
    rows = {key: catalog.model(key) for key in chosen.keys}
    if bench.settings.offline:
        backbones.check_present(list(rows.values()))
    scorers = chosen.scorers
    of_images = {*chosen.image, *chosen.cfred, chosen.cmmd, chosen.classes, *scorers.values()}
    subjects: dict[str, LoadedSubject] = {}
    bad: dict[bytes, str] = {}
    for at, (key, row) in enumerate(rows.items(), start=1):
        subject = subjects[key] = bench.subject(row)
        bench.fetch(row)
        columns = [part.images for part in sets.sets] if key in of_images else []
        if key in scorers.values() and subject.can("compare"):
            subject.prepare([], compared=columns)
            _compared(subject, sets)
        else:
            if sets.prompts is not None:
                columns += [sets.prompts] if key in (*chosen.text, *PREFERENCE.values()) else []
                columns += [_depicted(sets)] if key == chosen.clip else []
            subject.prepare(columns)
        for reference in (saved or {}).values():
            reference.check(key, subject.settings)
        bad |= subject.bad
        subject.__dict__.pop("_model", None)
        counts = "; ".join(f"{done.encoded:,} encoded in {duration(done.seconds)}" for done in subject.done)
        report(f"{key} ({at} of {len(rows)}): {counts or 'nothing to encode, all features are stored'}")
    left = sets.without(bad)
    scores = {
        metric: _scored(metric, subjects[key], left) for metric, key in scorers.items() if metric in chosen.metrics
    }
    logits = {}
    if chosen.classes and "inception_score" in chosen.metrics:
        # From the features that the classifier's last layer takes: no image is shown a second time.
        for part in left.generated:
            vectors = subjects[chosen.classes].embed_lazily(part.images)
            classified = [inception.class_logits(vectors[at]) for at in blocks(len(vectors), width=vectors.shape[1])]
            logits[part.name] = np.concatenate(classified)
    encoded = SetFeatures(
        generated=tuple(part.name for part in left.generated),
        prompts=left.texts,
        images={
            key: {part.name: subjects[key].embed_lazily(part.images) for part in left.sets}
            for key in dict.fromkeys((chosen.cmmd, *chosen.image, *chosen.cfred))
            if key in subjects
        },
        texts={key: subjects[key].embed_lazily(left.prompts) for key in chosen.text if key in subjects},
        scores=scores,
        logits=logits,
    )
    return encoded, {key: subject.settings for key, subject in subjects.items()}, left


def _scored(metric: str, subject: LoadedSubject, sets: PromptedSets) -> dict[str, np.ndarray]:
    """The scores of single images (n,) by generator."""
    if metric != "clipscore" and subject.can("compare"):
        return _compared(subject, sets)
    score, prompts = reference_free.preference_score, sets.prompts
    if metric == "clipscore":
        score, prompts = reference_free.clipscore, _depicted(sets)
    text = subject.embed_lazily(prompts)
    return {part.name: score(image=subject.embed_lazily(part.images), text=text).scores for part in sets.generated}


def _compared(subject: LoadedSubject, sets: PromptedSets) -> dict[str, np.ndarray]:
    """Scores of a model that compares by itself: each image with its prompt, or images alone."""
    alone = "text" not in subject.row.modalities
    return {part.name: subject.compare(None if alone else sets.prompts, part.images) for part in sets.generated}


def _depicted(sets: PromptedSets) -> Column:
    return items.texts([reference_free.CLIPSCORE_PREFIX + text for text in sets.texts], of="prompts of CLIPScore")


# ---- statistics


@dataclass(frozen=True, kw_only=True)
class _Statistic:
    """A metric of one generator over one backbone.

    `compute` gives its record, `without` its values (blocks,) without each block of the generator's rows, `limit` its
    value at infinite N; `parts` are the record's fields besides the value.
    """

    generator: str
    metric: str
    backbone: str
    compute: Callable[[], Any]
    without: Callable[[Blocks], Floats]
    limit: Callable[[], Extrapolated] | None = None
    parts: tuple[str, ...] = ()


def _statistics(features: SetFeatures, chosen: Backbones) -> Iterator[_Statistic]:
    pairs = [(image, text) for text in chosen.text for image in chosen.cfred]
    for image, text in pairs if features.prompts else pairs[:1]:
        yield from _conditional(features, image, text)
    for key in chosen.image:
        yield from _distances(features, key)
    for name in features.generated:
        if chosen.cmmd:
            yield _of_two(features, "cmmd", chosen.cmmd, name, compute=pairwise.cmmd, subsets=pairwise.cmmd_of_subsets)
        for key in chosen.image:
            yield _of_two(features, "kid", key, name, compute=pairwise.kid, subsets=pairwise.kid_of_subsets)
            for k, quantities in MANIFOLDS.items():
                yield from _neighbours(features, quantities, key, name, k=k)
            yield _of_one(features, "vendi", key, name, parts=("order",))
    for name in features.logits:
        yield _of_one(features, "inception_score", chosen.classes, name)
    for metric, key in chosen.scorers.items():
        for name in features.generated:
            yield _of_one(features, metric, key, name)


def _conditional(features: SetFeatures, image: str, text: str) -> Iterator[_Statistic]:
    """cFreD of every generator; what depends on the reference alone is computed once."""
    key = backbones.subset(image, text)

    @cache
    def reference() -> cfred.ConditionalReference:
        if not features.prompts:
            raise Undefined(NO_PROMPTS)
        return cfred.ConditionalReference(real=features.real(key), condition=features.texts[text])

    def sides(name: str) -> dict[str, Any]:
        real = features.real(key)
        if isinstance(real, CrossMoments):
            raise Undefined("a saved reference cannot omit a prompt")
        return {"real": real, "generated": features.images[image][name], "condition": features.texts[text]}

    def without(name: str, blocks: Blocks) -> Floats:
        every = sides(name)
        if not cfred.streams(len(every["condition"]), *every.values()):
            return leave_out(lambda rows: cfred.cfred(**every, rows=rows).value, blocks)
        condition = every.pop("condition")
        moments = {side: partial(CrossMoments.of, images=rows, condition=condition) for side, rows in every.items()}
        return leave_moments_out(lambda **left: cfred.cfred(**left).value, blocks, **moments)

    for name in features.generated:
        yield _Statistic(
            generator=name,
            metric="cfred",
            backbone=key,
            compute=lambda name=name: reference().compare(features.images[image][name]),
            without=partial(without, name),
            limit=lambda name=name: cfred.cfred_at_infinity(**sides(name)),
            parts=cfred.PARTS,
        )


def _distances(features: SetFeatures, key: str) -> Iterator[_Statistic]:
    """The Fréchet distance of every generator over one backbone."""
    reference = cache(lambda: Gaussian.of(features.real(key), argument="real"))

    def without(generated: Features, blocks: Blocks) -> Floats:
        real = features.real(key)
        fixed = reference() if isinstance(real, Moments) or not features.prompts else None

        def distance(rows: Ints) -> float:
            left = Gaussian.of(real, rows=rows) if fixed is None else fixed
            return frechet.frechet(real=left, generated=Gaussian.of(generated, rows=rows)).value

        if not cfred.streams(len(generated), generated):
            return leave_out(distance, blocks)
        sides = {"generated": partial(Moments.of, generated)} | ({} if fixed else {"real": partial(Moments.of, real)})
        return leave_moments_out(lambda **left: frechet.frechet(**{"real": fixed, **left}).value, blocks, **sides)

    def limit(generated: Features) -> Extrapolated:
        real = features.real(key)
        found = frechet.frechet_at_infinity(real=real, generated=generated, paired=bool(features.prompts))
        if not isinstance(real, Moments):
            return found
        bias = f"At infinite N of the generator alone: the bias of the reference's {real.n:,} images stays"
        return replace(found, warnings=(*found.warnings, bias))

    for name in features.generated:
        generated = features.images[key][name]
        yield _Statistic(
            generator=name,
            metric=backbones.distance(key),
            backbone=key,
            compute=lambda generated=generated: frechet.frechet(real=reference(), generated=generated),
            without=partial(without, generated),
            limit=partial(limit, generated),
            parts=("means", "covariances"),
        )


def _of_two(
    features: SetFeatures,
    metric: str,
    key: str,
    name: str,
    *,
    compute: Callable[..., Any],
    subsets: Callable[..., Floats],
    parts: tuple[str, ...] = (),
) -> _Statistic:
    """A metric that compares single images with the reference's: `subsets` computes it of marked rows."""

    def sides() -> dict[str, Any]:
        if features.moments:
            raise Undefined("single images are compared, and a saved reference holds only moments: give its images")
        return {
            "real": drawn_rows(features.images[key][REFERENCE]),
            "generated": drawn_rows(features.images[key][name]),
        }

    def without(blocks: Blocks) -> Floats:
        rows = sides()
        real_kept = blocks.remaining if features.prompts else np.ones((blocks.count, len(rows["real"])), bool)
        return subsets(**rows, real_kept=real_kept, generated_kept=blocks.remaining)

    return _Statistic(
        generator=name,
        metric=metric,
        backbone=key,
        compute=lambda: compute(**sides()),
        without=without,
        parts=parts,
    )


def _neighbours(
    features: SetFeatures, quantities: tuple[str, ...], key: str, name: str, *, k: int
) -> Iterator[_Statistic]:
    every = _of_two(
        features,
        quantities[0],
        key,
        name,
        compute=partial(pairwise.manifold, k=k),
        subsets=partial(pairwise.manifold_of_subsets, k=k),
        parts=("k",),
    )
    shares, without = cache(every.compute), cache(every.without)  # all quantities at once
    for quantity in quantities:
        yield replace(
            every,
            metric=quantity,
            compute=lambda quantity=quantity: getattr(shares(), quantity),
            without=lambda blocks, quantity=quantity: without(blocks)[quantity],
        )


def _of_one(features: SetFeatures, metric: str, key: str, name: str, *, parts: tuple[str, ...] = ()) -> _Statistic:
    """A metric of the generator's images alone."""

    def rows() -> np.ndarray:
        if metric == "vendi":
            return np.asarray(drawn_rows(features.images[key][name]))
        if metric == "inception_score":
            return features.logits[name]
        if metric not in features.scores:
            raise Undefined(NO_PROMPTS)
        return features.scores[metric][name]

    def record(rows: np.ndarray, prompts: Ints | None = None) -> Any:
        if metric == "vendi":
            return reference_free.vendi(features=rows)
        if metric == "inception_score":
            return reference_free.inception_score(logits=rows)
        return reference_free.mean_score(scores=rows, prompts=prompts)

    def without(blocks: Blocks) -> Floats:
        every = rows()
        return leave_out(lambda left: record(every[left]).value, blocks)

    return _Statistic(
        generator=name,
        metric=metric,
        backbone=key,
        compute=lambda: record(rows(), features.prompt_codes if features.prompts else None),
        without=without,
        parts=parts,
    )


# ---- metrics


def figures(features: SetFeatures, *, chosen: Backbones, with_intervals: bool = True) -> list[GeneratorFigure]:
    """All chosen metrics that the features allow, generator by generator, in the order of METRICS: values with
    intervals and limits, or the reason why there is none."""

    @cache
    def shared(n: int, drawn: bool) -> Blocks:
        rows = drawn_rows(np.arange(n)) if drawn else np.arange(n)
        return intervals.share_out(features.prompt_codes[rows] if features.prompts else len(rows))

    made = []
    for statistic in _statistics(features, chosen):
        if statistic.metric in chosen.metrics:
            row = _value(statistic, n=features.count(statistic.generator))
            if with_intervals and row.value is not None:
                shares = shared(row.n, row.metric in PAIRWISE)
                row = _with(row, "interval", _interval, statistic, features, shares)
                if statistic.limit:
                    row = _with(row, "value at infinite N", _limit, statistic.limit)
            made.append(row)
    generators, metrics = features.generated, backbones.METRICS
    return sorted(made, key=lambda row: (generators.index(row.generator), metrics.index(row.metric)))


def _value(statistic: _Statistic, *, n: int) -> GeneratorFigure:
    """The figure that a statistic gives, or why there is none."""
    empty = GeneratorFigure(
        generator=statistic.generator, metric=statistic.metric, backbone=statistic.backbone, value=None, n=n
    )
    try:
        record = statistic.compute()
    except (BadInput, Undefined) as error:
        return replace(empty, reason=str(error))
    if not np.isfinite(record.value):
        return replace(empty, reason="the value is not finite")
    warnings = tuple(record.warnings)
    if statistic.metric in PAIRWISE and n > MOST:
        warnings += (f"Computed on {MOST:,} of the images, drawn at random: its cost grows with their square",)
    return replace(
        empty,
        value=float(record.value),
        **{name: getattr(record, name, None) for name in ("low", "high", "stderr")},
        parts={name: float(getattr(record, name)) for name in statistic.parts},
        warnings=warnings,
    )


def _with(row: GeneratorFigure, what: str, make: Callable[..., dict[str, Any]], *args: Any) -> GeneratorFigure:
    """The figure with what `make` finds of it, or with the reason why there is none among its warnings."""
    try:
        return replace(row, **make(row, *args))
    except (BadInput, Undefined) as error:
        return replace(row, warnings=(*row.warnings, f"No {what}: {error}"))


def _interval(row: GeneratorFigure, statistic: _Statistic, features: SetFeatures, blocks: Blocks) -> dict[str, Any]:
    """The interval, and the values that it comes from. Means over images have their interval already."""
    if row.metric in features.scores and blocks.count < intervals.FEWEST_BLOCKS:
        return {}
    values, found, about = statistic.without(blocks), {}, _METRICS[row.metric]
    if row.low is None:
        found = vars(intervals.interval(row.value, values, blocks, lower=about.lower, upper=about.upper))
    if features.prompts and features.moments and row.metric in backbones.DISTANCES:
        return found  # no test of differences: other runs of these prompts omit them of the reference too
    return found | {"left_out": tuple(values.tolist()), "block_sizes": tuple(blocks.sizes.tolist())}


def _limit(row: GeneratorFigure, limit: Callable[[], Extrapolated]) -> dict[str, Any]:
    """The value at infinite N."""
    found = limit()
    warnings = tuple(dict.fromkeys((*row.warnings, *found.warnings)))
    return {"limit": found.value, "limit_low": found.low, "limit_high": found.high, "warnings": warnings}


def drawn_rows(rows: Features) -> Features:
    """At most MOST rows, the same random ones of every set of one size."""
    if len(rows) <= MOST:
        return rows
    return rows[np.sort(np.random.default_rng(0).choice(len(rows), MOST, replace=False))]
