"""Suites next to each other as columns to correlate: tasks, categories or whole suites over the same models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from compute.analysis.table import USUAL, ScoreTable
from compute.types import BadInput, origins_in
from leaderboard.data.board_table import TRAINED, SuiteColumn
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.correlations.query import ALL, CorrelationQuery

Axis = SuiteColumn  # a task, a category or a suite; the keys of the latter two begin with that of the suite


@dataclass(frozen=True, kw_only=True)
class AxisTable:
    """Scores of models on axes, which are its tasks, with facts about axes and cells."""

    scores: ScoreTable
    axes: tuple[Axis, ...]
    origins: np.ndarray  # [models, axes], texts, empty if missing
    # [models, axes], of the scores (bits of data.board_table); of a category or suite TRAINED, where the model was
    # trained on a data set of any of its tasks
    marks: np.ndarray

    @property
    def shown_origins(self) -> list[str]:
        """Returns the origins of the scores."""
        return origins_in(filter(None, self.origins.ravel().tolist()))

    def of_axes(self, indices: np.ndarray) -> AxisTable:
        """Returns the same models over some of the axes, in the order of `indices`."""
        return replace(
            self,
            axes=tuple(self.axes[index] for index in indices),
            scores=self.scores.columns(indices),
            origins=self.origins[:, indices],
            marks=self.marks[:, indices],
        )


def check_origin(suite_cache: SuiteCache, query: CorrelationQuery) -> None:
    """Raises BadInput if no chosen suite has scores of the chosen origin; the message lists the available ones."""
    origins = origins_in(row.origin for suite in query.suites for row in suite_cache.table(suite).rows)
    if query.origin not in (ALL, USUAL, *origins):
        raise BadInput(
            f"The chosen suites have no {query.origin} scores, but {' and '.join(origins) or 'none'}. Choose other "
            "scores or suites"
        )


def gather(suite_cache: SuiteCache, query: CorrelationQuery) -> AxisTable:
    """Returns the chosen suites over the union of their models, matched by key. Raises BadInput if no column is left.

    Within a suite two origins of one model never mix.
    """
    blocks, keys = [], set()
    for suite in query.suites:
        block = _block(suite_cache, suite, query)
        # A task of several suites is one axis, of the first of them.
        blocks.append(block.of_axes(np.flatnonzero([axis.key not in keys for axis in block.axes])))
        keys |= {axis.key for axis in block.axes}
    if not keys:
        raise BadInput(f"The chosen suites have no {query.level} to compare. Choose another level or suite")
    models = sorted({model for block in blocks for model in block.scores.models})

    def joined(parts: Iterable[np.ndarray], kind: type = float) -> np.ndarray:
        """Returns the blocks' arrays over all models, NaN for models that are not in a suite."""
        frames = [
            pd.DataFrame(part, index=block.scores.models, dtype=kind) for part, block in zip(parts, blocks, strict=True)
        ]
        return np.hstack([frame.reindex(models) for frame in frames])

    values = joined(block.scores.values for block in blocks)
    origins, marks = joined((block.origins for block in blocks), object), joined(block.marks for block in blocks)
    missing = np.isnan(values)
    groups = suite_cache.table(query.suites[0]).models["group"].reindex(models)
    chosen = np.flatnonzero(((query.group == ALL) | (groups == query.group)) & ~missing.all(axis=1))
    axes = _distinct([axis for block in blocks for axis in block.axes])
    return AxisTable(
        scores=_scores(axes, [models[row] for row in chosen], values[chosen]),
        axes=axes,
        origins=np.where(missing, "", origins)[chosen],
        marks=np.where(missing, 0, marks)[chosen].astype(int),
    )


def _block(suite_cache: SuiteCache, suite: str, query: CorrelationQuery) -> AxisTable:
    """Returns the axes of one suite, over its rows of the chosen origin; none if it has no such mean."""
    table, ranked = suite_cache.table(suite), suite_cache.ranked(suite)
    rows, trained, about = table.rows_of(query.origin), (table.marks & TRAINED) > 0, table.suite
    columns: list[tuple[Axis, np.ndarray, np.ndarray]] = []  # axis, values [rows], marks [rows]
    if query.level == "tasks":
        columns = [
            (column, table.scores.values[:, at], table.marks[:, at])
            for at, column in enumerate(table.columns)
            if not column.metric.endswith("_rank")
        ]
    elif query.level == "categories" and ranked is not None:
        means = table.scores.printed if query.means == "printed" else ranked.category_means
        columns = [
            (
                column._replace(key=f"{suite}:{column.key}", group=about["title"]),
                means[:, code],
                trained[:, table.scores.codes == code].any(axis=1) * TRAINED,
            )
            for code, column in enumerate(table.category_columns)
        ]
    elif query.level == "suites":
        whole = {"key": suite, "title": about["title"], "group": about["benchmark_title"], "task": "", "higher": True}
        people = table.people
        if ranked is not None:
            axis = table.category_columns[0]._replace(metric_title="mean", **whole)
            counted = [column.ranked for column in table.columns]
            columns = [(axis, ranked.mean, trained[:, counted].any(axis=1) * TRAINED)]
        elif people is not None:
            columns = [
                (table.columns[people]._replace(**whole), table.scores.values[:, people], table.marks[:, people])
            ]
    axes, values, marks = zip(*columns, strict=True) if columns else ((), (), ())
    nothing = np.empty((len(table.rows), 0))
    origins = np.array([table.rows[row].origin for row in rows], object)
    return AxisTable(
        scores=_scores(axes, [table.rows[row].model for row in rows], np.column_stack([nothing, *values])[rows]),
        axes=axes,
        origins=np.repeat(origins[:, None], len(axes), axis=1),
        marks=np.column_stack([nothing, *marks])[rows].astype(int),
    )


def _scores(axes: Sequence[Axis], models: Sequence[str], values: np.ndarray) -> ScoreTable:
    return ScoreTable(
        models=tuple(models),
        tasks=tuple(axis.key for axis in axes),
        higher=np.array([axis.higher for axis in axes], bool),
        values=values,
    )


def _distinct(axes: Sequence[Axis]) -> tuple[Axis, ...]:
    """Makes titles of axes distinct: duplicates get their group, and their key if they are still equal."""
    for extra in ("group", "key"):
        titles = [axis.title for axis in axes]
        axes = [
            axis if titles.count(axis.title) == 1 else axis._replace(title=f"{axis.title} ({getattr(axis, extra)})")
            for axis in axes
        ]
    return tuple(axes)
