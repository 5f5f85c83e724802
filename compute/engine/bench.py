"""What runs are made with: models, items, procedures, and where encodings are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.types import Model, NotHere, Task

if TYPE_CHECKING:
    from compute.features.subject import LoadedSubject
    from compute.models.adapter import Hardware
    from compute.models.own.own_model import OwnModel
    from compute.procedures.evidence import Procedure
    from compute.progress import Progress
    from compute.tasks.data import Data
    from compute.tasks.source import Need, Source


@dataclass(frozen=True, kw_only=True)
class Bench:
    """The parts a run is made with: `assemble` gives the real ones, a test its own small ones."""

    hardware: Hardware
    procedures: Mapping[str, Procedure]
    task_options: Callable[[Task], Mapping[str, tuple[Any, ...]]]  # name -> allowed values, the first is the default
    load: Callable[[Task, Mapping[str, Any]], Mapping[str, Data]]  # a task and its options -> subset -> items
    need: Callable[[Task], Need]  # what the items take to fetch, nothing fetched
    identity: Callable[[Task], Mapping[str, Any]]  # what decides the items beside the catalogue's row
    subject: Callable[[Model], LoadedSubject]
    store_dtype: str = "float32"  # of the vectors that are stored
    fetch: Callable[[Model], Any] = lambda row: None  # brings what the model can only be identified by
    # Makes the same bench in another process, on its own hardware or on the `device` that it is called with.
    recipe: Callable[..., Bench] | None = None


def assemble(
    *,
    features: Path | str,
    source: Source,
    store_dtype: str = "float32",
    hardware: Hardware,
    batch_size: int | None = None,
    skip_bad: bool = False,
    retry_bad: bool = False,
    progress: Progress | None = None,
    own: Mapping[str, OwnModel] | None = None,
) -> Bench:
    """The models, tasks and procedures of this package; encodings are stored under `features`, a folder or an address.

    `store_dtype` is that of their vectors, float32 or float16. `retry_bad`: items that are remembered as not usable are
    tried again. `own`: models that the caller holds, by key; others may be added to it later.
    """
    from compute import models, tasks
    from compute.features.store import FeatureStore
    from compute.features.subject import LoadedSubject
    from compute.procedures import PROCEDURES

    own = {} if own is None else own

    def fetch(row: Model) -> None:
        if row.key not in own and not source.offline and not models.is_identified(row):
            models.fetch(row)

    def subject(row: Model) -> LoadedSubject:
        held = own.get(row.key)
        return LoadedSubject(
            row,
            store=store,
            hardware=hardware,
            batch_size=batch_size,
            skip_bad=skip_bad,
            retry_bad=retry_bad,
            progress=progress,
            load=once(held.load if held else models.load),
            identity=held.identity if held else None,
        )

    store = FeatureStore(features, dtype=store_dtype)
    return Bench(
        hardware=hardware,
        procedures={procedure.key: procedure for procedure in PROCEDURES},
        task_options=lambda task: tasks.options_of(task) if tasks.computable(task) else {},
        load=lambda task, options: tasks.load(task, source=source, options=options),
        need=lambda task: tasks.needs(task, source=source),
        identity=cache(lambda task: tasks.identity(task, source=source)),
        store_dtype=store_dtype,
        fetch=fetch,
        subject=subject,
        recipe=partial(
            _again,
            features=features,
            source=source,
            store_dtype=store_dtype,
            hardware=hardware,
            batch_size=batch_size,
            skip_bad=skip_bad,
        ),
    )


def _again(*, device: str = "", hardware: Hardware, **settings: Any) -> Bench:
    """What `assemble` made, in another process; no bars are drawn there."""
    from compute.progress import Progress

    hardware = replace(hardware, device=device) if device else hardware
    return assemble(hardware=hardware, progress=Progress(watched=False), **settings)


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
