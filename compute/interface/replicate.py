"""`compute.replicate`: compares the user's scores with what others measured for the same weights and data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from compute import paths
from compute.analysis import replication
from compute.arrays import Floats
from compute.database import store
from compute.io import forms
from compute.io.forms import Form, FormField
from compute.io.tables import TableFile, is_table, read_table
from compute.pages.shown import ShownTable, ShowsItself
from compute.types import WHOLE, BadInput, counted, shortened, unknown

OWN = "computed"
SCORES = Form(
    "own scores",
    (
        *map(FormField, ("model", "task")),
        FormField("value", kind=forms.SHARE),
        FormField("metric", optional=True, kind=forms.BLANK),
    ),
)


@dataclass(frozen=True, kw_only=True, repr=False)
class Replication(ShowsItself):
    """The user's scores with all that others measured for the same weights and data.

    `found`: a row per data set, model and other origin: data, subset, model, task, who, mine, theirs, difference (mine
    minus theirs, points), usual, inside, cause, source.
    """

    found: pd.DataFrame
    notes: tuple[str, ...] = ()  # how a table was read, in sentences

    def frame(self) -> pd.DataFrame:
        """Returns the rows of `found`, sorted by how unusually large the difference is for the data set."""
        return self.found.copy()

    def shown_table(self) -> ShownTable:
        """Returns a line per comparison, below a summary of how many are within the usual differences."""
        known = self.found["inside"].notna()
        inside, outside = (self.found["inside"].eq(value).sum() for value in (True, False))
        above = f"{counted(len(self.found), 'score')} of others for the same weights and data: {inside} within what "
        above += f"laboratories differ by, {outside} beyond it, {len(self.found) - known.sum()} without such a measure."
        return ShownTable(
            heads=("model", "data", "who", "mine", "theirs", "difference", "usual", "cause"),
            rows=[
                (
                    row.model,
                    row.data if row.subset == "default" else f"{row.data}, {row.subset}",
                    row.who,
                    f"{row.mine:.2f}",
                    f"{row.theirs:.2f}",
                    f"{row.difference:+.2f}" + ("" if row.inside is not False else " !"),
                    "" if np.isnan(row.usual) else f"{row.usual:.2f}",
                    shortened(row.cause),
                )
                for row in self.found.itertuples()
            ],
            above=[above, *self.notes],
            below=["Points. Usual: 9 of 10 models differ by at most this between two laboratories. !: beyond it."],
        )


def replicate(
    results: Annotated[Path | Any, "A folder of results of your own, or a table: model, task, value, metric."],
    *,
    model: Annotated[str, "Only this model; default: all that were run."] = "",
    weights_of: Annotated[str, "Key of the listed model whose weights --model has, where it is another."] = "",
) -> Replication:
    """Sets computed scores next to what laboratories measured for the same weights and data.

    It says how far apart they are, whether laboratories differ as much, and what may cause it.

    results: a folder of runs, what `compute.evaluate` returned, or a table (file or frame) of numbers from anywhere:
    model, task, value (0.851 or 85.1) and, if it is not the task's first, metric. Raises BadInput if nothing can
    be compared.
    """
    from compute.database.build import bring_up_to_date

    table, notes = None, ()
    if isinstance(results, pd.DataFrame) or (isinstance(results, (str, Path)) and is_table(results)):
        path, table = paths.DATABASE, results
        bring_up_to_date(path)
    elif isinstance(results, (str, Path)):
        folder = Path(results)
        if not folder.is_dir():
            raise BadInput(f"There is no folder {folder}: give the folder that the runs are in, such as results")
        path = paths.DATABASE if folder.resolve() == paths.RESULTS.resolve() else folder / "likeness.duckdb"
        bring_up_to_date(path, results=folder)
    else:
        path, model = results.database(), model or results.model.key
    frames = store.frames(path, names=("measured", "protocols", "laboratories"))
    measured = frames.pop("measured")
    if table is not None:
        rows = _own(table, measured)
        notes = (f"Read {counted(len(rows), 'score')}.",)
        measured = pd.concat([measured[measured["origin"] != OWN], rows], ignore_index=True)
    own = measured["origin"] == OWN
    known = sorted(measured.loc[own, "model"].unique())
    if model and model not in known:
        raise BadInput(f"{unknown('model', model, known)} Run: {', '.join(map(shortened, known)) or 'none'}")
    if weights_of and not model:
        raise BadInput("Say whose scores these are too: --model KEY")
    measured = measured[~own | (measured["model"] == model)] if model else measured
    if weights_of:
        measured.loc[measured["origin"] == OWN, "model"] = weights_of
    pairs = replication.pairs(measured)
    if (found := compared(pairs, **frames)).empty:
        raise BadInput(
            "Nobody else has scores of these models on these data. If the weights are a listed model's, name it: "
            "--model KEY --weights-of LISTED"
        )
    return Replication(found=found, notes=notes)


def _own(source: Path | pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of a table of the user's scores in the format of the view. Raises BadInput with the row."""
    is_frame = isinstance(source, pd.DataFrame)
    table = TableFile(title="the table", frame=source.astype(str)) if is_frame else read_table(Path(source))
    _, frame, _ = forms.read(table, [SCORES])
    known = measured.drop_duplicates(["task", "metric"]).set_index(["task", "metric"])
    rows = []
    for at, row in enumerate(frame.to_dict("records"), start=1):
        tasks = known.loc[known.index.get_level_values("task") == row["task"]]
        metric = row.get("metric") or (tasks.index[0][1] if len(tasks) else "")
        if (row["task"], metric) not in known.index:
            names = tasks.index.get_level_values("metric") if len(tasks) else known.index.get_level_values("task")
            what = unknown("metric", metric, names) if len(tasks) else unknown("task", row["task"], names.unique())
            raise BadInput(f"{table.title}, row {at}: {what} Nobody else has scores of it")
        about = known.loc[(row["task"], metric)]
        facts = {"model": row["model"].lower(), "task": row["task"], "metric": metric, "value": row["value"]}
        rows.append({**about[["data", "scale"]], "subset": WHOLE, "origin": OWN, "source": "", **facts})
    frame = pd.DataFrame(rows)
    if (twice := frame.duplicated(["model", "task", "metric"])).any():
        raise BadInput(f"{table.title}, row {int(twice.idxmax()) + 1}: a duplicate score of this model and task")
    return frame


def compared(pairs: pd.DataFrame, protocols: pd.DataFrame, laboratories: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of `Replication.found` from all pairs of origins whose second origin is the user's."""
    sizes = replication.agreement(pairs[pairs["b"] != OWN])
    sizes = sizes[(sizes["models"] >= replication.FEWEST) & (sizes["verdict"] != replication.SAME_RUNS)]
    usual = sizes.groupby(["data", "subset", "same"])["usual"].max()
    mine = pairs[pairs["b"] == OWN].rename(columns={"value_a": "theirs", "value_b": "mine", "source_a": "source"})
    if mine.empty:
        return mine
    mine = mine.assign(task=mine["task_b"], who=mine["a"], usual=_usual(mine, usual))
    inside = mine["difference"].abs() <= mine["usual"]
    mine["inside"] = inside.astype(object).where(mine["usual"].notna(), None)
    mine["cause"] = [
        "; ".join(
            f"{cause.aspect}: {cause.a} there, {cause.b} here"
            for cause in replication.causes(row, protocols=protocols, laboratories=laboratories)
        )
        or ("" if row.inside else "unexplained")
        for row in mine.itertuples()
    ]
    order = (mine["difference"].abs() / mine["usual"]).fillna(0)
    columns = ["data", "subset", "model", "task", "who", "mine", "theirs", "difference", "usual", "inside", "cause"]
    return mine.loc[order.sort_values(ascending=False, kind="stable").index, [*columns, "source"]].reset_index(
        drop=True
    )


def _usual(mine: pd.DataFrame, usual: pd.Series) -> Floats:
    """Returns the usual difference of two laboratories on the data and subset of each row, with equal or different
    metrics like the row.
    """
    keys = zip(mine["data"], mine["subset"], mine["same"], strict=True)
    return np.array([usual.get(key, np.nan) for key in keys], float)
