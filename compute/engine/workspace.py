"""The environment of runs: settings, a results folder, the catalogue with user suites, and the bench."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from annotated_types import Ge
from huggingface_hub import constants
from pydantic import BaseModel, ConfigDict, ValidationError, field_validator, model_validator

from compute import paths, storage
from compute.io.files import check_writable, sweep
from compute.types import BadInput, Model, NotHere, Task, printable, suggestion

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

# Options shared with other commands.
DataFolder = Annotated[Path | None, "A folder of data sets as <org>/<name>/, searched before the hub's cache."]
Device = Annotated[str, "cpu, cuda, cuda:1, mps; default: the best available."]
Dtype = Annotated[
    str,
    "float32, bfloat16 or float16; default: the device's best, for comparers and features of distribution metrics "
    "float32.",
]
BatchSize = Annotated[int | None, "Items per batch; default: found by speed and memory.", Ge(1)]
Offline = Annotated[
    bool, "Contact no other machine: download nothing, and ask only judges behind an endpoint on this machine."
]
Shape = Annotated[str, "The shape of your data; default: judged by their columns."]
Columns = Annotated[Mapping[str, str], "Which column is which of the shape's: image=img,label=class."]
Images = Annotated[
    tuple[Path, ...],
    "A further folder that the paths of your images, and of a suite.toml's files, may point into; repeatable.",
]
VARIABLES = ("HF_HUB_OFFLINE", "LIKENESS_ANSWERS")  # that a workspace sets for its process
Warn = Callable[[str], None]  # takes a sentence about what was skipped


class RunSettings(BaseModel):
    """How the runs of a suite are made. Raises BadInput for values that cannot be, or do not go together."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    data: Annotated[
        str | Path | None,
        "Without --suite, your own data, which become a suite: a manifest (.csv, .jsonl, .parquet), a folder, or "
        "hub:org/name@revision; see docs/your-data.md. With a suite, a folder of data sets as <org>/<name>/, searched "
        "before the hub's cache; with --suite pairbench also a manifest of pairs (likeness pairs make).",
    ] = None
    data_name: Annotated[str, "Name of the suite of your data; default: the data's name."] = ""
    shape: Shape = ""
    columns: Columns = None
    images: Images = ()
    device: Device = ""
    dtype: Dtype = ""
    store_dtype: Annotated[
        Literal["float32", "float16"],
        "float32, or float16: half the space, and vectors are rounded to about three digits. Scores say so, and are "
        "stored apart.",
    ] = "float32"
    batch_size: BatchSize = None
    # The folder or address that runs are stored in; None: the project's.
    results: Path = None
    offline: Offline = False
    skip_bad: Annotated[bool, "Skip items that cannot be used; coverage is shown with the score."] = False
    options: Annotated[tuple[str, ...], "name=value, such as quality=clip-iqa; repeatable: likeness list options."] = ()
    engine: Annotated[
        Literal["local", "ray"],
        "Where the work runs: local, in this process, or ray, on several devices or machines.",
    ] = "local"
    address: Annotated[str, "The Ray cluster: HOST:PORT or auto; default: RAY_ADDRESS, else one started here."] = ""
    workers: Annotated[
        int | None, "How many Ray workers encode; default: one per GPU, or per core without a GPU.", Ge(1)
    ] = None
    thumbnails: Annotated[int, "Number of items per task to store pictures of.", Ge(0)] = 200
    again: Annotated[bool, "Repeat stored runs."] = False
    progress: Annotated[bool, "Draw progress bars where somebody watches."] = True
    dry_run: Annotated[
        bool,
        "Print what would be downloaded, encoded, compared and stored.",
    ] = False

    @field_validator("shape", "device", "dtype", "address", mode="before")
    @classmethod
    def _name(cls, given: Any) -> str:
        """Converts None to an empty name, and torch's device and dtype objects to text."""
        return "" if given is None else str(given).removeprefix("torch.")

    @field_validator("images", "options", mode="before")
    @classmethod
    def _several(cls, given: Any) -> Any:
        """Converts a single value to a tuple, and None to an empty one."""
        return () if given is None else (given,) if isinstance(given, str | Path) else given

    @field_validator("columns", mode="before")
    @classmethod
    def _pairs(cls, given: Any) -> Any:
        return given or {}

    @field_validator("offline")
    @classmethod
    def _alone(cls, given: bool) -> bool:
        """Also offline if the hub's environment variable is set."""
        return given or constants.HF_HUB_OFFLINE

    @field_validator("results", mode="before")
    @classmethod
    def _opened(cls, given: Any) -> Path:
        return storage.opened(given or paths.RESULTS).absolute()

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            first = error.errors()[0]
            name, value, near = ".".join(map(str, first["loc"])), first["input"], ""
            if first["type"] == "literal_error":
                near = suggestion(str(value), re.findall(r"'(\w+)'", first["ctx"]["expected"]))
            raise BadInput(
                f"{name} cannot be {str(value)[:60]!r}: {first['msg'].replace('Input', 'it')}.{near}"
            ) from None

    @model_validator(mode="after")
    def _fit(self) -> RunSettings:
        if self.engine == "local" and (self.address or self.workers):
            raise BadInput("--address and --workers are for Ray: add --engine ray")
        return self

    @property
    def shared(self) -> Path:
        """The folder of encodings, answers and content keys, which are never stored among the shipped runs."""
        return paths.RESULTS if self.results == paths.COMPUTED else self.results


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Everything that runs need: this package's models, tasks and procedures. It can be sent to another process."""

    settings: RunSettings
    hardware: Hardware
    source: Source
    store: FeatureStore
    own: dict[str, OwnModel] = field(default_factory=dict)  # models in the caller's memory, by key

    @cached_property
    def procedures(self) -> Mapping[str, Procedure]:
        """The procedures by key."""
        from compute.procedures import PROCEDURES

        return {procedure.key: procedure for procedure in PROCEDURES}

    def task_options(self, task: Task) -> Mapping[str, tuple[Any, ...]]:
        """Returns the allowed values of each option of a task's items, the default first."""
        from compute import tasks

        return tasks.options_of(task) if tasks.computable(task) else {}

    def load(self, task: Task, options: Mapping[str, Any]) -> Mapping[str, Data]:
        """Returns a task's items by subset."""
        from compute import tasks

        return tasks.load(task, source=self.source, options=options)

    def need(self, task: Task) -> Need:
        """Returns what must be fetched for a task's items, without fetching it."""
        from compute import tasks

        return tasks.needs(task, source=self.source)

    @cached_property
    def identity(self) -> Callable[[Task], Mapping[str, Any]]:
        """What determines a task's items, in addition to the catalogue's row."""
        from compute import tasks

        return cache(partial(tasks.identity, source=self.source))

    def fetch(self, row: Model) -> None:
        """Fetches the files that identify a model."""
        from compute import models

        if row.key not in self.own and not self.source.offline and not models.is_identified(row):
            models.fetch(row)

    def subject(self, row: Model) -> Subject:
        """Returns a model with its stored features."""
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
    """Wraps `load` so that missing weights are looked for once, not again for each task."""
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
    """Opens the environment for the runs of a suite, given by key or file.

    Returns the catalogue with the user's suites and models, the suite's key, and the bench. Without a suite, the data
    form their own. `hardware` replaces the settings' device and dtype if it is already known. `warn` is called for
    damaged records, `notice` with the paths in a record before they are read. Raises BadInput, CannotWrite, UnknownKey.
    """
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
    """Returns the bench of runs.

    `data` is a folder of data sets; `hardware` replaces the settings' device and dtype if it is already known; `files`
    are user data by digest; `features` is the folder of encodings, by default one in the results. Raises BadInput for a
    data folder that does not exist and for a results folder that cannot be written.
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
        sweep(settings.results, skip=("fetched",))  # half-written files of killed runs
    os.environ.setdefault("LIKENESS_ANSWERS", str(settings.shared / "answers"))
    return Bench(
        settings=settings,
        hardware=hardware,
        source=Source(root=data, offline=offline, cache=settings.shared, own=files),
        store=FeatureStore(features or storage.below(settings.shared, "features"), dtype=settings.store_dtype),
    )


def is_suite_file(name: Path | str) -> bool:
    """Returns whether a name is that of a suite file."""
    return str(name).lower().endswith(".toml")


def own_suites(
    settings: RunSettings, *, suite: str, warn: Warn, notice: Warn = lambda words: None
) -> tuple[Catalog, str, dict[str, OwnFile]]:
    """Returns the catalogue with the suites of user data, the key of the suite to run, and the data by digest.

    The settings' data without a suite, or a file in place of a suite that takes one, form a new suite. It is recorded
    in the results folder except in a dry run. Their image folders apply to the data of all user suites. `suite` may be
    a suite file. `notice` is called with the paths in a record before they are read. Raises BadInput, NotHere,
    CannotWrite.
    """
    from compute.catalog.own import suite as own_suite
    from compute.catalog.own import suite_records
    from compute.content.items import content_key
    from compute.tasks.own import manifest_of_pairs

    root, data = settings.results, settings.data
    suites = _recorded(root, warn)
    same = next((each for each in suites if each.suite.key == suite), None)
    made = None
    if is_suite_file(suite):
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
    # A changed manifest of pairs is skipped; for other data their loader detects changes.
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
    """Returns the suite in a user's file, with its data read and checked; content keys are stored with the results.

    The settings' data may be a folder of data sets for catalogue tasks. Their images are further folders that may
    contain the file's data and images. Raises BadInput, NotHere, UnknownKey.
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
    """Returns the suite that user data form; if it is known as `same`, they must be its data."""
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
    """Returns the source for user data; content keys are stored with those of runs."""
    from compute.tasks.source import Source

    return Source(offline=settings.offline, cache=settings.shared)


def catalog_with_own(results: Path | None, *, warn: Warn) -> Catalog:
    """Returns the catalogue with user suites and models in the results folder; `warn` is called for damaged records."""
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
    from compute.tasks import calibration

    models, problems = own_models.recorded(root)
    catalog, others = own_models.with_own(suites, models)
    for problem in (*problems, *others):
        warn(problem)
    return replace(
        catalog,
        suites=(*catalog.suites, calibration.SUITE),
        tasks=(*catalog.tasks, *calibration.TASKS),
    )


@contextmanager
def as_before() -> Iterator[None]:
    """Restores what a workspace or `stay_offline` sets for its process."""
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
    """Keeps the hub's libraries from any request, even from checking whether a file has changed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True  # the module may already be imported
