"""likeness project: computes the maps that the app shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from compute import paths
from compute.cli.workspace import (
    Database,
    Origin,
    say,
    suite_scores,
)
from compute.io.files import write_text
from compute.types import BadInput


def project(
    *,
    suites: Annotated[Sequence[str], "Suites of one map, comma-separated; empty: every shipped map."] = (),
    noun: Annotated[str, "tasks or models."] = "tasks",
    origin: Origin = "usual",
    seed: Annotated[int, "Of UMAP; the same seed gives the same map."] = 0,
    neighbors: Annotated[int, "UMAP's n_neighbors."] = 10,
    min_dist: Annotated[float, "UMAP's min_dist."] = 0.1,
    to: Annotated[str, "Where to write the CSV, - for standard output (the default with --suites)."] = "",
    database: Database = None,
) -> Iterator[str]:
    """Computes the maps that the app shows: of tasks and models (UMAP, HDBSCAN)."""
    from compute.analysis import maps

    if not to and not suites and paths.IS_INSTALLED:  # the next update of the package would replace the file
        raise BadInput(f"{paths.PROJECTIONS.name} comes with the installed package. Name a path to write to: --to PATH")
    to = to or ("-" if suites else str(paths.PROJECTIONS))
    if suites:
        recipe = maps.Recipe(
            noun=noun,
            suites=suites,
            origin=origin,
            seed=seed,
            n_neighbors=neighbors,
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
