"""cFreD of every generator under every pair of an image and a text backbone: computed once a pair, stored, resumed.

Features are read one image backbone at a time. The runs of an image backbone are stored as soon as its last text
backbone is done, and a pair whose features are those of a stored run is not computed again.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
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
from compute.engine import run_folders
from compute.engine.generators.backbones import JOIN, PAPER, Backbones, subset
from compute.engine.generators.features import SetFeatures
from compute.engine.generators.people import HUMAN_METRICS, People
from compute.engine.generators.store import Rating, key_of, suite_of, write_run
from compute.engine.generators.table import (
    FIGURE,
    LISTED,
    GeneratorTable,
    features_of,
    framed,
    of_record,
    stored_figures,
)
from compute.io.tables import markdown
from compute.metrics.distribution.cfred import PARTS, Conditioning, cfred_grid
from compute.metrics.distribution.moments import feature_array, feature_rows
from compute.options import names
from compute.progress import duration
from compute.tasks.generators.feature_files import FeatureFiles, holds_features
from compute.tasks.generators.pairing import REFERENCE
from compute.types import WHOLE, BadInput, Undefined, shortened

PROCEDURE, METRIC = "cfred-grid", "cfred"
TABLES = ("Backbone of Table B.1", "Backbone of Table B.2")  # how the catalogue marks the paper's


class GridTable(GeneratorTable):
    """The figures of all pairs; where generators are rated, with the agreement of each pair as `pair_agreement` gives
    it."""

    def lines(self) -> list[str]:
        """An image backbone a row: the agreement with people, or else each generator's cFreD, over the text
        backbones."""
        figures = self.figures.assign(image=self.figures["backbone"].str.partition(JOIN)[0])
        if "rho_squared" in figures:
            head = ["image backbone", "ρ² with its sign, mean over texts", "lowest", "highest", "rank accuracy"]
            pairs = figures.drop_duplicates("backbone")
            by_image = pairs.groupby("image", sort=False)
            shown = by_image["rho_squared"].agg(["mean", "min", "max"]).assign(accuracy=by_image["accuracy"].mean())
            rows = [[row.Index, *(f"{value:.2f}" for value in row[1:])] for row in shown.itertuples()]
            order = pairs.sort_values("rho_squared", ascending=False, kind="stable").head(LISTED)
            best = (f"{features_of(row.backbone)} ({row.rho_squared:.2f})" for row in order.itertuples())
            notes = [
                "Below 0: cFreD falls where people's preference falls, the wrong way.",
                f"Highest of {len(pairs):,} pairs, in this sample: {'; '.join(best)}",
            ]
        else:
            spans = figures.groupby(["image", "generator"], sort=False)["value"].agg(["min", "max"])
            texts = (spans["min"].map("{:.4g}".format) + " to " + spans["max"].map("{:.4g}".format)).unstack(sort=False)
            head = ["image backbone", *(f"cFreD of {name}" for name in texts)]
            rows = [list(row) for row in texts.itertuples()]
            notes = [
                "Lowest to highest over the text backbones. Distances of different image backbones cannot be compared."
            ]
        return [*markdown([head, *rows]), *notes, *self.notes]


def paper_backbones() -> Backbones:
    """The image and text backbones of Tables B.1 and B.2 of the cFreD paper, as far as the catalogue has them."""
    image, text = (tuple(row.model for row in known().aliases if row.note.startswith(note)) for note in TABLES)
    return Backbones(image=(), cfred=image, text=text)


def from_files(
    paths: Mapping[str, Path], condition: Path | None, *, keys: Sequence[str] | str
) -> tuple[SetFeatures, Backbones, tuple[str, ...]] | None:
    """Features that are encoded already, by set, their backbones, and warnings; None where the sets are none. `keys`
    limits the backbones; `paper`: all that every set has.

    Raises BadInput for files that cannot be read, features mixed with images, sets that share no backbone, and chosen
    backbones that a set lacks.
    """
    ready = set(map(holds_features, paths.values()))
    if ready == {False}:
        return None
    if len(ready) > 1:
        raise BadInput("Features and images cannot be mixed: name features of the reference and of every generator")
    if condition is None or not holds_features(condition):
        raise BadInput(
            "--prompts: name the features of the prompts, a folder of .npy files or an .npz file by text backbone"
        )
    texts, sets = FeatureFiles(condition), {name: FeatureFiles(path) for name, path in paths.items()}
    chosen = [key for key in names(keys) if key != PAPER]
    lacking = {key: [name for name, of in sets.items() if key not in of] for each in sets.values() for key in each}
    images = tuple(key for key, missing in lacking.items() if not missing and (not chosen or key in chosen))
    conditions = tuple(key for key in texts if not chosen or key in chosen)
    for key in chosen:
        if key not in (*images, *conditions):
            where = ", ".join(lacking.get(key, [condition.name, *sets]))
            raise BadInput(f"There are no features of {shortened(key)!r} in {where}: add them, or omit it")
    for found, what in ((images, "image backbone that all sets have"), (conditions, f"text backbone in {condition}")):
        if not found:
            raise BadInput(f"There is no {what}" + (f" among {', '.join(chosen)}" if chosen else ""))
    features = SetFeatures(generated=tuple(name for name in paths if name != REFERENCE), images=sets, texts=texts)
    skipped = {} if chosen else {key: missing for key, missing in lacking.items() if missing}
    warnings = tuple(f"{key}: no features of {', '.join(each)}. Skipped" for key, each in skipped.items())
    return features, Backbones(image=(), cfred=images, text=conditions), warnings


def execute(
    features: SetFeatures,
    chosen: Backbones,
    *,
    name: str,
    file: Path,
    results: Path,
    warnings: Sequence[str] = (),
    people: People | None = None,
    report: Callable[[str], None] = lambda line: None,
) -> GridTable:
    """Computes the cells that no stored run has, and stores a run a generator and image backbone.

    `name` is what the suite is called, `file` what it was made from; `people` rated the generators. Raises BadInput for
    features that do not fit each other or those stored under this name, CannotWrite.
    """
    images, texts, reference, condition = chosen.cfred, chosen.text, features.images[REFERENCE], features.texts
    generated = {each: features.images[each] for each in features.generated}
    n = len(reference[images[0]])
    digests: dict[str, dict[str, str]] = {}
    for image in images:
        shape, sides = (n, reference[image].shape[1]), {REFERENCE: reference, **generated}
        digests[image] = {each: _digest(of[image], f"{each} {image}", shape=shape) for each, of in sides.items()}
    prompts = {text: _digest(condition[text], f"condition {text}", shape=(n,)) for text in texts}
    merged = _suite(chosen, name=name, file=file, n=n, people=people, generators=features.generated, results=results)
    suite = suite_records.keyed(merged, results=results)
    tasks = {task.subsets[1].partition(JOIN)[0]: task for task in suite.tasks}
    cells: dict[tuple[str, str], dict[str, Any]] = {}  # figures by generator and pair
    rated: dict[str, Rating] = {}
    keys = {key_of(each): each for each in generated}
    for image, model in product(images, suite.models):
        stored = run_folders.stored(results, model=model.key, task=tasks[image].key)
        for run in sorted(stored, key=lambda each: each.date):
            data, generator = run.run.settings["data"], keys.get(model.key, "")
            other = [text for text, digest in data["texts"].items() if prompts.get(text, digest) != digest]
            if other or data["reference"] != digests[image][REFERENCE]:
                side = f"the prompts under {other[0]}" if other else f"the reference under {image}"
                raise BadInput(
                    f"{suite.suite.key} holds scores of other features of {side}: give this grid another name with "
                    "--name"
                )
            if data["generated"] == digests[image].get(generator):
                prompts = data["texts"] | prompts  # those of earlier runs too
                for row in stored_figures(generator, run.scores, run.run.settings):
                    cells[generator, row["backbone"]] = row
                for score in run.scores:
                    if score.metric in HUMAN_METRICS:
                        rated[generator] = (score.metric, score.value)
    ratings = rated | (people.stored if people else {})
    suite_records.record(merged, results=results)
    missing = {
        image: [text for text in texts if any((each, subset(image, text)) not in cells for each in generated)]
        for image in images
    }
    total = sum(map(len, missing.values())) * len(generated)
    rows = [(each, subset(image, text)) for image, text, each in product(images, texts, generated)]
    report(
        f"{len(images)} image and {len(texts)} text backbones, {len(generated)} generators, {n:,} prompts: "
        f"{len(rows):,} cells, {total:,} to compute"
    )
    conditioning = cache(lambda text: Conditioning.of(condition[text], argument=f"condition {text}"))
    began, done = time.perf_counter(), 0
    for image, lacking in missing.items():
        started, first = time.perf_counter(), image == images[0]
        if not lacking and not (first and ratings != rated):
            continue
        sides = {"real": reference[image], "generated": {each: of[image] for each, of in generated.items()}}
        sides["condition"] = {text: conditioning(text) for text in lacking}
        for (generator, text), record in cfred_grid(**sides) if lacking else ():
            pair = subset(image, text)
            about = {"generator": generator, "metric": METRIC, "backbone": pair, "n": n}
            cells[generator, pair] = FIGURE | about | of_record(record, PARTS)
        now, task = time.perf_counter(), tasks[image]
        for generator in generated:
            # The pair that the task names first is its score, whatever is computed later.
            own = [cells[generator, pair] for pair in task.subsets[1:] if (generator, pair) in cells]
            shown = [row["backbone"].partition(JOIN)[2] for row in own]
            write_run(
                generator,
                own,
                task=task,
                results=results,
                rating=ratings.get(generator) if first else None,
                evidence=pd.DataFrame({"item": []}),  # a figure is of all prompts at once
                metrics=[METRIC],
                data={
                    "reference": digests[image][REFERENCE],
                    "generated": digests[image][generator],
                    "texts": {text: prompts[text] for text in shown},
                },
                backbones={key: features.settings[key] for key in (image, *shown) if key in features.settings},
                seconds=(now - started) / len(generated),
                ranked=task.subsets[1],
                items=n,
                warnings=list(warnings),
            )
        if lacking:
            computed = len(lacking) * len(generated)
            done += computed
            left = f", {duration((now - began) / done * (total - done))} left" if done < total else ""
            report(f"{image}: {computed} cells ({done:,} of {total:,}{left})")
    report(
        f"{len(rows):,} cells, {done:,} of them new; {len(images) * len(generated)} runs of the suite {suite.suite.key}"
    )
    figures = framed(cells[row] for row in rows)
    lines = [*warnings, *figures["warnings"].explode().dropna()]
    if people:
        lines += people.warnings
        distances = figures.pivot(index="generator", columns="backbone", values="value").loc[list(people.names)]
        try:
            agreements = {pair: pair_agreement(distances=of, human=people.ratings) for pair, of in distances.items()}
            figures = figures.join(pd.DataFrame(agreements).T, on="backbone")
        except Undefined as error:
            lines.append(f"No agreement with people: {error}")
    return GridTable(figures=figures, warnings=tuple(dict.fromkeys(lines)))


def _suite(
    chosen: Backbones,
    *,
    name: str,
    file: Path,
    n: int,
    people: People | None,
    generators: Sequence[str],
    results: Path,
) -> own_suite.OwnSuite:
    """The suite, with the backbones and generators of an earlier grid of this name."""
    tasks: dict[str, dict[str, Any]] = {}
    for image in chosen.cfred:
        # A task's part of the key: the backbone's slug, with a digest where that is not the backbone alone.
        slug = own_suite.slug(image)
        if len(image) >= 60:
            slug = f"{slug[:50]}-{hashlib.blake2b(image.encode(), digest_size=4).hexdigest()}"
        tasks[slug] = {
            "title": f"cFreD under {image}",
            "category": image,
            "subsets": (WHOLE, *(subset(image, text) for text in chosen.text)),
            "procedure": PROCEDURE,
            "metrics": (METRIC, people.metric) if people and not tasks else (METRIC,),
            "n_items": n,
            "modalities": ("image", "text"),
            "notes": f"cFreD by text backbone; the first is {chosen.text[0]}.",
        }
    key = own_suite.key_of(name, mark=own_suite.GRID)
    return suite_of(
        own_suite.GRID,
        name,
        title="Own backbone grid",
        description=(
            f"Your own data: cFreD of {len(generators)} generators on {n:,} prompts under every pair of image and "
            f"text backbones. The ranking is by {chosen.cfred[0]} and {chosen.text[0]}, the first pair; distances "
            "under different backbones have no common scale. No published score compares with these."
        ),
        tasks=tasks,
        digest=hashlib.blake2b(f"{key} {n}".encode(), digest_size=16).hexdigest(),
        file=file,
        generators=generators,
        results=results,
    )


def _digest(values: Any, argument: str, *, shape: tuple[int, ...]) -> str:
    """Of an array's type, shape and numbers. Raises BadInput for one of another shape than `shape` begins, or with a
    row that is not finite."""
    array = feature_array(values, argument=argument)
    if array.shape[: len(shape)] != shape:
        raise BadInput(
            f"{argument} has the shape {array.shape} where the reference's is {shape}: row i of each must belong to "
            "prompt i. Remove the prompts missing from either, and encode all with one backbone"
        )
    feature_rows(array, argument=argument)
    digest = hashlib.blake2b(f"{array.dtype.str}{array.shape}".encode(), digest_size=16)
    digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()
