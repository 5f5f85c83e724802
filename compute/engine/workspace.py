"""What runs are made in and with: a results folder, a catalogue with own suites, models, items and procedures."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import paths, storage
from compute.engine.settings import RunSettings
from compute.io.files import sweep
from compute.types import BadInput, Model, NotHere, Task, printable

if TYPE_CHECKING:
    from compute.catalog import Catalog
    from compute.catalog.own.suite import OwnSuite
    from compute.features.store import FeatureStore
    from compute.features.subject import Subject
    from compute.models.adapter import Hardware
    from compute.models.own.own_model import OwnModel
    from compute.procedures.evidence import Procedure
    from compute.tasks.data import Data
    from compute.tasks.source import Need, OwnFile, Source

VARIABLES = ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS")  # that a workspace sets for its process
Warn = Callable[[str], None]  # takes a sentence on what was skipped


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What runs are made with: this package's models, tasks and procedures. Another process may be sent it."""

    settings: RunSettings
    hardware: Hardware
    source: Source
    store: FeatureStore
    own: dict[str, OwnModel] = field(default_factory=dict)  # models that the caller holds, by key

    @cached_property
    def procedures(self) -> Mapping[str, Procedure]:
        """By key."""
        from compute.procedures import PROCEDURES

        return {procedure.key: procedure for procedure in PROCEDURES}

    def task_options(self, task: Task) -> Mapping[str, tuple[Any, ...]]:
        """The allowed values of each option of a task's items, the default first."""
        from compute import tasks

        return tasks.options_of(task) if tasks.computable(task) else {}

    def load(self, task: Task, options: Mapping[str, Any]) -> Mapping[str, Data]:
        """A task's items by subset."""
        from compute import tasks

        return tasks.load(task, source=self.source, options=options)

    def need(self, task: Task) -> Need:
        """What a task's items take to fetch; nothing is fetched."""
        from compute import tasks

        return tasks.needs(task, source=self.source)

    @cached_property
    def identity(self) -> Callable[[Task], Mapping[str, Any]]:
        """What decides a task's items besides the catalogue's row."""
        from compute import tasks

        return cache(partial(tasks.identity, source=self.source))

    def fetch(self, row: Model) -> None:
        """Brings what a model can only be identified by."""
        from compute import models

        if row.key not in self.own and not self.source.offline and not models.is_identified(row):
            models.fetch(row)

    def subject(self, row: Model) -> Subject:
        """A model, with what is stored of it."""
        from compute import models
        from compute.features.subject import Subject
        from compute.progress import Progress

        held = self.own.get(row.key)
        return Subject(
            row,
            store=self.store,
            hardware=self.hardware,
            batch_size=self.settings.batch_size,
            skip_bad=self.settings.skip_bad,
            progress=Progress(watched=self.settings.progress),
            load=once(held.load if held else models.load),
            identity=held.identity if held else None,
        )


def once(load: Callable[..., Any]) -> Callable[..., Any]:
    """`load`, but weights that are not here are looked for once, not again for each task."""
    missing: list[NotHere] = []

    def loaded(row: Model, **settings: Any) -> Any:
        if missing:
            raise missing[0]
        try:
            return load(row, **settings)
        except NotHere as error:
            missing.append(error)
            raise

    return loaded


def opened(
    settings: RunSettings,
    *,
    suite: str,
    hardware: Hardware | None = None,
    warn: Warn = lambda problem: None,
    notice: Warn = lambda words: None,
) -> tuple[Catalog, str, Bench]:
    """Where the runs of a suite, its key or its file, are made: the catalogue with the user's suites and models, the
    suite's key, and the bench. Without a suite the data make their own.

    `hardware` stands for the settings' device and dtype where it is known already. `warn` is called for damaged
    records, `notice` with the paths in a record before they are read. Raises BadInput, CannotWrite, UnknownKey.
    """
    from compute.catalog.own.suite import is_suite_file

    from_file = is_suite_file(suite)
    catalog, suite, files = own_suites(settings, suite=suite, warn=warn, notice=notice)
    data = settings.data if from_file or not files else None
    bench = workbench(settings, data=data, hardware=hardware, files=files)
    catalog.suite(suite)
    return catalog, suite, bench


def workbench(
    settings: RunSettings,
    *,
    data: Path | str | None,
    hardware: Hardware | None = None,
    files: Mapping[str, OwnFile] | None = None,
    features: Path | None = None,
) -> Bench:
    """What runs are made with. `data` is a folder of data sets; `hardware` stands for the settings' device and dtype
    where it is known already; `files`: user data by their digest; `features`: the folder of encodings, else one in the
    results.

    Raises BadInput for a data folder that does not exist and for a results folder that cannot be written.
    """
    from compute.features.encoding import share_cores

    share_cores()
    from compute import models as families
    from compute.features.store import FeatureStore
    from compute.tasks.source import Source

    data = None if data is None else Path(data)
    if data is not None and not data.is_dir():
        raise BadInput(
            f"There is no folder {data}: give one that holds data sets as <org>/<name>/, name none, or give pairs of "
            "images: likeness pairs make"
        )
    hardware = hardware or families.hardware(device=settings.device, dtype=settings.dtype)
    offline = settings.offline or settings.dry_run
    if offline:
        stay_offline()
    if not settings.dry_run:
        check_writable(settings.results)
        sweep(settings.results, skip=("fetched",))  # what killed runs left half-written
    os.environ.setdefault("LIKENESS_ANSWERS", str(settings.shared / "answers"))
    return Bench(
        settings=settings,
        hardware=hardware,
        source=Source.keeping(settings.shared, root=data, offline=offline, own=files),
        store=FeatureStore(features or storage.below(settings.shared, "features"), dtype=settings.store_dtype),
    )


def own_suites(
    settings: RunSettings, *, suite: str, warn: Warn, notice: Warn = lambda words: None
) -> tuple[Catalog, str, dict[str, OwnFile]]:
    """The catalogue with the suites of user data, the key of the suite to run, and the data by their digest.

    The settings' data without a suite, or a file in place of one that takes it, make their own suite, recorded in
    the results folder unless they are of a dry run; their folders of images hold for the data of every suite of one's
    own. `suite` may be a suite's own file. `notice` is called with the paths in a record before they are read. Raises
    BadInput, NotHere, CannotWrite.
    """
    from compute.catalog.own import suite as own_suite
    from compute.catalog.own import suite_records
    from compute.content.items import content_key
    from compute.tasks.own import manifest_of_pairs

    root, data = settings.results, settings.data
    suites = _recorded(root, warn)
    same = next((each for each in suites if each.suite.key == suite), None)
    made = None
    if own_suite.is_suite_file(suite):
        made = suite_of_file(Path(suite), settings, warn=warn)
    elif data is None:
        if not suite:
            raise BadInput(
                "Name a suite with --suite (in Python suite=; likeness list suites), or your own data with "
                "--data (in Python data=)"
            )
    elif not suite and manifest_of_pairs(data):
        made = own_suite.from_file(Path(data), suite=own_suite.PAIRBENCH)
    elif not suite or (same is not None and same.shape not in (own_suite.PAIRS, *own_suite.COMPARISONS)):
        made = _read(settings, same=same, warn=warn)
    elif Path(data).is_file():
        made = own_suite.from_file(Path(data), suite=suite, known=suites)
    if made is not None:
        made = (suite_records.keyed if settings.dry_run else suite_records.record)(made, results=root)
        suite = made.suite.key
        suites = [*(other for other in suites if other.suite.key != suite), made]
    chosen = next((each for each in suites if each.suite.key == suite), None)
    if chosen is not None and made is None:
        for name in dict.fromkeys(file.hub or str(file.path) for file in chosen.data):
            notice(f"Reads {printable(name)} as recorded for {suite}")
    # A manifest of pairs that is no longer what it was is skipped; of other data their own loader finds that out.
    files = {
        file.digest: file
        for file in (chosen.data if chosen else ())
        if file.shape != own_suite.PAIRS
        or (file.path.is_file() and content_key(file.path.read_bytes()).decode() == file.digest)
    }
    if settings.images:
        named = tuple(folder.absolute() for folder in settings.images)
        files = {
            digest: replace(file, images=tuple(dict.fromkeys((*named, *file.images))), elsewhere=())
            for digest, file in files.items()
        }
    return _extended(suites, root, warn), suite, files


def suite_of_file(path: Path, settings: RunSettings, *, warn: Warn = lambda words: None) -> OwnSuite:
    """The suite that a user file states, its data read and checked; content keys are stored with the results.

    The settings' data may be a folder of data sets, for tasks of the catalogue; their images are folders next to that
    of the file, which its data and their images may be in. Raises BadInput, NotHere, UnknownKey.
    """
    from compute.catalog import shipped
    from compute.catalog.own import suite_file

    if settings.data is not None and not Path(settings.data).is_dir():
        raise BadInput(
            f"{path.name} names its own data: name none next to it, or a folder of data sets as <org>/<name>/"
        )
    source, stated = _reader(settings), suite_file.parse(path, images=settings.images)
    read = {index: stated.read(index, source=source) for index, task in enumerate(stated.tasks) if task.file}
    for note in dict.fromkeys(note for part in read.values() for note in part.notes):
        warn(note)
    return suite_file.suite(stated, read, catalog=shipped())


def _read(settings: RunSettings, *, same: OwnSuite | None, warn: Warn) -> OwnSuite:
    """The suite that user data make; where it is known, `same`, they must be its data."""
    from compute.catalog.own import suite as own_suite
    from compute.tasks.own import read

    shape, columns = settings.shape, settings.columns
    if same is not None and len(same.data) == 1:
        shape, columns = shape or same.data[0].shape, columns or same.data[0].columns
    part = read(settings.data, shape=shape, columns=columns, images=settings.images, source=_reader(settings))
    for note in part.notes:
        warn(note)
    made = own_suite.of_data({part.shape.key: part}, name=settings.data_name or part.name)
    if same is not None and made.digest != same.digest:
        raise BadInput(
            f"{part.title} is not the data of the suite {same.suite.key}. To make a suite of it, name no suite with it"
        )
    return made


def _reader(settings: RunSettings) -> Source:
    """What user data are read with: content keys are stored where runs store theirs."""
    from compute.tasks.source import Source

    return Source.keeping(settings.shared, root=None, offline=settings.offline)


def catalog_with_own(results: Path | None, *, warn: Warn) -> Catalog:
    """The catalogue with user suites and models in the results folder; `warn` is called for damaged records."""
    root = (results or paths.RESULTS).absolute()
    return _extended(_recorded(root, warn), root, warn)


def _recorded(root: Path, warn: Warn) -> list[OwnSuite]:
    from compute.catalog.own import suite_records

    suites, problems = suite_records.recorded(root)
    for problem in problems:
        warn(problem)
    return suites


def _extended(suites: Sequence[OwnSuite], root: Path, warn: Warn) -> Catalog:
    from compute.catalog.own import models as own_models

    models, problems = own_models.recorded(root)
    catalog, others = own_models.with_own(suites, models)
    for problem in (*problems, *others):
        warn(problem)
    return catalog


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

    before, offline = dict(os.environ), constants.HF_HUB_OFFLINE
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = offline
        for name in VARIABLES:
            os.environ.pop(name, None)
            os.environ.update({name: before[name]} if name in before else {})


def stay_offline() -> None:
    """Keeps the hub's libraries from any request, even whether a file has changed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True  # it may have been imported before
