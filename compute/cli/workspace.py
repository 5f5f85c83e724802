"""What commands share: options of one meaning, the folders they work in, and the database they rebuild."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compute import drafts, paths
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.analysis.suite import SuiteScores
    from compute.catalog import Catalog
    from compute.catalog.own import OwnSuite
    from compute.database.build import Report
    from compute.engine.bench import Bench
    from compute.types import Model

Models = Annotated[str, typer.Option(help="Model keys, comma-separated: python -m compute list models.")]
Data = Annotated[
    Path | None, typer.Option(help="A folder of data sets as <org>/<name>/, searched before the hub's cache.")
]
DataOrFile = Annotated[
    Path | None,
    typer.Option(
        help="A folder of data sets as <org>/<name>/, searched before the hub's cache. Or a file of your own, which "
        "makes a suite of its own: with --suite pairbench a manifest of pairs (python -m compute pairs make)."
    ),
]
Offline = Annotated[
    bool,
    typer.Option(
        "--offline",
        help="Ask no other machine: download nothing, and no judge but one behind an endpoint on this machine.",
    ),
]
Results = Annotated[Path | None, typer.Option(help="Where results are written; default: results.")]
Database = Annotated[Path | None, typer.Option(help="Default: assets/likeness.duckdb.")]
Origin = Annotated[str, typer.Option(help="published, imported, computed or all.")]


def names(text: str) -> tuple[str, ...]:
    """The names in a comma-separated option."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def named_models(catalog: Catalog, text: str) -> list[Model]:
    """The catalogue's rows of a comma-separated option, once each. Raises UnknownKey, BadInput where none is named."""
    rows = [catalog.model(key) for key in dict.fromkeys(names(text))]
    if not rows:
        raise BadInput("No model is named. List them: python -m compute list models")
    return rows


def workbench(
    *,
    results: Path | None,
    data: Path | None,
    offline: bool,
    device: str = "",
    dtype: str = "",
    batch_size: int | None = None,
    skip_bad: bool = False,
    retry_bad: bool = False,
    read_only: bool = False,
    own: Mapping[str, Path] | None = None,
) -> tuple[Path, Bench]:
    """The results folder, and what runs are made with there. `read_only`: the folder need not exist; `own`: files of
    one's own data by their digest.

    Raises BadInput for a data folder that does not exist and for a results folder that cannot be written.
    """
    from compute.features.encoding import share_cores

    share_cores()
    from compute.engine.bench import assemble
    from compute.models import hardware
    from compute.progress import Progress
    from compute.tasks.source import Source

    if data is not None and data.suffix == ".parquet" and not data.exists():
        raise BadInput(f"There is no file {data}. Make it: python -m compute pairs make --images DIR --out {data}")
    if data is not None and not data.is_dir():
        raise BadInput(f"There is no folder {data}: give one that holds data sets as <org>/<name>/, or omit --data")
    if offline:
        stay_offline()
    root = (results or paths.RESULTS).absolute()
    if not read_only:
        check_writable(root)
        drafts.sweep(root, skip=("fetched",))  # what killed runs left half-written
    shared = paths.RESULTS if root == paths.COMPUTED else root  # encodings and answers never go among what is shipped
    os.environ.setdefault("LIKENESS_ANSWERS", str(shared / "answers"))
    bench = assemble(
        features=shared / "features",
        hardware=hardware(device=device, dtype=dtype),
        source=Source.keeping(shared, root=data, offline=offline, own=own),
        batch_size=batch_size,
        skip_bad=skip_bad,
        retry_bad=retry_bad,
        progress=Progress(),
    )
    return root, bench


def own_suites(
    data: Path | None, *, suite: str, results: Path | None, read_only: bool = False
) -> tuple[Catalog, str, dict[str, Path]]:
    """The catalogue with the suites of one's own data, the key of the suite to run, and the data files by their digest.

    A file as `data` makes a suite of its own in place of `suite`, recorded in the results folder unless `read_only`.
    Raises BadInput, CannotWrite.
    """
    from compute.catalog import own
    from compute.content.items import content_key

    root = (results or paths.RESULTS).absolute()
    suites = _recorded(root)
    if data is not None and suite in own.replaced() and _holds_images(data):
        raise BadInput(
            f"{data} is a folder of images. Make pairs of them first: python -m compute pairs make --images {data} "
            "--out pairs.parquet; then name these: --data pairs.parquet"
        )
    if data is not None and data.is_file():
        made = own.from_file(data, suite=suite, known=suites)
        made = own.settled(made, results=root) if read_only else own.record(made, results=root)
        suite = made.suite.key
        suites = [*(other for other in suites if other.suite.key != suite), made]
    catalog = _extended(suites)
    files = {
        each.digest: each.file
        for each in suites
        if each.suite.key == suite
        and each.file.is_file()
        and content_key(each.file.read_bytes()).decode() == each.digest
    }
    return catalog, suite, files


def catalog_with_own(results: Path | None) -> Catalog:
    """The catalogue with the suites of one's own data in the results folder; warns of damaged records."""
    return _extended(_recorded((results or paths.RESULTS).absolute()))


def _recorded(root: Path) -> list[OwnSuite]:
    from compute.catalog import own

    suites, problems = own.recorded(root)
    for problem in problems:
        typer.echo(f"Warning: {problem}", err=True)
    return suites


def _extended(suites: Sequence[OwnSuite]) -> Catalog:
    from compute.catalog import own, shipped

    catalog, problems = own.extended(shipped(), suites)
    for problem in problems:
        typer.echo(f"Warning: {problem}", err=True)
    return catalog


def _holds_images(folder: Path) -> bool:
    """Whether images lie in a folder or in the folders there; the files of a data set lie in <org>/<name>/."""
    from compute.tasks.pairbench.sources import SUFFIXES

    return folder.is_dir() and any(
        path.suffix.lower() in SUFFIXES and path.is_file() for pattern in ("*", "*/*") for path in folder.glob(pattern)
    )


def check_writable(folder: Path) -> None:
    """Raises BadInput for a folder in which no file can be created, before hours of work depend on it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(f"{folder} cannot be written ({error.strerror}): name another folder with --results") from error


def stay_offline() -> None:
    """Keeps the hub's libraries from any request, even whether a file has changed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True  # it may have been imported before


def build(path: Path | None = None) -> Report:
    """Builds the database (default: the app's), and prints a warning for each folder that was skipped."""
    from compute.database import build

    report = build.build(path or paths.DATABASE, results=paths.RESULTS)
    for problem in report.problems:
        typer.echo(f"Warning: {problem}", err=True)
    return report


def rebuild(root: Path, *, err: bool = False) -> None:
    """Builds the database after a change under `root`, unless it is not made from that folder; says so on stderr where
    stdout is for a program."""
    if root in (paths.RESULTS, paths.COMPUTED):
        report = build()
        typer.echo(f"{report.path.name} built in {report.seconds:.1f} s: {report.computed} computed runs", err=err)
        return
    typer.echo(
        f"Stored under {root}, which is not part of the database. To have the app show it: "
        f"LIKENESS_RESULTS={root} python -m compute build",
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
