"""The button that tunes a model to the answers of the host's own study: the command, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from typing import Any

from compute import paths
from compute.catalog import known
from compute.eyes.folder import StudyFolder
from compute.eyes.study import Study
from compute.types import BadInput, slug

LINES = 12  # of its output that are shown, the last ones


def tunable(study: Study) -> list[str]:
    """Keys of the study's models that can be tuned."""
    from compute.training.towers import FAMILIES

    rows = (row for row in known().models if row.key in study.models)
    return [row.key for row in rows if row.adapter in FAMILIES and "embed_image" in row.abilities]


class TuningProcess:
    """At most one at a time; it goes on where one that was stopped left off."""

    def __init__(self, folder: StudyFolder) -> None:
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        self._lines: deque[str] = deque(maxlen=LINES)

    def start(self, key: str) -> None:
        """Tunes the model, into a folder in the study's. Raises BadInput for another model, or while one is tuned."""
        if key not in tunable(self._folder.study):
            raise BadInput(
                f"{key[:80]!r} cannot be tuned. Those that can are: {', '.join(tunable(self._folder.study))}"
            )
        if self.facts()["running"]:
            raise BadInput("A model is being tuned already. Wait until it is done")
        path = self._folder.path.absolute()
        command = [sys.executable, "-u", "-m", paths.PACKAGE, "eyes", str(path)]
        self._lines.clear()
        self._process = subprocess.Popen(
            [*command, "--tune", key, "--to", str(path / f"tuned-{slug(key, default='model')}"), "--offline"],
            cwd=paths.IMPORTED_FROM,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()

    def facts(self) -> dict[str, Any]:
        """Whether it runs, and the last lines of its output."""
        return {"running": self._process is not None and self._process.poll() is None, "lines": list(self._lines)}

    def _read(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            self._lines.append(line.rstrip().rpartition("\r")[2])
