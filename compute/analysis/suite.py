"""One suite from one origin as arrays: made from long frames, ready for choosing a smaller suite or for a map."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis.intervals import sampling_errors
from compute.analysis.ranks import ranking
from compute.arrays import Bools, Floats, Ints
from compute.types import ORIGINS, BadInput, Undefined

ALL = "all"  # origins together: one row a model, of the first origin in ORIGINS that has it


@dataclass(frozen=True, kw_only=True)
class SuiteScores:
    """Headline scores of the tasks that count in a suite's mean, in stored units; NaN where there is none."""

    suite: str
    aggregate: str
    models: tuple[str, ...]
    origins: tuple[str, ...]  # [models]
    tasks: tuple[str, ...]
    titles: tuple[str, ...]  # [tasks]
    categories: tuple[str, ...]
    codes: Ints  # [tasks], category of each
    higher: Bools  # [tasks]
    values: Floats  # [models, tasks]
    stderr: Floats  # [models, tasks], NaN where not known
    printed: Floats  # [models, categories], means as the source prints them
    hours: Floats  # [tasks], median of the imported runs; NaN unknown
    weights: Floats | None = None  # [categories], above 0; None: equal


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A suite made ready for choosing from it: rows are the models that have its mean."""

    rows: Ints  # positions in SuiteScores.models
    scores: Floats  # [rows, tasks], no NaN
    candidates: Ints  # tasks whose every figure is the source's own
    filled: int  # cells that stand for a printed category mean


def arrange(frames: Mapping[str, pd.DataFrame], *, origin: str) -> SuiteScores:
    """A suite's frames (`store.suite_frames`) as arrays. Raises BadInput for a suite that people rank."""
    if origin not in (*ORIGINS, ALL):
        raise BadInput(f"No origin {origin!r}. Use one of {', '.join((*ORIGINS, ALL))}.")
    about = frames["about"].iloc[0]
    if about["aggregate"] == "human":
        raise BadInput(f"{about['key']} is ranked by people, not by a mean over tasks. Choose another suite.")
    tasks = frames["tasks"][frames["tasks"]["ranked"].astype(bool)]
    categories = tuple(dict.fromkeys(tasks["category"]))
    metric = dict(zip(tasks["key"], tasks["metric"], strict=True))
    long = frames["values"]
    long = long[(long["task"].map(metric) == long["metric"]) & (long["origin"].isin(ORIGINS))]
    if origin != ALL:
        long = long[long["origin"] == origin]
    best = long.assign(rank=long["origin"].map(ORIGINS.index)).groupby("model")["rank"].min()
    long = long[long["origin"].map(ORIGINS.index) == long["model"].map(best)]
    models, keys = tuple(sorted(best.index)), tuple(tasks["key"])

    def wide(name: str) -> Floats:
        pivoted = long.pivot(index="model", columns="task", values=name)
        return pivoted.reindex(index=list(models), columns=list(keys)).to_numpy(float, copy=True)

    shares = tasks["proportion"].fillna(False).to_numpy(bool)
    stderr = sampling_errors(values=wide("value"), stderr=wide("stderr"), share_of=np.where(shares, wide("n"), np.nan))
    origins = tuple(ORIGINS[int(best[model])] for model in models)
    known = {(row.model, row.category): row.value for row in frames["averages"].itertuples()}
    printed = np.array(
        [
            [known.get((model, name), np.nan) if source == "published" else np.nan for name in categories]
            for model, source in zip(models, origins, strict=True)
        ],
        float,
    )
    hours = frames["hours"].set_index("task")["hours"] if len(frames["hours"]) else pd.Series(dtype=float)
    return SuiteScores(
        suite=about["key"],
        aggregate=about["aggregate"],
        models=models,
        origins=origins,
        tasks=keys,
        titles=tuple(tasks["title"]),
        categories=categories,
        codes=np.array([categories.index(name) for name in tasks["category"]], np.int64),
        higher=tasks["higher"].fillna(True).to_numpy(bool),
        values=wide("value"),
        stderr=stderr,
        printed=printed.reshape(len(models), len(categories)),
        hours=hours.reindex(list(keys)).to_numpy(float),
        weights=_weights(about["category_weights"], categories),
    )


def _weights(stored: object, categories: Sequence[str]) -> Floats | None:
    """The suite's weight of each category, of the JSON text that the database has; None without one."""
    own = json.loads(stored) if isinstance(stored, str) else {}
    return np.array([own.get(name, 1.0) for name in categories], float) if own else None


def whole(scores: SuiteScores) -> Whole:
    """The models that have the suite's mean, and the tasks that a smaller suite may hold.

    A model counts when each category is whole or its mean is printed. There, the missing figures are set to the one
    number that makes the category's mean the printed one; they carry the mean of the whole suite only, since tasks
    with such cells are never candidates. Raises Undefined when fewer than 3 models count.
    """
    values = scores.values.copy()
    filled = np.zeros(values.shape, bool)
    if scores.aggregate == ranking.CATEGORY_MEAN:
        for category in range(len(scores.categories)):
            members = np.flatnonzero(scores.codes == category)
            gaps = np.isnan(scores.values[:, members])
            for row in np.flatnonzero(gaps.any(axis=1) & ~np.isnan(scores.printed[:, category])):
                lost, known = members[gaps[row]], members[~gaps[row]]
                rest = scores.printed[row, category] * len(members) - scores.values[row, known].sum()
                values[row, lost] = rest / len(lost)
                filled[row, lost] = True
    rows = np.flatnonzero(~np.isnan(values).any(axis=1))
    if len(rows) < 3:
        raise Undefined(
            f"Only {len(rows)} models have the mean of {scores.suite}; choosing tasks needs 3. "
            "Choose another origin or suite."
        )
    candidates = np.flatnonzero(~filled[rows].any(axis=0))
    return Whole(rows=rows, scores=values[rows], candidates=candidates, filled=int(filled[rows].sum()))


def join(parts: Sequence[SuiteScores]) -> tuple[tuple[str, ...], tuple[str, ...], Floats]:
    """Models, tasks and scores [models, tasks] of several suites side by side, every task once.

    Lower-is-better columns are turned. Models are the same where their keys are.
    """
    models = tuple(sorted({model for part in parts for model in part.models}))
    tasks = tuple(dict.fromkeys(task for part in parts for task in part.tasks))
    row = {model: index for index, model in enumerate(models)}
    column = {task: index for index, task in enumerate(tasks)}
    out = np.full((len(models), len(tasks)), np.nan)
    for part in parts:
        where = np.ix_([row[model] for model in part.models], [column[task] for task in part.tasks])
        turned = np.where(part.higher, part.values, -part.values)
        out[where] = np.where(np.isnan(turned), out[where], turned)
    return models, tasks, out
