"""The offline layer: imports and computes scores and stores them in one database. Never imports leaderboard.

The Python interface: `compute.evaluate`, `compute.train` and `compute.frechet`; `compute.rank`, `correlate`, `lite` and
`compare` for any table of scores; `compute.metric`, an image metric as a loss on tensors; `compute.metrics`, the
metrics of scores; `compute.replicate`, your scores next to published ones; `compute.audit`, scores that the other
scores contradict; and `compute.remote`, the functions of a running board. Importing this package loads nothing heavy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compute import metrics
    from compute.engine.generators.interface import frechet
    from compute.interface.audit import audit
    from compute.interface.board import board
    from compute.interface.compare import compare
    from compute.interface.correlate import correlate
    from compute.interface.evaluate import evaluate
    from compute.interface.lite import lite
    from compute.interface.metric import metric
    from compute.interface.rank import rank
    from compute.interface.remote import remote
    from compute.interface.replicate import replicate
    from compute.interface.train import train

__all__ = (
    "audit",
    "board",
    "compare",
    "correlate",
    "evaluate",
    "frechet",
    "lite",
    "metric",
    "metrics",
    "rank",
    "remote",
    "replicate",
    "train",
)


def __getattr__(name: str) -> Any:
    """Loads a name of the Python interface on first use."""
    if name == "frechet":
        from compute.engine.generators.interface import frechet

        return frechet
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "metrics":
        return import_module(f"{__name__}.metrics")
    return getattr(import_module(f"{__name__}.interface.{name}"), name)


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
