"""What an own model is to the rest: a row like the catalogue's, how it is loaded, and what decides its numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compute.types import Model

if TYPE_CHECKING:
    from compute.models.adapter import Comparer, Encoder, Judge

ADAPTER = "own"  # of rows that only an OwnModel loads: in no table of families
PREFIX = "own/"  # of the keys of models and suites that no catalogue lists
NOTE = "own"  # the option of a recorded row that says what it came from; it changes no number


@dataclass(frozen=True, kw_only=True)
class OwnModel:
    """A model that the caller holds, ready for the engine."""

    row: Model  # key `own/<name>`, adapter ADAPTER; abilities and modalities are what the object can do
    load: Callable[..., Encoder | Comparer | Judge]  # load(row, hardware=)
    # identity(row, hardware=): the kind of object, the digest of its parameters, preprocessing and packages.
    identity: Callable[..., dict[str, Any]]
