"""The offline layer: reads and makes scores, and keeps them in one database. Never imports leaderboard.

From Python: `compute.frechet`. Importing this package loads nothing heavy.
"""

from __future__ import annotations

from typing import Any

__all__ = ("frechet",)


def __getattr__(name: str) -> Any:
    """Loads a name of the Python interface on first use."""
    if name == "frechet":
        from compute.engine.generators.interface import frechet

        return frechet
    raise AttributeError(f"module 'compute' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
