"""cFreD of every generator under every pair of an image and a text backbone: computed once a pair, stored, resumed.

Features are read one image backbone at a time. The runs of an image backbone are stored as soon as its last text
backbone is done, and a pair whose features are those of a stored run is not computed again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
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
from compute.engine.generators.store import Rating, key_of, suite_of, write_run
from compute.engine.generators.table import FIGURE, LISTED, People, stored_figures
from compute.engine.workspace import Bench
from compute.io.tables import markdown
from compute.metrics.distribution.cfred import PARTS, Conditioning, cfred_grid, check_grid
from compute.options import names
from compute.progress import duration
from compute.tasks.generators.feature_files import FeatureFiles, holds_features
from compute.tasks.generators.human import HUMAN_METRICS
from compute.tasks.generators.pairing import REFERENCE, PromptedSets
from compute.tasks.generators.sources import some
from compute.types import WHOLE, BadInput, Task, Undefined, shortened

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


@dataclass(frozen=True, kw_only=True, repr=False)
class GridTable:
    """Every cell as a row: generator, image, text, cfred; and where it is stored. `people` has a row a pair of
    backbones: image, text, and the agreement as `pair_agreement` gives it; none where generators are not rated."""

    suite: str
    cells: pd.DataFrame
    people: pd.DataFrame
    n: int
    warnings: tuple[str, ...]

    def csv(self) -> str:
        """A row a cell: generator, image, text, cfred, n; then the agreement of the pair of backbones."""
        rows = self.cells.assign(n=self.n)
        if len(self.people):
            rows = rows.merge(self.people, on=["image", "text"], how="left")
        return rows.to_csv(index=False, lineterminator="\n")

    def json(self) -> str:
        """`{"suite": ..., "n": ..., "cells": [...], "people": [...]}`."""
        cells, people = (frame.to_dict("records") for frame in (self.cells, self.people))
        content = {"suite": self.suite, "n": self.n, "cells": cells, "people": people}
        return json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False)

    def lines(self) -> list[str]:
        """An image backbone a row: the agreement with people, or else each generator's cFreD, over the text
        backbones."""
        if len(self.people):
            head = ["image backbone", "ρ² with its sign, mean over texts", "lowest", "highest", "rank accuracy"]
            by_image = self.people.groupby("image", sort=False)
            shown = by_image["rho_squared"].agg(["mean", "min", "max"]).assign(accuracy=by_image["accuracy"].mean())
            rows = [[row.Index, *(f"{value:.2f}" for value in row[1:])] for row in shown.itertuples()]
            order = self.people.sort_values("rho_squared", ascending=False, kind="stable").head(LISTED)
            best = (f"{row.image} x {row.text} ({row.rho_squared:.2f})" for row in order.itertuples())
            notes = [
                "Below 0: cFreD falls where people's preference falls, the wrong way.",
                f"Highest of {len(self.people):,} pairs, in this sample: {'; '.join(best)}",
            ]
        else:
            spans = self.cells.groupby(["image", "generator"], sort=False)[METRIC].agg(["min", "max"])
            texts = (spans["min"].map("{:.4g}".format) + " to " + spans["max"].map("{:.4g}".format)).unstack(sort=False)
            head = ["image backbone", *(f"cFreD of {name}" for name in texts)]
            rows = [list(row) for row in texts.itertuples()]
            notes = [
                "Lowest to highest over the text backbones. Distances of different image backbones cannot be compared."
            ]
        return [*markdown([head, *rows]), *notes]

    @property
    def notes(self) -> list[str]:
        """Its warnings."""
        return [f"Warning: {line}" for line in self.warnings]

    def __str__(self) -> str:
        return "\n".join([*self.lines(), *self.notes])

    __repr__ = __str__


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
    lacking = {
        key: [name for name, each in every.items() if key not in each] for each in every.values() for key in each
    }
    for key, missing in lacking.items():
        if missing and key in chosen and key in real:
            raise BadInput(f"{missing[0]} has no features of {key}: encode every set with it, or omit it")
    images = [key for key, missing in lacking.items() if not missing and (not chosen or key in chosen)]
    skipped = {key: missing for key, missing in lacking.items() if missing and not chosen}
    conditions = [key for key in texts if not chosen or key in chosen]
    for keys, what in ((images, "image backbone that all sets have"), (conditions, f"text backbone in {condition}")):
        if not keys:
            raise BadInput(f"There is no {what}" + (f" among {', '.join(chosen)}" if chosen else ""))
    return GridFeatures(
        reference=real.only(images),
        generated=sets,
        condition=texts.only(conditions),
        warnings=tuple(f"{key}: no features of {', '.join(missing)}. Skipped" for key, missing in skipped.items()),
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
    people: People | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> GridTable:
    """Computes the cells that no stored run has, and stores a run a generator and image backbone.

    `name` is what the suite is called, `file` what it was made from; `people` rated the generators. Raises BadInput for
    features that do not fit each other or those stored under this name, CannotWrite.
    """
    images, texts, generators = tuple(grid.reference), tuple(grid.condition), tuple(grid.generated)
    check_grid(real=grid.reference, generated=grid.generated, condition=grid.condition)
    n = len(grid.reference[images[0]])
    digests = {text: _digest(grid.condition[text]) for text in texts}
    merged = _suite(grid, name=name, file=file, n=n, human=people.metric if people else "", results=results)
    suite = suite_records.keyed(merged, results=results)
    stored = {image: _ImageCells.of(image, grid, suite=suite, digests=digests, results=results) for image in images}
    first = stored[images[0]]
    ratings = first.people | (people.stored if people else {})
    rated, first.people = ratings != first.people, ratings
    suite_records.record(merged, results=results)
    missing = {
        image: [text for text in texts if any((each, text) not in of.cells for each in generators)]
        for image, of in stored.items()
    }
    total = sum(map(len, missing.values())) * len(generators)
    report(
        f"{len(images)} image and {len(texts)} text backbones, {len(generators)} generators, {n:,} prompts: "
        f"{len(images) * len(texts) * len(generators):,} cells, {total:,} to compute"
    )
    conditioning = cache(lambda text: Conditioning.of(grid.condition[text], argument=f"condition {text}"))
    began, done = time.perf_counter(), 0
    for image, lacking in missing.items():
        started = time.perf_counter()
        if not lacking and not (rated and image == images[0]):
            continue
        sides = {"real": grid.reference[image], "generated": {each: of[image] for each, of in grid.generated.items()}}
        condition = {text: conditioning(text) for text in lacking}
        for (generator, text), record in cfred_grid(**sides, condition=condition) if lacking else ():
            stored[image].cells[generator, text] = FIGURE | {
                **{"generator": generator, "metric": METRIC, "backbone": subset(image, text), "n": n},
                **{"value": float(record.value), "warnings": record.warnings},
                "parts": {part: float(getattr(record, part)) for part in PARTS},
            }
        now = time.perf_counter()
        stored[image].write(grid, results=results, n=n, seconds=now - started)
        if lacking:
            computed = len(lacking) * len(generators)
            done += computed
            left = f", {duration((now - began) / done * (total - done))} left" if done < total else ""
            report(f"{image}: {computed} cells ({done:,} of {total:,}{left})")
    rows = [(each, image, text) for image, text, each in product(images, texts, generators)]
    figures = [stored[image].cells[each, text] for each, image, text in rows]
    cells = pd.DataFrame(rows, columns=["generator", "image", "text"]).assign(
        **{METRIC: [row["value"] for row in figures]}
    )
    warnings = [line for of in stored.values() for row in of.cells.values() for line in row["warnings"]]
    agreements: list[dict[str, Any]] = []
    if people:
        warnings += people.warnings
        try:
            for (image, text), part in cells.groupby(["image", "text"], sort=False):
                distances = part.set_index("generator")[METRIC].loc[list(people.names)]
                agreement = pair_agreement(distances=distances, human=people.ratings)
                agreements.append({"image": image, "text": text, **agreement})
        except Undefined as error:
            agreements = []
            warnings.append(f"No agreement with people: {error}")
    runs = len(images) * len(generators)
    report(f"{len(cells):,} cells, {done:,} of them new; {runs} runs of the suite {suite.suite.key}")
    return GridTable(
        suite=suite.suite.key,
        cells=cells,
        people=pd.DataFrame(agreements),
        n=n,
        warnings=(*grid.warnings, *dict.fromkeys(warnings)),
    )


@dataclass(kw_only=True)
class _ImageCells:
    """One image backbone: its cells, known and to come, as figures, and the digests of what they rest on."""

    image: str
    task: Task
    reference: str
    generated: Mapping[str, str]  # generator -> digest of its features
    texts: dict[str, str]  # text backbone -> digest of its features, those of earlier runs too
    cells: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)  # (generator, text) -> figure
    people: dict[str, Rating] = field(default_factory=dict)

    @classmethod
    def of(
        cls, image: str, grid: GridFeatures, *, suite: OwnSuite, digests: Mapping[str, str], results: Path
    ) -> _ImageCells:
        """With the cells of stored runs on the same features, of generators that are compared now. Raises BadInput for
        runs on other features, of other generators too."""
        made = cls(
            image=image,
            task=next(task for task in suite.tasks if task.subsets[1].partition(JOIN)[0] == image),
            reference=_digest(grid.reference[image]),
            generated={name: _digest(sets[image]) for name, sets in grid.generated.items()},
            texts=dict(digests),
        )
        names = {key_of(name): name for name in grid.generated}
        for model in suite.models:
            stored = run_folders.stored(results, model=model.key, task=made.task.key)
            for each in sorted(stored, key=lambda each: each.date):
                data, generator = each.run.settings["data"], names.get(model.key, "")
                other = [text for text, digest in data["texts"].items() if made.texts.get(text, digest) != digest]
                if other or data["reference"] != made.reference:
                    side = f"the prompts under {other[0]}" if other else f"the reference under {image}"
                    raise BadInput(
                        f"{made.task.key.rpartition('/')[0]} holds scores of other features of {side}: give this grid "
                        "another name with --name"
                    )
                if data["generated"] != made.generated.get(generator):
                    continue
                made.texts = data["texts"] | made.texts
                for row in stored_figures(generator, each.scores, each.run.settings):
                    made.cells[generator, row["backbone"].partition(JOIN)[2]] = row
                rated = [score for score in each.scores if score.metric in HUMAN_METRICS]
                made.people.update((generator, (score.metric, score.value)) for score in rated)
        return made

    def write(self, grid: GridFeatures, *, results: Path, n: int, seconds: float) -> None:
        """Writes a run a generator: a score a text backbone, that of the pair which the task names first for the whole
        task too, whatever is computed later, and people's rating."""
        texts = [pair.partition(JOIN)[2] for pair in self.task.subsets[1:]]
        for name, digest in self.generated.items():
            cells = {text: self.cells[name, text] for text in texts if (name, text) in self.cells}
            write_run(
                name,
                list(cells.values()),
                task=self.task,
                results=results,
                rating=self.people.get(name),
                evidence=run_folders.table({WHOLE: pd.DataFrame({"item": []})}),  # a figure is of all prompts at once
                metrics=[METRIC],
                data={
                    "reference": self.reference,
                    "generated": digest,
                    "texts": {text: self.texts[text] for text in cells},
                },
                backbones={key: grid.settings[key] for key in (self.image, *cells) if key in grid.settings},
                seconds=seconds / len(self.generated),
                ranked=self.task.subsets[1],
                items=n,
                warnings=list(grid.warnings),
            )


def _suite(grid: GridFeatures, *, name: str, file: Path, n: int, human: str, results: Path) -> OwnSuite:
    """The suite, with the backbones and generators of an earlier grid of this name."""
    images, texts = tuple(grid.reference), tuple(grid.condition)
    tasks: dict[str, dict[str, Any]] = {}
    for image in images:
        # A task's part of the key: the backbone's slug, with a digest where that is not the backbone alone.
        slug = own_suite.slug(image)
        if len(image) >= 60:
            slug = f"{slug[:50]}-{hashlib.blake2b(image.encode(), digest_size=4).hexdigest()}"
        tasks[slug] = {
            "title": f"cFreD under {image}",
            "category": image,
            "subsets": (WHOLE, *(subset(image, text) for text in texts)),
            "procedure": PROCEDURE,
            "metrics": (METRIC, *filter(None, ("" if tasks else human,))),
            "n_items": n,
            "modalities": ("image", "text"),
            "notes": f"cFreD by text backbone; the first is {texts[0]}.",
        }
    key = own_suite.key_of(name, mark=own_suite.GRID)
    return suite_of(
        own_suite.GRID,
        name,
        title="Own backbone grid",
        description=(
            f"Your own data: cFreD of {len(grid.generated)} generators on {n:,} prompts under every pair of image and "
            f"text backbones. The ranking is by {images[0]} and {texts[0]}, the first pair; distances under "
            "different backbones have no common scale. No published score compares with these."
        ),
        tasks=tasks,
        digest=hashlib.blake2b(f"{key} {n}".encode(), digest_size=16).hexdigest(),
        file=file,
        generators=tuple(grid.generated),
        results=results,
    )


def _digest(array: np.ndarray) -> str:
    """Of an array's type, shape and numbers."""
    digest = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()
