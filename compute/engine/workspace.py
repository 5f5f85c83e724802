"""What runs are made in: a results folder, a catalogue with own suites, and what models are run with there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from compute import drafts, paths
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.catalog import Catalog
    from compute.catalog.own import OwnSuite
    from compute.engine.bench import Bench
    from compute.models.own.own_model import OwnModel
    from compute.progress import Progress

Warn = Callable[[str], None]  # takes a sentence on what was left out


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """What runs of one suite are made in."""

    catalog: Catalog  # with one's own suites and models
    suite: str  # the key of the suite to run: that of the data, where these make one
    root: Path  # results folder
    bench: Bench
    offline: bool


def opened(
    *,
    suite: str,
    data: Path | None = None,
    models: Sequence[OwnModel] = (),
    results: Path | None = None,
    offline: bool = False,
    device: str = "",
    dtype: str = "",
    batch_size: int | None = None,
    skip_bad: bool = False,
    again: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
    warn: Warn = lambda problem: None,
) -> Workspace:
    """Where the runs of a suite are made: `data` is a folder of data sets or a file that makes a suite of its own.

    `models` are those that no catalogue lists; `again` tries items anew that could not be used; `dry_run` writes and
    fetches nothing; `warn` hears of records that are damaged. Raises BadInput, CannotWrite.
    """
    from compute.models.judges import endpoint

    offline = offline or endpoint.is_offline()
    catalog, suite, files = own_suites(data, suite=suite, results=results, warn=warn, read_only=dry_run)
    root, bench = workbench(
        results=results,
        data=None if files else data,
        offline=offline or dry_run,
        device=device,
        dtype=dtype,
        batch_size=batch_size,
        skip_bad=skip_bad,
        retry_bad=again,
        read_only=dry_run,
        files=files,
        models={model.row.key: model for model in models},
        progress=progress,
    )
    rows = tuple(model.row for model in models)
    return Workspace(
        catalog=replace(catalog, models=(*catalog.models, *rows)) if rows else catalog,
        suite=suite,
        root=root,
        bench=bench,
        offline=offline,
    )


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
    files: Mapping[str, Path] | None = None,
    models: Mapping[str, OwnModel] | None = None,
    progress: Progress | None = None,
) -> tuple[Path, Bench]:
    """The results folder, and what runs are made with there. `read_only`: the folder need not exist; `files`: those of
    one's own data by their digest; `models`: those that no catalogue lists, by key.

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
        source=Source.keeping(shared, root=data, offline=offline, own=files),
        batch_size=batch_size,
        skip_bad=skip_bad,
        retry_bad=retry_bad,
        progress=progress or Progress(),
        own=models,
    )
    return root, bench


def own_suites(
    data: Path | None, *, suite: str, results: Path | None, warn: Warn, read_only: bool = False
) -> tuple[Catalog, str, dict[str, Path]]:
    """The catalogue with the suites of one's own data, the key of the suite to run, and the data files by their digest.

    A file as `data` makes a suite of its own in place of `suite`, recorded in the results folder unless `read_only`.
    Raises BadInput, CannotWrite.
    """
    from compute.catalog import own
    from compute.content.items import content_key

    root = (results or paths.RESULTS).absolute()
    suites = _recorded(root, warn)
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
    catalog = _extended(suites, warn)
    files = {
        each.digest: each.file
        for each in suites
        if each.suite.key == suite
        and each.file.is_file()
        and content_key(each.file.read_bytes()).decode() == each.digest
    }
    return catalog, suite, files


def catalog_with_own(results: Path | None, *, warn: Warn) -> Catalog:
    """The catalogue with the suites of one's own data in the results folder; `warn` hears of damaged records."""
    return _extended(_recorded((results or paths.RESULTS).absolute(), warn), warn)


def _recorded(root: Path, warn: Warn) -> list[OwnSuite]:
    from compute.catalog import own

    suites, problems = own.recorded(root)
    for problem in problems:
        warn(problem)
    return suites


def _extended(suites: Sequence[OwnSuite], warn: Warn) -> Catalog:
    from compute.catalog import own, shipped

    catalog, problems = own.extended(shipped(), suites)
    for problem in problems:
        warn(problem)
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
