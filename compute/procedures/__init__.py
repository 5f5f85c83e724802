"""Every way a question is put to a model."""

from __future__ import annotations

from compute.procedures.choice import PROCEDURE as CHOICE
from compute.procedures.clustering import PROCEDURE as CLUSTERING
from compute.procedures.evidence import GENERATED, ItemView, Procedure
from compute.procedures.judging import PROCEDURE as JUDGING
from compute.procedures.matching import PROCEDURE as MATCHING
from compute.procedures.multiple_choice import PROCEDURE as MULTIPLE_CHOICE
from compute.procedures.neighbours import PROCEDURE as NEIGHBOURS
from compute.procedures.odd_one_out import PROCEDURE as ODD_ONE_OUT
from compute.procedures.probe import LABELS
from compute.procedures.probe import PROCEDURE as PROBE
from compute.procedures.retrieval import PROCEDURE as RETRIEVAL
from compute.procedures.sts import PROCEDURE as STS
from compute.procedures.zero_shot import PROCEDURE as ZERO_SHOT
from compute.types import BadInput

PROCEDURES: tuple[Procedure, ...] = (
    CHOICE,
    ODD_ONE_OUT,
    RETRIEVAL,
    PROBE,
    ZERO_SHOT,
    CLUSTERING,
    NEIGHBOURS,
    STS,
    MATCHING,
    MULTIPLE_CHOICE,
    JUDGING,
)

VIEWS: dict[str, ItemView] = {each.key: each.view for each in PROCEDURES} | {"labels": LABELS, "frechet": GENERATED}


def procedure(key: str) -> Procedure:
    """The procedure of that key. Raises BadInput for another."""
    known = {procedure.key: procedure for procedure in PROCEDURES}
    if key not in known:
        raise BadInput(f"No procedure {key!r}; there are: {', '.join(known)}")
    return known[key]
