"""`--models` of several commands: keys, folders of checkpoints, models of the hub, judges behind an endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compute.types import BadInput, printable

if TYPE_CHECKING:
    from compute.catalog import Catalog
    from compute.models.own.checkpoints import NamedModel

Models = Annotated[
    Sequence[str],
    "Models, comma-separated: keys (likeness list models), folders of checkpoints (./name), hub:org/name@revision, or "
    "judges by their names at LIKENESS_ENDPOINT (endpoint:NAME).",
]


def named_models(
    texts: Sequence[str],
    catalog: Catalog,
    *,
    name: str = "",
    family: str = "",
    options: Sequence[str] = (),
    offline: bool = False,
) -> list[NamedModel]:
    """What the texts of an option name, once each; prints how checkpoints are read, and first the folders
    that a record names.

    Raises UnknownKey, NotHere, CannotDo, and BadInput where none is named.
    """
    from compute.catalog.own import models as own_models
    from compute.engine import named_models

    if not texts:
        raise BadInput("No model is named. List them: likeness list models")
    known = {row.key: row for row in catalog.models}
    for row in (known[text] for text in dict.fromkeys(texts) if text in known):
        for folder in own_models.folders(row):
            typer.echo(f"Reads {printable(folder)} as recorded for {row.key}", err=True)
    models = named_models.named(
        texts,
        catalog=catalog,
        overrides=named_models.Overrides(name=name, family=family, options=_options(options)),
        offline=offline,
    )
    for model in models:
        if model.remark:
            typer.echo(model.remark, err=True)
    return models


def _options(texts: Sequence[str]) -> Mapping[str, Any]:
    """`name=value` texts; a value that is JSON is read as such, and the checkpoint in `base` by its revision."""
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise BadInput(f"--model-option {text!r} is not a name=value")
        try:
            options[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            options[name.strip()] = value
    if isinstance(options.get("base"), str):
        weights, _, revision = options["base"].partition("@")
        options["base"] = {"weights": weights, "revision": revision}
    return options
