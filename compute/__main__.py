"""The command line: python -m compute ..."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from compute.types import LikenessError

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="Makes and reads the scores behind Likeness.")
importing = typer.Typer(no_args_is_help=True, help="Brings in scores that others measured, marked as imported.")
app.add_typer(importing, name="import")


@app.command()
def build(path: Annotated[Path | None, typer.Option(help="Where to write; default assets/likeness.duckdb.")] = None):
    """Makes the database from the published tables, the catalogue, the imports and the run folders."""
    from compute import store
    from compute.build import build as make

    report = make(path or store.DATABASE)
    typer.echo(f"{report.path.name}: {report.models} models, {report.tasks} tasks, {report.runs} runs, "
               f"{report.scores} scores, {report.claims} claims in {report.seconds:.1f} s")


@app.command("list")
def show(noun: Annotated[str, typer.Argument(help="models, tasks, suites or metrics")]):
    """Prints the catalogue, one line a row."""
    from compute.catalog import shipped
    from compute.listing import lines

    for line in lines(shipped(), noun=noun):
        typer.echo(line)


def main() -> None:
    """Runs the command line; an error a user can mend is one line and exit code 1."""
    try:
        app()
    except LikenessError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
