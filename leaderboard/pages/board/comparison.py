"""Two to six rows of a suite compared: paired differences with intervals, and means by category."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.analysis.ties import paired_differences
from compute.types import BadInput
from leaderboard.data.ranked import SEED, Ranked
from leaderboard.data.suite_table import SuiteTable

MOST = 6


@dataclass(frozen=True, kw_only=True)
class RowComparison:
    """Frames in shown units. The first chosen row is the reference of the others."""

    names: tuple[str, ...]
    overall: pd.DataFrame  # name, difference, low, high, p, tasks, reason: mean of name minus mean of the reference
    tasks: pd.DataFrame  # name, task, group, value, reference, difference, low, high: one row a (name, shared task)
    families: pd.DataFrame  # name, category, value; empty for a suite without means


def compare(
    table: SuiteTable,
    ranked: Ranked | None,
    *,
    rows: list[str],
    weights: dict[str, float] | None = None,
    tasks: frozenset[str] | None = None,
) -> RowComparison:
    """Compares every chosen row with the first. Raises BadInput unless two to six different rows are given."""
    chosen = list(dict.fromkeys(rows))
    if not 2 <= len(chosen) <= MOST:
        raise BadInput(f"A comparison takes two to {MOST} rows, not {len(chosen)}. Tick others in the table")
    indices = [table.row(row_id) for row_id in chosen]
    names = _names(table, indices)
    first = indices[0]
    counted = np.array([float(column.ranked and (tasks is None or column.task in tasks)) for column in table.columns])
    overall, long = [], []
    for name, row in zip(names[1:], indices[1:], strict=True):
        if ranked is not None:
            result = paired_differences(
                a=ranked.scores[row],
                b=ranked.scores[first],
                stderr_a=table.stderr[row],
                stderr_b=table.stderr[first],
                categories=table.codes,
                task_weights=counted,
                seed=SEED,
                weights=np.array([*[(weights or {}).get(key, 1.0) for key in table.categories], 0.0]),
                aggregate=table.suite["aggregate"],
                higher=np.array([column.higher for column in table.columns]),
                scales=np.array([str(column.scale) for column in table.columns]),
            )
            unit = table.category_columns[0].scale
            shared = ~np.isnan(table.values[row] - table.values[first]) & (counted > 0)
            overall.append(
                {
                    "name": name,
                    "difference": result.mean * unit,
                    "low": result.mean_low * unit,
                    "high": result.mean_high * unit,
                    "p": result.p,
                    "tasks": int(shared.sum()),
                    "reason": result.reason,
                }
            )
            # The mean uses printed means where figures are missing; a task is compared by the two rows' own figures.
            half = result.high - result.difference
            difference = np.where(shared, table.values[row] - table.values[first], np.nan)
            low, high = difference - half, difference + half
        else:
            difference = table.values[row] - table.values[first]
            low = high = np.full(len(difference), np.nan)
        shown = {
            "value": table.values[row],
            "reference": table.values[first],
            "difference": difference,
            "low": low,
            "high": high,
        }
        long += [
            {
                "name": name,
                "task": column.title,
                "group": column.group,
                **{key: values[index] * column.scale for key, values in shown.items()},
                "higher": column.higher,
                "digits": column.digits,
            }
            for index, column in enumerate(table.columns)
            if not np.isnan(difference[index])
        ]
    families = (
        [
            {"name": name, "category": family.title, "value": ranked.category_means[row, index] * family.scale}
            for name, row in zip(names, indices, strict=True)
            for index, family in enumerate(table.category_columns)
        ]
        if ranked is not None
        else []
    )
    return RowComparison(
        names=names,
        overall=pd.DataFrame(overall),
        tasks=pd.DataFrame(long),
        families=pd.DataFrame(families, columns=["name", "category", "value"]),
    )


def _names(table: SuiteTable, indices: list[int]) -> tuple[str, ...]:
    """Titles, with the origin where two rows share one."""
    titles = [str(table.models.loc[table.rows[row].model]["title"]) for row in indices]
    return tuple(
        f"{title} ({table.rows[row].origin})" if titles.count(title) > 1 else title
        for title, row in zip(titles, indices, strict=True)
    )
