"""What a comparison of generators leaves behind: a suite of user data with a run a generator, and a reference's
statistics, which stand for its images later on."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import versions
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.catalog.own.suite import OwnSuite
from compute.engine import run_folders, thumbnails
from compute.engine.generators.backbones import DISTANCE, JOIN, METRICS, Backbones, subset
from compute.engine.generators.frechet import GeneratorComparison
from compute.engine.run import code
from compute.engine.run_folders import StoredRun
from compute.io.files import replacing
from compute.metrics.distribution.moments import CrossMoments, Moments
from compute.tasks.generators.pairing import REFERENCE
from compute.tasks.source import OwnFile
from compute.types import WHOLE, BadInput, NotHere, Run, Score, Suite, Task, shortened

PROCEDURE = "frechet"
SAVED = "reference=saved"  # the variant of a run against saved statistics, which never hides one with the images
MOST_PICTURES = 2000  # of one comparison, the reference's among them: about 3 kB each
SIDE = 128  # pixels of their longer side at most
DETAILS = ("low", "high", "limit", "limit_low", "limit_high", "parts", "warnings", "left_out", "block_sizes")
FORMAT = "likeness-reference-2"  # of saved statistics
SUFFIX = ".npz"  # of a file, and of an address that stands for several
LONGEST = 80  # characters of a name
PACKAGES = ("numpy", "pillow", "torch", "torchvision", "transformers", "timm")  # what makes features
# What does not belong to the preprocessing: the same model gives the same features up to rounding.
ELSEWHERE = ("device", "packages")

Values = Mapping[str, Mapping[str, np.ndarray]]  # of single images by kind and generator, (n,) each


# ---- runs


def store(
    comparison: GeneratorComparison,
    *,
    name: str,
    file: Path,
    results: Path,
    human: Mapping[str, tuple[str, float]] | None = None,
) -> tuple[str, list[StoredRun]]:
    """Records the suite and writes a run for each generator with a figure; the suite's key and the runs.

    `name` is what the suite is called, `file` what it was made from; `human` holds people's ratings by generator, as
    (metric, value). Raises CannotWrite, and BadInput for names that make one key.
    """
    human, sets = human or {}, comparison.sets
    suite = _suite(comparison, name=name, file=file, results=results, human=human)
    suite = suite_records.record(suite, results=results)
    [task] = suite.tasks
    values = _prompt_values(comparison)
    runs = []
    for part in sets.generated:
        figures = [row for row in comparison.figures if row.generator == part.name]
        valued = [row for row in figures if row.value is not None]
        found: dict[str, dict[str, Any]] = {row.backbone: {} for row in figures}
        for row in valued:
            details = asdict(row)
            found[row.backbone][row.metric] = {key: details[key] for key in DETAILS}
        run = run_of(
            part.name,
            task=task,
            metrics=list(comparison.chosen.metrics),
            data={
                "reference": suite.digest,
                "generated": hashlib.blake2b(part.images.keys.tobytes(), digest_size=10).hexdigest(),
                **({} if sets.reference else {"statistics": sorted(comparison.saved)}),
            },
            backbones=dict(comparison.settings),
            seconds=comparison.seconds,
            variant="" if sets.reference else SAVED,
            items=len(part),
            found=found,
            undefined={row.metric: {row.backbone: row.reason} for row in figures if row.value is None},
            per_prompt={
                "kinds": list(values),
                "backbones": [
                    comparison.features.distance_backbone if kind == DISTANCE else comparison.chosen.scorers[kind]
                    for kind in values
                ],
            },
            warnings=list(sets.warnings),
        )
        made, scores = partial(Score, run=run.id, coverage=1.0), []
        for row in valued:  # a score a metric and backbone, and each metric's first as the whole task's
            first = all(score.metric != row.metric for score in scores)
            about = {"metric": row.metric, "value": row.value, "n": row.n, "stderr": row.stderr}
            scores += [made(subset=each, **about) for each in (row.backbone, WHOLE)[: 1 + first]]
        if part.name in human:
            metric, value = human[part.name]
            scores.append(made(subset=WHOLE, metric=metric, value=value))
        if scores:
            runs.append(run_folders.write(results, run=run, scores=scores, items=_items(comparison, part.name, values)))
    _add_pictures(comparison, values, task=task.key, results=results)
    return suite.suite.key, runs


def key_of(name: str) -> str:
    """The key of a generator."""
    return f"{own_suite.BENCHMARK.key}/{own_suite.slug(name)}"


def suite_of(suite: Suite, *, tasks: tuple[Task, ...], data: OwnFile, generators: Sequence[str]) -> OwnSuite:
    """A suite of own data over generators. Raises BadInput for names that make one key."""
    keys = [key_of(name) for name in generators]
    both = [name for name, each in zip(generators, keys, strict=True) if keys.count(each) > 1]
    if both:
        raise BadInput(
            f"The names {' and '.join(both[:2])} make one key, {key_of(both[0])}: choose more distinct names"
        )
    rows = [own_suite.own_generator(own_suite.slug(name), title=name[: own_suite.MAX_NAME]) for name in generators]
    return OwnSuite(suite=suite, tasks=tasks, data=(data,) * len(tasks), models=tuple(rows))


def joined(suite: OwnSuite, *, results: Path) -> OwnSuite:
    """The suite with the tasks, subsets, metrics and generators of an earlier comparison of the same data.

    A grid's earlier subsets come first: the pair that it names first stays the ranked one.
    """
    known, _ = suite_records.recorded(results)
    before = next((each for each in known if (each.shape, each.digest) == (suite.shape, suite.digest)), None)
    if before is None:
        return suite
    mark = f" ({suite.digest[:8]})"  # which `record` adds to titles where another suite has the name
    of_grid = suite.shape == own_suite.GRID
    tasks = {_part(task): replace(task, title=task.title.removesuffix(mark)) for task in before.tasks}
    for task in suite.tasks:
        if earlier := tasks.get(_part(task)):
            first, then = (earlier, task) if of_grid else (task, earlier)
            both = {name: (*getattr(first, name), *getattr(then, name)) for name in ("subsets", "metrics")}
            task = replace(task, **{name: tuple(dict.fromkeys(values)) for name, values in both.items()})
        tasks[_part(task)] = task
    facts = {"description": before.suite.description} if of_grid else {}
    if before.suite.aggregate == suite_records.HUMAN:
        facts["aggregate"] = suite_records.HUMAN
    return replace(
        suite,
        suite=replace(suite.suite, **facts),
        tasks=own_suite.headline_first(tuple(tasks.values())) if of_grid else tuple(tasks.values()),
        data=suite.data[:1] * len(tasks),
        models=tuple({row.key: row for row in (*before.models, *suite.models)}.values()),
    )


def _part(task: Task) -> str:
    """What tells a comparison's tasks apart: the end of the key."""
    return task.key.rpartition("/")[2]


def run_of(
    name: str, *, task: Task, metrics: list[str], data: Mapping[str, Any], backbones: Mapping[str, Any], **details: Any
) -> Run:
    """A generator's computed run on a task: metrics, data and backbones make its fingerprint; `details` are the rest of
    its settings, with `seconds`."""
    settings = {
        "procedure": {"key": task.procedure, "metrics": metrics},
        "data": data,
        "backbones": backbones,
    }
    fingerprint, model = run_folders.fingerprint(settings), key_of(name)
    return Run(
        id=f"computed/{model}/{task.key}/{fingerprint}",
        model=model,
        task=task.key,
        procedure=task.procedure,
        origin="computed",
        fingerprint=fingerprint,
        code=code(),
        seconds=round(details.pop("seconds"), 3),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        settings={
            **settings,
            "variant": "",
            "contents": data["generated"],
            "coverage": 1.0,
            "versions": versions.installed(("numpy", "scipy")),
            "left_out": [],
            **details,
        },
    )


def _suite(
    comparison: GeneratorComparison,
    *,
    name: str,
    file: Path,
    results: Path,
    human: Mapping[str, tuple[str, float]],
) -> OwnSuite:
    """The suite, with the generators, metrics and backbones of an earlier comparison on the same reference and
    prompts.

    Its digest is of what makes comparisons comparable: the reference's images, the prompts in their order, and the
    features that each metric is ranked on, so that a column of the board never holds two kinds.
    """
    sets, chosen, paired = comparison.sets, comparison.chosen, comparison.sets.prompts is not None
    digest = hashlib.blake2b(_contents(comparison).encode(), digest_size=16)
    if paired:
        digest.update(sets.prompts.keys.tobytes())
    ranked = (chosen.image[:1], chosen.cfred[:1], chosen.text[:1], chosen.clip, chosen.cmmd, chosen.classes)
    digest.update(json.dumps(ranked).encode())
    n = len(sets.ids) if paired else len(sets.reference) if sets.reference else next(iter(comparison.saved.values())).n
    first: dict[str, str] = {}  # the backbone that stands for each metric
    for row in comparison.figures:
        first.setdefault(row.metric, row.backbone)
    metrics = [metric for metric in METRICS if metric in first]
    rated = next(iter(human.values()))[0] if human else ""
    headline = "Features: " + ", ".join(f"{metric} {first[metric]}" for metric in metrics) + "."
    slug = own_suite.slug(name)
    key = slug if slug.startswith("generators-") else f"generators-{slug}"
    task = Task(
        key=f"{own_suite.BENCHMARK.key}/{key}/images",
        title="Generated images",
        benchmark=own_suite.BENCHMARK.key,
        category="Generators",
        dataset=file.name,
        revision=digest.hexdigest(),
        subsets=(WHOLE, *dict.fromkeys(row.backbone for row in comparison.figures)),
        procedure=PROCEDURE,
        metrics=tuple(filter(None, (rated, *metrics))),
        n_items=n,
        modalities=("image", "text") if paired else ("image",),
        notes=headline,
        suites=(key,),
    )
    names = [part.name for part in sets.generated]
    made = suite_of(
        Suite(
            key=key,
            title=f"Own generators: {name[:80]}",
            benchmark=own_suite.BENCHMARK.key,
            aggregate="human" if rated else "task-mean",
            description=(
                f"Your own data: {len(names)} generators on {n:,} {'prompts' if paired else 'reference images'}. "
                f"{headline} No published score compares with these."
            ),
        ),
        tasks=(task,),
        data=OwnFile(shape=own_suite.GENERATORS, digest=digest.hexdigest(), path=file.absolute()),
        generators=names,
    )
    return joined(made, results=results)


def _contents(comparison: GeneratorComparison) -> str:
    """A digest of the reference's images."""
    reference = comparison.sets.reference
    if reference is None:
        return next(iter(comparison.saved.values())).contents
    return hashlib.blake2b(reference.images.keys.tobytes(), digest_size=16).hexdigest()


def _prompt_values(comparison: GeneratorComparison) -> Values:
    """Values of the kinds that all generators have; empty where nothing is paired."""
    sets, features = comparison.sets, comparison.features
    if sets.prompts is None:
        return {}
    distances = {}
    if features.images and sets.reference is not None:
        distances[DISTANCE] = {name: features.paired_distances(name) for name in features.generated}
    return distances | {kind: of for kind, of in features.scores.items() if set(features.generated) <= set(of)}


def _items(comparison: GeneratorComparison, name: str, values: Values) -> pd.DataFrame:
    """A row a pair (or image): the scores that one image has, and how far it is from the reference's in features.

    Of pairs: item, value (the first kind of value) and detail, which holds the prompt, the other kinds and the keys of
    the pictures, the reference's first.
    """
    sets = comparison.sets
    part = next(part for part in sets.generated if part.name == name)
    if not values:
        scores = {metric: of[name] for metric, of in comparison.features.scores.items() if name in of}
        return run_folders.table({WHOLE: pd.DataFrame({"item": part.ids, **scores})})
    first, *others = values
    pictures = () if sets.reference is None else (sets.reference.images.keys, part.images.keys)

    def detail(row: int) -> dict[str, Any]:
        shown: dict[str, Any] = {"prompt": sets.texts[row]}
        if others:
            shown |= {"metrics": others, "scores": [float(values[kind][name][row]) for kind in others]}
        return shown | ({"images": [keys[row].decode() for keys in pictures]} if pictures else {})

    details = [partial(detail, row) for row in range(len(sets.ids))]
    frame = pd.DataFrame({"item": list(sets.ids), "value": values[first][name], "detail": details})
    return run_folders.table({WHOLE: frame})


def _add_pictures(comparison: GeneratorComparison, values: Values, *, task: str, results: Path) -> None:
    """Small pictures of the prompts on which generators differ most, as many as MOST_PICTURES allow for all sets."""
    sets = comparison.sets
    if sets.reference is None or not values:
        return
    opened = np.isin(np.array(sets.ids, dtype=object), run_folders.page_items(list(sets.ids)))
    spread = np.zeros(len(sets.ids))
    for of in values.values():
        every = np.array(list(of.values()))
        spread = np.maximum(spread, np.ptp(every, axis=0) / (every.std() or 1.0))
    order = np.argsort(np.where(opened, -spread, np.inf), kind="stable")[: MOST_PICTURES // len(sets.sets)]
    columns = [part.images.take(np.sort(order[opened[order]])) for part in sets.sets]
    keys = {key.decode() for column in columns for key in column.keys.tolist()}
    thumbnails.add_images(results, task=task, columns=columns, keys=keys, side=SIDE)


# ---- saved statistics of a reference


@dataclass(frozen=True, kw_only=True)
class FeatureOrigin:
    """What made features: the key of the backbone, and its preprocessing (revision, size, resampling, dtype ...)."""

    backbone: str
    preprocessing: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class SavedReference:
    """Named statistics of a reference set: `moments` of its images, or CrossMoments with `condition`, the text side.

    `source` tells in words which images they are, `contents` is a digest of the images themselves; `packages` maps
    packages to versions.
    """

    name: str
    moments: Moments | CrossMoments
    images: FeatureOrigin
    condition: FeatureOrigin | None = None
    source: str = ""
    contents: str = ""
    packages: Mapping[str, str] = field(default_factory=lambda: versions.installed(PACKAGES))

    @property
    def n(self) -> int:
        """Images of the reference."""
        return self.moments.n

    @property
    def subset(self) -> str:
        """What a score against it rests on."""
        return subset(self.images.backbone, self.condition.backbone if self.condition else "")

    def write(self, folder: Path) -> Path:
        """Writes `<folder>/<name>.npz`, whole or not at all: the moments, and the facts as JSON. Raises CannotWrite."""
        moments, arrays = self.moments, {}
        if isinstance(moments, CrossMoments):
            arrays = {"condition_mean": moments.condition.mean, "condition_scatter": moments.condition.scatter}
            arrays["cross"], moments = moments.cross, moments.images
        facts = {
            "format": FORMAT,
            "n": self.n,
            "images": asdict(self.images),
            "condition": None if self.condition is None else asdict(self.condition),
            "packages": dict(self.packages),
            **{key: getattr(self, key) for key in ("name", "source", "contents")},
        }
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}{SUFFIX}"
        text = np.frombuffer(json.dumps(facts, sort_keys=True).encode(), np.uint8)
        with replacing(path) as draft, open(draft, "wb") as handle:
            np.savez(handle, allow_pickle=False, facts=text, mean=moments.mean, scatter=moments.scatter, **arrays)
        return path

    @classmethod
    def read(cls, path: Path) -> SavedReference:
        """Reads a file of saved statistics, never unpickling. Raises BadInput for one that is none, or is damaged."""
        try:
            with np.load(path, allow_pickle=False) as file:
                facts = json.loads(file["facts"].tobytes())
                if facts["format"] != FORMAT:
                    raise ValueError(f"its format is not {FORMAT}: save it again")
                n, condition = facts["n"], facts["condition"]
                mean, scatter = file["mean"], file["scatter"]
                moments: Moments | CrossMoments = Moments(n=n, mean=mean, scatter=scatter)
                if condition:
                    cross = file["cross"]
                    joint = np.block([[scatter, cross], [cross.T, file["condition_scatter"]]])
                    both = Moments(n=n, mean=np.concatenate([mean, file["condition_mean"]]), scatter=joint)
                    moments = CrossMoments(joint=both, width=len(mean))
                if not all(np.isfinite(file[name]).all() for name in file.files if name != "facts"):
                    raise ValueError("it holds NaN or infinity")
            return cls(
                moments=moments,
                images=FeatureOrigin(**facts["images"]),
                condition=FeatureOrigin(**condition) if condition else None,
                **{name: facts[name] for name in ("name", "source", "contents", "packages")},
            )
        except (OSError, EOFError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as error:
            raise BadInput(f"{path.name} is not a saved reference: {shortened(str(error))}") from error

    def check(self, backbone: str, settings: Mapping[str, Any]) -> None:
        """Raises BadInput, naming the first difference, where its features of this backbone have other settings."""
        for side, origin in (("images", self.images), ("prompts", self.condition)):
            if origin is None or origin.backbone != backbone:
                continue
            mine, theirs = (
                json.loads(json.dumps(dict(each))) for each in (origin.preprocessing, without_place(settings))
            )
            for key in sorted({*mine, *theirs}):
                if mine.get(key) != theirs.get(key):
                    raise BadInput(
                        f"The reference {self.name!r} has {side} with {key} = {shortened(repr(mine.get(key)))}, these "
                        f"have {shortened(repr(theirs.get(key)))}. Distances between different preprocessing mean "
                        "nothing: save the reference again"
                    )


def save_references(path: Path, comparison: GeneratorComparison, *, source: str) -> list[Path]:
    """Writes `<path without ending>-<backbone>.npz` for every image backbone, and with each text backbone for cFreD.

    `source` says which images the reference's are. Raises BadInput, CannotWrite.
    """
    chosen, features, settings = comparison.chosen, comparison.features, comparison.settings
    images = {key: sets[REFERENCE] for key, sets in features.images.items()}
    moments: dict[str, Moments | CrossMoments] = {
        key: Moments.of(rows, argument="reference") for key, rows in images.items() if key in chosen.image
    }
    for image in (key for key in chosen.cfred if key in images):
        for text, condition in features.texts.items():
            moments[subset(image, text)] = CrossMoments.of(images=images[image], condition=condition)
    written = []
    for key, each in moments.items():
        origins = [
            FeatureOrigin(backbone=name, preprocessing=without_place(settings[name])) for name in key.split(JOIN)
        ]
        reference = SavedReference(
            name=_file_name(path, key),
            moments=each,
            images=origins[0],
            condition=origins[1] if len(origins) > 1 else None,
            source=source,
            contents=_contents(comparison),
        )
        written.append(reference.write(path.parent))
    return written


def opened(where: str | Path | SavedReference, *, chosen: Backbones) -> dict[str, SavedReference]:
    """Saved statistics by subset: those of one file, or FILE as `--save-reference` took it, which stands for the files
    of all chosen backbones.

    Raises NotHere for no such file, BadInput for one that is not a reference, is of none of the chosen backbones, or of
    other images than the others.
    """
    if isinstance(where, SavedReference):
        files = [where]
    elif Path(where).is_file():
        files = [SavedReference.read(Path(where))]
    else:
        paths = [Path(where).with_name(f"{_file_name(Path(where), key)}{SUFFIX}") for key in chosen.subsets()]
        files = [SavedReference.read(path) for path in paths if path.is_file()]
        if not files:
            raise NotHere(
                f"There is no saved reference {where}, nor {paths[0].name} or another backbone's. Save one: python -m "
                f"compute frechet ... --save-reference {where}"
            )
    first = files[0]
    if len({reference.contents for reference in files}) > 1:
        raise BadInput(f"The references {first.name} and others next to it are of different images: save them together")
    # One with prompts holds the moments of its images as well.
    crossed = [reference for reference in files if isinstance(reference.moments, CrossMoments)]
    alone = [replace(reference, moments=reference.moments.images, condition=None) for reference in crossed]
    usable = (*chosen.image, *chosen.by_metric.get("cfred", ()))
    used = {reference.subset: reference for reference in (*alone, *files) if reference.subset in usable}
    if not used:
        raise BadInput(
            f"The reference {first.name!r} has images encoded by {first.images.backbone}, and no distance under it is "
            f"chosen: --backbones {first.images.backbone}, or save a reference with {', '.join(chosen.image)}"
        )
    return used


def _file_name(path: Path, key: str) -> str:
    """The name of the file of one subset; a digest ends one that is cut."""
    parts = [path.stem, *key.split(JOIN)]
    name = "-".join(map(own_suite.slug, parts))
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - 9]}-{hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()}"


def without_place(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of features without what differs from machine to machine."""
    return {
        name: without_place(value) if isinstance(value, Mapping) else value
        for name, value in settings.items()
        if name not in ELSEWHERE
    }
