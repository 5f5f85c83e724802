"""The offline layer: reads and makes scores, and keeps them in one database. Never imports leaderboard.

From Python: `compute.evaluate`, `compute.train` and `compute.frechet`; of any table of scores `compute.rank`,
`correlate`, `lite` and `compare`; the metrics alone in `compute.metrics`. Importing this package loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compute import metrics
    from compute.engine.generators.interface import frechet
    from compute.interface.compare import compare
    from compute.interface.correlate import correlate
    from compute.interface.evaluate import evaluate
    from compute.interface.lite import lite
    from compute.interface.rank import rank
    from compute.interface.train import train

__all__ = ("compare", "correlate", "evaluate", "frechet", "lite", "metrics", "rank", "train")


def __getattr__(name: str) -> Any:
    """Loads a name of the Python interface on first use."""
    if name == "evaluate":
        from compute.interface.evaluate import evaluate

        return evaluate
    if name == "frechet":
        from compute.engine.generators.interface import frechet

        return frechet
    if name == "rank":
        from compute.interface.rank import rank

        return rank
    if name == "correlate":
        from compute.interface.correlate import correlate

        return correlate
    if name == "lite":
        from compute.interface.lite import lite

        return lite
    if name == "compare":
        from compute.interface.compare import compare

        return compare
    if name == "train":
        from compute.interface.train import train

        return train
    if name == "metrics":
        import compute.metrics as metrics

        return metrics
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
