"""Model rows from the `model_meta.json` files of the public MTEB results repository."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from compute.importing.figures import short
from compute.types import BadInput, Model

MODALITY_ABILITIES = {"image": "embed_image", "text": "embed_text"}
KINDS: dict[str, type] = {
    "name": str,
    "revision": str,
    "license": str,
    "release_date": str,
    "n_parameters": int,
    "embed_dim": int,
    "modalities": list,
    "open_weights": bool,
}


def model_key(folder: str) -> str:
    """The catalogue's key of the model in folder `<org>__<model>`."""
    return folder.replace("__", "/", 1).lower()


def bare_model(folder: str) -> Model:
    """All that a folder's name says about its model."""
    organisation, _, name = folder.partition("__")
    return Model(key=model_key(folder), title=name, organisation=organisation)


def model_row(meta: Any, folder: str) -> Model:
    """A model row from model_meta.json. Raises BadInput naming the field of a wrong type."""
    if not isinstance(meta, dict):
        raise BadInput("is not a set of fields")
    values = {field: meta.get(field) for field in KINDS}
    for field, value in values.items():
        if value is not None and type(value) is not KINDS[field]:
            raise BadInput(f"{field} is {short(value)}, not {KINDS[field].__name__}")
    name = values["name"] or ""
    if name.replace("/", "__", 1) != folder:
        raise BadInput(f"names the model {short(name)}, but the folder is {short(folder)}")
    modalities = tuple(map(str, values["modalities"] or ()))
    released = values["release_date"] or ""
    return replace(
        bare_model(folder),
        weights=name if values["open_weights"] else "",
        revision=values["revision"] or "",
        license=values["license"] or "",
        embed_dim=values["embed_dim"],
        open_weights=values["open_weights"],
        parameters_m=values["n_parameters"] / 1e6 if values["n_parameters"] else None,
        modalities=modalities,
        released=released if re.fullmatch(r"\d{4}-\d{2}-\d{2}", released) else "",
        abilities=tuple(MODALITY_ABILITIES[part] for part in ("image", "text") if part in modalities),
    )
