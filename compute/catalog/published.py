"""The papers' scores: the CSVs of assets/published, as printed, and the runs and scores they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from compute.analysis.ranks.means import binomial_stderr
from compute.catalog.catalog import Catalog
from compute.io.tables import read_csv
from compute.paths import PUBLISHED
from compute.types import BadInput, Metric, Run, Score, Task

DASH = "-"  # the paper prints no value; an empty cell could not be read from our text


@dataclass(frozen=True, kw_only=True)
class Gap:
    """A figure a table does not give, with the reason."""

    model: str
    task: str
    subset: str
    metric: str
    source: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What one source yields: runs, their scores, and what it leaves blank."""

    runs: tuple[Run, ...]
    scores: tuple[Score, ...]
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Average:
    """A category's mean as a paper prints it, for rows whose single scores cannot all be read."""

    suite: str
    category: str
    model: str
    value: float
    tasks: int  # how many tasks it averages
    source: str
    printed: str


NOT_PRINTED = "Not evaluated by the paper"
NOT_READABLE = "Printed, but not readable in the text the scores were taken from"
JUDGED_ROWS = {"ρ²": "rho_squared", "Rank Acc.": "rank_accuracy"}  # cFreD: these rows score the metric of the column


def load(catalog: Catalog, *, folder: Path = PUBLISHED) -> Figures:
    """Every published table as runs and scores; a table that repeats another adds only cells that differ or are new.

    Raises BadInput naming the table, the row and the column.
    """
    tables = read_csv(folder / "tables.csv", columns=("key", "benchmark", "source", "role"))
    columns = read_csv(folder / "columns.csv", columns=("table", "column", "role", "task", "subset", "metric", "scale"))
    aliases = {(alias.benchmark, alias.printed): alias.model for alias in catalog.aliases}
    runs: dict[str, Run] = {}
    scores: dict[tuple[str, str, str], Score] = {}
    gaps: list[Gap] = []
    values: dict[tuple[str, str, str, str], float] = {}
    for role in ("scores", "second"):
        for table in tables[tables.role == role].to_dict("records"):
            scored = columns[(columns.table == table["key"]) & (columns.role == "score")].to_dict("records")
            for model, task, subset, metric, value, printed in _cells(table, scored, aliases, folder):
                cell = (model, task, subset, metric)
                if value is None:
                    if cell not in values:
                        reason = NOT_PRINTED if printed == DASH else NOT_READABLE
                        gaps.append(
                            Gap(
                                model=model,
                                task=task,
                                subset=subset,
                                metric=metric,
                                source=table["source"],
                                reason=reason,
                            )
                        )
                    continue
                if role == "second" and values.get(cell) == value:
                    continue
                run = f"{table['key']}/{model}/{task}"
                runs.setdefault(
                    run,
                    Run(
                        id=run,
                        model=model,
                        task=task,
                        procedure=catalog.task(task).procedure,
                        source=table["source"],
                        main=cell not in values,
                    ),
                )
                if (run, subset, metric) in scores:
                    raise BadInput(f"{table['key']}.csv gives {model} on {task} twice: keep one row")
                about = catalog.task(task), catalog.metric(metric)
                scores[run, subset, metric] = replace(score_of(run, *about, subset, value), printed=printed)
                values.setdefault(cell, value)
    return Figures(runs=tuple(runs.values()), scores=tuple(scores.values()), gaps=tuple(gaps))


def score_of(run: str, task: Task, metric: Metric, subset: str, value: float) -> Score:
    """The score of a subset, with its standard error where the task's items are independent."""
    n = task.independent_items if metric.proportion else None
    error = float(binomial_stderr(value=value, n=n)) if n else None
    return Score(run=run, subset=subset, metric=metric.key, value=value, n=n, stderr=error)


def _cells(
    table: dict[str, str], columns: list[dict[str, str]], aliases: dict[tuple[str, str], str], folder: Path
) -> Iterator[tuple[str, str, str, str, float | None, str]]:
    """Each cell's model, task, subset and metric, its value (None: it has none) and what is printed there."""
    frame = published_table(table["key"], folder=folder)
    for row in frame.to_dict("records"):
        rated = JUDGED_ROWS.get(row["model"])
        if not rated and (table["benchmark"], row["model"]) not in aliases:
            raise BadInput(f"{table['key']}.csv: {row['model']!r} has no row in aliases.csv; add its model key there")
        for column in columns:
            printed = row[column["column"]].strip()
            model, metric = aliases.get((table["benchmark"], row["model"]), ""), column["metric"]
            scale = float(column["scale"])
            if rated:
                if not column.get("judge") or printed in ("", DASH):
                    continue
                model, metric = column["judge"], rated
                scale = 0.01 if rated == "rank_accuracy" else 1
            try:
                value = number(printed)
            except BadInput as error:
                raise BadInput(f"{table['key']}.csv, {row['model']}, {column['column']}: {error}") from error
            yield (
                model,
                column["task"],
                column["subset"] or "default",
                metric,
                None if printed in ("", DASH) else round(value * scale, 10),
                printed,
            )


def averages(catalog: Catalog) -> tuple[Average, ...]:
    """The printed category means that averages.csv names; parts of one category join, weighted by their tasks."""
    aliases = {(alias.benchmark, alias.printed): alias.model for alias in catalog.aliases}
    tables = read_csv(PUBLISHED / "tables.csv", columns=("key", "benchmark", "source")).set_index("key")
    parts: dict[tuple[str, str, str], list[tuple[float, int, str, str]]] = {}
    required: dict[tuple[str, str], int] = {}
    for rule in read_csv(
        PUBLISHED / "averages.csv", columns=("table", "column", "group", "suites", "category", "tasks")
    ).to_dict("records"):
        frame = published_table(rule["table"])
        if rule["group"]:
            frame = frame[frame["group"] == rule["group"]]
        about = tables.loc[rule["table"]]
        for suite in rule["suites"].split(";"):
            required[suite, rule["category"]] = required.get((suite, rule["category"]), 0) + 1
            for name, printed in zip(frame["model"], frame[rule["column"]], strict=True):
                if printed not in ("", DASH):
                    key = (suite, rule["category"], aliases[about["benchmark"], name])
                    parts.setdefault(key, []).append(
                        (number(printed) / 100, int(rule["tasks"]), about["source"], printed)
                    )
    means = []
    for (suite, category, model), cells in parts.items():
        if len(cells) == required[suite, category]:
            tasks = sum(count for _, count, _, _ in cells)
            means.append(
                Average(
                    suite=suite,
                    category=category,
                    model=model,
                    tasks=tasks,
                    source=cells[0][2],
                    value=sum(value * count for value, count, _, _ in cells) / tasks,
                    printed=" and ".join(printed for *_, printed in cells),
                )
            )
    return tuple(means)


@cache
def _table(key: str, folder: Path) -> pd.DataFrame:
    return read_csv(folder / f"{key}.csv", columns=("model",))


def published_table(key: str, *, folder: Path = PUBLISHED) -> pd.DataFrame:
    """One published table, every cell the printed text; `-` no value printed, empty not recoverable."""
    return _table(key, folder).copy()


def number(text: str) -> float:
    """A printed cell as a number, `80.87%` -> 80.87, NaN for `-` and empty. Raises BadInput for other text."""
    text = text.strip()
    if text in ("", DASH):
        return float("nan")
    if not re.fullmatch(r"[+−-]?\d+(\.\d+)?%?", text):
        raise BadInput(f"{text!r} is not a printed number")
    return float(text.removesuffix("%").replace("−", "-"))


def numbers(frame: pd.DataFrame, *, columns: list[str]) -> pd.DataFrame:
    """The named columns of a printed table as floats, in printed units, same index."""
    return frame[columns].map(number).astype(float)
