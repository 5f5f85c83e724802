"""What commands share: options of one meaning, the folders they work in, and the database they rebuild."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compute import paths, storage
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.analysis.table import ScoreTable
    from compute.database.build import Report

Data = Annotated[
    Path | None, typer.Option(help="A folder of data sets as <org>/<name>/, searched before the hub's cache.")
]
DataOrFile = Annotated[
    str | None,
    typer.Option(
        help="Without --suite, your own data, which become a suite: a manifest (.csv, .jsonl, .parquet), "
        "a folder, or hub:org/name@revision; see docs/your-data.md. With a suite, a folder of data sets as "
        "<org>/<name>/, searched before the hub's cache; with --suite pairbench also a manifest of pairs "
        "(likeness pairs make)."
    ),
]
Names = list[str] | None  # of an option that may be repeated
Shape = Annotated[str, typer.Option(help="The shape of your data; default: judged by their columns.")]
Columns = Annotated[Names, typer.Option(help="Which column is which of the shape's: image=img,label=class.")]
Images = Annotated[
    list[Path] | None,
    typer.Option(
        help="A further folder that the paths of your images, and of a suite.toml's files, may point into; repeatable."
    ),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Contact no other machine: download nothing, and ask only judges behind an endpoint on this machine.",
    ),
]
Results = Annotated[
    Path | None,
    typer.Option(
        parser=storage.opened,
        metavar="PATH or URL",
        help="Where results are written: a folder, or an address such as s3://bucket/folder or "
        "hf://buckets/org/name; default: results.",
    ),
]
ReadResults = Annotated[
    Path | None,
    typer.Option(
        parser=storage.opened,
        metavar="PATH or URL",
        help="The results to show: a folder or an address; default: the app's.",
    ),
]
Build = Annotated[bool, typer.Option(help="Rebuild the database with what is new.")]
Database = Annotated[Path | None, typer.Option(help="Default: the app's.")]
Origin = Annotated[str, typer.Option(help="published, imported, computed, all, or usual: the most complete.")]
Device = Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps; default: the best available.")]
BatchSize = Annotated[int | None, typer.Option(help="Items per batch; default: found by speed and memory.", min=1)]


def run_settings(
    data: DataOrFile = None,
    data_name: Annotated[
        str, typer.Option("--name", help="Name of the suite of your data; default: the data's name.")
    ] = "",
    shape: Shape = "",
    columns: Columns = None,
    images: Images = None,
    device: Device = "",
    engine: Annotated[
        str, typer.Option(help="Where the work runs: local, in this process, or ray, on several devices or machines.")
    ] = "local",
    address: Annotated[
        str, typer.Option(help="The Ray cluster: HOST:PORT or auto; default: RAY_ADDRESS, else one started here.")
    ] = "",
    workers: Annotated[
        int | None,
        typer.Option(help="How many Ray workers encode; default: one per GPU, or per core without a GPU.", min=1),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            help="float32, bfloat16 or float16; default: the device's best, for comparers and features of distribution "
            "metrics float32."
        ),
    ] = "",
    attn_implementation: Annotated[
        str,
        typer.Option(
            "--attn",
            help="eager, sdpa, flash_attention_2, flash_attention_3 or flex_attention, of models that transformers "
            "loads; default: what it takes by itself.",
        ),
    ] = "",
    store_dtype: Annotated[
        str,
        typer.Option(
            help="float32, or float16: half the space, and vectors are rounded to about three digits. Scores say so, "
            "and are stored apart."
        ),
    ] = "float32",
    batch_size: BatchSize = None,
    offline: Offline = False,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad-items", help="Skip items that cannot be used; coverage is shown with the score."),
    ] = False,
    options: Annotated[
        Names,
        typer.Option("--option", help="name=value, such as quality=clip-iqa; repeatable: likeness list options."),
    ] = None,
    results: Results = None,
    thumbnails: Annotated[int, typer.Option(help="Number of items per task to store pictures of.", min=0)] = 200,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print what would be downloaded, encoded, compared and stored, and with --estimate how long it takes.",
        ),
    ] = False,
    rate: Annotated[
        float | None,
        typer.Option(
            "--estimate",
            metavar="RATE",
            help="With --dry-run: items a second that the models are taken to do.",
            min=0.001,
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat stored runs, and retry items that could not be used.")
    ] = False,
    baselines: Annotated[
        bool,
        typer.Option("--baselines", help="Also run the suite's baselines; by default their shipped runs are shown."),
    ] = False,
):
    """The RunSettings of these options, whose names are its fields."""
    given = {**locals(), "columns": column_names(columns)}
    from compute.engine.settings import RunSettings  # pydantic loads late

    return RunSettings(**given)


def with_run_settings(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options of `run_settings` in place of its last argument, `settings`, which they make."""
    command.__annotations__.pop("settings")  # for type checkers alone
    *own, _ = inspect.signature(command, eval_str=True).parameters.values()
    options = inspect.signature(run_settings, eval_str=True).parameters

    def call(**given: Any) -> None:
        settings = run_settings(**{name: given.pop(name) for name in options})
        command(**given, settings=settings)

    call.__name__, call.__doc__ = command.__name__, command.__doc__
    call.__signature__ = inspect.Signature([*own, *options.values()])
    call.__annotations__ = {one.name: one.annotation for one in call.__signature__.parameters.values()}
    return call


def names(texts: Sequence[str] | None) -> tuple[str, ...]:
    """The names in a comma-separated option, which may be repeated."""
    return tuple(name for text in texts or () for part in text.split(",") if (name := part.strip()))


def warn(problem: str) -> None:
    """Prints what was skipped, and why."""
    typer.echo(f"Warning: {problem}", err=True)


def column_names(texts: Sequence[str] | None) -> dict[str, str]:
    """`image=img,label=class` as names. Raises BadInput for a part without both."""
    out = {}
    for part in names(texts):
        name, equals, own = part.partition("=")
        if not (equals and name.strip() and own.strip()):
            raise BadInput(f"--columns {part!r} does not say which column is which: write image=img,label=class")
        out[name.strip()] = own.strip()
    return out


def shipped_file(path: Path, *, option: str) -> Path:
    """The path of a shipped file that a command rewrites. Raises BadInput where the package is installed: what is
    written among the packages is lost at their next update."""
    if paths.IS_INSTALLED:
        raise BadInput(f"{path.name} comes with the installed package. Name a path to write to: {option} PATH")
    return path


def build(path: Path | None = None, *, results: Path | None = None) -> Report:
    """Builds the database (default: the app's) of a results folder (default: the app's), and prints a warning for each
    folder that was skipped, and the models that no catalogue lists."""
    from compute.database import build

    report = build.build(path or paths.DATABASE, results=results or paths.RESULTS)
    for problem in report.problems:
        warn(problem)
    if report.problems:
        typer.echo(f"Warnings: {len(report.problems)}, each named above", err=True)
    if report.unlisted:
        typer.echo(f"In no catalogue, and shown by what their runs say: {', '.join(report.unlisted)}", err=True)
    return report


def rebuild(root: Path, *, wanted: bool = True, err: bool = False) -> None:
    """Builds the database after a change under `root`, where that is `wanted` and it is made from that folder; says so
    on stderr where stdout is for a program."""
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


def suite_scores(path: Path | None, *, suites: tuple[str, ...], origin: str) -> list[ScoreTable]:
    """The suites' scores in the database at `path`. Raises UnknownKey, BadInput, DatabaseError."""
    from contextlib import closing

    from compute.analysis.table import of_suite
    from compute.database import store

    with closing(store.connect(path or paths.DATABASE)) as connection:

        def query(sql: str, values: list):
            return connection.execute(sql, values).df()

        return [of_suite(store.suite_frames(query, suite=suite), origin=origin) for suite in suites]
