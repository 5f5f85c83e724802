"""PairBench: what its tables and its text say, recomputed from its own tables."""

from __future__ import annotations

from compute.claims import pairbench_tables, pairbench_text
from compute.types import Claim


def claims() -> list[Claim]:
    """Every claim of the paper with its verdict."""
    return [*pairbench_tables.claims(), *pairbench_text.claims()]
