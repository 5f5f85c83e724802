"""Curves for a tracker of one's own: TensorBoard's files, or any other that accelerate knows. Off by default."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from compute.types import BadInput, NotHere


class Tracker(Protocol):
    """Takes figures as training goes on."""

    def log(self, values: Mapping[str, float], *, step: int) -> None:
        """Figures after a step, by name."""
        ...

    def close(self) -> None:
        """Writes what is left."""
        ...


class AccelerateTracker:
    """A tracker of the accelerate library: its class decides where figures go."""

    def __init__(self, tracker: Any) -> None:
        self._tracker = tracker

    def log(self, values: Mapping[str, float], *, step: int) -> None:
        self._tracker.log(dict(values), step=step)

    def close(self) -> None:
        self._tracker.finish()


def check(name: str) -> None:
    """Raises BadInput for a name that accelerate does not know, NotHere where accelerate is not installed."""
    if name:
        _kind(name)


def opened(name: str, *, folder: Path, settings: Mapping[str, Any]) -> Tracker | None:
    """The tracker of that name, None for an empty one; its files, where it writes some, go to `folder`.

    Raises as `check`, and NotHere where the tracker's own package is not installed.
    """
    if not name:
        return None
    kind = _kind(name)
    from accelerate import PartialState

    PartialState()
    folders = {"logging_dir": str(folder)} if kind.requires_logging_directory else {}
    try:
        tracker = kind("training", **folders)
        if hasattr(tracker, "start"):
            tracker.start()
    except ImportError as error:
        raise NotHere(f"The tracker {name!r} needs a package that is not installed: pip install {name}") from error
    tracker.store_init_configuration(
        {key: value if isinstance(value, int | float | str | bool) else str(value) for key, value in settings.items()}
    )
    return AccelerateTracker(tracker)


def _kind(name: str) -> Any:
    """The class of accelerate's that is meant."""
    try:
        from accelerate.tracking import LOGGER_TYPE_TO_CLASS
    except ImportError as error:
        raise NotHere("Trackers need the package accelerate, which is not installed: pip install accelerate") from error
    known = {str(getattr(key, "value", key)): kind for key, kind in LOGGER_TYPE_TO_CLASS.items()}
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise BadInput(f"No tracker {name!r}.{hint} There are: {', '.join(known)}")
    return known[name]
