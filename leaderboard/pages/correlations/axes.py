"""Suites side by side as columns to compare: tasks, categories or whole suites over the same models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from compute.types import ORIGINS, BadInput
from leaderboard.data.suite_table import TRAINED, SuiteColumn, SuiteTable

if TYPE_CHECKING:
    from leaderboard.data.suite_cache import SuiteCache
    from leaderboard.pages.correlations.relations import Asked

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One task, category or suite. `scale` turns stored values into shown ones."""

    key: str
    label: str
    group: str
    suite: str
    task: str  # empty unless a task
    metric: str
    higher: bool
    scale: float
    digits: int


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Values [models, axes] in stored units, NaN missing; `origins` [models, axes] index ORIGINS, -1 missing.

    `marks` [models, axes] are those of the figures (bits of data.suite_table); of a category or suite TRAINED,
    where the model was trained on a data set of any of its tasks.
    """

    models: tuple[str, ...]
    axes: tuple[Axis, ...]
    values: np.ndarray
    origins: np.ndarray
    marks: np.ndarray


Columns = tuple[tuple[Axis, ...], np.ndarray, np.ndarray]  # axes, values [rows, axes], marks [rows, axes]


def gather(suite_cache: SuiteCache, asked: Asked) -> Scores:
    """The chosen suites side by side; a model is the same where its key is. Raises BadInput where nothing is left.

    With origin `all` a model's row in a suite is its published one, else its imported, else its computed one: within a
    suite two origins of one model never mix.
    """
    blocks = [_block(suite_cache, suite, asked) for suite in asked.suites]
    models = sorted({model for block in blocks for model in block.models})
    row = {model: place for place, model in enumerate(models)}
    axes: list[Axis] = []
    columns: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for block in blocks:
        where = [row[model] for model in block.models]
        for place, axis in enumerate(block.axes):
            if any(axis.key == other.key for other in axes):
                continue  # a task that several suites hold
            values, origins = np.full(len(models), np.nan), np.full(len(models), -1)
            marks = np.zeros(len(models), int)
            values[where], origins[where] = block.values[:, place], block.origins[:, place]
            marks[where] = block.marks[:, place]
            axes.append(axis)
            columns.append((values, origins, marks))
    if not columns:
        raise BadInput(f"The chosen suites have no {asked.level} to compare. Choose another level or suite")
    values, origins, marks = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    keep = np.flatnonzero(_wanted(suite_cache, models, asked) & ~np.isnan(values).all(axis=1))
    return Scores(
        models=tuple(models[place] for place in keep),
        axes=_unique(axes),
        values=values[keep],
        origins=np.where(np.isnan(values), -1, origins)[keep],
        marks=np.where(np.isnan(values), 0, marks)[keep],
    )


def _block(suite_cache: SuiteCache, suite: str, asked: Asked) -> Scores:
    table = suite_cache.table(suite)
    rows = table.rows_of(asked.origin)
    axes, values, marks = {"tasks": _tasks, "categories": _categories, "suites": _suite}[asked.level](
        suite_cache, table, asked
    )
    origins = np.array([ORIGINS.index(table.rows[row].origin) for row in rows], int)
    return Scores(
        models=tuple(table.rows[row].model for row in rows),
        axes=axes,
        values=values[rows],
        origins=np.repeat(origins[:, None], len(axes), axis=1),
        marks=marks[rows],
    )


def _tasks(suite_cache: SuiteCache, table: SuiteTable, asked: Asked) -> Columns:
    shown = [place for place, column in enumerate(table.columns) if not column.metric.endswith("_rank")]
    axes = tuple(_axis(table.columns[place], table, key=table.columns[place].key) for place in shown)
    return axes, table.values[:, shown], table.marks[:, shown]


def _categories(suite_cache: SuiteCache, table: SuiteTable, asked: Asked) -> Columns:
    ranked = suite_cache.ranked(table.suite["key"])
    if ranked is None:
        return _nothing(table)
    axes = tuple(_axis(column, table, key=f"{table.suite['key']}:{column.key}") for column in table.category_columns)
    marks = np.stack([_trained(table, table.codes == code) for code in range(len(table.category_columns))], axis=1)
    return axes, table.printed if asked.means == "printed" else ranked.category_means, marks


def _suite(suite_cache: SuiteCache, table: SuiteTable, asked: Asked) -> Columns:
    ranked, about = suite_cache.ranked(table.suite["key"]), table.suite
    if ranked is not None:
        first, values = table.category_columns[0], ranked.mean
        marks = _trained(table, np.array([column.ranked for column in table.columns]))
    else:
        place = next((place for place, column in enumerate(table.columns) if column.group == "People"), None)
        if place is None:
            return _nothing(table)
        first, values, marks = table.columns[place], table.values[:, place], table.marks[:, place]
    return (
        (
            Axis(
                key=about["key"],
                label=about["title"],
                group=about["benchmark_title"],
                suite=about["key"],
                task="",
                metric="mean" if ranked is not None else first.metric_title,
                higher=True,
                scale=first.scale,
                digits=first.digits,
            ),
        ),
        values[:, None],
        marks[:, None],
    )


def _nothing(table: SuiteTable) -> Columns:
    return (), np.empty((len(table.rows), 0)), np.zeros((len(table.rows), 0), int)


def _trained(table: SuiteTable, columns: np.ndarray) -> np.ndarray:
    return ((table.marks[:, columns] & TRAINED) > 0).any(axis=1) * TRAINED


def _axis(column: SuiteColumn, table: SuiteTable, *, key: str) -> Axis:
    return Axis(
        key=key,
        label=column.title,
        group=column.group if column.task else table.suite["title"],
        suite=table.suite["key"],
        task=column.task,
        metric=column.metric_title,
        higher=column.higher,
        scale=column.scale,
        digits=column.digits,
    )


def _unique(axes: list[Axis]) -> tuple[Axis, ...]:
    """Axes with labels that tell them apart: the group added where two are named alike, the key where still so."""
    for extra in ("group", "key"):
        labels = [axis.label for axis in axes]
        axes = [
            axis if labels.count(axis.label) == 1 else replace(axis, label=f"{axis.label} ({getattr(axis, extra)})")
            for axis in axes
        ]
    return tuple(axes)


def _wanted(suite_cache: SuiteCache, models: list[str], asked: Asked) -> np.ndarray:
    table = suite_cache.table(asked.suites[0])
    groups = table.models["group"].fillna("")
    chosen = set(asked.models)
    return np.array(
        [
            (asked.group == ALL or groups.get(model, "") == asked.group) and (not chosen or model in chosen)
            for model in models
        ],
        bool,
    )
