"""likeness frechet: compares generators' images with a reference by every metric."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from compute.cli.command import mapping
from compute.cli.workspace import Build, Results, rebuild
from compute.engine.generators import backbones as choices
from compute.engine.generators import grid as grids
from compute.engine.generators import interface, store
from compute.engine.generators.grid import GridResult
from compute.engine.generators.table import FORMATS, GeneratorTable, RatedGenerators
from compute.engine.settings import Dtype, RunSettings
from compute.engine.workspace import workbench
from compute.io.files import temporary_folder
from compute.options import names, taking
from compute.tasks.generators import human as ratings
from compute.types import BadInput, counted


@taking(interface.frechet, without=("condition", "features"))
def frechet(
    more: Annotated[list[str], typer.Argument(metavar="[NAME=DIR]...", help="More generators.")] = None,
    *,
    generated: Annotated[
        list[str],
        typer.Option(metavar="NAME=DIR", help=f"A generator's images: NAME and {interface.SOURCES}. Repeatable."),
    ],
    grid: Annotated[
        bool,
        "cFreD alone, under every pair of an image and a text backbone of --backbones; paper: all 46 x 43 of the cFreD "
        "paper. Sets may be features then: a folder of .npy files, or an .npz file, by backbone, and --prompts those "
        "of the prompts.",
    ] = False,
    format: Annotated[str, "How the table is printed: text, csv or json."] = "text",
    name: Annotated[str, "Name of the suite; default: that of the prompts or the reference."] = "",
    dtype: Dtype = "",
    store_runs: Annotated[
        bool, typer.Option("--store/--no-store", help="Store the scores as runs, which the board shows.")
    ] = True,
    save_reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.npz",
            help="Save the reference's statistics, with what made them: FILE-<backbone>.npz. Then --reference FILE.npz "
            "stands for its images.",
        ),
    ] = None,
    results: Results = None,
    build: Build = True,
    **how: Any,
) -> None:
    """Compares generators' images with a reference: Fréchet distances, cFreD and their rivals, in one table.

    Features are stored, so an interrupted comparison resumes and another metric needs no second pass over the images.
    """
    if format not in FORMATS:
        raise BadInput(f"No format {format!r}. There are: {', '.join(FORMATS)}")
    reference, prompts, metrics, intervals = (how.pop(key) for key in ("reference", "prompts", "metrics", "intervals"))
    human, backbones = how.pop("human"), how.pop("backbones")
    settings = RunSettings(results=results, dtype=dtype, **how)
    bench, file = workbench(settings, data=settings.data), prompts or Path(reference)
    made_of = {"name": name or file.stem, "file": file, "results": settings.results}
    named = mapping([*generated, *(more or ())], kind=str, name="--generated")
    report = partial(typer.echo, err=True)
    rated = None if human is None else ratings.read(human)
    if grid:
        if names(metrics) not in ((), ("cfred",)) or save_reference or not store_runs:
            raise BadInput("--grid computes and stores cFreD: it goes without --metrics, --save-reference, --no-store")
        people = None if rated is None else RatedGenerators.of(rated, generated=list(named))
        features = grids.from_files(
            reference=Path(reference),
            generated={key: Path(where) for key, where in named.items()},
            condition=prompts,
            backbones=backbones,
        )
        if features is None:
            with temporary_folder() as spool:
                sets = interface.paired(reference, named, prompts, bench=bench, spool=spool, report=report)
                chosen = grids.choose(backbones)
                features = grids.encode(sets, chosen=chosen, bench=bench, report=report)
        for role, keys in grids.paper_backbones().items():
            have = features.reference if role == "image" else features.condition
            report(
                f"Of the {len(keys)} {role} backbones of the cFreD paper {sum(key in have for key in keys)} are here"
            )
        cells = grids.execute(features, **made_of, people=people, report=report)
        print_table(cells, format, notes=[f"Warning: {line}" for line in cells.warnings])
        runs = len(features.reference) * len(features.generated)
        report(f"{len(cells.cells):,} cells, {cells.computed:,} of them new; {runs} runs of the suite {cells.suite}")
        rebuild(settings.results, wanted=build, err=format != "text")
        return
    if interface.is_saved(reference) and save_reference:
        raise BadInput(f"{reference} is saved already: --save-reference goes with the images themselves")
    chosen = choices.choose(backbones, metrics=metrics)
    result = interface.compared(
        reference, named, prompts, chosen=chosen, bench=bench, intervals=intervals, report=report
    )
    table = result.table(rated)
    warnings = [f"Warning: {line}" for line in table.warnings] if format == "csv" else []
    print_table(table, format, notes=[] if format == "json" else [*warnings, *table.people_lines()])
    if save_reference:
        for path in store.save_references(save_reference, result, source=reference):
            report(f"Saved {path}")
    if store_runs:
        people = table.people.stored if table.people else None
        key, runs = store.store(result, **made_of, human=people)
        report(f"Stored {counted(len(runs), 'run')} of the suite {key}")
        rebuild(settings.results, wanted=build, err=format != "text")


def print_table(table: GeneratorTable | GridResult, output: str, *, notes: list[str]) -> None:
    """Prints a table in one of its formats; what is next to it goes to stderr where stdout is for a program."""
    if output == "text":
        for line in table.lines():
            typer.echo(line)
    else:
        typer.echo(table.csv() if output == "csv" else table.json(), nl=output == "json")
    for line in notes:
        typer.echo(line, err=output != "text")
