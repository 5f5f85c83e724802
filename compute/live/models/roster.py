"""The catalogue's models as a visitor may choose among them: who can do what is asked, and in which state."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from compute.live import modes
from compute.live.models import states
from compute.live.models.pool import Pool
from compute.live.models.states import State
from compute.types import BadInput, Model

DEFAULT = "laion/clip-vit-b-32-laion2b-s34b-b79k"  # small and good: what one click adds where there is a network
FIRST = ("tiny", DEFAULT, "ssim", "ms-ssim", "colour-histogram", "perceptual-hash")  # asked at first if they are ready
ORDER = (states.READY, states.DOWNLOAD, states.IMPOSSIBLE)
HOLDS = 5.0  # seconds that a model's state is taken as it was found


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A model that can do what is asked, with its state."""

    row: Model
    state: State
    loaded: bool

    @property
    def first(self) -> bool:
        """Whether it is asked when nobody chose."""
        return self.row.key in FIRST and self.state.state == states.READY


class Roster:
    """The rows that judge likeness; `network` says whether the hub can be reached."""

    def __init__(self, rows: Sequence[Model], *, pool: Pool, network: Callable[[], bool]) -> None:
        self._rows = {row.key: row for row in rows if row.kind not in ("generator", "distribution")}
        self._pool, self._network = pool, network
        self._states: dict[str, tuple[float, State]] = {}

    def row(self, key: str) -> Model:
        """A row of the catalogue; visitors can name no other model. Raises BadInput."""
        if key not in self._rows:
            raise BadInput(f"There is no model {key[:80]!r} in the catalogue")
        return self._rows[key]

    def state(self, row: Model) -> State:
        """The row's state, looked at anew every few seconds."""
        found = self._states.get(row.key)
        if found is None or time.monotonic() - found[0] > HOLDS:
            state = states.state(row, network=self._network, room=self._pool.room())
            found = self._states[row.key] = (time.monotonic(), state)
        return found[1]

    def forget(self, row: Model) -> None:
        """Has the row's state looked at anew: its weights have just come, or not."""
        self._states.pop(row.key, None)

    def listed(self, *, mode: str = "", kinds: Sequence[str] = ()) -> list[Listed]:
        """Those that can do it, the ready ones first; all of them without a mode. Raises BadInput for no such mode."""
        loaded = self._pool.loaded()
        found = [
            Listed(row=row, state=self.state(row), loaded=row.key in loaded)
            for row in self._rows.values()
            if not (mode and modes.cannot(row, mode, kinds))
        ]
        return sorted(
            found,
            key=lambda one: (
                ORDER.index(one.state.state),
                one.row.key not in FIRST,
                FIRST.index(one.row.key) if one.row.key in FIRST else 0,
                one.row.title.lower(),
            ),
        )

    def told(self, mode: str = "") -> list[dict[str, Any]]:
        """For programs: every model that can do a mode with images, or any at all. Raises BadInput for no such mode."""
        kinds = ("image",) * modes.MODES[mode].least if mode in modes.MODES else ()
        if mode:
            modes.problem(mode, kinds)  # raises where there is no such mode
        return [
            {
                "key": one.row.key,
                "title": one.row.title,
                "kind": one.row.kind,
                "abilities": list(one.row.abilities),
                "state": one.state.state,
                "reason": one.state.why,
            }
            for one in self.listed(mode=mode, kinds=kinds)
        ]

    def plan(self, *, kinds: Sequence[str], mode: str = "") -> dict[str, Any]:
        """What fits inputs of these modalities, and which models can do it; ready to be sent. Raises BadInput."""
        if set(kinds) - {"image", "text"}:
            raise BadInput("An input is an image or a text")
        fitting = mode if mode in modes.MODES and not modes.problem(mode, kinds) else modes.natural(kinds)
        listed = self.listed(mode=fitting, kinds=kinds) if fitting else []
        return {
            "mode": fitting,
            "needs": modes.needs(kinds),
            "reference": modes.reference_first(kinds),
            "modes": [
                {
                    "key": one.key,
                    "title": one.title,
                    "why": modes.problem(one.key, kinds),
                    "fits": not modes.problem(one.key, kinds),
                }
                for one in modes.MODES.values()
            ],
            "questions": [{"key": key, "title": title} for key, title in modes.QUESTIONS.items()],
            "models": [
                {
                    "key": one.row.key,
                    "title": one.row.title,
                    "kind": one.row.kind,
                    "state": one.state.state,
                    "why": one.state.why,
                    "bytes": one.state.bytes,
                    "loaded": one.loaded,
                    "default": one.first,
                }
                for one in listed
            ],
        }
