"""Models' own distributions of scores on disk: `<root>/calibrations/<model, / as __>/<pairing>.json`.

What they are for stands in analysis/calibrated.py; pairs.py draws the pairs, making.py scores them. Quantiles have six
significant digits, so that a file is small and the same scores give the same one. `settings` is what it takes to make
it again: the model's identity, the tasks with their revisions, the seed and the size of the draw.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from compute.analysis.calibrated import PAIRS, Reference
from compute.engine import run_folders
from compute.tasks.data import QUESTIONS
from compute.types import BadInput

FOLDER = "calibrations"
ALONE = tuple(question for question in QUESTIONS if question != "reference")  # about single images
PAIRINGS = (*PAIRS, *ALONE)


@dataclass(frozen=True, kw_only=True)
class StoredCalibration:
    """A calibration as it lies on disk."""

    reference: Reference
    settings: Mapping[str, Any]
    path: Path


def path(root: Path, *, model: str, pairing: str) -> Path:
    """The file of one calibration."""
    return root / FOLDER / run_folders.slug(model) / f"{pairing}.json"


def write(root: Path, *, reference: Reference, settings: Mapping[str, Any]) -> StoredCalibration:
    """Writes one calibration, whole or not at all, replacing an earlier one."""
    target = path(root, model=reference.model, pairing=reference.pairing)
    target.parent.mkdir(parents=True, exist_ok=True)
    record = {field.name: getattr(reference, field.name) for field in fields(Reference)}
    draft = target.with_name(f"{target.name}.draft-{os.getpid()}")
    try:
        draft.write_text(run_folders.canonical({**record, "settings": settings}) + "\n", encoding="utf-8")
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
    return StoredCalibration(reference=reference, settings=settings, path=target)


def read(file: Path) -> StoredCalibration:
    """One calibration. Raises BadInput naming the file and what is wrong with it."""
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        settings = record.pop("settings")
        reference = Reference(**record)
        if not isinstance(settings, dict) or (run_folders.slug(reference.model), reference.pairing) != (
            file.parent.name,
            file.stem,
        ):
            raise ValueError("it is of another model or pairing, or has no settings")
        if reference.pairing not in PAIRINGS or reference.alone != (reference.pairing in ALONE):
            raise ValueError(f"{reference.pairing!r} is no pairing, or has the wrong distributions")
        kinds = {
            "n_unrelated": int,
            "n_matching": int,
            "source": str,
            "synthetic": bool,
            "separation": type(None) if reference.alone else float | int,
        }
        for name, kind in kinds.items():
            if not isinstance(record[name], kind):
                raise ValueError(f"{name} cannot be {record[name]!r}")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"{'/'.join(file.parts[-3:])} is damaged ({reason}): remove it, and calibrate again") from error
    return StoredCalibration(reference=reference, settings=settings, path=file)


def files(*roots: Path) -> dict[tuple[str, str], Path]:
    """The file of every model (as a folder's name) and pairing; of several the first root's."""
    paths: dict[tuple[str, str], Path] = {}
    for root in roots:
        for path in sorted((root / FOLDER).glob("*/*.json")):
            paths.setdefault((path.parent.name, path.stem), path)
    return paths


def every(
    *roots: Path, models: Collection[str], differs: Callable[[StoredCalibration], str] = lambda stored: ""
) -> tuple[list[StoredCalibration], list[str]]:
    """The calibrations of the known models below the roots, and why others were left out: damaged, of no model, or for
    the reason that `differs` gives.

    Of several of one model and pairing the first root's is taken; where that is left out, the next one's.
    """
    by_key: dict[tuple[str, str], StoredCalibration] = {}
    problems = []
    for root in roots:
        for key, file in files(root).items():
            if key in by_key:
                continue
            try:
                stored = read(file)
                if stored.reference.model not in models:
                    raise BadInput(
                        f"{'/'.join(file.parts[-3:])} is of model {stored.reference.model!r}, which is in no catalogue"
                    )
                if reason := differs(stored):
                    raise BadInput(
                        f"{'/'.join(file.parts[-3:])} is of another {stored.reference.model} than the "
                        f"catalogue's: {reason}. Calibrate it again"
                    )
                by_key[key] = stored
            except BadInput as error:
                problems.append(str(error))
    return list(by_key.values()), problems


def frame(stored: Iterable[StoredCalibration]) -> pd.DataFrame:
    """One row a calibration, as the database's table has it."""
    return pd.DataFrame(
        [
            {
                **{field.name: getattr(calibration.reference, field.name) for field in fields(Reference)},
                "unrelated": calibration.reference.unrelated.tolist(),
                "matching": calibration.reference.matching.tolist(),
                "settings": run_folders.canonical(calibration.settings),
            }
            for calibration in stored
        ]
    ).astype(object)
