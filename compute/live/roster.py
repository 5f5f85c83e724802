"""The models that a visitor may choose from, and whether each can run on this machine: ready, to be downloaded, or
impossible, with the reason.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from compute import models
from compute.catalog.own import models as own_models
from compute.io.files import words_beside
from compute.live import questions
from compute.live.pool import GROWTH, Pool
from compute.models.files import weights
from compute.models.judges import endpoint
from compute.models.model_rows import not_computable, size_by_parameters, size_of_weights
from compute.rounding import size
from compute.types import BadInput, Model
from compute.versions import install_command

READY, DOWNLOAD, IMPOSSIBLE = "ready", "download", "impossible"
SPARE_DISK = 1_000_000_000  # bytes of disk that a download must leave free
PATIENCE, RECHECK = 1.5, 60.0  # seconds to wait for the network, and until it is checked again
PACKAGES = {"open_clip_torch": "open_clip", "pillow": "PIL"}  # modules of packages whose names differ
DEFAULT = "laion/clip-vit-b-32-laion2b-s34b-b79k"  # small and good; added by one click if there is a network
# Selected by default if ready: real models first, starting with those that come with packages, then the bundled model
# and metrics.
FIRST = (
    "conse",
    "efficientnet-lite0",
    "wordllama",
    DEFAULT,
    "tiny",
    "ssim",
    "ms-ssim",
    "colour-histogram",
    "perceptual-hash",
)
OWN_FIRST = 4  # of the host's own models; with those of FIRST, at most as many as one question may ask
ORDER = (READY, DOWNLOAD, IMPOSSIBLE)
REFRESH = 5.0  # seconds until a model's availability is checked again
REQUESTS = 2  # to the endpoint per question to a judge: the options in one order, and in reverse


REASONS = words_beside(__file__)["reasons"]  # why models cannot run here: key, singular, plural, remedy


@dataclass(frozen=True, kw_only=True)
class Availability:
    """One of the three states. `bytes` is the size of the weights, None if unknown."""

    state: str
    why: str = ""
    bytes: int | None = None
    reason: str = ""  # if impossible: a key of REASONS

    @property
    def is_ready(self) -> bool:
        """Returns whether it can answer now."""
        return self.state == READY

    @property
    def is_downloadable(self) -> bool:
        """Returns whether it can answer once its weights are downloaded."""
        return self.state == DOWNLOAD


_impossible = partial(Availability, state=IMPOSSIBLE)


def requests_per_question(row: Model) -> int:
    """Returns how many requests to the host's endpoint one question takes; 0 for a model that runs on this machine."""
    family = models.ADAPTERS.get(row.adapter)
    return REQUESTS if family is not None and family.variable else 0


class Network:
    """Whether the hub can be reached. It is checked in the background, because a name that does not resolve takes long
    to fail.
    """

    def __init__(self) -> None:
        self._answer, self._tried = False, -RECHECK
        self._done = threading.Event()
        self._lock = threading.Lock()

    def reachable(self) -> bool:
        """Returns the last known answer. All callers wait for the first one, up to `PATIENCE` seconds in total."""
        if endpoint.is_offline():
            return False
        with self._lock:
            if time.monotonic() - self._tried >= RECHECK:
                self._tried = time.monotonic()
                threading.Thread(target=self._try, daemon=True, name="network").start()
        self._done.wait(max(0.0, self._tried + PATIENCE - time.monotonic()))
        return self._answer

    def _try(self) -> None:
        parts = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
        try:
            with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=PATIENCE):
                self._answer = True
        except OSError:
            self._answer = False
        self._done.set()


def availability(row: Model, *, network: Callable[[], bool], room: int) -> Availability:
    """Returns the model's state on this machine; `room` is the memory for models in bytes."""
    family = models.ADAPTERS.get(row.adapter)
    if family is None:
        why = not_computable(row) or "an object of a script: only that script can ask it"
        return _impossible(reason="published", why=why[0].upper() + why[1:])
    missing = [
        package
        for package in family.packages
        if importlib.util.find_spec(PACKAGES.get(package, package.replace("-", "_"))) is None
    ]
    if missing:
        return _impossible(reason="package", why=f"Needs {', '.join(missing)}: {install_command(*missing)}")
    if family.variable:
        if not os.environ.get(family.variable, "").strip():
            return _impossible(reason="endpoint", why=f"Needs an endpoint: the host sets {family.variable}")
        if endpoint.is_offline() and endpoint.offline_problem():
            return _impossible(reason="offline", why="Its endpoint is on another machine, and the app runs offline")
        return Availability(state=READY, why="Asked through the host's endpoint: what you compare is sent there")
    if not family.weights and not family.needs:
        return Availability(state=READY)
    if _lacks_own_files(row):
        return _impossible(reason="files", why="Its files are no longer on this machine")
    return _by_size(row, network=network, room=room)


def _lacks_own_files(row: Model) -> bool:
    """Returns whether files are missing from a local folder of the row or its LoRA, which no download would restore."""
    if Path(row.weights).is_absolute() and not models.is_downloaded(row):
        return True
    others = [replace(row, weights=folder) for folder in own_models.folders(row) if folder != row.weights]
    return not all(weights.is_downloaded(other, required=weights.RequiredFiles()) for other in others)


def _by_size(row: Model, *, network: Callable[[], bool], room: int) -> Availability:
    need, is_downloaded = size_of_weights(row) if row.weights else (size_by_parameters(row), True)
    if is_downloaded and not models.is_downloaded(row):  # a stopped download, or files that belong in torch's cache
        need, is_downloaded = size_by_parameters(row), False
    if need is not None and need * GROWTH > room:
        return _impossible(
            bytes=need,
            reason="memory",
            why=f"Too large: it takes about {size(round(need * GROWTH))} of "
            f"memory, and {size(room)} are set aside for models",
        )
    if is_downloaded:
        return Availability(state=READY, bytes=need)
    if not network():
        return _impossible(
            bytes=need,
            reason="network",
            why="Its weights are not on this machine, and there is no network to download them",
        )
    if need is not None and need + SPARE_DISK > free_disk():
        return _impossible(
            bytes=need,
            reason="disk",
            why=f"Its weights take {size(need)}, and the disk has {size(free_disk())} left",
        )
    amount = f"about {size(need)}" if need else "weights of unknown size"
    return Availability(state=DOWNLOAD, bytes=need, why=f"Will download {amount}")


def free_disk() -> int:
    """Returns the free bytes on the disk of the hub's cache."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return shutil.disk_usage(folder).free


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A model that can answer, with its availability."""

    row: Model
    availability: Availability
    loaded: bool
    own: bool = False  # named by the host and in no catalogue
    usual: bool = False  # selected by default if ready

    @property
    def first(self) -> bool:
        """Returns whether it is selected by default."""
        return self.usual and self.availability.state == READY


class Roster:
    """The models that compare inputs; `network` says whether the hub can be reached.

    `own` holds the host's own models, in addition to the catalogue's `rows`. They are listed first, in their order.
    """

    def __init__(
        self, rows: Sequence[Model], *, own: Sequence[Model] = (), pool: Pool, network: Callable[[], bool]
    ) -> None:
        self._rows = {row.key: row for row in (*own, *rows) if row.kind not in ("generator", "distribution")}
        self._own = tuple(row.key for row in own)
        self._pool, self._network = pool, network
        self._checked: dict[str, tuple[float, Availability]] = {}

    def row(self, key: str) -> Model:
        """Returns a row of the catalogue or of the host. Visitors can name no other model. Raises BadInput."""
        if key not in self._rows:
            raise BadInput(f"There is no model {key[:80]!r} in this app")
        return self._rows[key]

    def availability(self, row: Model) -> Availability:
        """Returns whether the row's model can run, checked again after REFRESH seconds."""
        checked = self._checked.get(row.key)
        if checked is None or time.monotonic() - checked[0] > REFRESH:
            current = availability(row, network=self._network, room=self._pool.room())
            checked = self._checked[row.key] = (time.monotonic(), current)
        return checked[1]

    def forget(self, row: Model) -> None:
        """Makes the next call check the row's availability again: its weights may have just arrived."""
        self._checked.pop(row.key, None)

    def listed(self, *, mode: str = "", kinds: Sequence[str] = ()) -> list[Listed]:
        """Returns the models that can answer, the ready ones first; all models if no mode is given. Raises BadInput."""
        loaded, order = self._pool.loaded(), (*self._own, *FIRST)
        rows = [row for row in self._rows.values() if not (mode and questions.cannot(row, mode, kinds))]
        # Excludes the host's own language models, which take long to answer.
        own = [row.key for row in rows if row.key in self._own and row.kind != "mllm"][:OWN_FIRST]
        able = [
            Listed(
                row=row,
                availability=self.availability(row),
                loaded=row.key in loaded,
                own=row.key in self._own,
                usual=row.key in own or row.key in FIRST,
            )
            for row in rows
        ]
        return sorted(
            able,
            key=lambda listed: (
                ORDER.index(listed.availability.state),
                order.index(listed.row.key) if listed.row.key in order else len(order),
                listed.row.title.lower(),
            ),
        )

    def usual(self, mode: str, kinds: Sequence[str]) -> list[Model]:
        """Returns the models that are selected by default and do not cost the host anything. Raises BadInput."""
        listed = self.listed(mode=mode, kinds=kinds)
        return [each.row for each in listed if each.first and not requests_per_question(each.row)]

    def records(self, mode: str = "") -> list[dict[str, Any]]:
        """Returns, for programs, each model that can answer in a mode with images, or in any mode. Raises BadInput."""
        kinds = ("image",) * questions.MODES[mode].least if mode in questions.MODES else ()
        if mode:
            questions.problem(mode, kinds)  # raises for an unknown mode
        return [
            {
                "key": listed.row.key,
                "title": listed.row.title,
                "kind": listed.row.kind,
                "abilities": list(listed.row.abilities),
                "state": listed.availability.state,
                "reason": listed.availability.why,
            }
            for listed in self.listed(mode=mode, kinds=kinds)
        ]

    def plan(self, *, kinds: Sequence[str], mode: str = "") -> dict[str, Any]:
        """Returns which modes fit inputs of these modalities, and which models can answer, as JSON. Raises BadInput."""
        if set(kinds) - {"image", "text"}:
            raise BadInput("An input is an image or a text")
        fitting = mode if mode in questions.MODES and not questions.problem(mode, kinds) else questions.natural(kinds)
        return {
            "mode": fitting,
            "needs": questions.needs(kinds),
            "reference": questions.reference_first(kinds),
            "modes": [
                {
                    "key": known.key,
                    "title": known.title,
                    "why": (why := questions.problem(known.key, kinds)),
                    "fits": not why,
                }
                for known in questions.MODES.values()
            ],
            "reasons": REASONS,
            "questions": [{"key": key, "title": title} for key, title in questions.ATTRIBUTES.items()],
            "models": [
                {
                    "key": listed.row.key,
                    "title": listed.row.title,
                    "kind": listed.row.kind,
                    "state": listed.availability.state,
                    "why": listed.availability.why,
                    "reason": listed.availability.reason,
                    "bytes": listed.availability.bytes,
                    "requests": requests_per_question(listed.row),
                    "loaded": listed.loaded,
                    "default": listed.first,
                    "own": listed.own,
                }
                for listed in (self.listed(mode=fitting, kinds=kinds) if fitting else ())
            ],
        }
