"""cFreD: what its tables and its text say, recomputed from its own tables."""

from __future__ import annotations

from compute.claims import cfred_tables, cfred_text
from compute.types import Claim


def claims() -> list[Claim]:
    """Every claim of the paper with its verdict."""
    return [*cfred_tables.claims(), *cfred_text.claims()]
