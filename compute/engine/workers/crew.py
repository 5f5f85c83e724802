"""What the engine asks of workers; none of it, and this process does the work itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from compute.types import LikenessError

if TYPE_CHECKING:
    from compute.engine.execution import Encoding, Execution, Outcome
    from compute.engine.plan import Job
    from compute.features.subject import Encoders
    from compute.types import Model


class WorkersFailed(LikenessError):
    """Workers that were lost, or would encode otherwise than planned. No process takes over: what ended several workers
    would end it too."""


@dataclass(frozen=True, kw_only=True)
class Crew:
    """The workers of one model. Where one of the two is None, this process does it."""

    encoders: Encoders | None = None
    runs: Callable[[Sequence[Job], Encoding], Iterator[Outcome]] | None = None  # attempts jobs, in any order


class Workers(Protocol):
    """Where the work of a plan is done."""

    def crew(self, row: Model, jobs: Sequence[Job], execution: Execution) -> AbstractContextManager[Crew]:
        """The workers for the jobs of one model, until the context ends. They start when they are first needed."""
