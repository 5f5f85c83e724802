"""How a printed figure is held against the recomputed one."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation

from compute.types import BadInput, Claim


def decimals(printed: str) -> int:
    """Digits after the point of a printed number, `72.6%` -> 1. Raises BadInput for anything else."""
    text = printed.strip().removesuffix("%").strip()
    try:
        exponent = Decimal(text).as_tuple().exponent
    except InvalidOperation as error:
        raise BadInput(f"{printed!r} is not a printed number: give digits, with or without a percent sign") from error
    if not isinstance(exponent, int):
        raise BadInput(f"{printed!r} is not a finite number")
    return max(0, -exponent)


def judge(printed: str, recomputed: float | None, *, slack: float = 0.0) -> str:
    """The verdict on one figure.

    `recomputed` is in printed units; `slack` is the largest error that the rounding of the inputs can cause, in
    printed units. A value that rounds to the printed digits, half up or half to even, reproduces; one within half a
    printed unit plus slack is rounding; anything further is a conflict; None cannot be recomputed.
    """
    if recomputed is None or not math.isfinite(recomputed):
        return "cannot be recomputed"
    places = decimals(printed)
    value = float(Decimal(printed.strip().removesuffix("%").strip()))
    half = 0.5 * 10**-places
    gap = abs(recomputed - value)
    if gap <= half + 1e-9:
        return "reproduces"
    return "rounding" if gap <= half + slack + 1e-9 else "conflict"


def shown(value: float | None, *, like: str, extra: int = 2) -> str:
    """A recomputed value with `extra` more digits than the printed one, or an empty text."""
    if value is None or not math.isfinite(value):
        return ""
    return f"{value:.{decimals(like) + extra}f}"


def stated(
    paper: str,
    claim: str,
    where: str,
    printed: str,
    recomputed: str,
    verdict: bool | str,
    *,
    formula: str,
    note: str = "",
) -> Claim:
    """A sentence of a paper as a claim: True reproduces, False is a conflict; a verdict in words stays as it is."""
    if not isinstance(verdict, str):
        verdict = "reproduces" if verdict else "conflict"
    return Claim(
        paper=paper,
        claim=claim,
        where=where,
        printed=printed,
        recomputed=recomputed,
        verdict=verdict,
        note=note,
        formula=formula,
    )
