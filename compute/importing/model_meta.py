"""Model rows from the `model_meta.json` files of the public MTEB results repository."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from compute.catalog import Catalog
from compute.io.files import short
from compute.types import BadInput, Model

SOURCE = "mteb model_meta"


class ModelMeta(BaseModel):
    """What is read of a model_meta.json, and kept as it is with the shipped results."""

    model_config = ConfigDict(strict=True)

    name: str
    revision: str | None = None
    license: str | None = None
    release_date: str | None = None
    n_parameters: int | None = None
    memory_usage_mb: float | None = None
    embed_dim: int | None = None
    max_tokens: float | None = None
    modalities: list[str] | None = None
    languages: list[str] | None = None
    open_weights: bool | None = None
    use_instructions: bool | None = None
    similarity_fn_name: str | None = None
    model_type: list[str] | None = None
    framework: list[str] | None = None
    loader: str | None = None
    reference: str | None = None
    training_datasets: list[str] | None = None  # names of mteb's tasks and data sets; None: not stated

    @field_validator("max_tokens")
    @classmethod
    def _without_limit(cls, value: float | None) -> float | None:
        """JSON has no infinity."""
        return value if value is not None and math.isfinite(value) else None

    @field_validator("training_datasets", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        """Older files map each name to its splits."""
        return sorted(value) if isinstance(value, dict) else value

    @property
    def late_interaction(self) -> bool | None:
        """Whether the model has many vectors per item; None where the file does not say."""
        kinds = {(self.similarity_fn_name or "").replace("_", "").lower(), *(self.model_type or ())}
        return True if kinds & {"maxsim", "late-interaction"} else False if kinds & {"cosine", "dense"} else None


def model_key(folder: str) -> str:
    """The catalogue's key of the model in folder `<org>__<model>`."""
    return folder.replace("__", "/", 1).lower()


def model_row(meta: ModelMeta | None, folder: str, *, catalog: Catalog) -> Model:
    """A model row; of its training data, the data sets of the catalogue. Its organisation is spelled as the catalogue
    has it for the same account of the hub. None: all that the folder's name says. Raises BadInput where the folder is
    another model's.
    """
    account, _, name = folder.partition("__")
    organisations = {row.key.partition("/")[0]: row.organisation for row in catalog.models if row.organisation}
    bare = Model(key=model_key(folder), title=name, organisation=organisations.get(account.lower(), account))
    if meta is None:
        return bare
    if meta.name.replace("/", "__", 1) != folder:
        raise BadInput(f"names the model {short(meta.name)}, but the folder is {short(folder)}")
    modalities = tuple(meta.modalities or ())
    released = meta.release_date or ""
    return replace(
        bare,
        weights=meta.name if meta.open_weights else "",
        revision=meta.revision or "",
        license=meta.license or "",
        late_interaction=meta.late_interaction,
        instructions=meta.use_instructions,
        memory_mb=meta.memory_usage_mb,
        embed_dim=meta.embed_dim,
        max_tokens=int(meta.max_tokens) if meta.max_tokens else None,
        languages=tuple(language.replace("_", "-") for language in meta.languages or ()),
        trained_on=catalog.dataset_keys(sorted(meta.training_datasets or ())),
        facts_from=SOURCE,
        open_weights=meta.open_weights,
        parameters_m=meta.n_parameters / 1e6 if meta.n_parameters else None,
        modalities=modalities,
        released=released if re.fullmatch(r"\d{4}-\d{2}-\d{2}", released) else "",
        abilities=tuple(f"embed_{part}" for part in ("image", "text") if part in modalities),
    )
