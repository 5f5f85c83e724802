"""Likeness: `likeness.compute` makes and reads scores, `likeness.leaderboard` shows them.

`likeness.evaluate` and the others are those of `likeness.compute`.

The installed package holds both. In a checkout they lie beside this folder and import each other as `compute` and
`leaderboard`: there `likeness.compute` is the module `compute` itself, and so below: no module loads twice.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _BesideThisFolder(MetaPathFinder, Loader):
    """Finds likeness.compute.types as compute.types."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        first, _, rest = name.partition(".")
        is_beside = first == "likeness" and rest.partition(".")[0] in ("compute", "leaderboard")
        return ModuleSpec(name, self) if is_beside else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(spec.name.removeprefix("likeness."))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = (
            module.__spec__.loader_state
        )  # its own again; the import system has put the other name's there


if not (Path(__file__).parent / "compute").is_dir():
    sys.meta_path.insert(0, _BesideThisFolder())

from likeness import compute, leaderboard  # noqa: E402
from likeness.compute.versions import VERSION as __version__  # noqa: E402

if TYPE_CHECKING:
    from likeness.compute import (
        audit,
        compare,
        correlate,
        evaluate,
        frechet,
        lite,
        metric,
        metrics,
        rank,
        remote,
        replicate,
        train,
    )

__all__ = (
    "__version__",
    "audit",
    "compare",
    "compute",
    "correlate",
    "evaluate",
    "frechet",
    "leaderboard",
    "lite",
    "metric",
    "metrics",
    "rank",
    "remote",
    "replicate",
    "train",
)


def __getattr__(name: str) -> Any:
    """The names of `likeness.compute`, each loaded on first use."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(compute, name)
