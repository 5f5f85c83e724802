"""A user's own model as other modules see it: a row like the catalogue's, its loader, and what determines its
scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compute.types import Line, Model, slug

if TYPE_CHECKING:
    from compute.models.adapter import Comparer, Encoder, Judge

ADAPTER = "own"  # of rows that only an OwnModel loads; in no table of families
PREFIX = "own/"  # of the keys of models and suites outside the catalogues
CODE = ("trust_remote_code", "remote_code")  # options that run a checkpoint's code, which no row may have
NOTE = "own"  # the option of a recorded row with its source; it does not affect numbers

# Sources of a model, which determine how it is run again: `--models` accepts all except an object of a Python session.
SOURCES = ("folder", "hub", "endpoint", "file", "session")
FROM_FOLDER, FROM_HUB, FROM_ENDPOINT, FROM_FILE, FROM_SESSION = SOURCES
# Arguments of `compute.evaluate` besides the object in memory, which another run of it needs too.
ARGUMENTS = ("version", "preprocess", "tokenizer", "processor", "higher_is_better")


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """Where a user's model came from. `name`: a folder's name, `org/name@revision`, `name@host` for an endpoint,
    `file.py:function`, or a class.
    """

    kind: str  # one of SOURCES
    name: Line
    arguments: tuple[str, ...] = ()  # those of ARGUMENTS passed with an object of a session


@dataclass(frozen=True, kw_only=True)
class OwnModel:
    """A model object held by the caller, ready for the engine."""

    row: Model  # key `own/<name>`, adapter ADAPTER; abilities and modalities of the object
    load: Callable[..., Encoder | Comparer | Judge]  # load(row, hardware=)
    # identity(row, hardware=): the kind of object, the digest of its parameters, preprocessing and packages.
    identity: Callable[..., dict[str, Any]]
    remark: str = ""  # anomalies found by its check, to be reported to the caller


def key_of(name: str) -> str:
    """Returns the key of a user's model of this name; `own/model` if no character of the name can be in a key."""
    return f"{PREFIX}{slug(name, default='model', marks='._')}"
