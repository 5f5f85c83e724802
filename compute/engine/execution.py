"""What all runs of a plan share while they are made, and what becomes of each."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from compute.engine import run_folders
from compute.engine.bench import Bench
from compute.engine.plan import Job
from compute.engine.run_folders import StoredRun
from compute.features.passes import Pass
from compute.features.subject import Encoders
from compute.tasks.data import Data
from compute.types import Model


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one job."""

    job: Job
    state: str  # made | stored | failed | skipped; stopped: not begun, because the whole run was stopped
    stored: StoredRun | None = None
    reason: str = ""  # why it failed or was left out
    trace: Path | None = None  # the file with the traceback of an error that is none of ours
    stops: bool = False  # the whole run ends here: the others would fail for the same reason


@dataclass(frozen=True, kw_only=True)
class Encoding:
    """The passes that all of a model's runs share."""

    seconds: float  # each run's share of them
    passes: tuple[Pass, ...]


@dataclass(kw_only=True)
class Execution:
    """What all runs of a plan share: how they are made, and the tasks' items, loaded once each, or its error."""

    bench: Bench
    results: Path
    skip_bad: bool
    pictures: int
    report: Callable[[str], None]
    loaded: dict[tuple[str, str], Mapping[str, Data] | Exception] = field(default_factory=dict)
    seconds: dict[tuple[str, str], float] = field(default_factory=dict)
    uses: Counter[tuple[str, str]]  # unfinished jobs that need a task's items

    def items(self, job: Job) -> Mapping[str, Data]:
        """A task's items by subset. Raises what loading them raised, at every call."""
        key = items_key(job)
        if key not in self.loaded:
            started = time.perf_counter()
            try:
                self.loaded[key] = self.bench.load(job.task, job.task_options)
            except Exception as error:
                self.loaded[key] = error
            self.seconds[key] = time.perf_counter() - started
        items = self.loaded[key]
        if isinstance(items, Exception):
            raise items
        return items

    def done(self, job: Job) -> None:
        """Drops the items that no unfinished job needs."""
        key = items_key(job)
        self.uses[key] -= 1
        if self.uses[key] <= 0:
            self.loaded.pop(key, None)


class Crew(Encoders, Protocol):
    """Other processes that hold one model, and work in place of this one."""

    def attempts(self, jobs: Sequence[Job], encoding: Encoding) -> Iterator[Outcome]:
        """What becomes of each run, in any order."""


class Workers(Protocol):
    """Where the work of a plan is done, other than in this process."""

    def crew(self, row: Model, jobs: Sequence[Job], execution: Execution) -> AbstractContextManager[Crew]:
        """The workers for the jobs of one model, until the context ends."""


def items_key(job: Job) -> tuple[str, str]:
    """What two jobs that show the same items have in common."""
    return job.task.key, run_folders.canonical(job.task_options)
