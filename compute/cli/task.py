"""likeness task: checks user data before a model sees them."""

from __future__ import annotations

from typing import Annotated

import typer

from compute.cli.workspace import Columns, Images, Offline, Results, Shape, column_names


def check(
    data: Annotated[
        str,
        typer.Argument(help="A manifest, a folder, hub:org/name@revision, or a suite's file, suite.toml."),
    ],
    name: Annotated[str, typer.Option(help="Name of its suite, for the command that runs it.")] = "",
    shape: Shape = "",
    columns: Columns = None,
    images: Images = None,
    decode: Annotated[
        int, typer.Option(help="Of more images, decode and compare this many at random; 0: all.", min=0)
    ] = 5000,
    offline: Offline = False,
    results: Results = None,
):
    """Reports how your data were read, and what is wrong with them.

    Exit code 1 if they cannot be run as they are.
    """
    from compute.engine.settings import RunSettings
    from compute.interface import data_check

    settings = RunSettings(
        data=data,
        data_name=name,
        shape=shape,
        columns=column_names(columns),
        images=images,
        results=results,
        offline=offline,
    )
    checked = data_check.check(settings, most=decode)
    for line in data_check.lines(checked):
        typer.echo(line)
    if not checked.runs:
        raise typer.Exit(1)
