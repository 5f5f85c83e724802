"""Shared parts of commands: common options, the folders they use, and rebuilding the database."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compute import paths, storage
from compute.io.files import temporary_folder
from compute.types import BadInput, printable

if TYPE_CHECKING:
    from compute.analysis.table import ScoreTable
    from compute.catalog import Catalog
    from compute.database.build import Report
    from compute.models.own.checkpoints import NamedModel


def located(words: str) -> Any:
    """Returns an option that takes a results folder or address."""
    return typer.Option(parser=storage.opened, metavar="PATH or URL", help=words)


Results = Annotated[
    Path | None,
    located(
        "Where results are written: a folder, or an address such as s3://bucket/folder or hf://buckets/org/name; "
        "default: results."
    ),
]
Models = Annotated[
    Sequence[str],
    "Models, comma-separated: keys (likeness list models), folders of checkpoints (./name), hub:org/name@revision, or "
    "judges by their names at LIKENESS_ENDPOINT (endpoint:NAME).",
]
Build = Annotated[bool, "Rebuild the database with what is new."]
say = partial(typer.echo, err=True)  # stderr, because a program may read stdout
Database = Annotated[Path | None, "Default: the app's."]
Origin = Annotated[str, "published, imported, computed, all, or usual: the most complete."]


def warn(problem: str) -> None:
    """Prints a warning about skipped data."""
    say(f"Warning: {problem}")


def build(path: Path | None = None, *, results: Path | None = None) -> Report:
    """Builds the database (default: the app's) from a results folder (default: the app's).

    Prints a warning for each skipped folder, and the models that are in no catalogue.
    """
    from compute.database import build

    report = build.build(path or paths.DATABASE, results=results or paths.RESULTS)
    for problem in report.problems:
        warn(problem)
    if report.problems:
        say(f"Warnings: {len(report.problems)}, each named above")
    if report.unlisted:
        say(f"In no catalogue, and shown by what their runs say: {', '.join(report.unlisted)}")
    return report


def as_version(change: Callable[[], object], *, entry: str, date: str) -> None:
    """Changes the shipped data as a new version with a changelog entry, and stores the previous version."""
    from compute.catalog import published
    from compute.database import build, versions

    build.bring_up_to_date()
    with temporary_folder() as folder:
        before = shutil.copyfile(paths.DATABASE, folder / "before.duckdb")
        change()
        published.add_entry(entry, date=date)
        build.build()
        versions.store_version(before, paths.DATABASE)


def rebuild(root: Path, *, wanted: bool = True, err: bool = False) -> None:
    """Builds the database after a change under `root`, if `wanted` and if that folder is one of its sources; reports on
    stderr with `err`.
    """
    if not wanted:
        typer.echo("The database was not rebuilt: likeness build", err=err)
        return
    if root in (paths.RESULTS, paths.COMPUTED):
        report = build()
        for line in report.superseded:
            typer.echo(line)
        typer.echo(
            f"{report.path.name} built in {report.seconds:.1f} s: {report.computed} computed runs. "
            f"See it: {'likeness' if paths.IS_INSTALLED else 'python app.py'}",
            err=err,
        )
        return
    location = str(storage.location(root))
    typer.echo(
        f"Stored under {location}, which is not part of the database. To have the app show it: "
        + (
            f"likeness build --results {shlex.quote(location)}"
            if storage.is_url(location)
            else f"LIKENESS_RESULTS={shlex.quote(location)} likeness build"
        ),
        err=err,
    )


def suite_scores(path: Path | None, *, suites: Sequence[str], origin: str) -> list[ScoreTable]:
    """Returns the suites' scores in the database at `path`, or in the app's. Raises UnknownKey, BadInput,
    DatabaseError.
    """
    from compute.analysis.table import of_database

    return of_database(path or paths.DATABASE, suites=suites, origin=origin)


def named_models(
    texts: Sequence[str],
    catalog: Catalog,
    *,
    name: str = "",
    family: str = "",
    options: Sequence[str] = (),
    offline: bool = False,
) -> list[NamedModel]:
    """Returns the distinct models that an option's texts name.

    Prints how checkpoints are read, and first the folders that a record names. Raises UnknownKey, NotHere, CannotDo,
    and BadInput if no model is named.
    """
    from compute.catalog.own import models as own_models
    from compute.engine import named_models

    if not texts:
        raise BadInput("No model is named. List them: likeness list models")
    known = {row.key: row for row in catalog.models}
    for row in (known[text] for text in dict.fromkeys(texts) if text in known):
        for folder in own_models.folders(row):
            say(f"Reads {printable(folder)} as recorded for {row.key}")
    models = named_models.named(
        texts,
        catalog=catalog,
        overrides=named_models.Overrides(name=name, family=family, options=_options(options)),
        offline=offline,
    )
    for model in models:
        if model.remark:
            say(model.remark)
    return models


def _options(texts: Sequence[str]) -> dict[str, Any]:
    """Parses `name=value` texts: a JSON value as JSON, and the checkpoint in `base` as weights and revision."""
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--model-option {text!r} is not a name=value")
        try:
            options[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            options[name.strip()] = value
    if isinstance(options.get("base"), str):
        weights, _, revision = options["base"].partition("@")
        options["base"] = {"weights": weights, "revision": revision}
    return options
