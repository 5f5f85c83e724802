"""What runs are made in: a results folder, a catalogue with own suites, and what models are run with there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import drafts, mirror, paths
from compute.types import BadInput, printable

if TYPE_CHECKING:
    from compute.catalog import Catalog
    from compute.catalog.own.models import ModelSource
    from compute.catalog.own.suite import OwnSuite
    from compute.engine.bench import Bench
    from compute.models.adapter import Hardware
    from compute.models.own.own_model import OwnModel
    from compute.progress import Progress
    from compute.tasks.own import OwnReading
    from compute.tasks.source import OwnFile, Source
    from compute.types import Model

VARIABLES = ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS")  # that a workspace sets for its process
Warn = Callable[[str], None]  # takes a sentence on what was left out


@dataclass(frozen=True, kw_only=True)
class Workspace:
    """What runs of one suite are made in."""

    catalog: Catalog  # with one's own suites and models
    suite: str  # the key of the suite to run: that of the data, where these make one
    root: Path  # results folder
    bench: Bench
    offline: bool
    dry_run: bool
    models: dict[str, OwnModel]  # that no catalogue lists and the caller holds, by key; the bench runs these

    def with_model(self, model: OwnModel, *, source: ModelSource) -> tuple[Workspace, Model]:
        """This workspace with a model that the caller holds, and its row as it is recorded in the results folder.

        Another model's name gets the beginning of the digest. Raises CannotWrite.
        """
        from compute.catalog.own import models as own_models

        digest = model.identity(model.row, hardware=self.bench.hardware)["digest"]
        settle = own_models.settled if self.dry_run else own_models.record
        row = settle(model.row, digest=digest, results=self.root, source=source)
        self.models[row.key] = replace(model, row=row)
        others = (other for other in self.catalog.models if other.key != row.key)
        return replace(self, catalog=replace(self.catalog, models=(*others, row))), row


def opened(
    *,
    suite: str,
    data: Path | str | None = None,
    reading: OwnReading | None = None,
    results: Path | None = None,
    offline: bool = False,
    again: bool = False,
    dry_run: bool = False,
    warn: Warn = lambda problem: None,
    notice: Warn = lambda words: None,
    **settings: Any,
) -> Workspace:
    """Where the runs of a suite are made: `data` is a folder of data sets, or data of one's own that make a suite.

    `reading` says how data of one's own are read; `settings` are those of `workbench`: device, precision, batch size;
    `again` tries items anew that could not be used; `dry_run` writes and fetches nothing; `warn` hears of records that
    are damaged, `notice` of the paths in a record before they are read. Raises BadInput, CannotWrite.
    """
    from compute.catalog.own.suite_file import is_suite_file
    from compute.models.judges import endpoint

    offline, from_file = offline or endpoint.is_offline(), is_suite_file(suite)
    catalog, suite, files = own_suites(
        data,
        suite=suite,
        reading=reading,
        results=results,
        warn=warn,
        notice=notice,
        read_only=dry_run,
        offline=offline,
    )
    models: dict[str, OwnModel] = {}
    root, bench = workbench(
        results=results,
        data=Path(data) if data is not None and (from_file or not files) else None,
        offline=offline or dry_run,
        retry_bad=again,
        read_only=dry_run,
        files=files,
        models=models,
        **settings,
    )
    return Workspace(
        catalog=catalog, suite=suite, root=root, bench=bench, offline=offline, dry_run=dry_run, models=models
    )


def workbench(
    *,
    results: Path | None,
    data: Path | None,
    offline: bool,
    device: str = "",
    dtype: str = "",
    store_dtype: str = "float32",
    hardware: Hardware | None = None,
    batch_size: int | None = None,
    skip_bad: bool = False,
    retry_bad: bool = False,
    read_only: bool = False,
    files: Mapping[str, OwnFile] | None = None,
    models: Mapping[str, OwnModel] | None = None,
    progress: Progress | None = None,
) -> tuple[Path, Bench]:
    """The results folder, and what runs are made with there. `store_dtype` is that of stored vectors; `hardware` stands
    for `device` and `dtype` where it is known already; `read_only`: the folder need not exist; `files`: one's
    own data by their digest; `models`: those that no catalogue lists, by key.

    Raises BadInput for a data folder that does not exist and for a results folder that cannot be written.
    """
    from compute.features.encoding import share_cores

    share_cores()
    from compute import models as families
    from compute.engine.bench import assemble
    from compute.progress import Progress
    from compute.tasks.source import Source

    if data is not None and data.suffix == ".parquet" and not data.exists():
        raise BadInput(f"There is no file {data}. Make it: python -m compute pairs make --images DIR --out {data}")
    if data is not None and not data.is_dir():
        raise BadInput(f"There is no folder {data}: give one that holds data sets as <org>/<name>/, or name none")
    if offline:
        stay_offline()
    root = (results or paths.RESULTS).absolute()
    if not read_only:
        check_writable(root)
        drafts.sweep(root, skip=("fetched",))  # what killed runs left half-written
    shared = paths.RESULTS if root == paths.COMPUTED else root  # encodings and answers never go among what is shipped
    os.environ.setdefault("LIKENESS_ANSWERS", str(shared / "answers"))
    bench = assemble(
        features=mirror.below(shared, "features"),
        hardware=hardware or families.hardware(device=device, dtype=dtype),
        store_dtype=store_dtype,
        source=Source.keeping(shared, root=data, offline=offline, own=files),
        batch_size=batch_size,
        skip_bad=skip_bad,
        retry_bad=retry_bad,
        progress=progress or Progress(),
        own=models,
    )
    return root, bench


def own_suites(
    data: Path | str | None,
    *,
    suite: str,
    results: Path | None,
    warn: Warn,
    notice: Warn = lambda words: None,
    reading: OwnReading | None = None,
    read_only: bool = False,
    offline: bool = False,
) -> tuple[Catalog, str, dict[str, OwnFile]]:
    """The catalogue with the suites of one's own data, the key of the suite to run, and the data by their digest.

    `data` without a suite, or a file as `data` in place of one that takes it, makes a suite of its own, recorded in the
    results folder unless `read_only`; `reading` says how data without a suite are read; its folders of images hold for
    those of every suite of one's own. `suite` may be a suite's own file. `notice` hears of the
    paths in a record before they are read. Raises BadInput, NotHere, CannotWrite.
    """
    from compute.catalog.own import suite as own_suite
    from compute.catalog.own import suite_making, suite_records
    from compute.catalog.own.suite_file import is_suite_file
    from compute.content.items import content_key
    from compute.tasks.own import manifest_of_pairs

    root = (results or paths.RESULTS).absolute()
    suites = _recorded(root, warn)
    same = next((each for each in suites if each.suite.key == suite), None)
    made = None
    if is_suite_file(suite):
        images = reading.images if reading else ()
        made = suite_of_file(Path(suite), root=root, data=data, images=images, offline=offline, warn=warn)
    elif data is None:
        if not suite:
            raise BadInput(
                "Name a suite with --suite (in Python suite=; python -m compute list suites), or data of your own with "
                "--data (in Python data=)"
            )
    elif not suite and manifest_of_pairs(data):
        made = suite_making.from_file(Path(data), suite=suite_making.PAIRBENCH)
    elif not suite or (same is not None and same.shape not in (own_suite.PAIRS, *own_suite.COMPARISONS)):
        made = _read(data, reading, same=same, source=_reader(root, offline=offline), warn=warn)
    elif suite == suite_making.PAIRBENCH and _holds_images(Path(data)):
        raise BadInput(
            f"{data} is a folder of images. Make pairs of them first: python -m compute pairs make --images {data} "
            "--out pairs.parquet; then name these in its place, pairs.parquet"
        )
    elif Path(data).is_file():
        made = suite_making.from_file(Path(data), suite=suite, known=suites)
    if made is not None:
        made = suite_records.settled(made, results=root) if read_only else suite_records.record(made, results=root)
        suite = made.suite.key
        suites = [*(other for other in suites if other.suite.key != suite), made]
    chosen = next((each for each in suites if each.suite.key == suite), None)
    if chosen is not None and made is None:
        for name in dict.fromkeys(file.hub or str(file.path) for file in chosen.data):
            notice(f"Reads {printable(name)} as recorded for {suite}")
    # A manifest of pairs that is no longer what it was is left out; of other data their own loader finds that out.
    files = {
        file.digest: file
        for file in (chosen.data if chosen else ())
        if file.shape != own_suite.PAIRS
        or (file.path.is_file() and content_key(file.path.read_bytes()).decode() == file.digest)
    }
    if reading is not None and reading.images:
        named = tuple(folder.absolute() for folder in reading.images)
        files = {
            digest: replace(file, images=tuple(dict.fromkeys((*named, *file.images))), elsewhere=())
            for digest, file in files.items()
        }
    return _extended(suites, root, warn), suite, files


def suite_of_file(
    path: Path,
    *,
    root: Path,
    data: Path | str | None = None,
    images: Sequence[Path] = (),
    offline: bool = False,
    warn: Warn = lambda words: None,
) -> OwnSuite:
    """The suite that a file of one's own states, its data read and checked; content keys are stored below `root`.

    `data` may be a folder of data sets, for tasks of the catalogue; `images` are folders beside that of the file, which
    its data and their images may lie in. Raises BadInput, NotHere, UnknownKey.
    """
    from compute.catalog import shipped
    from compute.catalog.own import suite_file

    if data is not None and not Path(data).is_dir():
        raise BadInput(
            f"{path.name} names its own data: name none beside it, or a folder of data sets as <org>/<name>/"
        )
    source, stated = _reader(root, offline=offline), suite_file.parse(path, images=images)
    read = {index: task.read(source=source) for index, task in enumerate(stated.tasks) if task.file}
    for note in dict.fromkeys(note for part in read.values() for note in part.notes):
        warn(note)
    return suite_file.suite(stated, read, catalog=shipped())


def _read(
    data: Path | str, reading: OwnReading | None, *, same: OwnSuite | None, source: Source, warn: Warn
) -> OwnSuite:
    """The suite that data of one's own make; where it is known, `same`, they must be its data."""
    from compute.catalog.own import suite_making
    from compute.tasks.own import OwnReading, read

    reading = reading or OwnReading()
    if same is not None and len(same.data) == 1:
        file = same.data[0]
        reading = replace(reading, shape=reading.shape or file.shape, columns=reading.columns or file.columns)
    part = read(data, shape=reading.shape, columns=reading.columns, images=reading.images, source=source)
    for note in part.notes:
        warn(note)
    made = suite_making.of_data({part.shape.key: part}, name=reading.name or part.name)
    if same is not None and made.digest != same.digest:
        raise BadInput(
            f"{part.title} is not the data of the suite {same.suite.key}. To make a suite of it, name no suite beside "
            "it"
        )
    return made


def _reader(root: Path, *, offline: bool) -> Source:
    """What one's own data are read with: content keys are stored where runs store theirs."""
    from compute.tasks.source import Source

    return Source.keeping(paths.RESULTS if root == paths.COMPUTED else root, root=None, offline=offline)


def catalog_with_own(results: Path | None, *, warn: Warn) -> Catalog:
    """The catalogue with one's own suites and models in the results folder; `warn` hears of damaged records."""
    root = (results or paths.RESULTS).absolute()
    return _extended(_recorded(root, warn), root, warn)


def _recorded(root: Path, warn: Warn) -> list[OwnSuite]:
    from compute.catalog.own import suite_records

    suites, problems = suite_records.recorded(root)
    for problem in problems:
        warn(problem)
    return suites


def _extended(suites: Sequence[OwnSuite], root: Path, warn: Warn) -> Catalog:
    from compute.catalog import shipped
    from compute.catalog.own import models as own_models
    from compute.catalog.own import suite as own_suite

    models, problems = own_models.recorded(root)
    catalog, of_suites = own_suite.extended(shipped(), suites)
    catalog, of_models = own_models.extended(catalog, models)
    for problem in (*problems, *of_suites, *of_models):
        warn(problem)
    return catalog


def _holds_images(folder: Path) -> bool:
    """Whether images lie in a folder or in the folders there; the files of a data set lie in <org>/<name>/."""
    from compute.io.images import is_image_name

    return folder.is_dir() and any(
        is_image_name(path.name) and path.is_file() for pattern in ("*", "*/*") for path in folder.glob(pattern)
    )


def check_writable(folder: Path) -> None:
    """Raises BadInput for a folder in which no file can be created, before hours of work depend on it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written ({error.strerror}): name another folder with --results (in Python results=)"
        ) from error


@contextmanager
def as_before() -> Iterator[None]:
    """Takes back what a workspace, or `stay_offline`, sets for its process."""
    from huggingface_hub import constants

    variables, offline = {name: os.environ.get(name) for name in VARIABLES}, constants.HF_HUB_OFFLINE
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def stay_offline() -> None:
    """Keeps the hub's libraries from any request, even whether a file has changed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True  # it may have been imported before
