"""cFreD of every generator under every pair of an image and a text backbone: computed once a pair, stored, resumed.

Features are read one image backbone at a time. The runs of an image backbone are stored as soon as its last text
backbone is done, and a pair whose features are those of a stored run is not computed again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import models
from compute.catalog import Catalog
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.catalog.own.suite import OwnSuite
from compute.content.items import Column
from compute.engine import run_folders
from compute.engine.bench import Bench
from compute.engine.generators import backbones
from compute.engine.generators.stored import earlier, key_of, run_of, suite_of, with_models
from compute.engine.run_folders import StoredRun
from compute.features.subject import LoadedSubject
from compute.metrics.distribution.grid import GridCell, cfred_grid, check_grid
from compute.progress import duration
from compute.tasks.generators.feature_files import FeatureFiles
from compute.tasks.generators.human import HUMAN_METRICS
from compute.tasks.generators.pairing import PromptedSets
from compute.types import WHOLE, BadInput, Model, Score, Task, shortened

PROCEDURE, METRIC = "cfred-grid", "cfred"
TABLES = {"image": "Backbone of Table B.1", "text": "Backbone of Table B.2"}  # how the catalogue marks the paper's
ABILITIES = {"image": "embed_image", "text": "embed_text"}
PARTS = ("means", "cross", "conditional", "realism", "fidelity", "cutoff", "rank")


@dataclass(frozen=True, kw_only=True)
class GridBackbones:
    """Image and text backbones of a grid, by catalogue key or as features files name them."""

    image: tuple[str, ...]
    text: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GridFeatures:
    """What a grid is computed from, row i of each array being of prompt i: features (n, d) of the images by generator
    and backbone, (n, p) of the prompts by backbone. Mappings may read on access. `settings` say what made them."""

    reference: Mapping[str, np.ndarray]
    generated: Mapping[str, Mapping[str, np.ndarray]]
    condition: Mapping[str, np.ndarray]
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GridResult:
    """Every cell as (generator, image, text) -> cFreD, and where it is stored; `computed` of the cells are new."""

    suite: str
    cells: Mapping[tuple[str, str, str], float]
    computed: int
    seconds: float
    n: int
    warnings: tuple[str, ...]


def paper_backbones(catalog: Catalog) -> GridBackbones:
    """The image and text backbones of Tables B.1 and B.2 of the cFreD paper, as far as the catalogue has them."""
    known = {role: [row.model for row in catalog.aliases if row.note.startswith(note)] for role, note in TABLES.items()}
    return GridBackbones(**{role: tuple(dict.fromkeys(keys)) for role, keys in known.items()})


def choose(text: str, *, catalog: Catalog) -> GridBackbones:
    """The backbones of an option: `paper`, or catalogue keys, comma-separated; each that embeds images is an image
    backbone, and each that embeds texts a text backbone.

    Raises UnknownKey, and BadInput where either kind is missing.
    """
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    listed = paper_backbones(catalog) if backbones.PAPER in names or not names else GridBackbones(image=(), text=())
    rows = [catalog.model(name) for name in names if name != backbones.PAPER]
    roles = {
        role: tuple(dict.fromkeys((*getattr(listed, role), *(row.key for row in rows if ability in row.abilities))))
        for role, ability in ABILITIES.items()
    }
    for role, keys in roles.items():
        if not keys:
            raise BadInput(
                f"--backbones {text}: none of these embeds {role}s, and a grid pairs image with text backbones. List "
                "models: python -m compute list models"
            )
    return GridBackbones(**roles)


def from_files(
    *, reference: Path, generated: Mapping[str, Path], condition: Path, chosen: Sequence[str] = ()
) -> GridFeatures:
    """Features that are encoded already. `chosen` limits the backbones; else all that every set has.

    Raises BadInput for files that cannot be read, sets that share no backbone, and chosen backbones that a set lacks.
    """
    texts, real = FeatureFiles(condition), FeatureFiles(reference)
    sets = {name: FeatureFiles(path) for name, path in generated.items()}
    every: dict[str, FeatureFiles] = {"the reference": real, **sets}
    unknown = [key for key in chosen if key not in texts and key not in real]
    if unknown:
        raise BadInput(
            f"No features of {shortened(unknown[0])!r}: {reference.name} has {_few(real)}; {condition.name} has "
            f"{_few(texts)}"
        )
    warnings, images = [], []
    for key in dict.fromkeys(key for each in every.values() for key in each):
        missing = [name for name, each in every.items() if key not in each]
        if not missing and (not chosen or key in chosen):
            images.append(key)
        elif missing and key in chosen and key in real:
            raise BadInput(f"{missing[0]} has no features of {key}: encode every set with it, or leave it out")
        elif missing and not chosen:
            warnings.append(f"{key}: no features of {', '.join(missing)}. Left out")
    conditions = [key for key in texts if not chosen or key in chosen]
    for keys, what in ((images, "image backbone that all sets have"), (conditions, f"text backbone in {condition}")):
        if not keys:
            raise BadInput(f"There is no {what}" + (f" among {', '.join(chosen)}" if chosen else ""))
    return GridFeatures(
        reference=_Features(images, real.__getitem__),
        generated={name: _Features(images, each.__getitem__) for name, each in sets.items()},
        condition=_Features(conditions, texts.__getitem__),
        warnings=tuple(warnings),
    )


def encode(
    sets: PromptedSets,
    *,
    chosen: GridBackbones,
    catalog: Catalog,
    bench: Bench,
    offline: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> GridFeatures:
    """Encodes the sets with every backbone, one in memory at a time; features are stored, so that it resumes.

    Raises BadInput for sets without prompts, NotHere for weights that are missing, BadItem.
    """
    if sets.prompts is None:
        raise BadInput("cFreD needs prompts: name a table of image and prompt with --prompts")
    keys = tuple(dict.fromkeys((*chosen.image, *chosen.text)))
    rows: dict[str, Model] = {key: catalog.model(key) for key in keys}
    backbones.check_present(list(rows.values()), offline=offline, is_downloaded=models.is_downloaded)
    subjects: dict[str, LoadedSubject] = {}
    settings: dict[str, Any] = {}
    bad: dict[bytes, str] = {}
    started = time.perf_counter()
    for at, key in enumerate(keys):
        subject = subjects[key] = bench.subject(rows[key])
        bench.fetch(rows[key])
        columns = [part.images for part in sets.sets] if key in chosen.image else []
        subject.prepare([*columns, *([sets.prompts] if key in chosen.text else [])])
        settings[key] = subject.settings
        bad |= subject.bad
        subject.__dict__.pop("_model", None)
        report(f"Encoded with {key}{_left(at + 1, len(keys), started)}")
    left = sets.without(bad)

    def encoded(keys: Sequence[str], column: Column) -> _Features:
        return _Features(keys, lambda key: subjects[key].embed(column))

    return GridFeatures(
        reference=encoded(chosen.image, left.reference.images),
        generated={part.name: encoded(chosen.image, part.images) for part in left.generated},
        condition=encoded(chosen.text, left.prompts),
        settings=settings,
        warnings=left.warnings,
    )


def execute(
    features: GridFeatures,
    *,
    name: str,
    file: Path,
    results: Path,
    people: Mapping[str, tuple[str, float]] | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> GridResult:
    """Computes the cells that no stored run has, and stores a run a generator and image backbone.

    `name` is what the suite is called, `file` what it was made from; `people` holds ratings by generator, as (metric,
    value). Raises BadInput for features that do not fit each other or those stored under this name, CannotWrite.
    """
    began = time.perf_counter()
    images, texts, generators = tuple(features.reference), tuple(features.condition), tuple(features.generated)
    check_grid(real=features.reference, generated=features.generated, condition=features.condition)
    n = len(features.reference[images[0]])
    digests = {text: _digest(features.condition[text]) for text in texts}
    human = next(iter(people.values()))[0] if people else ""
    suite = _suite(name, file=file, images=images, texts=texts, generators=generators, n=n, human=human)
    merged = _merged(suite, results=results)
    most = own_suite.MAX_TASKS, own_suite.MAX_SUBSETS - 1  # one subset is the whole
    if len(merged.tasks) > most[0] or any(len(task.subsets) > own_suite.MAX_SUBSETS for task in merged.tasks):
        raise BadInput(
            f"{suite.suite.key} would hold more than {most[0]} image or {most[1]} text backbones: use --name"
        )
    suite = suite_records.settled(merged, results=results)
    rows = {image: _GridRow.of(image, features, suite=suite, digests=digests, results=results) for image in images}
    rows[images[0]].rate(people or {})
    suite_records.record(merged, results=results)
    total = sum(len(row.missing) for row in rows.values()) * len(generators)
    report(
        f"{len(images)} image and {len(texts)} text backbones, {len(generators)} generators, {n:,} prompts: "
        f"{len(images) * len(texts) * len(generators):,} cells, {total:,} to compute"
    )
    started = last = time.perf_counter()
    done = 0
    for image, cells in _computed(features, rows):
        rows[image].add(cells)
        done += len(cells)
        _write(rows[image], features=features, results=results, n=n, seconds=time.perf_counter() - last)
        last = time.perf_counter()
        report(f"{image}: {len(cells)} cells{_left(done, total, started)}")
    for row in rows.values():
        if row.changed:  # without a new cell: people's ratings
            _write(row, features=features, results=results, n=n, seconds=0.0)
    warnings = dict.fromkeys(
        line for row in rows.values() for part in row.details.values() for line in part["warnings"]
    )
    return GridResult(
        suite=suite.suite.key,
        cells={
            (name, image, text): rows[image].values[name, text]
            for image in images
            for text in texts
            for name in generators
        },
        computed=done,
        seconds=time.perf_counter() - began,
        n=n,
        warnings=(*features.warnings, *warnings),
    )


@dataclass(kw_only=True)
class _GridRow:
    """One image backbone: its cells, known and to come, and the digests of what they rest on."""

    image: str
    task: Task
    reference: str
    generated: Mapping[str, str]  # generator -> digest of its features
    texts: dict[str, str]  # text backbone -> digest of its features, those of earlier runs too
    present: tuple[str, ...]  # text backbones with features now
    values: dict[tuple[str, str], float]  # (generator, text)
    details: dict[tuple[str, str], dict[str, Any]]
    people: dict[str, tuple[str, float]]
    changed: bool = False

    @classmethod
    def of(
        cls, image: str, features: GridFeatures, *, suite: OwnSuite, digests: Mapping[str, str], results: Path
    ) -> _GridRow:
        """With the cells of stored runs on the same features. Raises BadInput for runs on other features, of generators
        too that are not compared now."""
        [task] = [task for task in suite.tasks if _image_of(task) == image]
        row = cls(
            image=image,
            task=task,
            reference=_digest(features.reference[image]),
            generated={name: _digest(sets[image]) for name, sets in features.generated.items()},
            texts=dict(digests),
            present=tuple(digests),
            values={},
            details={},
            people={},
        )
        names = {key_of(name): name for name in features.generated}
        for model in suite.models:
            stored = run_folders.stored(results, model=model.key, task=task.key)
            for each in sorted(stored, key=lambda each: each.date):
                row._check(each)
                if model.key in names:
                    row._take(each, names[model.key])
        return row

    def _check(self, stored: StoredRun) -> None:
        data = stored.run.settings.get("data") or {}
        texts = data.get("texts") or {}
        other = [key for key, digest in texts.items() if self.texts.get(key, digest) != digest]
        if other or data.get("reference") != self.reference:
            side = f"the prompts under {other[0]}" if other else f"the reference under {self.image}"
            raise BadInput(
                f"{self.task.key.rpartition('/')[0]} holds figures of other features of {side}: give this grid another "
                "name with --name"
            )

    def _take(self, stored: StoredRun, generator: str) -> None:
        data = stored.run.settings["data"]
        if data.get("generated") != self.generated[generator]:
            return  # another set of images under this name: the new run takes its place
        value = {score.subset: score.value for score in stored.scores if score.metric == METRIC}
        found = stored.run.settings.get("found") or {}
        for text, digest in data["texts"].items():
            subset = backbones.subset(self.image, text)
            if subset in value and METRIC in found.get(subset, {}):
                self.texts.setdefault(text, digest)
                self.values[generator, text] = value[subset]
                self.details[generator, text] = found[subset][METRIC]
        for score in stored.scores:
            if score.metric in HUMAN_METRICS:
                self.people[generator] = score.metric, score.value

    @property
    def missing(self) -> tuple[str, ...]:
        """Text backbones without a value of every generator."""
        return tuple(text for text in self.present if any((name, text) not in self.values for name in self.generated))

    def add(self, cells: Sequence[GridCell]) -> None:
        """Takes computed cells."""
        for cell in cells:
            parts = {part: float(getattr(cell.cfred, part)) for part in PARTS}
            self.values[cell.generator, cell.text] = float(cell.cfred.value)
            self.details[cell.generator, cell.text] = {"parts": parts, "warnings": list(cell.cfred.warnings)}

    def rate(self, people: Mapping[str, tuple[str, float]]) -> None:
        """Takes people's ratings of the generators."""
        rated = self.people | {name: rating for name, rating in people.items() if name in self.generated}
        self.people, self.changed = rated, rated != self.people


def _computed(features: GridFeatures, rows: Mapping[str, _GridRow]) -> Iterator[tuple[str, list[GridCell]]]:
    """The missing cells, an image backbone at a time. Backbones that miss the same texts share what is computed of
    these."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for image, row in rows.items():
        if row.missing:
            groups.setdefault(row.missing, []).append(image)
    for texts, images in groups.items():
        count = len(texts) * len(features.generated)
        cells: list[GridCell] = []
        for cell in cfred_grid(
            real=_Features(images, features.reference.__getitem__),
            generated={name: _Features(images, sets.__getitem__) for name, sets in features.generated.items()},
            condition=_Features(texts, features.condition.__getitem__),
        ):
            cells.append(cell)
            if len(cells) == count:
                yield cell.image, cells
                cells = []


def _write(row: _GridRow, *, features: GridFeatures, results: Path, n: int, seconds: float) -> None:
    """A run a generator: a score a text backbone, the first of them for the whole task too, and people's rating."""
    for name, digest in row.generated.items():
        # In the task's order: the pair that it names first stays the ranked one, whatever is computed later.
        parts = [subset.partition(backbones.JOIN)[2] for subset in row.task.subsets[1:]]
        texts = [text for text in parts if (name, text) in row.values]
        run = run_of(
            name,
            task=row.task,
            metrics=[METRIC],
            data={
                "reference": row.reference,
                "generated": digest,
                "texts": {text: row.texts[text] for text in texts},
            },
            backbones={key: features.settings[key] for key in (row.image, *texts) if key in features.settings},
            seconds=seconds / len(row.generated),
            items=n,
            found={backbones.subset(row.image, text): {METRIC: row.details[name, text]} for text in texts},
            warnings=list(features.warnings),
        )
        scores = [
            Score(run=run.id, subset=subset, metric=METRIC, value=row.values[name, text], n=n, coverage=1.0)
            for text in texts
            for subset in (*((WHOLE,) if text == parts[0] else ()), backbones.subset(row.image, text))
        ]
        if name in row.people:
            metric, value = row.people[name]
            scores.append(Score(run=run.id, subset=WHOLE, metric=metric, value=value, coverage=1.0))
        items = pd.DataFrame({"item": []})  # a figure is of all prompts at once
        run_folders.write(results, run=run, scores=scores, items=run_folders.table({WHOLE: items}))
    row.changed = False


def _suite(
    name: str,
    *,
    file: Path,
    images: Sequence[str],
    texts: Sequence[str],
    generators: Sequence[str],
    n: int,
    human: str = "",
) -> OwnSuite:
    short = own_suite.slug(name)
    key = short if short.startswith("grid-") else f"grid-{short}"
    digest = hashlib.blake2b(f"{key} {n}".encode(), digest_size=16).hexdigest()
    notes = f"cFreD by text backbone; the first is {texts[0]}."
    tasks = tuple(
        Task(
            key=f"{own_suite.BENCHMARK.key}/{key}/{_task_name(image)}",
            title=f"cFreD under {image}",
            benchmark=own_suite.BENCHMARK.key,
            category=image,
            dataset=file.name,
            revision=digest,
            subsets=(WHOLE, *(backbones.subset(image, text) for text in texts)),
            procedure=PROCEDURE,
            metrics=(METRIC, *filter(None, (human if at == 0 else "",))),
            n_items=n,
            modalities=("image", "text"),
            notes=notes,
            suites=(key,),
        )
        for at, image in enumerate(images)
    )
    return suite_of(
        key=key,
        title=f"Own backbone grid: {name[:80]}",
        description=(
            f"Your own data: cFreD of {len(generators)} generators on {n:,} prompts under every pair of image and "
            f"text backbones. The ranking is by {images[0]} and {texts[0]}, the first pair; distances under "
            "different backbones have no common scale. No published figure compares with these."
        ),
        aggregate="task-mean",
        tasks=own_suite.headline_first(tasks),
        shape=own_suite.GRID,
        digest=digest,
        file=file,
        generators=generators,
    )


def _image_of(task: Task) -> str:
    """The image backbone of a grid's task."""
    return task.subsets[1].partition(backbones.JOIN)[0]


def _task_name(image: str) -> str:
    """A task's part of the key: the backbone's slug, with a digest where that is not the backbone alone."""
    slug = own_suite.slug(image)
    return slug if len(image) < 60 else f"{slug[:50]}-{hashlib.blake2b(image.encode(), digest_size=4).hexdigest()}"


def _merged(suite: OwnSuite, *, results: Path) -> OwnSuite:
    """With the backbones and generators of an earlier grid of this name."""
    before = earlier(suite, results=results)
    if before is None:
        return suite
    mark = f" ({suite.digest[:8]})"  # which `record` adds to titles where another grid has the name
    tasks = {_image_of(task): replace(task, title=task.title.removesuffix(mark)) for task in before.tasks}
    for task in suite.tasks:
        known = tasks.get(_image_of(task))
        if known is not None:
            subsets = tuple(dict.fromkeys((*known.subsets, *task.subsets)))
            task = replace(task, subsets=subsets, metrics=tuple(dict.fromkeys((*known.metrics, *task.metrics))))
        tasks[_image_of(task)] = task
    return replace(
        suite,
        suite=replace(suite.suite, description=before.suite.description),
        tasks=own_suite.headline_first(tuple(tasks.values())),
        data=suite.data[:1] * len(tasks),
        models=with_models(suite, before),
    )


def _digest(array: np.ndarray) -> str:
    """Of an array's type, shape and numbers."""
    digest = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()


def _left(done: int, total: int, started: float) -> str:
    """How far a pass is, and how much longer it takes at this rate."""
    rest = (time.perf_counter() - started) / done * (total - done)
    return f" ({done:,} of {total:,}{f', {duration(rest)} left' if done < total else ''})"


def _few(keys: Mapping[str, Any]) -> str:
    names = list(keys)
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


class _Features(Mapping[str, np.ndarray]):
    """Features by backbone, read on access."""

    def __init__(self, keys: Sequence[str], read: Callable[[str], np.ndarray]) -> None:
        self._keys, self._read = keys, read

    def __getitem__(self, key: str) -> np.ndarray:
        return self._read(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
