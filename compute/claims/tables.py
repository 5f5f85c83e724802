"""The published tables as the claims need them: by model, as text and as numbers, and which columns and names match."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pandas as pd

from compute.catalog import shipped
from compute.catalog.published import numbers, published_table
from compute.claims.verdict import Check
from compute.io.tables import read_csv
from compute.paths import PUBLISHED
from compute.types import Task

WORDS = ("group", "Model Type", "IT-2AFC train set")  # columns that hold no numbers


@cache
def printed(table: str) -> pd.DataFrame:
    """A table as text, indexed by the printed model name; not to be changed."""
    return published_table(table).set_index("model")


@cache
def figures(table: str) -> pd.DataFrame:
    """The numeric columns of a table in printed units, indexed by model; NaN where unreadable; not to be changed."""
    frame = printed(table)
    return numbers(frame, columns=[name for name in frame.columns if name not in WORDS])


@cache
def score_columns() -> dict[str, dict[str, Task]]:
    """For every table its columns of scores, averages skipped, and the task of each."""
    tables: dict[str, dict[str, Task]] = {}
    for row in read_csv(PUBLISHED / "columns.csv").to_dict("records"):
        if row["role"] == "score" and row["subset"] != "average":
            tables.setdefault(row["table"], {})[row["column"]] = shipped().task(row["task"])
    return tables


@cache
def names_in(table: str) -> dict[str, str]:
    """Each printed model name of a paper as one of its tables spells it, where aliases.csv gives both to one model."""
    models = {alias.printed: alias.model for alias in shipped().aliases if table.startswith(f"{alias.benchmark}-")}
    names = {models[name]: name for name in printed(table).index if name in models}
    return {name: names[model] for name, model in models.items() if model in names}


def column_checks(
    text: pd.Series,
    recomputed: pd.Series,
    *,
    slack: float | pd.Series = 0.0,
    names: Mapping[str, str] | None = None,
    words: Mapping[str, object] | None = None,
) -> list[Check]:
    """One check a row of a printed column, None where nothing is recomputed for it.

    `names` gives a printed name's spelling in `recomputed`; `words` are placeholders of the claim, the same for all
    rows or a series. Every claim has the placeholders `name`, `column` and `printed`.
    """
    index = [names[name] for name in text.index] if names is not None else text.index
    rows = pd.DataFrame({"value": recomputed, "slack": slack, **(words or {})}, index=index).to_dict("records")
    return [
        Check(value=row["value"], slack=row["slack"], words={**row, "name": name, "column": text.name, "printed": cell})
        for (name, cell), row in zip(text.items(), rows, strict=True)
    ]
