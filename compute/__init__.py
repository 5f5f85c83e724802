"""The offline layer: reads and makes scores, and keeps them in one database. Never imports leaderboard.

From Python: `compute.frechet`; of any table of scores `compute.rank`, `correlate`, `lite` and `compare`; the metrics
alone in `compute.metrics`. Importing this package loads nothing heavy.
"""

from __future__ import annotations

from typing import Any

__all__ = ("compare", "correlate", "frechet", "lite", "metrics", "rank")


def __getattr__(name: str) -> Any:
    """Loads a name of the Python interface on first use."""
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
    if name == "metrics":
        import compute.metrics as metrics

        return metrics
    raise AttributeError(f"module 'compute' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
