"""Scores of several laboratories for the same weights and data, as pages show them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from compute.analysis import replication
from compute.analysis.ranking import Ranking
from compute.analysis.ranks.variance import listed
from compute.analysis.replication import Cause
from compute.types import WHOLE, origins_in
from leaderboard.data.board_table import BoardTable
from leaderboard.data.database import Database, shared
from leaderboard.html.labels import origin_title


class Unlike(NamedTuple):
    """A task on which the order of models differs between laboratories."""

    data: str
    origins: tuple[str, str]
    sentence: str


SAME = 0.05  # points, below which two scores are printed alike


class Others(NamedTuple):
    """One origin's value of a model on a data set next to another's, in percentage points."""

    who: str
    value: float
    difference: float  # less the first's
    usual: float  # size of difference that 9 of 10 models have at most between the two; NaN: too few models
    models: int  # that both measured
    causes: Sequence[Cause]
    metric: str  # its title, empty where it is that of the first
    source: str
    subsets: int  # whose mean both values are; 0: of the whole task

    @property
    def sentence(self) -> str:
        """Returns the value, its distance from the first, whether that is usual, and why."""
        value = f"{self.value:.1f}{f' ({self.metric})' if self.metric else ''}"
        if abs(self.difference) < SAME:
            return f"{value}, the same."
        size = f"{abs(self.difference):.1f} points {'higher' if self.difference > 0 else 'lower'}"
        if not np.isnan(self.usual):
            size += f", {'usual' if abs(self.difference) <= self.usual else 'more than usual'} "
            size += f"(9 of 10 of {self.models} models differ by at most {self.usual:.1f})"
        return f"{value}, {size}. {reasons(self.causes)}"


def reasons(causes: Sequence[Cause]) -> str:
    """Describes why two laboratories may differ."""
    each = [
        f"{'Cause' if cause.certainty == 'known' else 'Likely cause'}: {cause.aspect} ({cause.a}; {cause.b})."
        for cause in causes
    ]
    return " ".join(each) or "Unexplained."


@shared
def pairs(db: Database) -> pd.DataFrame:
    """Returns every two origins' values of a model on the same data, as `replication.pairs`, with the `title` of the
    data.
    """
    found = replication.pairs(db.query("measured_by_several"))
    titles = db.keyed("tasks")["title"]
    named = found[found["task_b"].str.startswith("datacomp/")].drop_duplicates("data").set_index("data")
    title = found["data"].map(named["task_b"]).fillna(found["task_a"]).map(titles)
    return found.assign(title=title)


@shared
def agreement(db: Database) -> pd.DataFrame:
    """Returns how every two origins agree on each data set, as `replication.agreement`, with the `title` of the
    data.
    """
    found = pairs(db)
    titles = found.drop_duplicates("data").set_index("data")["title"]
    rows = replication.agreement(found)
    return rows.assign(title=rows["data"].map(titles))


@shared
def means(db: Database) -> pd.DataFrame:
    """Returns how every two origins agree in the mean over their shared data sets, as `replication.means`."""
    return replication.means(pairs(db))


@shared
def failing(db: Database) -> dict[str, Unlike]:
    """Returns the tasks whose order another laboratory does not replicate."""
    rows = agreement(db)
    found = rows[(rows["verdict"] == replication.FAILS) & (rows["subset"] == WHOLE)]
    tasks = pairs(db)
    out = {}
    for row in found.itertuples():
        same = tasks[(tasks["a"] == row.a) & (tasks["b"] == row.b) & (tasks["data"] == row.data)].iloc[0]
        for task in dict.fromkeys((same["task_a"], same["task_b"])):
            out[task] = Unlike(
                row.data,
                (row.a, row.b),
                f"{origin_title(row.a)} and {origin_title(row.b)} put {row.models} models in different orders here: "
                f"Kendall's τ {row.tau:.2f}, 95% {row.low:.2f} to {row.high:.2f}",
            )
    return out


def sensitivity(db: Database, table: BoardTable, ranked: Ranking | None) -> str:
    """Says whether another model leads a suite without the tasks whose order another laboratory does not replicate;
    empty if there are none.
    """
    tasks = {task for task, unlike in failing(db).items() if table.origin in unlike.origins}
    said = without(table, ranked, tasks)
    return f"Another laboratory does not replicate the order of models on {said}." if said else ""


def without(table: BoardTable, ranked: Ranking | None, tasks: Collection[str]) -> str:
    """Says which of some tasks count in a ranking, and who leads without them; empty if none counts."""
    counted = [] if ranked is None else [table.columns[at] for at in np.flatnonzero(ranked.table.chosen)]
    gone = [column for column in counted if column.task in tasks]
    kept = frozenset(column.task for column in counted) - {column.task for column in gone}
    if ranked is None or not gone or not kept:
        return ""
    leaders = [
        [table.rows[row].title for row in table.rows_of(table.origin) if of.rank[row] == 1]
        for of in (ranked, table.ranked(tasks=kept))
    ]
    if not all(leaders):
        return ""
    before, after = map(listed, leaders)
    leads = f"{before} still leads" if before == after else f"{after} leads instead of {before}"
    which = listed([column.title for column in gone])
    return f"{which}: without {'it' if len(gone) == 1 else 'them'}, {leads}"


def causes(db: Database, row: Any) -> list[Cause]:
    """Returns why the two origins of a row of `pairs` may differ, from the register of protocols."""
    return replication.causes(row, protocols=db.query("protocols"), laboratories=db.query("laboratories"))


def others(db: Database, *, model: str, origin: str, task: str, metric: str) -> list[Others]:
    """Returns other origins' scores of a model on the data of a task, next to one origin's score by a metric."""
    found, sizes, titles = pairs(db), agreement(db), db.keyed("metrics")["title"]
    mine = found[(found["model"] == model) & (found["subset"] == WHOLE)]
    out = {}
    for side, other, sign in (("a", "b", 1), ("b", "a", -1)):
        is_own = (mine[side] == origin) & (mine[f"task_{side}"] == task) & (mine[f"metric_{side}"] == metric)
        for row in mine[is_own].itertuples():
            same = sizes[sizes["a"].eq(row.a) & sizes["b"].eq(row.b) & sizes["data"].eq(row.data)]
            (about,) = same[same["subset"] == WHOLE].itertuples()
            of = {name: getattr(row, f"{name}_{other}") for name in ("value", "metric", "source")}
            out[getattr(row, other)] = Others(
                who=getattr(row, other),
                value=of["value"],
                difference=sign * row.difference,
                usual=about.usual if about.models >= replication.FEWEST else np.nan,
                models=about.models,
                causes=causes(db, row),
                metric="" if of["metric"] == metric else titles[of["metric"]],
                source=of["source"],
                subsets=row.subsets,
            )
    return [out[who] for who in origins_in(out)]


def measured(db: Database, *, model: str, data: str) -> list[dict[str, Any]]:
    """Returns all values of a model on a data set: who, value (points; the mean of several subsets), metric and its
    title, source, task, harness.
    """
    rows = db.query("measured")
    rows = rows[(rows["model"] == model) & (rows["data"] == data)]
    rows = rows[rows["subset"].eq(WHOLE) | ~rows["subset"].eq(WHOLE).any()]
    keys = ["origin", "task", "metric"]
    means = rows.groupby(keys, as_index=False).agg({"value": "mean", "scale": "first", "source": "first"})
    titles, laboratories = db.keyed("metrics")["title"], db.query("laboratories")
    order = origins_in(means["origin"])
    return [
        {
            **row,
            "who": row["origin"],
            "value": row["value"] * row["scale"],
            "title": titles[row["metric"]],
            "harness": replication.harness_of(row["origin"], row["task"], laboratories)[1],
        }
        for row in sorted(means.to_dict("records"), key=lambda row: order.index(row["origin"]))
    ]
