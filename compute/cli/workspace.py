"""What commands share: options of one meaning, the folders they work in, and the database they rebuild."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compute import mirror, paths, storage
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.analysis.suite import SuiteScores
    from compute.database.build import Report

Data = Annotated[
    Path | None, typer.Option(help="A folder of data sets as <org>/<name>/, searched before the hub's cache.")
]
DataOrFile = Annotated[
    str | None,
    typer.Option(
        help="Without --suite, data of your own, which make a suite of their own: a manifest (.csv, .jsonl, .parquet), "
        "a folder, or hub:org/name@revision; see docs/your-data.md. With a suite, a folder of data sets as "
        "<org>/<name>/, searched before the hub's cache; with --suite pairbench also a manifest of pairs "
        "(python -m compute pairs make)."
    ),
]
Shape = Annotated[str, typer.Option(help="Which shape your own data have; without it their columns tell.")]
Columns = Annotated[
    str, typer.Option(help="Which columns of your own data are which of the shape's: image=img,label=class.")
]
Images = Annotated[
    list[Path] | None,
    typer.Option(
        help="A further folder that the paths of your own images, and of a suite.toml's files, may lead into; "
        "repeatable."
    ),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Ask no other machine: download nothing, and no judge but one behind an endpoint on this machine.",
    ),
]
Results = Annotated[
    Path | None,
    typer.Option(
        parser=mirror.opened,
        metavar="PATH or URL",
        help="Where results are written: a folder, or an address such as s3://bucket/folder or "
        "hf://buckets/org/name; default: results.",
    ),
]
ReadResults = Annotated[
    Path | None,
    typer.Option(
        parser=mirror.opened,
        metavar="PATH or URL",
        help="The results to show: a folder or an address; default: the app's.",
    ),
]
Database = Annotated[Path | None, typer.Option(help="Default: the app's.")]
Origin = Annotated[str, typer.Option(help="published, imported, computed or all.")]


def names(text: str) -> tuple[str, ...]:
    """The names in a comma-separated option."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def warn(problem: str) -> None:
    """Prints what was left out, and why."""
    typer.echo(f"Warning: {problem}", err=True)


def column_names(text: str) -> dict[str, str]:
    """`image=img,label=class` as names. Raises BadInput for a part without both."""
    out = {}
    for part in names(text):
        name, equals, own = part.partition("=")
        if not (equals and name.strip() and own.strip()):
            raise BadInput(f"--columns {part!r} does not say which column is which: write image=img,label=class")
        out[name.strip()] = own.strip()
    return out


def shipped_file(path: Path, *, option: str) -> Path:
    """The path of a shipped file that a command writes anew. Raises BadInput where the package is installed: what is
    written among the packages is lost at their next update."""
    if paths.IS_INSTALLED:
        raise BadInput(f"{path.name} comes with the installed package. Name a path to write to: {option} PATH")
    return path


def build(path: Path | None = None, *, results: Path | None = None) -> Report:
    """Builds the database (default: the app's) of a results folder (default: the app's), and prints a warning for each
    folder that was skipped."""
    from compute.database import build

    report = build.build(path or paths.DATABASE, results=results or paths.RESULTS)
    for problem in report.problems:
        warn(problem)
    return report


def see_it() -> str:
    """How to look at what the app's database holds."""
    return f"See it: {'likeness' if paths.IS_INSTALLED else 'python app.py'}"


def rebuild(root: Path, *, err: bool = False) -> None:
    """Builds the database after a change under `root`, unless it is not made from that folder; says so on stderr where
    stdout is for a program."""
    if root in (paths.RESULTS, paths.COMPUTED):
        report = build()
        typer.echo(
            f"{report.path.name} built in {report.seconds:.1f} s: {report.computed} computed runs. {see_it()}", err=err
        )
        return
    location = str(mirror.location(root))
    typer.echo(
        f"Stored under {location}, which is not part of the database. To have the app show it: "
        + (
            f"python -m compute build --results {shlex.quote(location)}"
            if storage.is_url(location)
            else f"LIKENESS_RESULTS={location} python -m compute build"
        ),
        err=err,
    )


def suite_scores(path: Path | None, *, suites: tuple[str, ...], origin: str) -> list[SuiteScores]:
    """The suites' scores in the database at `path`. Raises UnknownKey, BadInput, DatabaseError."""
    from contextlib import closing

    from compute.analysis.suite import arrange
    from compute.database import store

    with closing(store.connect(path or paths.DATABASE)) as connection:

        def query(sql: str, values: list):
            return connection.execute(sql, values).df()

        return [arrange(store.suite_frames(query, suite=suite), origin=origin) for suite in suites]
