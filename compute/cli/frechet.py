"""likeness frechet: compares generators' images with a reference by all metrics."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer

from compute.cli.command import mapping
from compute.cli.workspace import Build, Results, rebuild
from compute.engine.generators import interface
from compute.engine.workspace import RunSettings
from compute.options import taking
from compute.tasks.image_lists import ADDRESSES
from compute.types import BadInput

FORMATS = ("text", "csv", "json")


@taking(interface.frechet, without=("condition", "features", "report", "shown"))
def frechet(
    more: Annotated[list[str], typer.Argument(metavar="[NAME=DIR]...", help="More generators.")] = None,
    *,
    generated: Annotated[
        list[str],
        typer.Option(metavar="NAME=DIR", help=f"A generator's images: NAME and {ADDRESSES}. Repeatable."),
    ],
    format: Annotated[str, "How the table is printed: text, csv or json."] = "text",
    store: Annotated[bool, "Store the scores as runs, which the board shows."] = True,
    results: Results = None,
    build: Build = True,
    **how: Any,
) -> None:
    """Compares generators' images with a reference: Fréchet distances, cFreD and their rivals, in one table.

    Features are stored, so an interrupted comparison resumes and another metric needs no second pass over the images.
    """
    if format not in FORMATS:
        raise BadInput(f"No format {format!r}. There are: {', '.join(FORMATS)}")
    named = mapping([*generated, *(more or ())], kind=str, name="--generated")
    report = partial(typer.echo, err=True)

    def shown(table: Any) -> None:
        typer.echo(str(table) if format == "text" else getattr(table, format)(), nl=format != "csv")
        for line in table.notes if format == "csv" else ():
            report(line)

    interface.frechet(generated=named, store=store, results=results, report=report, shown=shown, **how)
    if store:
        rebuild(RunSettings(results=results).results, wanted=build, err=format != "text")
