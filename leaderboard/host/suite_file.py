"""A suite's own file, suite.toml, that the app opens on: it is recorded before a build, and its board is the first
page.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from compute import paths
from compute.types import BadInput
from leaderboard.data.database import Database


def record(
    path: Path,
    *,
    images: Sequence[Path] = (),
    results: Path = paths.RESULTS,
    offline: bool = False,
    report: Callable[[str], None] = print,
) -> str:
    """Reads the file and its data, records the suite in the results folder, where a build finds it, and returns its
    key.

    `images` are more folders that its data and images may be in.

    Raises BadInput, NotHere, UnknownKey, CannotWrite.
    """
    from compute.engine.workspace import RunSettings, own_suites

    settings = RunSettings(images=images, results=results, offline=offline)
    _, key, _ = own_suites(settings, suite=str(path), warn=lambda problem: report(f"Warning: {problem}"))
    return key


def address(database: Path, key: str, *, path: Path) -> str:
    """Returns the address of the suite's board, below the app's. Raises BadInput for a suite without anything to
    show.
    """
    with closing(Database(database)) as opened:
        known = set(opened.query("suites")["key"])
    if key not in known:
        raise BadInput(
            f"No model has run on {path.name} yet, so that its board would be empty. Run some first: "
            f"likeness run --suite {shlex.quote(str(path))} --models tiny"
        )
    return f"board?suite={key}"
