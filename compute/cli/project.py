"""likeness project: the maps that the app shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from annotated_types import Ge

from compute import paths
from compute.cli.workspace import (
    Build,
    Database,
    Origin,
    Results,
    named_models,
    rebuild,
    say,
    suite_scores,
    warn,
)
from compute.engine.settings import DataFolder, Offline, RunSettings
from compute.engine.workspace import catalog_with_own, workbench
from compute.io.files import write_text
from compute.options import names
from compute.types import BadInput


def project(
    *,
    suites: Annotated[Sequence[str], "Suites of one map, comma-separated; empty: every shipped map."] = (),
    noun: Annotated[str, "tasks or models."] = "tasks",
    origin: Origin = "usual",
    seed: Annotated[int, "Of UMAP; the same seed gives the same map."] = 0,
    neighbors: Annotated[int | None, "UMAP's n_neighbors; default 10, for images 15."] = None,
    min_dist: Annotated[float, "UMAP's min_dist."] = 0.1,
    to: Annotated[str, "Where to write the CSV, - for standard output (the default with --suites)."] = "",
    database: Database = None,
    task: Annotated[str, "Instead: a map of this task's images, as --model sees them."] = "",
    model: Annotated[str, "Whose embeddings position the images."] = "",
    images: Annotated[int, "At most this many images, sampled at random.", Ge(5)] = 2000,
    data: DataFolder = None,
    offline: Offline = False,
    results: Results = None,
    build: Build = True,
) -> Iterator[str]:
    """Computes the maps that the app shows: of tasks and models (UMAP, HDBSCAN), or of one task's images (UMAP)."""
    from compute.analysis.maps import suites as maps
    from compute.engine import image_maps
    from compute.engine.named_models import record_named

    if task or model:
        if not task or not model:
            raise BadInput("A map of images needs a task and a model: likeness project --task T --model M")
        catalog = catalog_with_own(results, warn=warn)
        named = named_models(names(model), catalog, offline=offline)
        if len(named) > 1:
            raise BadInput("A map of images shows one model: name only that with --model")
        settings = RunSettings(results=results, data=data, offline=offline)
        root, bench = settings.results, workbench(settings, data=data)
        row = record_named(named[0], results=root)
        written = image_maps.make(
            catalog.task(task),
            row,
            bench=bench,
            images=images,
            seed=seed,
            n_neighbors=15 if neighbors is None else neighbors,
            min_dist=min_dist,
            progress=say,
        )
        yield from image_maps.lines(written)
        rebuild(root, wanted=build)
        return
    if not to and not suites and paths.IS_INSTALLED:  # what is written among packages is lost at their next update
        raise BadInput(f"{paths.PROJECTIONS.name} comes with the installed package. Name a path to write to: --to PATH")
    to = to or ("-" if suites else str(paths.PROJECTIONS))
    if suites:
        recipe = maps.Recipe(
            noun=noun,
            suites=suites,
            origin=origin,
            seed=seed,
            n_neighbors=neighbors or maps.Recipe.n_neighbors,
            min_dist=min_dist,
        )
        scores = suite_scores(database, suites=recipe.suites, origin=origin)
        frame = maps.project(scores, recipe, progress=say)
    else:
        frame = maps.shipped(lambda some: suite_scores(database, suites=some, origin="usual"), seed=seed, progress=say)
    if to == "-":
        typer.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    target = Path(to)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, frame.to_csv(index=False, lineterminator="\n"))
    yield from maps.lines(frame)
    yield f"{target.name} written; likeness build puts it into the database"
