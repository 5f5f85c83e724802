"""`compute.audit`: finds the scores of a table that the rest of it contradicts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from compute.analysis import audit as audits
from compute.analysis.audit import Doubt
from compute.analysis.table import ScoreTable
from compute.interface.score_layouts import TableOfScores
from compute.interface.score_reading import ScoreReading
from compute.options import taking
from compute.pages.shown import ShownTable, ShowsItself
from compute.rounding import decimals, rounded
from compute.types import counted


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(ShowsItself):
    """The doubtful scores of a table, the most certain first."""

    table: ScoreTable
    doubts: tuple[Doubt, ...]

    def frame(self) -> pd.DataFrame:
        """Returns a row per doubt: model, task, kind, value, expected, low, high, reason."""
        return pd.DataFrame(self.doubts, columns=list(Doubt._fields))

    def shown_table(self) -> ShownTable:
        """Returns a line per doubt; a copied model has one line."""
        digits = decimals(self.table.values)

        def text(value: float) -> str:
            return "" if math.isnan(value) else rounded(value, digits)

        copies = any(one.kind == audits.COPY for one in self.doubts)
        known, judged = int((~np.isnan(self.table.values)).sum()), int(audits.taking_part(self.table).sum())
        few = f"; no model was judged by its other scores: {audits.NEEDS}"
        many = f"; {judged} of {counted(len(self.table.models), 'model')} were judged by their other scores"
        return ShownTable(
            heads=("model", "task", "value", "expected", "from", "to", "why"),
            rows=[
                (one.model, one.task, *map(text, (one.value, one.expected, one.low, one.high)), one.reason)
                for one in {
                    (one.model, one.reason, one.kind == audits.COPY or one.task): one for one in self.doubts
                }.values()
            ],
            above=[
                f"{audits.summary(self.doubts) or 'Nothing doubtful'} among {counted(known, 'score')}"
                f"{many if judged else few}.",
                *self.table.notes,
            ],
            below=["Of results that are equal to another model's, one task is listed."] * copies
            + ["Expected from the model's other scores by the other models; from and to: 95%."],
        )


@taking(ScoreReading, without=("groups", "shares"))
def audit(scores: TableOfScores, **reading: Any) -> Audit:
    """Lists the scores of any table that the rest of it contradicts: failed runs, copied results.

    scores and how to read it as in `compute.rank`; the method is that of `compute.analysis.audit`. Raises BadInput.
    """
    table = ScoreReading(**reading).table(scores, mixed=True)
    return Audit(table=table, doubts=tuple(audits.audit(table)))
