"""likeness task: checks user data before a model sees them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from annotated_types import Ge

from compute.cli.command import grouped
from compute.cli.workspace import Results
from compute.engine.settings import Columns, Images, Offline, RunSettings, Shape
from compute.interface import data_check


def check(
    data: Annotated[str, "A manifest, a folder, hub:org/name@revision, or a suite's file, suite.toml."],
    *,
    name: Annotated[str, "Name of its suite, for the command that runs it."] = "",
    shape: Shape = "",
    columns: Columns = None,
    images: Images = (),
    decode: Annotated[int, "Of more images, decode and compare this many at random; 0: all.", Ge(0)] = 5000,
    offline: Offline = False,
    results: Results = None,
) -> Iterator[str]:
    """Reports how your data were read, and what is wrong with them.

    Exit code 1 if they cannot be run as they are.
    """
    settings = RunSettings(
        data=data, data_name=name, shape=shape, columns=columns, images=images, results=results, offline=offline
    )
    lines, runs = data_check.check(settings, most=decode)
    yield from lines
    if not runs:
        raise typer.Exit(1)


group = grouped(check)
