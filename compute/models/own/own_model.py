"""How the other modules see a user's own model: a row like the catalogue's, its loader, and what decides its scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compute.types import Line, Model, slug

if TYPE_CHECKING:
    from compute.models.adapter import Comparer, Encoder, Judge

ADAPTER = "own"  # of rows that only an OwnModel loads: in no table of families
PREFIX = "own/"  # of the keys of models and suites that no catalogue lists
CODE = ("trust_remote_code", "remote_code")  # options that run a checkpoint's own code, which no row may have
NOTE = "own"  # the option of a recorded row that says what it came from; it changes no number

# What a model came from, and so how it is run again: `--models` takes all but an object of a Python session.
SOURCES = ("folder", "hub", "endpoint", "file", "session")
FROM_FOLDER, FROM_HUB, FROM_ENDPOINT, FROM_FILE, FROM_SESSION = SOURCES
# What `compute.evaluate` may be called with besides an object in memory, which a run of it again needs too.
ARGUMENTS = ("version", "preprocess", "tokenizer", "processor", "higher_is_better")


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """What an own model came from. `name`: a folder's own name, `org/name@revision`, of an endpoint `name@host`,
    `file.py:function`, or a class."""

    kind: str  # one of SOURCES
    name: Line
    arguments: tuple[str, ...] = ()  # those of ARGUMENTS that an object of a session came with


@dataclass(frozen=True, kw_only=True)
class OwnModel:
    """A model that the caller holds, ready for the engine."""

    row: Model  # key `own/<name>`, adapter ADAPTER; abilities and modalities are what the object can do
    load: Callable[..., Encoder | Comparer | Judge]  # load(row, hardware=)
    # identity(row, hardware=): the kind of object, the digest of its parameters, preprocessing and packages.
    identity: Callable[..., dict[str, Any]]
    remark: str = ""  # what its check found odd, for the caller to be told


def key_of(name: str) -> str:
    """Returns the key of an own model of this name; `own/model` where nothing of it can be in a key."""
    return f"{PREFIX}{slug(name, default='model', marks='._')}"
