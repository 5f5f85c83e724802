"""The state of a training run on disk: safetensors and JSON, nothing that could hold code.

    training/plan.json      what is trained: base, plan, suite, data. Another run never takes this folder for its own
    training/losses.jsonl   a line a step
    training/step-000100/   the state after 100 steps; written to a draft and moved, so it is whole or not there
    training/best-000050/   the weights with the highest core average, of step 50
    training/evaluated.sha256  of the images that drawn ones are compared with, where there are such
    training/hardware.json  what it computes with
    training/finished.json  written last: the model beside it is complete
    training/lock           locked by the process that trains

Weights are an adapter folder of peft (LoRA), or tuned.safetensors (full tuning).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compute import drafts
from compute.models.files import lora as lora_files
from compute.training.unisim.data.examples import is_drawn
from compute.types import BadInput, CannotWrite

if TYPE_CHECKING:
    from compute.progress import Progress
    from compute.training.unisim.data.examples import ExampleSet
    from compute.training.unisim.steps.optimisers import Optimiser
    from compute.training.unisim.trainable import DualEncoder

FOLDER, PLAN, LOSSES, FINISHED, LOCK, BEST, STATE = (
    "training",
    "plan.json",
    "losses.jsonl",
    "finished.json",
    "lock",
    "best",
    "state.json",
)
# What makes a run another one, in words.
PARTS = {
    "base": "another base model",
    "plan": "another plan",
    "suite": "another suite or version of it",
    "data": "other training data",
    "validation": "other validation data",
}
EVALUATED, HARDWARE = "evaluated.sha256", "hardware.json"
ADAPTER, TUNED, OPTIMISER = "adapter_model.safetensors", "tuned.safetensors", "optimiser.safetensors"


@dataclass(frozen=True, kw_only=True)
class StepMeasurement:
    """What was measured after `step` steps, as fractions; None where no task of that side was measured."""

    step: int
    core: float | None
    ood: float | None
    tasks: Mapping[str, Any]  # by key: side, metric, value, stderr, n


@dataclass(kw_only=True)
class TuningState:
    """What a run knows after `step` steps, beside its weights."""

    step: int = 0
    seconds: float = 0.0
    compared: int = 0  # images that were compared with the evaluated ones before their step
    best: int | None = None  # the step whose weights are stored as the best
    stopped: str = ""  # why training ended before its last step
    measurements: list[StepMeasurement] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class RunFolder:
    """The folder of one run, beside the model that it makes.

    `identity`: base, plan and suite, data and validation as `data_identity` gives them; as JSON.
    """

    path: Path
    identity: Mapping[str, Any]

    @property
    def training(self) -> Path:
        """Where the run's own files are."""
        return self.path / FOLDER

    def compare(self) -> bool:
        """Whether a run is in the folder. Raises BadInput where it differs in a part that `identity` has."""
        plan = self.training / PLAN
        if plan.is_file():
            self._check(_read(plan))
        return plan.is_file()

    def open(self) -> None:
        """Makes the folder, or checks that it is this run's. Raises BadInput for any other, CannotWrite."""
        if self.compare():
            return
        if not self._is_new():
            raise BadInput(f"{self.path} exists and holds no training run. Name a new folder")
        try:
            self.training.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or str(error)
            raise CannotWrite(f"Cannot make the folder {self.path}: {reason}. Name another one") from error
        drafts.write_text(self.training / PLAN, json.dumps(self.identity, indent=2) + "\n")

    @contextmanager
    def reserved(self) -> Iterator[None]:
        """Within it no other process trains in the folder. Raises BadInput where one does, CannotWrite."""
        with drafts.reserved(self.training / LOCK) as is_free:
            if not is_free:
                raise BadInput(
                    f"Another process is training in {self.path}. Wait until it ends, or name another folder"
                )
            yield

    def compare_with(self, evaluated: str) -> None:
        """Records the digest of what the run's drawn images are compared with. Raises BadInput where it was another."""
        path = self.training / EVALUATED
        if path.is_file() and path.read_text(encoding="utf-8") != evaluated:
            raise BadInput(
                f"The run in {self.path} has compared its images with others than those that are evaluated now, as "
                "where data was added. Train into another folder"
            )
        drafts.write_text(path, evaluated)

    def go_on_with(self, hardware: Mapping[str, str]) -> None:
        """Records the kind of device and the precision. Raises BadInput where the run began with others, which give
        other sums."""
        path = self.training / HARDWARE
        if path.is_file() and (before := _read(path)) != hardware:
            raise BadInput(
                f"The run in {self.path} began on {before.get('device')} in {before.get('precision')}, not on "
                f"{hardware['device']} in {hardware['precision']}. Go on with it there, or train into another folder"
            )
        drafts.write_text(path, json.dumps(hardware) + "\n")

    def finished(self) -> TuningState | None:
        """The state of a run that is complete; None before."""
        path = self.training / FINISHED
        return _state(_read(path)) if path.is_file() else None

    def finish(self, state: TuningState) -> None:
        """Marks the run as complete, and removes what only a run that goes on needs."""
        drafts.write_text(self.training / FINISHED, json.dumps(asdict(state), indent=2) + "\n")
        for folder in (*self._states(), *self.training.glob(f"{BEST}-*")):
            drafts.remove(folder)

    def save(self, base: DualEncoder, optimiser: Optimiser, state: TuningState) -> None:
        """Stores the state; the one before it is removed when this one is whole, and weights that are the best no
        longer. Raises CannotWrite."""
        older = self._states()
        with self._folder(self.training / f"step-{state.step:06}") as draft:
            write_weights(base, draft)
            _save_moments(base, optimiser, draft / OPTIMISER)
            (draft / STATE).write_text(json.dumps(asdict(state), indent=2) + "\n", encoding="utf-8")
        for folder in older:
            if folder.name != f"step-{state.step:06}":
                drafts.remove(folder)
        for folder in self.training.glob(f"{BEST}-*"):
            if folder != self._best(state.best):
                drafts.remove(folder)

    def load(self, base: DualEncoder, optimiser: Optimiser) -> TuningState:
        """The last state, its weights and moments in the base and the optimiser; a new one where there is none."""
        states = self._states()
        if not states:
            return TuningState()
        folder = states[-1]
        state = _state(_read(folder / STATE))
        read_weights(base, folder)
        _load_moments(base, optimiser, folder / OPTIMISER, step=state.step)
        return state

    def stored_step(self) -> int:
        """The step of the last stored state; 0 where there is none."""
        states = self._states()
        return _state(_read(states[-1] / STATE)).step if states else 0

    def save_best(self, base: DualEncoder, *, step: int) -> None:
        """Stores the weights as the best so far; those of the last stored state stay beside them, for a run that goes
        on from there. Raises CannotWrite."""
        with self._folder(self._best(step)) as draft:
            write_weights(base, draft)

    def load_best(self, base: DualEncoder, *, step: int) -> None:
        """Puts the best weights, those of this step, into the base."""
        read_weights(base, self._best(step))

    def losses(self) -> list[dict[str, float]]:
        """The losses of every step so far, as they were logged."""
        path = self.training / LOSSES
        if not path.is_file():
            return []
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    @contextmanager
    def loss_log(self, *, step: int) -> Iterator[Any]:
        """Yields a function that logs a step's losses; removes the lines of `step` and later that a killed run left."""
        path = self.training / LOSSES
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        drafts.write_text(path, "".join(f"{line}\n" for line in lines[:step]))
        with path.open("a", encoding="utf-8") as file:

            def log(values: Mapping[str, float]) -> None:
                file.write(json.dumps(values) + "\n")
                file.flush()

            yield log

    def _is_new(self) -> bool:
        """Whether the folder is missing, empty, or as a run leaves it that is killed before its plan is written."""
        if not self.path.is_dir():
            return not self.path.exists()
        if any(each != self.training for each in self.path.iterdir()):
            return False
        inside = os.listdir(self.training) if self.training.is_dir() else []
        return all(name == LOCK or drafts.DRAFT.fullmatch(name) for name in inside)

    def _check(self, stored: Mapping[str, Any]) -> None:
        now = json.loads(json.dumps(self.identity))
        for part, words in PARTS.items():
            if part in now and stored.get(part) != now[part]:
                difference = _difference(stored.get(part), now[part])
                raise BadInput(
                    f"{self.path} holds a training run with {words}: {difference}. Name another folder, or remove "
                    "that one"
                )

    def _best(self, step: int | None) -> Path:
        return self.training / f"{BEST}-{step or 0:06}"

    def _states(self) -> list[Path]:
        return sorted(folder for folder in self.training.glob("step-*") if (folder / STATE).is_file())

    @contextmanager
    def _folder(self, path: Path) -> Iterator[Path]:
        """A draft of a folder that takes the place of `path` when it is whole."""
        draft = path.with_name(f".{path.name}.draft-{os.getpid()}")
        try:
            with drafts.alone(self.training):
                drafts.remove(draft)
                draft.mkdir()
                try:
                    yield draft
                    _sync(draft)
                    old = path.with_name(f".{path.name}.draft-{os.getpid()}0")  # swept as a draft if we die here
                    if path.exists():
                        os.replace(path, old)
                    os.replace(draft, path)
                    drafts.remove(old)
                finally:
                    drafts.remove(draft)
        except OSError as error:
            raise CannotWrite(drafts.refusal(path, error)) from error


def data_identity(sets: Sequence[ExampleSet], progress: Progress | None = None) -> list[dict[str, Any]]:
    """Of each set its task, data set and its key in the catalogue, number of examples, and a digest of its contents in
    their order, as JSON.

    Reads every content whose key is not stored. The order and the answers count, for they decide what a step learns. Of
    drawn examples all follow from what their recipe says.
    """
    return [
        {
            "task": part.task,
            "dataset": part.dataset,
            "key": getattr(part, "catalogue_key", part.dataset),
            "examples": len(part),
            "contents": sha256(_identity(part, progress)).hexdigest(),
        }
        for part in sets
    ]


def _identity(part: ExampleSet, progress: Progress | None) -> bytes:
    if is_drawn(part):
        return part.recipe.encode()
    stored = getattr(part, "preferred", None)
    preferred = [part[row].preferred for row in range(len(part))] if stored is None else stored
    answers = np.asarray(preferred, dtype=np.int8)
    return np.ascontiguousarray(part.keys(progress)).tobytes() + answers.tobytes()


def write_weights(base: DualEncoder, folder: Path) -> None:
    """Writes the trained weights: a peft adapter folder, or those of the tuned towers."""
    from safetensors.torch import save_file

    if base.adapted is None:
        save_file({name: weight.detach().contiguous() for name, weight in base.parameters().items()}, folder / TUNED)
        return
    from peft import get_peft_model_state_dict

    state = get_peft_model_state_dict(base.adapted, save_embedding_layers=False)
    save_file({name: weight.contiguous() for name, weight in state.items()}, folder / ADAPTER)
    base.adapted.peft_config["default"].save_pretrained(folder)


def read_weights(base: DualEncoder, folder: Path) -> None:
    """Puts weights that `write_weights` wrote into the base. Raises BadInput where they are of another."""
    from safetensors.torch import load_file

    if base.adapted is None:
        stored, weights = load_file(folder / TUNED), base.parameters()
    else:
        from peft import get_peft_model_state_dict

        lora_files.config(folder)
        stored = load_file(folder / ADAPTER)
        weights = get_peft_model_state_dict(base.adapted, save_embedding_layers=False)
    if {name: value.shape for name, value in stored.items()} != {name: value.shape for name, value in weights.items()}:
        raise BadInput(f"The weights in {folder} are of another base model or plan. Remove the folder, or name another")
    import torch

    with torch.no_grad():
        for name, weight in weights.items():
            weight.copy_(stored[name])


def _save_moments(base: DualEncoder, optimiser: Optimiser, path: Path) -> None:
    from safetensors.torch import save_file

    moments = {
        f"{name}.{moment}": value.contiguous()
        for name, weight in base.parameters().items()
        for moment, value in optimiser.moments(weight).items()
    }
    save_file(moments, path)


def _load_moments(base: DualEncoder, optimiser: Optimiser, path: Path, *, step: int) -> None:
    from safetensors.torch import load_file

    stored: dict[str, dict[str, Any]] = {}
    for key, value in load_file(path).items():
        name, _, moment = key.rpartition(".")
        stored.setdefault(name, {})[moment] = value
    for name, weight in base.parameters().items():
        if name in stored:
            optimiser.restore(weight, stored[name], step=step)


def _state(stored: Mapping[str, Any]) -> TuningState:
    return TuningState(**{**stored, "measurements": [StepMeasurement(**each) for each in stored["measurements"]]})


def _read(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read: {error}. Remove its folder, and train again") from error


def _difference(stored: Any, now: Any) -> str:
    """The first value that differs, in words."""
    if isinstance(stored, list) and isinstance(now, list):
        first, second = next(pair for pair in zip_longest(stored, now) if pair[0] != pair[1])
        return f"{_set_words(first)}, now {_set_words(second)}"
    if not isinstance(stored, dict) or not isinstance(now, dict):
        return f"{json.dumps(stored)[:120]}, not {json.dumps(now)[:120]}"
    name = next(name for name in (*now, *stored) if stored.get(name) != now.get(name))
    return f"{name} was {stored.get(name)!r} and is {now.get(name)!r}"


def _set_words(part: Mapping[str, Any] | None) -> str:
    """A set of `data_identity` in words."""
    if part is None:
        return "no more examples"
    text = f"{part['examples']:,} examples of {part['task']} from {part['dataset']}"
    return f"{text} with contents {part['contents'][:8]}" if "contents" in part else text


def _sync(folder: Path) -> None:
    for file in folder.iterdir():
        with file.open("rb") as handle:
            os.fsync(handle.fileno())
