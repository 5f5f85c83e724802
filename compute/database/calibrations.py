"""Score distributions of models and their domains, from runs of the suite `calibration`.

An earlier command wrote each into a file, `<root>/calibrations/<model, / as __>/<domain>/<pairing>.json`, or
`domain-<modality>.json` for a domain. These files are read as well.
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
    """Returns the database's tables of distributions and domains below the roots, and why others were skipped.

    They are skipped if they are damaged, if their model is unknown, or for the reason that `differs` returns for a
    model and the settings. If there are several for one model, domain and pairing, the newest run's is used, else the
    file's of the first root; if that one is skipped, the next.
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
    """Returns the key that identifies duplicates."""
    if isinstance(content, Reference):
        return content.model, content.domain, content.pairing
    return content.model, content.name, "domain", content.modality
