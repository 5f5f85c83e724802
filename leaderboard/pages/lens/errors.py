"""The simulated rates at which the study sees a fault where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from compute.analysis.generators import false_verdicts
from compute.engine.generators.backbones import JOIN
from compute.paths import FAULT_ERRORS


@dataclass(frozen=True, kw_only=True)
class FalseRates:
    """The range over the metrics, as shares."""

    single: tuple[float, float]  # of single changes at 5% each
    study: tuple[float, float]  # of studies with any false verdict of a metric
    studies: int
    backbone: str


@cache
def stored() -> FalseRates | None:
    """Of the stored table; None where there is none."""
    if not FAULT_ERRORS.exists():
        return None
    _, rows = false_verdicts.load(FAULT_ERRORS)
    single, study = [row.single for row in rows], [row.study for row in rows]
    return FalseRates(
        single=(min(single), max(single)),
        study=(min(study), max(study)),
        studies=rows[0].studies,
        backbone=rows[0].backbone.partition(JOIN)[0],
    )
