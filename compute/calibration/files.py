"""Models' own distributions of scores on disk: `<root>/calibrations/<model, / as __>/<domain>/<pairing>.json`.

Beside them lies what tells whether an input is of that domain, `domain-<modality>.json`. What both are for stands in
analysis/calibrated.py and analysis/domain.py; making.py makes them. Quantiles have six significant digits, so that a
file is small and the same scores give the same one. `settings` is what it takes to make it again: the model's identity,
the items with their revisions, the seed and the size of the draw.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from compute import drafts, records
from compute.analysis.calibrated import PAIRS, Reference
from compute.analysis.domain import Domain, restored
from compute.engine import run_folders
from compute.tasks.data import QUESTIONS
from compute.types import BadInput

FOLDER = "calibrations"
ALONE = tuple(question for question in QUESTIONS if question != "reference")  # about single images
PAIRINGS = (*PAIRS, *ALONE)
DOMAINS = ("drawn", "photographs", "sentences", "tasks")  # where the items come from; tasks are a suite's or own data
MAX_QUANTILES = 10_000
MAX_SOURCE = 4000  # characters of what the items are
REGION = "domain-"  # begins the name of a domain's own file


@dataclass(frozen=True, kw_only=True)
class StoredCalibration:
    """A calibration as it lies on disk."""

    reference: Reference
    settings: Mapping[str, Any]
    path: Path


@dataclass(frozen=True, kw_only=True)
class StoredDomain:
    """A domain as it lies on disk."""

    domain: Domain
    settings: Mapping[str, Any]
    path: Path


def path(root: Path, *, model: str, domain: str, pairing: str) -> Path:
    """The file of one calibration."""
    return root / FOLDER / run_folders.slug(model) / domain / f"{pairing}.json"


def domain_path(root: Path, *, model: str, domain: str, modality: str) -> Path:
    """The file of one domain."""
    return root / FOLDER / run_folders.slug(model) / domain / f"{REGION}{modality}.json"


def write(root: Path, *, reference: Reference, settings: Mapping[str, Any]) -> StoredCalibration:
    """Writes one calibration, whole or not at all, replacing an earlier one."""
    target = path(root, model=reference.model, domain=reference.domain, pairing=reference.pairing)
    _written(target, {field.name: getattr(reference, field.name) for field in fields(Reference)}, settings)
    return StoredCalibration(reference=reference, settings=settings, path=target)


def write_domain(root: Path, *, domain: Domain, settings: Mapping[str, Any]) -> StoredDomain:
    """Writes one domain, whole or not at all, replacing an earlier one."""
    target = domain_path(root, model=domain.model, domain=domain.name, modality=domain.modality)
    _written(target, domain.record(), settings)
    return StoredDomain(domain=domain, settings=settings, path=target)


def _written(target: Path, record: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    drafts.write_text(target, run_folders.canonical({**record, "settings": settings}) + "\n")


def read(file: Path) -> StoredCalibration:
    """One calibration. Raises BadInput naming the file and what is wrong with it."""
    with _damaged(file):
        record, settings = _parsed(file)
        reference = Reference(**record)
        names = (run_folders.slug(reference.model), reference.domain, reference.pairing)
        if names != (file.parent.parent.name, file.parent.name, file.stem):
            raise ValueError("it is of another model, domain or pairing")
        if reference.pairing not in PAIRINGS or reference.alone != (reference.pairing in ALONE):
            raise ValueError(f"{reference.pairing!r} is no pairing, or has the wrong distributions")
        for name in ("n_unrelated", "n_matching", "scenes"):
            records.integer(record[name], name=name)
        records.check_text(record["source"], name="source", most=MAX_SOURCE)
        if not isinstance(record["synthetic"], bool):
            raise ValueError(f"synthetic is {records.short(record['synthetic'])}, neither true nor false")
        if reference.alone != (record["separation"] is None):
            raise ValueError(f"separation cannot be {records.short(record['separation'])}")
        if not reference.alone:
            records.number(record["separation"], name="separation", least=0, most=1)
        for side in (reference.unrelated, reference.matching):
            if len(side) > MAX_QUANTILES:
                raise ValueError(f"it has {len(side):,} quantiles; at most {MAX_QUANTILES:,} are read")
        return StoredCalibration(reference=reference, settings=settings, path=file)


def read_domain(file: Path) -> StoredDomain:
    """One domain. Raises BadInput naming the file and what is wrong with it."""
    with _damaged(file):
        record, settings = _parsed(file)
        domain = restored(record)
        _check_domain(domain)
        names = (run_folders.slug(domain.model), domain.name, f"{REGION}{domain.modality}")
        if names != (file.parent.parent.name, file.parent.name, file.stem):
            raise ValueError("it is of another model, domain or modality")
        return StoredDomain(domain=domain, settings=settings, path=file)


def _check_domain(domain: Domain) -> None:
    """Raises ValueError for numbers that no domain has."""
    records.integer(domain.scenes, name="scenes", least=1)
    records.number(domain.limit, name="limit", least=0)
    for name in ("false_outside", "known"):
        records.number(getattr(domain, name), name=name, least=0, most=1)
    for name in ("low", "high", "mean", "axes", "widths"):
        values = getattr(domain, name)
        if values is not None and not np.isfinite(values).all():
            raise ValueError(f"{name} has numbers that are not finite")
    if (domain.low is None) != (domain.high is None) or np.shape(domain.low) != np.shape(domain.high):
        raise ValueError("low and high are of unlike length")
    if domain.low is not None and (domain.low.ndim != 1 or (domain.low > domain.high).any()):
        raise ValueError("low is above high")
    if domain.widths is not None and (domain.widths <= 0).any():
        raise ValueError("widths has numbers that are not above 0")
    if domain.mean is not None and domain.limit <= 0:
        raise ValueError("limit is not above 0")
    for word in domain.words:
        records.check_text(word, name="a word", most=MAX_SOURCE)


def _parsed(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    record = records.read(file, root=file.parents[3])
    settings = record.pop("settings")
    if not isinstance(settings, dict):
        raise ValueError("it has no settings")
    return record, settings


@contextmanager
def _damaged(file: Path) -> Iterator[None]:
    """Turns whatever is wrong with a file into BadInput that names it."""
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
        reason = str(error).strip().partition("\n")[0]
        raise BadInput(f"{'/'.join(file.parts[-4:])} is damaged ({reason}): remove it, and calibrate again") from error


def files(*roots: Path) -> dict[tuple[str, str, str], Path]:
    """Every file by the names of its model's folder, its domain and its pairing; of several the first root's."""
    paths: dict[tuple[str, str, str], Path] = {}
    for root in roots:
        for path in sorted((root / FOLDER).glob("*/*/*.json")):
            paths.setdefault((path.parent.parent.name, path.parent.name, path.stem), path)
    return paths


def every(
    *roots: Path,
    models: Collection[str],
    differs: Callable[[str, Mapping[str, Any]], str] = lambda model, settings: "",
) -> tuple[list[StoredCalibration], list[StoredDomain], list[str]]:
    """The calibrations and domains of the known models below the roots, and why others were left out: damaged, of no
    model, or for the reason that `differs` gives of a model and the file's settings.

    Of several of one model, domain and pairing the first root's is taken; where that is left out, the next one's.
    """
    by_key: dict[tuple[str, str, str], StoredCalibration | StoredDomain] = {}
    problems = []
    for root in roots:
        for key, file in files(root).items():
            if key in by_key:
                continue
            try:
                stored = read_domain(file) if file.stem.startswith(REGION) else read(file)
                model = stored.domain.model if isinstance(stored, StoredDomain) else stored.reference.model
                if model not in models:
                    raise BadInput(f"{'/'.join(file.parts[-4:])} is of model {model!r}, which is in no catalogue")
                if reason := differs(model, stored.settings):
                    raise BadInput(
                        f"{'/'.join(file.parts[-4:])} is of another {model} than the catalogue's: {reason}. "
                        "Calibrate it again"
                    )
                by_key[key] = stored
            except BadInput as error:
                problems.append(str(error))
    stored = by_key.values()
    return (
        [one for one in stored if isinstance(one, StoredCalibration)],
        [one for one in stored if isinstance(one, StoredDomain)],
        problems,
    )


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


def domain_frame(stored: Iterable[StoredDomain]) -> pd.DataFrame:
    """One row a domain, as the database's table has it."""
    return pd.DataFrame(
        [
            {
                "model": one.domain.model,
                "domain": one.domain.name,
                "modality": one.domain.modality,
                "record": run_folders.canonical(one.domain.record()),
            }
            for one in stored
        ]
    ).astype(object)
