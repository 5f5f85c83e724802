"""Models' own distributions of scores on disk: `<root>/calibrations/<model, / as __>/<domain>/<pairing>.json`.

`domain-<modality>.json` next to them says whether an input is of that domain. Quantiles have six significant digits, so
the same scores give the same file. `settings` is what it takes to make it again: the model's identity, the set and its
version, the seed and the number of scenes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from compute.analysis.calibrated import Domain, Reference, restored
from compute.engine import run_folders
from compute.io.files import read_record, write_text
from compute.tasks.data import QUESTIONS
from compute.types import BadInput, first_line

FOLDER = "calibrations"
ALONE = tuple(question for question in QUESTIONS if question != "reference")  # about single images
REGION = "domain-"  # begins the name of a domain's own file


class Stored(NamedTuple):
    """A model's distribution of scores, or the domain that it speaks for, as it is on disk."""

    content: Reference | Domain
    settings: Mapping[str, Any]
    path: Path


def path(root: Path, *, model: str, domain: str, pairing: str) -> Path:
    """The file of one distribution; of a domain, `pairing` is REGION with its modality."""
    return root / FOLDER / run_folders.slug(model) / domain / f"{pairing}.json"


def _path(root: Path, content: Reference | Domain) -> Path:
    if isinstance(content, Reference):
        return path(root, model=content.model, domain=content.domain, pairing=content.pairing)
    return path(root, model=content.model, domain=content.name, pairing=REGION + content.modality)


def write(root: Path, content: Reference | Domain, *, settings: Mapping[str, Any]) -> Stored:
    """Writes one file, whole or not at all, replacing an earlier one."""
    target = _path(root, content)
    target.parent.mkdir(parents=True, exist_ok=True)
    record = asdict(content) if isinstance(content, Reference) else content.record()
    write_text(target, run_folders.canonical({**record, "settings": settings}) + "\n")
    return Stored(content, settings, target)


def read(file: Path) -> Stored:
    """One file. Raises BadInput naming it and what is wrong with it."""
    try:
        record = read_record(file, root=file.parents[3])
        settings = record.pop("settings")
        content = restored(record) if file.stem.startswith(REGION) else Reference(**record)
        if _path(file.parents[3], content) != file:
            raise ValueError("it is of another model, domain or pairing")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
        reason = first_line(error)
        raise BadInput(f"{_name(file)} is damaged ({reason}): remove it, and calibrate again") from error
    return Stored(content, settings, file)


def _name(file: Path) -> str:
    return "/".join(file.parts[-4:])


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
) -> tuple[list[Stored], list[Stored], list[str]]:
    """The distributions and the domains of the known models below the roots, and why others were skipped: damaged, of
    no model, or for the reason that `differs` gives of a model and the file's settings.

    Of several of one model, domain and pairing the first root's is taken; where that is skipped, the next one's.
    """
    found: dict[tuple[str, str, str], Stored] = {}
    problems = []
    for key, file in [each for root in roots for each in files(root).items()]:
        if key in found:
            continue
        try:
            stored = read(file)
            model = stored.content.model
            if model not in models:
                raise BadInput(f"{_name(file)} is of model {model!r}, which is in no catalogue")
            if reason := differs(model, stored.settings):
                raise BadInput(
                    f"{_name(file)} is of another {model} than the catalogue's: {reason}. Calibrate it again"
                )
            if isinstance(stored.content, Reference) or len(stored.content.vectors):
                found[key] = stored
        except BadInput as error:
            problems.append(str(error))
    references = [one for one in found.values() if isinstance(one.content, Reference)]
    return references, [one for one in found.values() if isinstance(one.content, Domain)], problems


def frame(stored: Iterable[Stored]) -> pd.DataFrame:
    """One row a distribution, as the database's table has it."""
    return pd.DataFrame(
        [
            asdict(one.content)
            | {
                "unrelated": one.content.unrelated.tolist(),
                "matching": one.content.matching.tolist(),
                "settings": run_folders.canonical(one.settings),
            }
            for one in stored
        ]
    ).astype(object)


def domain_frame(stored: Iterable[Stored]) -> pd.DataFrame:
    """One row a domain, as the database's table has it."""
    return pd.DataFrame(
        [
            {
                "model": one.content.model,
                "domain": one.content.name,
                "modality": one.content.modality,
                "record": run_folders.canonical(one.content.record()),
            }
            for one in stored
        ]
    ).astype(object)
