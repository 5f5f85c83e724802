"""Model rows from the `model_meta.json` files of the public MTEB results repository."""

from __future__ import annotations

import re
from dataclasses import replace

from pydantic import BaseModel, ConfigDict

from compute.io.files import short
from compute.types import BadInput, Model


class ModelMeta(BaseModel):
    """What is read of a model_meta.json."""

    model_config = ConfigDict(strict=True)

    name: str
    revision: str | None = None
    license: str | None = None
    release_date: str | None = None
    n_parameters: int | None = None
    embed_dim: int | None = None
    modalities: list[str] | None = None
    open_weights: bool | None = None


def model_key(folder: str) -> str:
    """The catalogue's key of the model in folder `<org>__<model>`."""
    return folder.replace("__", "/", 1).lower()


def bare_model(folder: str) -> Model:
    """All that a folder's name says about its model."""
    organisation, _, name = folder.partition("__")
    return Model(key=model_key(folder), title=name, organisation=organisation)


def model_row(meta: ModelMeta, folder: str) -> Model:
    """A model row. Raises BadInput where the folder is another model's."""
    if meta.name.replace("/", "__", 1) != folder:
        raise BadInput(f"names the model {short(meta.name)}, but the folder is {short(folder)}")
    modalities = tuple(meta.modalities or ())
    released = meta.release_date or ""
    return replace(
        bare_model(folder),
        weights=meta.name if meta.open_weights else "",
        revision=meta.revision or "",
        license=meta.license or "",
        embed_dim=meta.embed_dim,
        open_weights=meta.open_weights,
        parameters_m=meta.n_parameters / 1e6 if meta.n_parameters else None,
        modalities=modalities,
        released=released if re.fullmatch(r"\d{4}-\d{2}-\d{2}", released) else "",
        abilities=tuple(f"embed_{part}" for part in ("image", "text") if part in modalities),
    )
