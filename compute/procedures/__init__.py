"""All procedures: the ways in which models are asked questions."""

from __future__ import annotations

from compute.procedures import (
    calibration,
    choice,
    clustering,
    judging,
    matching,
    multiple_choice,
    neighbours,
    odd_one_out,
    probe,
    retrieval,
    sts,
    zero_shot,
)
from compute.procedures.evidence import GENERATED, ItemView, Procedure
from compute.types import BadInput

PROCEDURES: tuple[Procedure, ...] = tuple(
    module.PROCEDURE
    for module in (
        choice,
        odd_one_out,
        retrieval,
        probe,
        zero_shot,
        clustering,
        neighbours,
        sts,
        matching,
        multiple_choice,
        judging,
        calibration,
    )
)

LABELLED = ("choice", "odd_one_out", "probe", "zero_shot", "neighbours")  # the answer is one of the items' labels
ONE_VECTOR = frozenset(each.key for each in PROCEDURES if not each.late_interaction)  # take no model of many an item

VIEWS: dict[str, ItemView] = {each.key: each.view for each in PROCEDURES} | {
    "labels": probe.LABELS,
    "frechet": GENERATED,
}


def procedure(key: str) -> Procedure:
    """Returns the procedure with that key. Raises BadInput for an unknown key."""
    known = {procedure.key: procedure for procedure in PROCEDURES}
    if key not in known:
        raise BadInput(f"No procedure {key!r}; there are: {', '.join(known)}")
    return known[key]
