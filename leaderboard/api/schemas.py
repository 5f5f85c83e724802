"""Descriptions of the functions for programs, from annotations and docstrings, and parsing of their arguments."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from compute.types import BadInput, shortened, unknown

SHARED = {  # what stands for several arguments, or fields under Returns
    "conditions": """\
    max_parameters: the most parameters, such as 1000000000 for 1 B. 0: any. An unknown size does not fit.
    open_weights: only models whose weights can be downloaded.
    license: permissive, stated, unknown, or licences such as mit,apache-2.0. Empty: any.""",
    "facts": """\
    parameters (integer): how many; null: not stated
    dimension (integer): of its vectors
    open_weights (boolean): whether its weights can be downloaded
    license (string): empty: not stated
    released (string): date; empty: not stated""",
    "score": """\
    model (string): its key
    task (string): its key
    title (string): its name
    category (string): of the task
    metric (string): its key
    ranked (boolean): whether it counts in the mean of the suite
    value (number): in the unit the papers print
    low (number): of its 95% interval; null: not known
    high (number): of the same
    unit (string): of these
    items (integer): of the task
    chance (number): the score of guessing
    origin (string): published, imported, computed or imported:NAME
    trained (boolean): the model was trained on this data""",
}
PLACEHOLDER = re.compile(r"    (conditions|facts|score): of the \w+")
FIELD = re.compile(r"^    (\w+) \((\w+)\): (.+(?:\n      .+)*)", re.MULTILINE)  # of a record, under Returns
ARGUMENT = re.compile(r"^    (\w+): (.+(?:\n      .+)*)", re.MULTILINE)
REQUEST = "request"  # what the server gives to a function that counts its visitors
TAKES = ConfigDict(extra="forbid", str_strip_whitespace=True)
Function = Callable[..., Any]
Functions = Mapping[str, Function]
Schema = dict[str, Any]


class Description(NamedTuple):
    """What a function does, its arguments, the schemas of the fields of its records, and that of its answer: a record,
    or a list of records. Any field may be null.
    """

    words: str
    takes: type[BaseModel]
    fields: dict[str, Schema]
    answers: Schema


@cache
def described(function: Function) -> Description:
    """Describes a function by its docstring and annotations."""
    text = PLACEHOLDER.sub(lambda found: SHARED[found[1]], inspect.getdoc(function) or "")
    head, _, returns = text.partition("\nReturns:\n")
    about, _, listed = head.partition("\nArgs:\n")
    words, taken = dict(ARGUMENT.findall(listed)), inspect.signature(function).parameters
    fields: dict[str, Any] = {
        name: (one.annotation, Field(... if one.default is one.empty else one.default, description=_line(words[name])))
        for name, one in taken.items()
        if name != REQUEST
    }
    records = {
        name: {"type": [kind, "null"], "description": _line(words)} for name, kind, words in FIELD.findall(returns)
    }
    answers = {"type": "object", "properties": records}
    if inspect.signature(function).return_annotation != dict[str, Any]:
        answers = {"type": "array", "items": answers}
    return Description(_line(about), create_model(function.__name__, __config__=TAKES, **fields), records, answers)


def _line(text: str) -> str:
    return " ".join(text.split())


def call(function: Function, given: Mapping[str, Any], *, request: Any) -> Any:
    """Returns the function's answer to a program; null counts as missing, and a text may stand for a number. Raises
    BadInput for invalid arguments, and what the function raises.
    """
    takes = described(function).takes
    for name in given:
        if name not in takes.model_fields:
            raise BadInput(unknown("parameter", name, takes.model_fields, listed=True))
    for name, field in takes.model_fields.items():
        if field.is_required() and given.get(name) in (None, ""):
            raise BadInput(f"{name} is missing: {field.description}")
    try:
        taken = dict(takes(**{name: value for name, value in given.items() if value is not None}))
    except ValidationError as error:
        first = error.errors()[0]
        wrong = str(first["loc"][0])
        raise BadInput(f"{wrong} is {shortened(repr(given[wrong]))}: {first['msg']}") from error
    own = {REQUEST: request} if REQUEST in inspect.signature(function).parameters else {}
    return function(**taken, **own)
