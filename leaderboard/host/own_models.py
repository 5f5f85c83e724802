"""The host's own models for the Try page, `--models`: recorded before a build, as by `compute run`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from compute import paths
from compute.types import BadInput, Model, NotHere


def record(
    texts: Sequence[str],
    *,
    results: Path = paths.RESULTS,
    offline: bool = False,
    report: Callable[[str], None] = print,
) -> tuple[Model, ...]:
    """Returns the models that the texts name, which no catalogue lists, recorded in the results folder, where a build
    finds them; weights of the hub are downloaded if they are missing. `report` is called with how each name was read.

    Raises UnknownKey, NotHere, BadInput, CannotDo, CannotWrite.
    """
    from compute import models
    from compute.catalog import known
    from compute.catalog.own import models as own_models
    from compute.engine.named_models import named, record_named
    from compute.engine.workspace import catalog_with_own
    from compute.models.own import checkpoints
    from compute.models.own.own_model import ADAPTER

    catalog = catalog_with_own(results, warn=lambda problem: report(f"Warning: {problem}"))
    try:
        chosen = named(texts, catalog=catalog, offline=offline)
    except checkpoints.Undetermined as error:
        raise BadInput(
            f"{error}. These are options of likeness run: run the model with them, and name the key that it "
            "is recorded under"
        ) from error
    listed = {row.key for row in known().models}
    rows: dict[str, Model] = {}
    for model in chosen:
        if model.source is None and model.row.key in listed:  # another revision gets its own key
            report(f"{model.row.key} is in the catalogue already: naming it changes nothing")
            continue
        if model.remark:
            report(model.remark)
        if model.row.adapter == ADAPTER:
            raise BadInput(f"{model.row.key} is not a checkpoint: name a folder, ./name, or hub:org/name@revision")
        _check(model.row)
        for folder in own_models.folders(model.row) if model.source is None else ():
            report(f"Reads {folder} as recorded for {model.row.key}")
        models.fetch(model.row)
        row = record_named(model, results=results)
        rows[row.key] = row
    return tuple(rows.values())


def _check(row: Model) -> None:
    """Raises NotHere if anything but a lack of memory or weights keeps the model from running."""
    from compute.live.roster import IMPOSSIBLE, availability

    state = availability(row, network=lambda: True, room=sys.maxsize)
    if state.state == IMPOSSIBLE:
        raise NotHere(f"{row.key} cannot run here: {state.why[0].lower()}{state.why[1:]}")
