"""likeness build: builds the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from compute.cli import workspace
from compute.database import versions
from compute.io.files import short


def build(
    *,
    path: Annotated[Path | None, "Where to write; default: the app's database."] = None,
    results: Annotated[
        Path | None, workspace.located("The results to show: a folder or an address; default: the app's.")
    ] = None,
    after: Annotated[Path | None, "A database of the version before: stores what leads back to it, in assets."] = None,
) -> Iterator[str]:
    """Builds the database from the published tables, the catalogue, the imports and the run folders."""
    report = workspace.build(path, results=results)
    if after:
        stored = versions.store_version(after, report.path)
        yield f"Version {stored.name} is stored in {short(stored)}: addresses with data={stored.name} show it"
        report = workspace.build(path, results=results)
    yield from report.unshown
    yield (
        f"{report.path.name}: {report.models} models, {report.tasks} tasks, {report.runs} runs, "
        f"{report.scores} scores, {report.claims} claims in {report.seconds:.1f} s"
    )
