"""A training run on disk, next to the model it produces; none of its files can contain code.

training/plan.json what is trained: base, plan, suite, data. Another run never takes this folder for its own
training/losses.jsonl a line per step training/state.pt the last stored step: weights, the best weights, optimiser,
measurements training/finished.json written last: the model next to it is complete training/lock locked by the process
that trains
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from pydantic.dataclasses import dataclass

from compute.io.files import replacing, reserved, write_text
from compute.training.evaluation import TaskChange
from compute.types import BadInput, CannotWrite


@dataclass(frozen=True, kw_only=True)
class StepMeasurement:
    """Scores after `step` steps, as fractions; None if no task of that side was measured."""

    step: int
    core: float | None
    ood: float | None
    tasks: Mapping[str, Any]  # by key: side, metric, value, stderr, n


@dataclass(kw_only=True)
class TuningState:
    """The state of a run after `step` steps, except its weights."""

    step: int = 0
    seconds: float = 0.0
    best: int | None = None  # step of the best weights stored
    measurements: list[StepMeasurement] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """The folder of a run. `identity`: base, plan, suite and data of the run, as JSON."""

    path: Path
    identity: Mapping[str, Any]

    @property
    def training(self) -> Path:
        """Returns the folder of the run's own files."""
        return self.path / "training"

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Creates the folder, or checks that it belongs to this run; no other process can train there within the block.

        Raises BadInput for another run's folder, or if another process trains in it; CannotWrite.
        """
        plan, identity = self.training / "plan.json", json.loads(json.dumps(self.identity))
        if plan.is_file():
            stored = json.loads(plan.read_text(encoding="utf-8"))
            for part, now in identity.items():
                if stored[part] != now:
                    raise BadInput(
                        f"{self.path} holds a training run with another {part}: {_difference(stored[part], now)}. Name "
                        "another folder, or remove that one"
                    )
        elif self.path.is_dir() and {each.name for each in self.path.iterdir()} - {"training"}:
            raise BadInput(f"{self.path} exists and holds no training run. Name a new folder")
        try:
            self.training.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CannotWrite(f"Cannot make the folder {self.path}: {error.strerror}. Name another one") from error
        with reserved(self.training / "lock") as is_free:
            if not is_free:
                raise BadInput(
                    f"Another process is training in {self.path}. Wait until it ends, or name another folder"
                )
            write_text(plan, json.dumps(identity, indent=2) + "\n")
            yield

    def finished(self) -> tuple[TuningState, list[TaskChange]] | None:
        """Returns the state and the final table of a complete run; None if it is not complete."""
        path = self.training / "finished.json"
        if not path.is_file():
            return None
        stored = json.loads(path.read_text(encoding="utf-8"))
        return TuningState(**stored["state"]), [TaskChange(**each) for each in stored["changes"]]

    def finish(self, state: TuningState, changes: list[TaskChange]) -> None:
        """Marks the run as complete and removes files that only a resumed run needs."""
        record = {"state": asdict(state), "changes": [asdict(each) for each in changes]}
        write_text(self.training / "finished.json", json.dumps(record, indent=1) + "\n")
        (self.training / "state.pt").unlink(missing_ok=True)

    def save(self, state: TuningState, **tensors: Any) -> None:
        """Stores the state, replacing the previous one. Raises CannotWrite."""
        import torch

        with replacing(self.training / "state.pt") as draft:
            torch.save({"state": asdict(state), **tensors}, draft)

    def load(self) -> dict[str, Any]:
        """Returns what `save` stored; empty if there is none."""
        import torch

        path = self.training / "state.pt"
        return torch.load(path, map_location="cpu", weights_only=True) if path.is_file() else {}

    def losses(self) -> list[dict[str, float]]:
        """Returns the losses of every step so far."""
        path = self.training / "losses.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        return [json.loads(line) for line in lines]

    @contextmanager
    def loss_log(self, *, step: int) -> Iterator[Callable[[Mapping[str, float]], None]]:
        """Yields a function that logs a step's losses. Removes lines from `step` on that a killed run left."""
        path = self.training / "losses.jsonl"
        write_text(path, "".join(f"{json.dumps(values)}\n" for values in self.losses()[:step]))
        with path.open("a", encoding="utf-8") as file:
            yield lambda values: print(json.dumps(values), file=file, flush=True)


def _difference(stored: Any, now: Any) -> str:
    """Describes the first value that differs."""
    if isinstance(now, dict):
        name = next(name for name in (*now, *stored) if stored.get(name) != now.get(name))
        return f"{name} was {stored.get(name)!r} and is {now.get(name)!r}"
    changed = [part for part in now if part not in stored] or [part for part in stored if part not in now]
    return ", ".join(f"{part['task']} from {part['dataset']}" for part in changed)
