"""Items of tasks: `loaders.py` has a row a benchmark, `data.py` the shapes of items."""

from __future__ import annotations

from compute.tasks.data import columns, every_column, size, without
from compute.tasks.loaders import computable, identity, load, needs, options_of

__all__ = (
    "columns",
    "computable",
    "every_column",
    "identity",
    "load",
    "needs",
    "options_of",
    "size",
    "without",
)
