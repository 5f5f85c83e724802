"""A model that a function in a file of the user's own makes: `my_file.py:make_model`.

The file is run. Only the command line takes such a name, from the person who typed it: nothing that a record, a
catalogue, a visitor or a file holds is ever read as one.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compute.models.own.identity import own_line
from compute.models.own.objects.wrapped import worded
from compute.models.own.own_model import FROM_FILE, ModelSource
from compute.types import BadInput, NotHere, suggestion

NAME = re.compile(r"(?P<file>.+\.py):(?P<function>[A-Za-z_][A-Za-z0-9_]*)")
# What may come with the object: keywords of `compute.evaluate`.
KEYWORDS = ("name", "version", "preprocess", "tokenizer", "processor", "higher_is_better")


def is_factory(text: str) -> bool:
    """Whether a text names a Python file, alone or with a function."""
    return bool(re.search(r"\.py(:|$)", text))


def title(text: str) -> str:
    """What a model is called by the file that makes it."""
    return Path(text.rpartition(":")[0]).stem


def source(text: str) -> ModelSource:
    """What a model came from, without the way to the file."""
    return ModelSource(kind=FROM_FILE, name=Path(text).name)


def made(text: str) -> tuple[Any, dict[str, Any]]:
    """The object that `file.py:function` returns, and the keywords next to it where it returns (object, keywords).

    Raises NotHere for a missing file, BadInput for one without the function, and where either fails.
    """
    match = NAME.fullmatch(text)
    if match is None:
        raise BadInput(f"{text!r} does not name a function: write my_file.py:make_model")
    path, name = Path(match["file"]).expanduser().resolve(), match["function"]
    if not path.is_file():
        raise NotHere(f"There is no file {path}")
    spec = importlib.util.spec_from_file_location(f"own_{re.sub(r'[^A-Za-z0-9_]', '_', path.stem)}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses and worker processes look their module up by its name
    sys.path.insert(0, str(path.parent))
    _safely(lambda: spec.loader.exec_module(module), doing=path.name)
    function = getattr(module, name, None)
    if not callable(function):
        known = [each for each, value in vars(module).items() if callable(value) and not each.startswith("_")]
        raise BadInput(f"{path.name} has no function {name!r}.{suggestion(name, known)}")
    result = _safely(function, doing=f"{name} of {path.name}")
    beside = isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], dict)
    model, keywords = result if beside else (result, {})
    if model is None:
        raise BadInput(f"{name} of {path.name} returned None: return the model, or (model, {{'preprocess': ...}})")
    if unknown := next((key for key in keywords if key not in KEYWORDS), None):
        raise BadInput(f"{name} of {path.name} returned a keyword {unknown!r}. There are: {', '.join(KEYWORDS)}")
    return model, dict(keywords)


def _safely(function: Callable[[], Any], *, doing: str) -> Any:
    """What the function returns. Raises BadInput with what it raised, and the line."""
    try:
        return function()
    except (Exception, SystemExit) as error:
        where = own_line(error)
        raise BadInput(f"{doing} raised {worded(error)}{f' ({where})' if where else ''}") from error
