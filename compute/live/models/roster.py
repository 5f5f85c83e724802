"""The models that a visitor may choose among, of the catalogue and of the host: which can answer, in which state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from compute.live import modes
from compute.live.models.availability import (
    DOWNLOAD,
    IMPOSSIBLE,
    READY,
    REASONS,
    Availability,
    availability,
    requests_per_question,
)
from compute.live.models.pool import Pool
from compute.types import BadInput, Model

DEFAULT = "laion/clip-vit-b-32-laion2b-s34b-b79k"  # small and good: one click adds it where there is a network
# Ticked by default if ready: real models, those that come with packages first, the bundled one, and metrics.
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
OWN_FIRST = 4  # of the host's own too: with those of FIRST that answer the same question, at most what one may ask
ORDER = (READY, DOWNLOAD, IMPOSSIBLE)
REFRESH = 5.0  # seconds until a model's availability is checked again


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A model that can answer, with its availability."""

    row: Model
    availability: Availability
    loaded: bool
    own: bool = False  # the host named it: no catalogue lists it
    usual: bool = False  # ticked by default if ready

    @property
    def first(self) -> bool:
        """Whether it is ticked by default."""
        return self.usual and self.availability.state == READY


class Roster:
    """The models that compare inputs; `network` says whether the hub can be reached.

    `own` are the host's own beside the catalogue's `rows`: they are listed first, in their order.
    """

    def __init__(
        self, rows: Sequence[Model], *, own: Sequence[Model] = (), pool: Pool, network: Callable[[], bool]
    ) -> None:
        self._rows = {row.key: row for row in (*own, *rows) if row.kind not in ("generator", "distribution")}
        self._own = tuple(row.key for row in own)
        self._pool, self._network = pool, network
        self._checked: dict[str, tuple[float, Availability]] = {}

    def row(self, key: str) -> Model:
        """A row of the catalogue or of the host; visitors can name no other model. Raises BadInput."""
        if key not in self._rows:
            raise BadInput(f"There is no model {key[:80]!r} in this app")
        return self._rows[key]

    def availability(self, row: Model) -> Availability:
        """Whether the row's model can run, checked again every few seconds."""
        checked = self._checked.get(row.key)
        if checked is None or time.monotonic() - checked[0] > REFRESH:
            current = availability(row, network=self._network, room=self._pool.room())
            checked = self._checked[row.key] = (time.monotonic(), current)
        return checked[1]

    def forget(self, row: Model) -> None:
        """Has the row's availability checked again at the next call: its weights may have just arrived."""
        self._checked.pop(row.key, None)

    def listed(self, *, mode: str = "", kinds: Sequence[str] = ()) -> list[Listed]:
        """Models that can answer, the ready ones first; all of them without a mode. Raises BadInput."""
        loaded, order = self._pool.loaded(), (*self._own, *FIRST)
        rows = [row for row in self._rows.values() if not (mode and modes.cannot(row, mode, kinds))]
        # No own language model: those take long to answer.
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

    def records(self, mode: str = "") -> list[dict[str, Any]]:
        """For programs: each model that can answer in a mode with images, or in any. Raises BadInput."""
        kinds = ("image",) * modes.MODES[mode].least if mode in modes.MODES else ()
        if mode:
            modes.problem(mode, kinds)  # raises for an unknown mode
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
        """Which modes fit inputs of these modalities, and which models can answer, as JSON. Raises BadInput."""
        if set(kinds) - {"image", "text"}:
            raise BadInput("An input is an image or a text")
        fitting = mode if mode in modes.MODES and not modes.problem(mode, kinds) else modes.natural(kinds)
        return {
            "mode": fitting,
            "needs": modes.needs(kinds),
            "reference": modes.reference_first(kinds),
            "modes": [
                {
                    "key": known.key,
                    "title": known.title,
                    "why": (why := modes.problem(known.key, kinds)),
                    "fits": not why,
                }
                for known in modes.MODES.values()
            ],
            "reasons": [asdict(reason) for reason in REASONS],
            "questions": [{"key": key, "title": title} for key, title in modes.ATTRIBUTES.items()],
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
