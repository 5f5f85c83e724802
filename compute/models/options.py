"""A row's options over its family's defaults, a misspelt one is an error; and the checkpoints that options name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compute.models.files import weights
from compute.models.files.weights import RequiredFiles, local_folder
from compute.types import BadInput, Model


class ChangedFiles(BadInput):
    """A checkpoint that an option names has other files than those of its revision."""


def chosen(row: Model, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """`defaults` with the row's options in them. Raises BadInput on an option that the family does not know."""
    unknown = sorted(set(row.options) - set(defaults))
    if unknown:
        known = ", ".join(sorted(defaults)) or "none"
        raise BadInput(f"{row.key}: adapter {row.adapter!r} has no option {unknown[0]!r}. It knows: {known}")
    return {**defaults, **row.options}


def checkpoint_of(row: Model, named: Mapping[str, str] | None, *, option: str, required: RequiredFiles) -> Path:
    """The local folder of a second checkpoint, `{"weights": ..., "revision": ...}` in the row's `option`.

    The revision of a folder or a package is the digest of its files, as `weights.revision` has it.
    Raises NotHere where it is not on this machine and cannot be fetched, BadInput where the row does not name it, and
    ChangedFiles where its files have another digest.
    """
    if not named or set(named) - {"weights", "revision"} or not named.get("weights"):
        raise BadInput(
            f'{row.key}: option {option!r} names a checkpoint as {{"weights": "...", "revision": "..."}}; got {named!r}'
        )
    named_row = replace(row, weights=named["weights"], revision=named.get("revision", ""), options={})
    folder = local_folder(named_row, required=required)
    if named_row.revision.startswith(weights.DIGEST):
        digest = weights.revision(named_row, required=required)
        if digest != named_row.revision:
            raise ChangedFiles(
                f"{row.key}: the files of {named_row.weights} are {digest}, and its option {option!r} names "
                f"{named_row.revision}. Install that version, or change the option"
            )
    return folder
