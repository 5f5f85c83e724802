"""The automatic metrics that judge generators, held against people on each of cFreD's three sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.analysis.preference import FEWEST, Agreement, agree
from compute.analysis.ties import holm
from compute.types import BadInput
from leaderboard import queries_pages
from leaderboard.board.ranked import SEED
from leaderboard.board.table import Column, Table
from leaderboard.queries import Database

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
ALPHA = 0.05


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One metric on one set. `proven` means: below 5% by permutation, Holm-corrected over the metrics of the set."""

    column: Column
    trained: bool  # on people's preferences
    trained_here: bool  # on this very data set
    agreement: Agreement
    proven: bool
    printed_rho: str
    printed_accuracy: str  # empty where the paper prints none
    scores: np.ndarray  # [generators]
    ranks: np.ndarray  # [generators], as printed

    @property
    def reading(self) -> str:
        """What may be said of it, and no more."""
        found = self.agreement
        way = "right way" if found.right_way else "wrong way"
        if found.generators < FEWEST:
            return f"{way}, too few"
        if not self.proven:
            return f"{way}, unproven"
        if not found.right_way:
            return "against people"
        return "follows people, trained on this set" if self.trained_here else "follows people"


@dataclass(frozen=True, kw_only=True)
class Jury:
    """All metrics on one set of generators, with what people said."""

    table: Table
    people: Column
    human: np.ndarray  # [generators], stored units
    human_ranks: np.ndarray
    judges: tuple[Judge, ...]

    def judge(self, metric: str) -> Judge:
        """One metric. Raises BadInput for one that is not there."""
        for judge in self.judges:
            if judge.column.metric == metric:
                return judge
        raise BadInput(f"{self.table.suite['title']} has no metric {metric!r}. Choose another one")


def jury(db: Database, table: Table) -> Jury:
    """Recomputes every agreement of a set from its listed scores and ranks."""
    where = {column.metric: place for place, column in enumerate(table.columns)}
    people = next(column for column in table.columns if column.group == PEOPLE)
    human = table.values[:, where[people.metric]]
    human_ranks = table.values[:, where["human_rank"]]
    task = people.task
    listed = queries_pages.printed_agreement(db, task=task)
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
    seen = set(queries_pages.trained_on_task(db, task=task)["model"])
    proven = holm([agreement.p for *_, agreement in found], alpha=ALPHA)
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
                proven=bool(sure),
                scores=scores,
                ranks=ranks,
                printed_rho=printed.get((JUDGES[column.metric], "rho_squared"), ""),
                printed_accuracy=printed.get((JUDGES[column.metric], "rank_accuracy"), ""),
            )
            for (column, scores, ranks, agreement), sure in zip(found, proven, strict=True)
        ),
    )
