"""The pages that visitors see. They read the database and never write it.

From Python: `leaderboard.serve`. Importing this package loads nothing heavy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from leaderboard.serving import serve

__all__ = ("serve",)


def __getattr__(name: str) -> Any:
    """Loads a name of the Python interface on first use."""
    if name == "serve":
        from leaderboard.serving import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *__all__))
