"""python -m compute publish: the board's data as a data set of the hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compute import drafts, paths
from compute.cli.workspace import build
from compute.types import BadInput


def publish(
    repo: Annotated[str, typer.Option(help="Data set to upload to, USER/NAME; created if it does not exist.")] = "",
    to: Annotated[Path | None, typer.Option(help="Instead: an empty folder to write the files to.")] = None,
    private: Annotated[bool, typer.Option("--private", help="Make a new data set private.")] = False,
    database: Annotated[
        Path | None, typer.Option(help="Default: assets/likeness.duckdb, built first if it is out of date.")
    ] = None,
):
    """Uploads the database, its main tables as Parquet, and a card that describes them."""
    from compute.database import publish
    from compute.database.build import is_stale

    if bool(repo) == bool(to):
        raise BadInput("Say where: --repo USER/NAME to upload, or --to FOLDER to write the files only")
    path = database or paths.DATABASE
    if database is None and is_stale(path):
        build()
    with drafts.temporary_folder() as draft:
        folder = to or draft
        rows = publish.write(folder, database=path)
        for file, count in rows.items():
            typer.echo(f"{file}.parquet: {count:,} rows")
        typer.echo(f"Written to {folder}" if to else publish.upload(folder, repo=repo, private=private))
