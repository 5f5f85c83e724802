"""Models' own distributions of scores and their domains, as runs of the suite `calibration` found them.

An earlier command wrote each into a file, `<root>/calibrations/<model, / as __>/<domain>/<pairing>.json`; that of a
domain is `domain-<modality>.json`. They are read as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from compute.analysis.calibrated import Domain, Reference, restored
from compute.engine import run_folders
from compute.io.files import read_record
from compute.types import WHOLE, BadInput, first_line


def frames(
    *roots: Path, models: Collection[str], differs: Callable[[str, Mapping[str, Any]], str]
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Returns the database's tables of distributions and domains below the roots, and why others were skipped: damaged,
    of no known model, or for the reason that `differs` gives of a model and the settings.

    Of several of one model, domain and pairing the newest run's is taken, else the file's of the first root; where that
    is skipped, the next one.
    """
    folders = [root / run_folders.CALIBRATIONS for root in roots]
    runs, problems = run_folders.newest(run for folder in folders for run in run_folders.every(folder))
    newest = sorted(runs, key=lambda one: one.date, reverse=True)
    files = (file for folder in folders for file in sorted(folder.glob("*/*/*.json")))
    found: dict[tuple[str, ...], tuple[Reference | Domain, Mapping[str, Any]]] = {}
    for path, run in [*((one.folder, one.run) for one in newest), *((file, None) for file in files)]:
        try:
            if run is None:
                record = read_record(path, root=path.parents[3])
                settings, records = record.pop("settings"), [record]
            else:
                settings = dict(run.settings)
                records = settings.pop("found")[WHOLE]["records"]
            contents = [restored(record) if "limit" in record else Reference(**record) for record in records]
            new = {_key(content): (content, settings) for content in contents}
            if new.keys() <= found.keys():
                continue
            model = contents[0].model
            if model not in models:
                raise ValueError(f"model {model!r} is in no catalogue")
            if reason := differs(model, settings):
                raise ValueError(f"of another {model} than the catalogue's: {reason}")
            found = new | found
        except (OSError, ValueError, KeyError, TypeError, AttributeError, BadInput) as error:
            name = "/".join(path.parts[-4:])
            problems.append(f"{name} is skipped ({first_line(error)}): calibrate the model again")
    references = [
        asdict(content)
        | {
            "unrelated": content.unrelated.tolist(),
            "matching": content.matching.tolist(),
            "settings": run_folders.canonical(settings),
        }
        for content, settings in found.values()
        if isinstance(content, Reference)
    ]
    domains = [
        {
            "model": content.model,
            "domain": content.name,
            "modality": content.modality,
            "record": run_folders.canonical(content.record()),
        }
        for content, _ in found.values()
        if isinstance(content, Domain) and len(content.vectors)
    ]
    tables = {"calibrations": references, "calibration_domains": domains}
    return {name: pd.DataFrame(rows).astype(object) for name, rows in tables.items()}, problems


def _key(content: Reference | Domain) -> tuple[str, ...]:
    """What one of several is taken of."""
    if isinstance(content, Reference):
        return content.model, content.domain, content.pairing
    return content.model, content.name, "domain", content.modality
