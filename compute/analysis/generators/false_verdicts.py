"""How often a study of faults sees one where there is none: the table that the simulation stores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compute import drafts


@dataclass(frozen=True, kw_only=True)
class FalseVerdicts:
    """Shares, 0 to 1, of one metric on one backbone without any fault."""

    metric: str
    backbone: str
    single: float  # changes of single generators beyond 95% intervals of their own: 5% where these hold
    study: float  # studies with a verdict other than "no difference" on some fault: at most 5% where the rule holds
    studies: int


def save(rows: Sequence[FalseVerdicts], path: Path, *, settings: Mapping[str, Any]) -> None:
    """Writes the table as JSON, with the settings that made it."""
    drafts.write_text(
        path, json.dumps({"settings": dict(settings), "rows": [asdict(row) for row in rows]}, indent=1) + "\n"
    )


def load(path: Path) -> tuple[dict[str, Any], tuple[FalseVerdicts, ...]]:
    """The settings of a stored table and its rows."""
    stored = json.loads(path.read_text())
    return stored["settings"], tuple(FalseVerdicts(**row) for row in stored["rows"])
