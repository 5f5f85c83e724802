"""Loaded models within a memory budget. The least recently used are dropped first; a model is loaded once for all
users.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compute import models
from compute.catalog.own.models import source_of
from compute.features import encoding
from compute.features.subject import MemoryStore, Name, Subject
from compute.live.inputs import Input
from compute.models.files import weights
from compute.models.files.weights import ChangedFiles
from compute.models.judges.answer_log import Forgetful
from compute.models.judges.endpoint import Endpoint
from compute.models.model_rows import size_of_weights
from compute.processes import resident
from compute.rounding import size as in_words
from compute.types import BadInput, BadItem, LikenessError, Model, NotHere

CGROUP, MEMINFO = Path("/sys/fs/cgroup"), Path("/proc/meminfo")
NVIDIA = Path("/proc/driver/nvidia/version")
SHARE = 0.5  # share of free memory for models by default
GROWTH = 1.3  # memory divided by the size of the weights: buffers and a forward pass
VARIABLE = "LIKENESS_MODEL_MEMORY_MB"
SMALL = 1_000_000_000  # bytes of weights; below, the CPU takes under a second per input, like a borrowed GPU
CHANGED = "Its files have changed since this app was started. Ask the host to restart the app and name the folder"
log = logging.getLogger(__name__)


def is_lent() -> bool:
    """Returns whether this is a ZeroGPU Space, which lends its GPU for a call."""
    return bool(os.environ.get("SPACES_ZERO_GPU"))


def borrows_gpu(row: Model) -> bool:
    """Returns whether the model runs on a GPU that is lent per call. Small models and those without weights do not."""
    if not is_lent():
        return False
    size_on_disk, _ = size_of_weights(row)
    return size_on_disk is None or size_on_disk > SMALL


def load(row: Model) -> Any:
    """Loads the row's model. A judge writes no log, so that a visitor's questions are not stored. Raises as
    models.load. Raises BadInput for files that cannot be read as weights and, before reading them, for files of the
    host's own model that differ from those recorded.
    """
    encoding.share_cores()
    family = models.ADAPTERS.get(row.adapter)
    light = family is not None and not family.weights and not family.needs
    on_cpu = light or (is_lent() and not borrows_gpu(row))
    own = source_of(row) is not None
    in_folder = own and row.revision.startswith(weights.DIGEST)
    try:
        if in_folder and weights.revision(row, required=models.required_files(row)) != row.revision:
            raise BadInput(CHANGED)
        model = models.load(row, hardware=models.hardware("cpu" if on_cpu else ""))
    except ChangedFiles as error:  # of a LoRA or its base model
        if not own:
            raise
        raise BadInput(CHANGED) from error
    except (LikenessError, MemoryError):
        raise
    except Exception as error:  # libraries that read checkpoints may raise any exception
        log.exception("%s could not be loaded", row.key)
        raise BadInput(
            f"It could not be loaded ({type(error).__name__}): its files are damaged, or do not fit "
            "together. The host's log has the details"
        ) from error
    if hasattr(model, "answers"):
        model.answers = Forgetful(row)
    if isinstance(model, Endpoint):
        model.limits = replace(model.limits, attempts=1, timeout=min(60.0, model.limits.timeout))
    return model


def memory_of(row: Model) -> int | None:
    """Returns roughly how many bytes of memory the loaded model will take; None if unknown."""
    size_on_disk, _ = size_of_weights(row)
    return round(size_on_disk * GROWTH) if size_on_disk is not None else None


def budget() -> int:
    """Returns the bytes for models in memory: LIKENESS_MODEL_MEMORY_MB if it is set, else half of the free memory."""
    limit = os.environ.get(VARIABLE, "")
    return int(limit) * 1_000_000 if limit.isdigit() and int(limit) else round(available() * SHARE)


def available() -> int:
    """Returns the free bytes on the device that models run on. A container's limit applies if it is lower."""
    if "torch" in sys.modules or NVIDIA.exists():  # otherwise torch is not loaded, to keep an idle app small
        import torch

        if torch.cuda.is_available():
            return int(torch.cuda.mem_get_info()[0])
    free = 4_000_000_000  # if unknown; a machine that runs models has more
    with contextlib.suppress(AttributeError, OSError, ValueError):  # macOS reports the total, Windows nothing
        free = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    with contextlib.suppress(OSError, ValueError):
        lines = MEMINFO.read_text().splitlines()
        free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), free)
    with contextlib.suppress(OSError, ValueError):  # "max" means no limit
        free = min(free, int((CGROUP / "memory.max").read_text()) - int((CGROUP / "memory.current").read_text()))
    return free


@dataclass(kw_only=True, eq=False)
class LoadedModel:
    """A model in memory. It stays while it has users."""

    model: Any
    bytes: int
    users: int = 0


@dataclass(kw_only=True)
class Pool:
    """At most `budget` bytes of models. `load(row)` loads a model and `size(row)` predicts its bytes."""

    load: Callable[[Model], Any] = load
    size: Callable[[Model], int | None] = memory_of
    budget: Callable[[], int] = budget
    _models: OrderedDict[str, LoadedModel] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _one_load: threading.Lock = field(
        default_factory=threading.Lock
    )  # two concurrent loads would both claim the same free memory
    _room: int | None = None

    @contextlib.contextmanager
    def use(self, row: Model) -> Iterator[Any]:
        """Yields the row's model for the duration of the block, and loads it if necessary. Raises NotHere if it is too
        large.
        """
        loaded = self._in_memory(row.key)
        if loaded is None:
            with self._one_load:  # another thread may have loaded it in the meantime
                loaded = self._in_memory(row.key) or self._loaded(row)
        try:
            yield loaded.model
        finally:
            with self._lock:
                loaded.users -= 1

    def run(
        self, row: Model, inputs: Sequence[Input], known: Mapping[Name, Any], ask: Callable[..., Any], *asked: Any
    ) -> tuple[Any, dict[Name, Any]]:
        """Returns the result of `ask(subject, *asked)` and the new results for single inputs. This is all that needs
        the accelerator.

        Arguments and results can be pickled: ZeroGPU runs this in a forked process. Raises as `use` and `ask`, and
        BadInput for an input that the model refuses.
        """
        with self.use(row) as model:
            store = MemoryStore(known)
            try:
                return ask(Subject(row, store, load=lambda row, hardware: model), *asked), store.new
            except BadItem as error:
                raise BadInput(f"{error.item}: {error.problem}") from error

    def loaded(self) -> tuple[str, ...]:
        """Returns the keys of the models in memory, the least recently used first."""
        with self._lock:
            return tuple(self._models)

    def room(self) -> int:
        """Returns the whole budget in bytes, measured on the first call, before any model is loaded."""
        if self._room is None:
            self._room = self.budget()
        return self._room

    def _in_memory(self, key: str) -> LoadedModel | None:
        with self._lock:
            loaded = self._models.get(key)
            if loaded:
                loaded.users += 1
                self._models.move_to_end(key)
            return loaded

    def _loaded(self, row: Model) -> LoadedModel:
        expected = self.size(row) or 0
        if expected > self.room():
            raise NotHere(
                f"{row.title} takes about {in_words(expected)} of memory, and {in_words(self.room())} are "
                f"set aside for models. A larger machine can run it; {VARIABLE} changes the limit"
            )
        self._make_room(expected)
        before = resident()
        try:
            model = self.load(row)
        except MemoryError as error:
            raise NotHere(f"{row.title} did not fit into memory. Take a smaller model") from error
        # The larger of the two: if the model fits into memory freed by a dropped one, the process does not grow.
        loaded = LoadedModel(model=model, bytes=max(expected, resident() - before), users=1)
        with self._lock:
            self._models[row.key] = loaded
        self._make_room()
        return loaded

    def _make_room(self, expected: int = 0) -> None:
        """Drops idle models, the least recently used first, until `expected` bytes are free."""
        with self._lock:
            idle = [key for key, loaded in self._models.items() if not loaded.users]
            dropped = 0
            while dropped < len(idle) and sum(each.bytes for each in self._models.values()) + expected > self.room():
                del self._models[idle[dropped]]
                dropped += 1
        if dropped:
            encoding.release()
