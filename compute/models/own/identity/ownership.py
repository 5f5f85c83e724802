"""Whose code is it: one's own, which is digested, or a package's, which goes by its name and version.

A package's are modules that an installed distribution lists, those of Python itself, and those of this program, whose
own VERSION numbers stand in every identity. All else is one's own: a script, a notebook, a file beside it, a checkout
that was installed in place, and code that came with a checkpoint.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from compute.paths import ROOT

INSTALLED = ("site-packages", "dist-packages")
PROGRAM = tuple(ROOT / name for name in ("compute", "leaderboard"))


def is_own_module(module: ModuleType) -> bool:
    """Whether a module is one's own."""
    return _is_own(module.__name__, getattr(module, "__file__", None))


def is_own_name(name: str) -> bool:
    """Whether the module of this full name is one's own, imported or not; no module is imported for the answer.

    A name that nothing can be imported by is nobody's, and so one's own.
    """
    top = name.partition(".")[0]
    if name in sys.modules or top in sys.modules:
        return _is_own(name, None)
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        return not _is_listed(top)
    return _is_own(top, next(iter(spec.submodule_search_locations or ()), spec.origin))


def is_own_class(kind: type) -> bool:
    """Whether a class is one's own."""
    name = kind.__module__
    return name != "builtins" and (not isinstance(name, str) or _is_own(name, None))


def is_own_function(function: Callable[..., Any]) -> bool:
    """Whether a Python function is one's own: by the module whose globals it reads, for decorators copy the name of
    another function's module."""
    if not isinstance(function, FunctionType):
        return False
    names = function.__globals__
    name = names.get("__name__")
    return not isinstance(name, str) or _is_own(name, names.get("__file__"))


def own_line(error: BaseException) -> str:
    """The last line of one's own code that an error passed through, as `model.py, line 12, in embed`; empty where it
    passed through none."""
    where = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code, name = frame.f_code, str(frame.f_globals.get("__name__", ""))
        if not code.co_filename.startswith("<") and _is_own_file(name.partition(".")[0], code.co_filename):
            where = f"{Path(code.co_filename).name}, line {line}, in {code.co_name}"
    return where


def wraps_own(function: Any) -> bool:
    """Whether a function, or one that it is a decorated form of, is one's own."""
    try:
        return is_own_function(function) or is_own_function(inspect.unwrap(function))
    except ValueError:  # functions that wrap each other
        return True


def distributions_of(module: str) -> tuple[str, ...]:
    """The installed distributions that a module's top-level package is of."""
    return tuple(_distributions().get(module.partition(".")[0], ()))


def is_importable(value: Any) -> bool:
    """Whether a function or class is what its module has under its name: not made by a call, and not replaced."""
    found: Any = sys.modules.get(getattr(value, "__module__", None) or "")
    for name in getattr(value, "__qualname__", "").split("."):
        found = getattr(found, name, None) if name else None
    return found is value


def _is_own(name: str, file: str | None) -> bool:
    if name == "__main__":
        return True
    while file is None or not os.path.isabs(file):  # namespaces, and modules that a library makes as it runs
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None) or next(iter(getattr(module, "__path__", ())), None)
        if file is None or not os.path.isabs(file):
            parent = name.rpartition(".")[0]
            if not parent:
                return not _is_listed(name)
            name, file = parent, None
    return _is_own_file(name.partition(".")[0], file)


@functools.cache
def _is_own_file(top: str, file: str) -> bool:
    path = Path(file)
    if any(path.is_relative_to(folder) for folder in PROGRAM):
        return False
    if any(part in INSTALLED for part in path.parts):
        return not _distributions().get(top)  # a file that was only copied there has no version
    return not any(path.is_relative_to(folder) for folder in _standard())


def _is_listed(top: str) -> bool:
    return top in sys.stdlib_module_names or top in sys.builtin_module_names or top in _distributions()


@functools.cache
def _standard() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    return tuple({Path(paths[name]) for name in ("stdlib", "platstdlib")})


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    """Installed packages by the name that is imported."""
    return metadata.packages_distributions()
