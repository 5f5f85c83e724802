"""The automatic metrics that judge generators, held against people on each of cFreD's three sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.analysis.preference import AGAINST, FOLLOWS, TOO_FEW, UNPROVEN, Agreement, agree, verdicts
from compute.types import BadInput
from leaderboard.data import task_queries
from leaderboard.data.database import Database
from leaderboard.data.ranked import SEED
from leaderboard.data.suite_table import SuiteColumn, SuiteTable

PEOPLE, TRAINED = "People", "Trained on preferences"
# The metric's column beside the model under which its printed ρ² and rank accuracy are filed.
JUDGES = {
    "fid": "fid",
    "fd_dinov2": "fd-dinov2",
    "clipscore": "clipscore",
    "cmmd": "cmmd",
    "cfred": "cfred",
    "aesthetic": "aesthetic",
    "imagereward": "thudm/imagereward",
    "hpsv2": "xswu/hpsv2",
    "mps": "mps",
}


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One metric on one set, with one of `compute.analysis.preference`'s verdicts."""

    column: SuiteColumn
    trained: bool  # on people's preferences
    trained_here: bool  # on this very data set
    agreement: Agreement
    verdict: str
    printed_rho: str
    printed_accuracy: str  # empty where the paper prints none
    scores: np.ndarray  # [generators]
    ranks: np.ndarray  # [generators], as printed

    @property
    def proven(self) -> bool:
        """Whether its agreement or disagreement with people is more than chance gives."""
        return self.verdict in (FOLLOWS, AGAINST)

    @property
    def reading(self) -> str:
        """What may be said of it, and no more."""
        if self.verdict in (TOO_FEW, UNPROVEN):
            return f"{'right' if self.agreement.right_way else 'wrong'} way, {self.verdict}"
        if self.verdict == AGAINST:
            return "against people"
        return "follows people, trained on this set" if self.trained_here else "follows people"


@dataclass(frozen=True, kw_only=True)
class Jury:
    """All metrics on one set of generators, with what people said."""

    table: SuiteTable
    people: SuiteColumn
    human: np.ndarray  # [generators], stored units
    human_ranks: np.ndarray
    judges: tuple[Judge, ...]

    def judge(self, metric: str) -> Judge:
        """One metric. Raises BadInput for one that is not there."""
        for judge in self.judges:
            if judge.column.metric == metric:
                return judge
        raise BadInput(f"{self.table.suite['title']} has no metric {metric!r}. Choose another one")


def jury(db: Database, table: SuiteTable) -> Jury:
    """Recomputes every agreement of a set from its listed scores and ranks."""
    where = {column.metric: place for place, column in enumerate(table.columns)}
    people = next(column for column in table.columns if column.group == PEOPLE)
    human = table.values[:, where[people.metric]]
    human_ranks = table.values[:, where["human_rank"]]
    task = people.task
    listed = task_queries.printed_agreement(db, task=task)
    printed = {(row.model, row.metric): row.printed for row in listed.itertuples()}
    found = []
    for metric in JUDGES:
        if metric not in where or f"{metric}_rank" not in where:
            continue
        column = table.columns[where[metric]]
        scores, ranks = table.values[:, where[metric]], table.values[:, where[f"{metric}_rank"]]
        found.append(
            (
                column,
                scores,
                ranks,
                agree(
                    scores=scores,
                    human=human,
                    ranks=ranks,
                    human_ranks=human_ranks,
                    higher=column.higher,
                    seed=SEED,
                ),
            )
        )
    seen = set(task_queries.trained_models(db, task=task)["model"])
    said = verdicts([agreement for *_, agreement in found])
    return Jury(
        table=table,
        people=people,
        human=human,
        human_ranks=human_ranks,
        judges=tuple(
            Judge(
                column=column,
                trained=column.group == TRAINED,
                trained_here=JUDGES[column.metric] in seen,
                agreement=agreement,
                verdict=verdict,
                scores=scores,
                ranks=ranks,
                printed_rho=printed.get((JUDGES[column.metric], "rho_squared"), ""),
                printed_accuracy=printed.get((JUDGES[column.metric], "rank_accuracy"), ""),
            )
            for (column, scores, ranks, agreement), verdict in zip(found, said, strict=True)
        ),
    )
