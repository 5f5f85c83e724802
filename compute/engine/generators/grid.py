"""cFreD of every generator under every pair of an image and a text backbone: computed once a pair, stored, resumed.

Features are read one image backbone at a time. The runs of an image backbone are stored as soon as its last text
backbone is done, and a pair whose features are those of a stored run is not computed again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis.generators.agreement import pair_agreement
from compute.catalog import known
from compute.catalog.own import suite as own_suite
from compute.catalog.own import suite_records
from compute.catalog.own.suite import OwnSuite
from compute.engine import run_folders
from compute.engine.generators import frechet
from compute.engine.generators.backbones import JOIN, PAPER, Backbones, subset
from compute.engine.generators.store import joined, key_of, run_of, suite_of
from compute.engine.generators.table import LISTED, RatedGenerators
from compute.engine.run_folders import StoredRun
from compute.engine.workspace import Bench
from compute.io.tables import markdown
from compute.metrics.distribution.cfred import PARTS, cfred_grid, check_grid
from compute.options import names
from compute.progress import duration
from compute.tasks.generators.feature_files import FeatureFiles, holds_features
from compute.tasks.generators.human import HUMAN_METRICS
from compute.tasks.generators.pairing import REFERENCE, PromptedSets
from compute.tasks.generators.sources import some
from compute.tasks.source import OwnFile
from compute.types import WHOLE, BadInput, Score, Suite, Task, Undefined, shortened

PROCEDURE, METRIC = "cfred-grid", "cfred"
TABLES = {"image": "Backbone of Table B.1", "text": "Backbone of Table B.2"}  # how the catalogue marks the paper's
ABILITIES = {"image": "embed_image", "text": "embed_text"}


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
    """Every cell as (generator, image, text) -> cFreD, and where it is stored; `computed` of the cells are new.
    `agreements` with people by (image, text), as `pair_agreement` gives them; none where they are not rated."""

    suite: str
    cells: Mapping[tuple[str, str, str], float]
    computed: int
    n: int
    warnings: tuple[str, ...]
    agreements: Mapping[tuple[str, str], Mapping[str, float]]

    def csv(self) -> str:
        """A row a cell: generator, image, text, cfred, n; then the agreement of the pair of backbones."""
        rows = [{**row, "n": self.n, **self.agreements.get((row["image"], row["text"]), {})} for row in self._cells()]
        return pd.DataFrame(rows).to_csv(index=False, lineterminator="\n")

    def json(self) -> str:
        """`{"suite": ..., "n": ..., "cells": [...], "people": [...]}`."""
        people = [{"image": image, "text": text, **row} for (image, text), row in self.agreements.items()]
        content = {"suite": self.suite, "n": self.n, "cells": self._cells(), "people": people}
        return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)

    def _cells(self) -> list[dict[str, Any]]:
        heads = ("generator", "image", "text", METRIC)
        return [dict(zip(heads, (*key, value), strict=True)) for key, value in self.cells.items()]

    def lines(self) -> list[str]:
        """An image backbone a row: the agreement with people, or else each generator's cFreD, over the text
        backbones."""
        images = list(dict.fromkeys(image for _, image, _ in self.cells))
        if self.agreements:
            rows = [["image backbone", "ρ² with its sign, mean over texts", "lowest", "highest", "rank accuracy"]]
            for image in images:
                own = [row for (key, _), row in self.agreements.items() if key == image]
                squares, accuracy = ([row[name] for row in own] for name in ("rho_squared", "accuracy"))
                shown = (np.mean(squares), min(squares), max(squares), np.mean(accuracy))
                rows.append([image, *(f"{value:.2f}" for value in shown)])
            order = sorted(self.agreements, key=lambda pair: -self.agreements[pair]["rho_squared"])
            best = (f"{' x '.join(pair)} ({self.agreements[pair]['rho_squared']:.2f})" for pair in order[:LISTED])
            notes = [
                "Below 0: cFreD falls where people's preference falls, the wrong way.",
                f"Highest of {len(order):,} pairs, in this sample: {'; '.join(best)}",
            ]
        else:
            names = list(dict.fromkeys(name for name, _, _ in self.cells))
            rows = [["image backbone", *(f"cFreD of {name}" for name in names)]]
            for image in images:
                spans = [[value for key, value in self.cells.items() if key[:2] == (name, image)] for name in names]
                rows.append([image, *(f"{min(span):.4g} to {max(span):.4g}" for span in spans)])
            notes = [
                "Lowest to highest over the text backbones. Distances of different image backbones cannot be compared."
            ]
        return [*markdown(rows), *notes]


def paper_backbones() -> dict[str, list[str]]:
    """The image and text backbones of Tables B.1 and B.2 of the cFreD paper, as far as the catalogue has them."""
    return {role: [row.model for row in known().aliases if row.note.startswith(note)] for role, note in TABLES.items()}


def choose(keys: Sequence[str] | str) -> Backbones:
    """The backbones of an option: `paper`, or catalogue keys; each that embeds images is an image
    backbone, and each that embeds texts a text backbone.

    Raises UnknownKey, and BadInput where either kind is missing.
    """
    named = names(keys)
    roles = paper_backbones() if PAPER in named or not named else {role: [] for role in ABILITIES}
    catalog = known()
    rows = [catalog.model(name) for name in named if name != PAPER]
    for role, ability in ABILITIES.items():
        roles[role] += [row.key for row in rows if ability in row.abilities]
        if not roles[role]:
            raise BadInput(
                f"--backbones {','.join(named)}: none of these embeds {role}s, and a grid pairs image with text "
                "backbones. List models: likeness list models"
            )
    images, texts = (tuple(dict.fromkeys(roles[role])) for role in ABILITIES)
    return Backbones(image=(), cfred=images, text=texts, metrics=(METRIC,))


def from_files(
    *, reference: Path, generated: Mapping[str, Path], condition: Path | None, backbones: Sequence[str] | str = PAPER
) -> GridFeatures | None:
    """Features that are encoded already; None where the sets are none. `backbones` limits the backbones by their keys;
    `paper`: all that every set has.

    Raises BadInput for files that cannot be read, features mixed with images, sets that share no backbone, and chosen
    backbones that a set lacks.
    """
    ready = [holds_features(path) for path in (reference, *generated.values())]
    if not any(ready):
        return None
    if not all(ready):
        raise BadInput("Features and images cannot be mixed: name features of the reference and of every generator")
    if condition is None or not holds_features(condition):
        raise BadInput(
            "--prompts: name the features of the prompts, a folder of .npy files or an .npz file by text backbone"
        )
    chosen = [key for key in names(backbones) if key != PAPER]
    texts, real = FeatureFiles(condition), FeatureFiles(reference)
    sets = {name: FeatureFiles(path) for name, path in generated.items()}
    every: dict[str, FeatureFiles] = {"the reference": real, **sets}
    unknown = [key for key in chosen if key not in texts and key not in real]
    if unknown:
        raise BadInput(
            f"No features of {shortened(unknown[0])!r}: {reference.name} has {some(real, noun='backbone')}; "
            f"{condition.name} has {some(texts, noun='backbone')}"
        )
    warnings, images = [], []
    for key in dict.fromkeys(key for each in every.values() for key in each):
        missing = [name for name, each in every.items() if key not in each]
        if not missing and (not chosen or key in chosen):
            images.append(key)
        elif missing and key in chosen and key in real:
            raise BadInput(f"{missing[0]} has no features of {key}: encode every set with it, or omit it")
        elif missing and not chosen:
            warnings.append(f"{key}: no features of {', '.join(missing)}. Skipped")
    conditions = [key for key in texts if not chosen or key in chosen]
    for keys, what in ((images, "image backbone that all sets have"), (conditions, f"text backbone in {condition}")):
        if not keys:
            raise BadInput(f"There is no {what}" + (f" among {', '.join(chosen)}" if chosen else ""))
    return GridFeatures(
        reference=_Selected(images, real),
        generated=sets,
        condition=_Selected(conditions, texts),
        warnings=tuple(warnings),
    )


def encode(
    sets: PromptedSets,
    *,
    chosen: Backbones,
    bench: Bench,
    report: Callable[[str], None] = lambda line: None,
) -> GridFeatures:
    """Encodes the sets with every backbone, one in memory at a time; features are stored, so that it resumes.

    Raises BadInput for sets without prompts, NotHere for weights that are missing, BadItem.
    """
    if sets.prompts is None:
        raise BadInput("cFreD needs prompts: name a table of image and prompt with --prompts")
    encoded, settings, left = frechet.encode(sets, chosen=chosen, bench=bench, report=report)
    of = {part.name: {key: rows[part.name] for key, rows in encoded.images.items()} for part in left.sets}
    return GridFeatures(
        reference=of.pop(REFERENCE),
        generated=of,
        condition=encoded.texts,
        settings=settings,
        warnings=left.warnings,
    )


def execute(
    grid: GridFeatures,
    *,
    name: str,
    file: Path,
    results: Path,
    people: RatedGenerators | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> GridResult:
    """Computes the cells that no stored run has, and stores a run a generator and image backbone.

    `name` is what the suite is called, `file` what it was made from; `people` rated the generators. Raises BadInput for
    features that do not fit each other or those stored under this name, CannotWrite.
    """
    images, texts, generators = tuple(grid.reference), tuple(grid.condition), tuple(grid.generated)
    check_grid(real=grid.reference, generated=grid.generated, condition=grid.condition)
    n = len(grid.reference[images[0]])
    digests = {text: _digest(grid.condition[text]) for text in texts}
    merged = _suite(
        name,
        file=file,
        images=images,
        texts=texts,
        generators=generators,
        n=n,
        human=people.metric if people else "",
        results=results,
    )
    suite = suite_records.keyed(merged, results=results)
    rows = {image: _GridRow.of(image, grid, suite=suite, digests=digests, results=results) for image in images}
    first = rows[images[0]]
    ratings = first.people | (people.stored if people else {})
    rated, first.people = ratings != first.people, ratings
    suite_records.record(merged, results=results)
    missing: dict[tuple[str, ...], list[str]] = {}  # texts -> image backbones
    for image, row in rows.items():
        lacking = tuple(text for text in texts if any((name, text) not in row.cells for name in generators))
        missing.setdefault(lacking, []).append(image)
    complete = missing.pop((), [])
    total = sum(len(lacking) * len(which) for lacking, which in missing.items()) * len(generators)
    report(
        f"{len(images)} image and {len(texts)} text backbones, {len(generators)} generators, {n:,} prompts: "
        f"{len(images) * len(texts) * len(generators):,} cells, {total:,} to compute"
    )
    if rated and first.image in complete:
        _write(first, grid=grid, results=results, n=n, seconds=0.0)
    started = last = time.perf_counter()
    done = 0
    for lacking, which in missing.items():
        cells = cfred_grid(
            real=_Selected(which, grid.reference),
            generated=grid.generated,
            condition=_Selected(lacking, grid.condition),
        )
        for image, row_cells in groupby(cells, key=lambda cell: cell[0][1]):
            before = done
            for (generator, _, text), record in row_cells:
                details = {
                    "parts": {part: float(getattr(record, part)) for part in PARTS},
                    "warnings": list(record.warnings),
                }
                rows[image].cells[generator, text] = float(record.value), details
                done += 1
            now = time.perf_counter()
            _write(rows[image], grid=grid, results=results, n=n, seconds=now - last)
            last = now
            left = f", {duration((now - started) / done * (total - done))} left" if done < total else ""
            report(f"{image}: {done - before} cells ({done:,} of {total:,}{left})")
    cells = {
        (name, image, text): rows[image].cells[name, text][0]
        for image, text, name in product(images, texts, generators)
    }
    warnings = [line for row in rows.values() for _, part in row.cells.values() for line in part["warnings"]]
    agreements = {}
    if people:
        warnings += people.warnings
        try:
            agreements = {
                pair: pair_agreement(distances=[cells[name, *pair] for name in people.names], human=people.ratings)
                for pair in product(images, texts)
            }
        except Undefined as error:
            warnings.append(f"No agreement with people: {error}")
    return GridResult(
        suite=suite.suite.key,
        cells=cells,
        computed=done,
        n=n,
        warnings=(*grid.warnings, *dict.fromkeys(warnings)),
        agreements=agreements,
    )


@dataclass(kw_only=True)
class _GridRow:
    """One image backbone: its cells, known and to come, and the digests of what they rest on."""

    image: str
    task: Task
    reference: str
    generated: Mapping[str, str]  # generator -> digest of its features
    texts: dict[str, str]  # text backbone -> digest of its features, those of earlier runs too
    cells: dict[tuple[str, str], tuple[float, dict[str, Any]]]  # (generator, text) -> cFreD, and what stands next to it
    people: dict[str, tuple[str, float]]

    @classmethod
    def of(
        cls, image: str, grid: GridFeatures, *, suite: OwnSuite, digests: Mapping[str, str], results: Path
    ) -> _GridRow:
        """With the cells of stored runs on the same features. Raises BadInput for runs on other features, of generators
        too that are not compared now."""
        row = cls(
            image=image,
            task=next(task for task in suite.tasks if _image_of(task) == image),
            reference=_digest(grid.reference[image]),
            generated={name: _digest(sets[image]) for name, sets in grid.generated.items()},
            texts=dict(digests),
            cells={},
            people={},
        )
        names = {key_of(name): name for name in grid.generated}
        for model in suite.models:
            stored = run_folders.stored(results, model=model.key, task=row.task.key)
            for each in sorted(stored, key=lambda each: each.date):
                row._add(each, generator=names.get(model.key, ""))
        return row

    def _add(self, stored: StoredRun, *, generator: str) -> None:
        """Takes the cells of a run, unless its generator is not compared now or has other images."""
        data, found = stored.run.settings["data"], stored.run.settings["found"]
        other = [key for key, digest in data["texts"].items() if self.texts.get(key, digest) != digest]
        if other or data["reference"] != self.reference:
            side = f"the prompts under {other[0]}" if other else f"the reference under {self.image}"
            raise BadInput(
                f"{self.task.key.rpartition('/')[0]} holds scores of other features of {side}: give this grid another "
                "name with --name"
            )
        if data["generated"] != self.generated.get(generator):
            return
        value = {score.subset: score.value for score in stored.scores if score.metric == METRIC}
        for text, digest in data["texts"].items():
            pair = subset(self.image, text)
            self.texts.setdefault(text, digest)
            self.cells[generator, text] = value[pair], found[pair][METRIC]
        for score in stored.scores:
            if score.metric in HUMAN_METRICS:
                self.people[generator] = score.metric, score.value


def _write(row: _GridRow, *, grid: GridFeatures, results: Path, n: int, seconds: float) -> None:
    """A run a generator: a score a text backbone, the first of them for the whole task too, and people's rating."""
    # In the task's order: the pair that it names first stays the ranked one, whatever is computed later.
    parts = [pair.partition(JOIN)[2] for pair in row.task.subsets[1:]]
    for name, digest in row.generated.items():
        cells = {text: row.cells[name, text] for text in parts if (name, text) in row.cells}
        run = run_of(
            name,
            task=row.task,
            metrics=[METRIC],
            data={
                "reference": row.reference,
                "generated": digest,
                "texts": {text: row.texts[text] for text in cells},
            },
            backbones={key: grid.settings[key] for key in (row.image, *cells) if key in grid.settings},
            seconds=seconds / len(row.generated),
            items=n,
            found={subset(row.image, text): {METRIC: details} for text, (_, details) in cells.items()},
            warnings=list(grid.warnings),
        )
        score = partial(Score, run=run.id, coverage=1.0)
        scores = [
            score(subset=pair, metric=METRIC, value=value, n=n)
            for text, (value, _) in cells.items()
            for pair in (*((WHOLE,) if text == parts[0] else ()), subset(row.image, text))
        ]
        if name in row.people:
            metric, value = row.people[name]
            scores.append(score(subset=WHOLE, metric=metric, value=value))
        items = pd.DataFrame({"item": []})  # a figure is of all prompts at once
        run_folders.write(results, run=run, scores=scores, items=run_folders.table({WHOLE: items}))


def _suite(
    name: str,
    *,
    file: Path,
    images: Sequence[str],
    texts: Sequence[str],
    generators: Sequence[str],
    n: int,
    human: str,
    results: Path,
) -> OwnSuite:
    """The suite, with the backbones and generators of an earlier grid of this name."""
    short = own_suite.slug(name)
    key = short if short.startswith("grid-") else f"grid-{short}"
    digest = hashlib.blake2b(f"{key} {n}".encode(), digest_size=16).hexdigest()
    made = {}
    for image in images:
        # A task's part of the key: the backbone's slug, with a digest where that is not the backbone alone.
        slug = own_suite.slug(image)
        if len(image) >= 60:
            slug = f"{slug[:50]}-{hashlib.blake2b(image.encode(), digest_size=4).hexdigest()}"
        made[image] = Task(
            key=f"{own_suite.BENCHMARK.key}/{key}/{slug}",
            title=f"cFreD under {image}",
            benchmark=own_suite.BENCHMARK.key,
            category=image,
            dataset=file.name,
            revision=digest,
            subsets=(WHOLE, *(subset(image, text) for text in texts)),
            procedure=PROCEDURE,
            metrics=(METRIC, *filter(None, ("" if made else human,))),
            n_items=n,
            modalities=("image", "text"),
            notes=f"cFreD by text backbone; the first is {texts[0]}.",
            suites=(key,),
        )
    suite = suite_of(
        Suite(
            key=key,
            title=f"Own backbone grid: {name[:80]}",
            benchmark=own_suite.BENCHMARK.key,
            aggregate="task-mean",
            description=(
                f"Your own data: cFreD of {len(generators)} generators on {n:,} prompts under every pair of image and "
                f"text backbones. The ranking is by {images[0]} and {texts[0]}, the first pair; distances under "
                "different backbones have no common scale. No published score compares with these."
            ),
        ),
        tasks=own_suite.headline_first(tuple(made.values())),
        data=OwnFile(shape=own_suite.GRID, digest=digest, path=file.absolute()),
        generators=generators,
    )
    return joined(suite, results=results)


def _image_of(task: Task) -> str:
    """The image backbone of a grid's task."""
    return task.subsets[1].partition(JOIN)[0]


def _digest(array: np.ndarray) -> str:
    """Of an array's type, shape and numbers."""
    digest = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()


class _Selected(Mapping[str, np.ndarray]):
    """Features of some backbones, read on access."""

    def __init__(self, keys: Sequence[str], features: Mapping[str, np.ndarray]) -> None:
        self._keys, self._features = keys, features

    def __getitem__(self, key: str) -> np.ndarray:
        return self._features[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)
