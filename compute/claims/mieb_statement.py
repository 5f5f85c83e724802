"""MIEB: the four ways a printed statement becomes a claim."""

from __future__ import annotations

from compute.claims.verdict import judge, shown
from compute.types import Claim

PAPER = "MIEB"
CELL = 0.005  # half a printed unit of cells with two digits: the most that their mean can be off
COARSE_CELL = 0.05  # the same for cells with one digit
LOST_CELL = "A cell of this average cannot be read."


def averaged(
    statement: str,
    where: str,
    printed: str,
    recomputed: float | None,
    formula: str,
    *,
    slack: float,
    note: str = "",
) -> Claim:
    """A printed average against its recomputed value, None where a cell is lost; all in printed units."""
    return Claim(
        paper=PAPER,
        claim=statement,
        where=where,
        printed=printed,
        formula=formula,
        recomputed=shown(recomputed, like=printed),
        verdict=judge(printed, recomputed, slack=slack),
        note=note or (LOST_CELL if recomputed is None else ""),
    )


def counted(statement: str, where: str, printed: str, recomputed: int, formula: str, *, note: str = "") -> Claim:
    """A printed count against one that the tables give: equal or not."""
    return Claim(
        paper=PAPER,
        claim=statement,
        where=where,
        printed=printed,
        recomputed=str(recomputed),
        verdict=judge(printed, recomputed),
        formula=formula,
        note=note,
    )


def stated(
    statement: str, where: str, printed: str, recomputed: str, formula: str, *, holds: bool, note: str = ""
) -> Claim:
    """A sentence about names or order: it holds or it does not."""
    return Claim(
        paper=PAPER,
        claim=statement,
        where=where,
        printed=printed,
        recomputed=recomputed,
        verdict="reproduces" if holds else "conflict",
        formula=formula,
        note=note,
    )


def untested(statement: str, where: str, printed: str, formula: str, *, note: str, recomputed: str = "") -> Claim:
    """A statement that the readable cells cannot test; `recomputed` may hold the nearest figure they give."""
    return Claim(
        paper=PAPER,
        claim=statement,
        where=where,
        printed=printed,
        recomputed=recomputed,
        verdict="cannot be recomputed",
        formula=formula,
        note=note,
    )
