"""python -m compute publish: the board's data as a data set of the hub."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from compute.types import BadInput


def publish(
    repo: Annotated[str, typer.Option(help="Data set to upload to, USER/NAME; made if it is not there.")] = "",
    to: Annotated[Path | None, typer.Option(help="Instead: an empty folder to write the files to.")] = None,
    private: Annotated[bool, typer.Option("--private", help="Make a new data set private.")] = False,
    database: Annotated[
        Path | None, typer.Option(help="Default: assets/likeness.duckdb, built first where it is out of date.")
    ] = None,
):
    """Uploads the database, its main tables as Parquet, and a card that tells what they are."""
    from compute.database import publish as publishing
    from compute.database import store
    from compute.database.build import build, is_stale

    if bool(repo) == bool(to):
        raise BadInput("Say where: --repo USER/NAME to upload, or --to FOLDER to write the files only")
    path = database or store.DATABASE
    if database is None and is_stale(path):
        build(path)
    with tempfile.TemporaryDirectory() as draft:
        folder = to or Path(draft)
        rows = publishing.write(folder, database=path)
        for file, count in rows.items():
            typer.echo(f"{file}.parquet: {count:,} rows")
        typer.echo(f"Written to {folder}" if to else publishing.upload(folder, repo=repo, private=private))
