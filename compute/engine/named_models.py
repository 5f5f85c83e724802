"""Resolves models that a user names: a key of the catalogue or of a user model, a folder, a hub model, or a judge at an
endpoint.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from compute.catalog import Catalog
from compute.catalog.own import models as own_models
from compute.models import required_files
from compute.models.files import weights
from compute.models.judges import endpoint
from compute.models.own import checkpoints
from compute.models.own.checkpoints import NamedModel
from compute.models.own.own_model import FROM_ENDPOINT, FROM_FOLDER, ModelSource
from compute.types import BadInput, Model, NotHere, UnknownKey, slug

ENDPOINT = "endpoint:"  # prefix of a model's name at the endpoint
PATHS = ("./", "../", "/", "~")  # prefixes of a path, for folders with the name of a key
SHORTEST = 7  # characters of an abbreviated commit


class Overrides(NamedTuple):
    """Properties of a checkpoint that a user states instead of its files."""

    name: str = ""
    family: str = ""
    options: Mapping[str, Any] | None = None


NONE = Overrides()


def named(
    texts: Sequence[str], *, catalog: Catalog, overrides: Overrides = NONE, offline: bool = False
) -> list[NamedModel]:
    """Returns the distinct models that the texts name; `catalog` includes user models.

    If a catalogue key and a folder share a name, the key wins; write `./name` for the folder. `overrides` apply to the
    only checkpoint among the texts. Raises UnknownKey, NotHere, BadInput, CannotDo.
    """
    known = {row.key: row for row in catalog.models}
    texts = list(dict.fromkeys(texts))
    others = [text for text in texts if text not in known]
    if any(overrides) and len(others) != 1:
        raise BadInput(
            f"{len(others)} of these models are not keys: name, family and options are for one model. Run them apart"
            if others
            else "Name, family and options are for your own checkpoint; the catalogue's models have theirs"
        )
    return [
        _recorded(known[text])
        if text in known
        else _checkpoint(text, catalog, overrides, offline=offline, alone=len(texts) == 1)
        for text in texts
    ]


def of_folder(text: str) -> bool:
    """Returns whether a text that is not a key names a folder."""
    return text in (".", "..") or text.startswith(PATHS) or Path(text).is_dir()


def of_path(folder: Path) -> str:
    """Returns a folder as a text that cannot be read as a key."""
    text = str(folder)
    return text if text.startswith(PATHS) else f"./{text}"


def keyed(model: NamedModel, *, results: Path) -> NamedModel:
    """Returns the model under the key that `record_named` would give it; nothing is written."""
    if model.source is None:
        return model
    row = own_models.keyed(model.row, digest=model.digest, results=results, source=model.source)
    return replace(model, row=row)


def record_named(model: NamedModel, *, results: Path) -> Model:
    """Returns the model's row, which is recorded if the catalogue lacks it, so that a build finds it. Raises BadInput,
    CannotWrite.
    """
    if model.source is None:
        return model.row
    return own_models.record(model.row, digest=model.digest, results=results, source=model.source)


def joined(catalog: Catalog, models: Sequence[NamedModel]) -> Catalog:
    """Returns the catalogue with the rows of these models; of the data sets in their cards, known ones are included."""
    rows = {
        model.row.key: replace(model.row, trained_on=catalog.dataset_keys(model.row.trained_on))
        for model in models
        if model.source is not None
    }
    others = (row for row in catalog.models if row.key not in rows)
    return replace(catalog, models=(*others, *rows.values())) if rows else catalog


def _recorded(row: Model) -> NamedModel:
    """Returns a row of the catalogue; raises BadInput if a recorded model has changed."""
    source = own_models.source_of(row)
    if source is not None and source.kind == FROM_FOLDER and weights.own_folder(row) is not None:
        now = weights.revision(row, required=required_files(row))
        if row.revision and now != row.revision:
            raise BadInput(f"The files of {row.key} have changed since it was recorded: name the folder {row.weights}")
    if source is not None and source.kind == FROM_ENDPOINT and (host := endpoint.host()):
        name, _, recorded = source.name.rpartition("@")
        if host != recorded:
            raise BadInput(f"{row.key} is of {recorded}, and {endpoint.URL} names {host}: name {ENDPOINT}{name}")
    return NamedModel(row=row)


def _served(name: str, overrides: Overrides) -> NamedModel:
    """Returns the judge with that name at the environment's endpoint, without asking it; the host is part of its
    identity.
    """
    host = endpoint.host()
    if not name or not host:
        raise NotHere(
            f"{ENDPOINT}NAME is a model's name at an OpenAI-compatible endpoint, whose address is in the environment: "
            f"export {endpoint.URL}=http://localhost:8000/v1"
        )
    if overrides.family:
        raise BadInput(f"A family loads checkpoints: {ENDPOINT}{name} is loaded by its server")
    title, options = overrides.name or name, {**(overrides.options or {}), "model": name}
    row = Model(
        key=f"endpoint/{slug(title, default='model', marks='._')}",
        title=title,
        kind="mllm",
        adapter="endpoint",
        abilities=("choose", "score_pair"),
        modalities=("image", "text"),
        options=options,
    )
    digest = hashlib.blake2b(json.dumps([options, host], sort_keys=True).encode(), digest_size=16).hexdigest()
    source = ModelSource(kind=FROM_ENDPOINT, name=f"{name}@{host}")
    return NamedModel(row=row, digest=digest, source=source, remark=f"{name} is asked at {host}")


def _checkpoint(text: str, catalog: Catalog, overrides: Overrides, *, offline: bool, alone: bool) -> NamedModel:
    if text.endswith(".py") or ".py:" in text:
        raise BadInput(
            f"{text} is code, which is not run: hand over what it makes in Python, compute.evaluate(model, ...), or "
            "save the model, and name its folder"
        )
    if text.startswith(ENDPOINT):
        return _served(text.removeprefix(ENDPOINT), overrides)
    if text.startswith(checkpoints.HUB):
        if not any(overrides) and (row := _at_revision(catalog, *checkpoints.split_id(text))):
            return _of_catalogue(row)
        made = checkpoints.from_hub(text, **overrides._asdict(), offline=offline)
        if not any(overrides) and (row := _at_revision(catalog, made.row.weights, made.row.revision)):
            return _of_catalogue(row)
    elif of_folder(text):
        path = Path(text).expanduser()
        if path.is_file():
            raise BadInput(f"{text} is a file: name the folder that holds the checkpoint")
        try:
            made = checkpoints.from_folder(path, **overrides._asdict(), offline=offline)
        except NotHere as error:
            if path.exists() or alone:
                raise
            raise NotHere(f"{error}. Models are separated by commas: none may be in a folder's name") from error
    else:
        error = UnknownKey("model", text, [row.key for row in catalog.models])
        others = f"a folder, ./{text}, a model of the hub, {checkpoints.HUB}org/name, or a judge, {ENDPOINT}NAME"
        error.args = (f"{error}. Or name {others}",)
        raise error
    return made


def _at_revision(catalog: Catalog, repository: str, revision: str) -> Model | None:
    """Returns the catalogue's row of a repository at a revision: a commit or its prefix, or empty for any revision."""
    name = repository.lower()
    rows = [
        row
        for row in catalog.models
        if row.weights.lower() == name and row.adapter and own_models.source_of(row) is None
        if row.revision.startswith(revision) and not 0 < len(revision) < SHORTEST
    ]
    return min(rows, key=lambda row: row.key != name, default=None)


def _of_catalogue(row: Model) -> NamedModel:
    revision = f" at {row.revision[:12]}" if row.revision else ""
    other = f". For another revision name it: {checkpoints.HUB}{row.weights}@..." if row.revision else ""
    return NamedModel(row=row, remark=f"{row.weights}{revision} is the catalogue's {row.key}, which is run{other}")
