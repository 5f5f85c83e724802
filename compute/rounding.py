"""The single rule for formatting numbers on pages, in tooltips and in files; `js/number.js` is its JavaScript version.

A number is rounded half to even on its decimal digits, not on its binary approximation: 37.45 is stored as
37.4500000000000028, which formats as 37.5 in one place and 37.4 in another. The decimal is the number with DIGITS
significant digits in shown units. That covers everything a paper prints and drops the noise of float arithmetic (0.3745
* 100 may be 37.449999999999996). `tests/rounding.json` holds cases that both languages pass.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Context, Decimal

import numpy as np
from numpy.typing import ArrayLike

from compute.arrays import Floats
from compute.types import BadInput

PRINTED = 4  # most decimals in a printed table: a value with more was computed

DIGITS = 10  # significant; a mean of 130 tasks is off by about 1 in the 15th
EXACT = Context(prec=400, rounding=ROUND_HALF_EVEN)


def decimal(value: float, *, scale: float = 1.0) -> Decimal:
    """Returns value * scale, the number in shown units, without float noise. Raises BadInput for NaN and infinity."""
    if not math.isfinite(value):
        raise BadInput(f"{value} has no digits to show. Say in words what is missing")
    return Decimal(f"{float(value) * scale:.{DIGITS - 1}e}")


def clean(value: float, *, scale: float = 1.0) -> float:
    """Returns the same as a float, for data that is rounded elsewhere: 37.45 for 0.3745 * 100."""
    return float(decimal(value, scale=scale))


def rounded(value: float, digits: int, *, scale: float = 1.0, sign: bool = False) -> str:
    """Formats value * scale with `digits` decimals, rounded half to even; with `sign`, positive numbers get a plus.

    Zero has no sign. Raises BadInput for NaN and infinity: describe in words what is missing.
    """
    shown = decimal(value, scale=scale).quantize(Decimal(1).scaleb(-digits), context=EXACT)
    if not shown:
        return f"{abs(shown):f}"
    return f"{shown:+f}" if sign else f"{shown:f}"


def parameters_text(millions: float) -> str:
    """Formats a number of parameters given in millions: `26 B`, `1.3 B`, `428 M`, `7.1 M`, `3.1 k`, `96`."""
    for unit, sign in ((1e3, " B"), (1.0, " M"), (1e-3, " k")):
        if millions / unit >= 0.9995:
            return f"{rounded(millions, 0 if millions / unit >= 9.95 else 1, scale=1 / unit)}{sign}"
    return rounded(millions, 0, scale=1e6)


def rate_text(value: float) -> str:
    """Formats a measured rate or time: `12,151`, `25.5`, `0.93`."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def rounded_array(values: ArrayLike, digits: int, *, scale: float = 1.0) -> Floats:
    """Rounds finite numbers of any shape as `rounded` does, for a chart that shows no more decimals; NaN stays."""
    array = np.asarray(values, float)
    flat = [
        value if np.isnan(value) else float(rounded(value, digits, scale=scale)) for value in array.ravel().tolist()
    ]
    return np.array(flat).reshape(array.shape)


def printed_decimals(scores: np.ndarray) -> int:
    """Returns the number of decimals in the scores [n] of a table; if it exceeds PRINTED, at most that of
    `decimals`.
    """
    exact = [decimal(value).normalize().as_tuple().exponent for value in scores[~np.isnan(scores)].tolist()]
    printed = max((-int(exponent) for exponent in exact), default=0)
    return max(printed, 0) if printed <= PRINTED else min(printed, decimals(scores))


def decimals(values: np.ndarray) -> int:
    """Returns how many decimals show three significant digits of the spread of values [n]; 0 to 6."""
    known = values[~np.isnan(values)]
    spread = (np.ptp(known) or np.abs(known).max() or 1.0) if len(known) else 1.0
    return int(np.clip(2 - np.floor(np.log10(spread)), 0, 6))


def size(count: int | None) -> str:
    """Formats a number of bytes: `605 MB`."""
    if count is None:
        return "size unknown"
    step = min(4, max(0, (len(str(count)) - 1) // 3))
    value, unit = count / 1000**step, ("bytes", "kB", "MB", "GB", "TB")[step]
    return f"{value:.0f} {unit}" if value >= 10 or not step else f"{value:.1f} {unit}"
