"""What several laboratories measured for the same weights and data, as pages show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute.analysis import replication
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.variance import listed
from compute.analysis.replication import Cause
from compute.types import origins_in
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database
from leaderboard.data.memo import shared
from leaderboard.html.labels import origin_title


class Unlike(NamedTuple):
    """That the order of models on a task is another with another laboratory."""

    data: str
    sentence: str


SAME = 0.05  # points, below which two scores are printed alike


class Others(NamedTuple):
    """One origin's value of a model on a data set beside another's, in points."""

    who: str
    value: float
    difference: float  # less the first's
    usual: float  # size of difference that 9 of 10 models have at most between the two; NaN: too few models
    models: int  # that both measured
    causes: Sequence[Cause]
    metric: str
    source: str

    @property
    def is_usual(self) -> bool:
        """Whether laboratories differ by as much on other models."""
        return abs(self.difference) <= self.usual

    @property
    def sentence(self) -> str:
        """The value, how far it is from the first's, whether that is usual, and why."""
        size = f"{abs(self.difference):.1f} points {'higher' if self.difference > 0 else 'lower'}"
        if not np.isnan(self.usual):
            size += f", {'usual' if self.is_usual else 'more than usual'} among {self.models} models"
        why = [
            f"{'cause' if cause.certainty == 'known' else 'likely cause'}: {cause.aspect} ({cause.a}; {cause.b})"
            for cause in self.causes
        ]
        reasons = "; ".join(why) or "unexplained"
        return (
            f"{self.value:.1f}, the same"
            if self.is_same
            else f"{self.value:.1f}, {size}. {reasons[:1].upper()}{reasons[1:]}"
        )

    @property
    def is_same(self) -> bool:
        """Whether both print the same score."""
        return abs(self.difference) < SAME


@shared
def pairs(db: Database) -> pd.DataFrame:
    """Every two origins' values of a model on the same data, as `replication.pairs`, with the `title` of the data."""
    found = replication.pairs(db.query("measured"))
    titles = db.keyed("tasks")["title"]
    named = found[found["task_b"].str.partition("/")[0] == "datacomp"].drop_duplicates("data").set_index("data")
    title = found["data"].map(named["task_b"]).fillna(found["task_a"]).map(titles)
    return found.assign(title=title)


@shared
def agreement(db: Database) -> pd.DataFrame:
    """How every two origins agree on each data set, as `replication.agreement`, with the `title` of the data."""
    found = pairs(db)
    titles = found.drop_duplicates("data").set_index("data")["title"]
    rows = replication.agreement(found)
    return rows.assign(title=rows["data"].map(titles))


@shared
def means(db: Database) -> pd.DataFrame:
    """How every two origins agree in the mean over their shared data sets, as `replication.means`."""
    return replication.means(pairs(db))


@shared
def failing(db: Database) -> dict[str, Unlike]:
    """The tasks whose order another laboratory does not replicate."""
    rows = agreement(db)
    found = rows[(rows["verdict"] == replication.FAILS) & (rows["subset"] == "default")]
    tasks = pairs(db)
    out = {}
    for row in found.itertuples():
        same = tasks[(tasks["a"] == row.a) & (tasks["b"] == row.b) & (tasks["data"] == row.data)].iloc[0]
        for task in dict.fromkeys((same["task_a"], same["task_b"])):
            out[task] = Unlike(
                row.data,
                f"{origin_title(row.a)} and {origin_title(row.b)} put {row.models} models in different orders here: "
                f"Kendall's τ {row.tau:.2f}, 95% {row.low:.2f} to {row.high:.2f}",
            )
    return out


def sensitivity(db: Database, table: BoardTable, ranked: Ranking | None) -> str:
    """Whether another model leads a suite without the tasks whose order another laboratory does not replicate, as a
    sentence; empty where it has none."""
    gone = [column for column in table.columns if column.ranked and column.task in failing(db)]
    kept = frozenset(column.task for column in table.columns) - {column.task for column in gone}
    if ranked is None or not gone or not kept:
        return ""
    leaders = [
        [table.rows[row].title for row in table.rows_of(table.origin) if of.rank[row] == 1]
        for of in (ranked, table.ranked(tasks=kept))
    ]
    before, after = (listed(each) if each else "no model" for each in leaders)
    tasks = listed([column.title for column in gone])
    leads = f"{before} still leads" if before == after else f"{after} leads instead of {before}"
    return f"Another laboratory does not replicate the order of models on {tasks}: without it, {leads}."


def causes(db: Database, row: Any) -> list[Cause]:
    """Why the two origins of a row of `pairs` may differ, by the register of protocols."""
    return replication.causes(row, protocols=db.query("protocols"), laboratories=db.query("laboratories"))


def others(db: Database, *, model: str, data: str, origin: str, subset: str = "default") -> list[Others]:
    """What other origins than one measured of a model on a data set, in their order."""
    found, sizes, titles = pairs(db), agreement(db), db.keyed("metrics")["title"]
    mine = found[(found["data"] == data) & (found["model"] == model) & (found["subset"] == subset)]
    by_cell = sizes[(sizes["data"] == data) & (sizes["subset"] == subset)]
    out = []
    for row in mine[(mine["a"] == origin) | (mine["b"] == origin)].itertuples():
        side, sign = ("b", 1) if row.a == origin else ("a", -1)
        who = getattr(row, side)
        same = by_cell[by_cell["a"].eq(row.a) & by_cell["b"].eq(row.b)]
        enough = len(same) and same["models"].iloc[0] >= replication.FEWEST
        value, metric, source = (getattr(row, f"{name}_{side}") for name in ("value", "metric", "source"))
        out.append(
            Others(
                who=who,
                value=value,
                difference=sign * row.difference,
                usual=float(same["usual"].iloc[0]) if enough else np.nan,
                models=int(same["models"].iloc[0]) if len(same) else 1,
                causes=causes(db, row),
                metric=titles[metric],
                source=source,
            )
        )
    order = origins_in(each.who for each in out)
    return sorted(out, key=lambda each: order.index(each.who))


def others_of(db: Database, *, model: str, task: str, origin: str) -> list[Others]:
    """What other origins measured of a model on the data of a task, beside one origin's score of it."""
    found = pairs(db)
    mine = found[(found["model"] == model) & ((found["task_a"] == task) | (found["task_b"] == task))]
    return [
        each
        for data in mine.loc[(mine["a"] == origin) | (mine["b"] == origin), "data"].unique()
        for each in others(db, model=model, data=data, origin=origin)
    ]


def measured(db: Database, *, model: str, data: str) -> list[dict[str, Any]]:
    """Everyone's value of a model on a data set: who, value (points), metric, source, harness."""
    rows = db.query("measured")
    rows = rows[(rows["model"] == model) & (rows["data"] == data) & (rows["subset"] == "default")]
    titles, laboratories = db.keyed("metrics")["title"], db.query("laboratories")
    order = origins_in(rows["origin"])
    return [
        {
            "who": row.origin,
            "value": row.value * row.scale,
            "metric": titles[row.metric],
            "source": row.source,
            "task": row.task,
            "harness": replication.harness_of(row.origin, row.task, laboratories)[1],
        }
        for row in sorted(rows.itertuples(), key=lambda row: order.index(row.origin))
    ]
