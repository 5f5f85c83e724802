"""The papers' scores: the CSVs of assets/published, as printed, and the runs and scores in them.

Their version is the newest entry of CHANGELOG.md there. Each entry records the digest of the scores at that time, so
that no score changes without a new version.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from compute.analysis.ranks.means import binomial_stderr
from compute.catalog.catalog import Catalog
from compute.io.tables import read_csv
from compute.paths import PUBLISHED
from compute.types import SELF_REPORTED, WHOLE, BadInput, Metric, Run, Score, Task

OWN = "laboratories.csv"  # scores that laboratories print for their own models in their repositories
DASH = "-"  # the paper prints no value; an empty cell is unreadable in our text


CHANGELOG = PUBLISHED / "CHANGELOG.md"
ENTRY = re.compile(
    r"(?P<number>\d+\.\d+), (?P<date>\d{4}-\d\d-\d\d)\n+Digest: `(?P<digest>[0-9a-f]{32})`\n+(?P<changes>.+)", re.S
)
BLANK = ("", DASH)
ROLES = ("scores", "second")  # of tables with scores
GAP = ("model", "task", "subset", "metric", "source", "reason")
NOT_PRINTED = "Not evaluated by the paper"
NOT_READABLE = "Printed, but not readable in the text the scores were taken from"
JUDGED_ROWS = {"ρ²": "rho_squared", "Rank Acc.": "rank_accuracy"}  # cFreD: these rows score the metric of the column


def load(catalog: Catalog, *, folder: Path = PUBLISHED) -> tuple[list[Run], list[Score], list[dict[str, str]]]:
    """Returns all published tables, and laboratories' scores of their own models, as runs and scores.

    Also returns the scores that no table gives, each with the reason. A table that repeats another only adds cells that
    are new or different. Raises BadInput with the table, the row and the column.
    """
    tables = read_csv(folder / "tables.csv", columns=("key", "benchmark", "source", "role"))
    columns = read_csv(folder / "columns.csv", columns=("table", "column", "role", "task", "subset", "metric", "scale"))
    aliases = catalog.printed_names
    runs = {}
    scores = {}  # by run, subset and metric
    gaps = []
    values = {}  # by model, task, subset and metric
    for table in tables.sort_values("role", kind="stable").to_dict("records"):  # scores, then second
        scored = columns[(columns.table == table["key"]) & (columns.role == "score")].to_dict("records")
        for cell, value, printed in _cells(table, scored, aliases, folder) if table["role"] in ROLES else ():
            if value is None:
                if cell not in values:
                    reason = NOT_PRINTED if printed == DASH else NOT_READABLE
                    gaps.append(dict(zip(GAP, (*cell, table["source"], reason), strict=True)))
                continue
            if table["role"] == "second" and values.get(cell) == value:
                continue
            model, task, subset, metric = cell
            run, about = f"{table['key']}/{model}/{task}", catalog.task(task)
            if (run, subset, metric) in scores:
                raise BadInput(f"{table['key']}.csv gives {model} on {task} twice: keep one row")
            of = {"model": model, "task": task, "procedure": about.procedure, "source": table["source"]}
            runs.setdefault(run, Run(id=run, **of, main=cell not in values))
            score = score_of(run, about, catalog.metric(metric), subset, value)
            scores[run, subset, metric] = replace(score, printed=printed)
            values.setdefault(cell, value)
    for row in read_csv(folder / OWN).to_dict("records"):
        about, metric = catalog.task(row["task"]), catalog.metric(row["metric"])
        run = f"{SELF_REPORTED}/{catalog.model(row['model']).key}/{about.key}"
        source = f"{row['laboratory']}, {row['source']}"
        of = {"model": row["model"], "task": about.key, "procedure": about.procedure, "source": source}
        runs.setdefault(run, Run(id=run, origin=SELF_REPORTED, **of))
        score = score_of(run, about, metric, WHOLE, round(number(row["printed"]) / metric.scale, 10))
        scores[run, WHOLE, metric.key] = replace(score, printed=row["printed"])
    return list(runs.values()), list(scores.values()), gaps


def score_of(run: str, task: Task, metric: Metric, subset: str, value: float) -> Score:
    """Returns the score of a subset, with its standard error if the task's items are independent."""
    n = task.independent_items if metric.proportion else None
    error = float(binomial_stderr(value=value, n=n)) if n else None
    return Score(run=run, subset=subset, metric=metric.key, value=value, n=n, stderr=error)


def _cells(
    table: dict[str, str], columns: list[dict[str, str]], aliases: dict[tuple[str, str], str], folder: Path
) -> Iterator[tuple[tuple[str, str, str, str], float | None, str]]:
    """Yields each cell's model, task, subset and metric, its value (None if missing) and the printed text."""
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
                if not column.get("judge") or printed in BLANK:
                    continue
                model, metric = column["judge"], rated
                scale = 0.01 if rated == "rank_accuracy" else 1
            try:
                value = number(printed)
            except BadInput as error:
                raise BadInput(f"{table['key']}.csv, {row['model']}, {column['column']}: {error}") from error
            cell = (model, column["task"], column["subset"] or "default", metric)
            yield cell, None if printed in BLANK else round(value * scale, 10), printed


def averages(catalog: Catalog) -> pd.DataFrame:
    """Returns the category means in averages.csv as papers print them, for rows with unreadable single scores.

    The frame has a row per suite, category and model, with the number of tasks. Parts of a category are averaged,
    weighted by their tasks.
    """
    aliases = catalog.printed_names
    tables = read_csv(PUBLISHED / "tables.csv", columns=("key", "benchmark", "source")).set_index("key")
    rules = read_csv(PUBLISHED / "averages.csv", columns=("table", "column", "group", "suites", "category", "tasks"))
    rules = rules.assign(suites=rules["suites"].str.split(";")).explode("suites")
    cells = {}  # by suite, category and model
    for rule in rules.to_dict("records"):
        frame, about = published_table(rule["table"]), tables.loc[rule["table"]]
        if rule["group"]:
            frame = frame[frame["group"] == rule["group"]]
        for row in frame.to_dict("records"):
            if (printed := row[rule["column"]]) not in BLANK:
                key = (rule["suites"], rule["category"], aliases[about["benchmark"], row["model"]])
                cell = {"value": number(printed) / 100, "tasks": int(rule["tasks"]), "printed": printed}
                cells.setdefault(key, []).append(cell | {"source": about["source"]})
    required = Counter(zip(rules["suites"], rules["category"], strict=True))
    means = []
    for (suite, category, model), parts in cells.items():
        if len(parts) == required[suite, category]:
            tasks = sum(part["tasks"] for part in parts)
            means.append(
                {
                    "suite": suite,
                    "category": category,
                    "model": model,
                    "tasks": tasks,
                    "source": parts[0]["source"],
                    "value": sum(part["value"] * part["tasks"] for part in parts) / tasks,
                    "printed": " and ".join(part["printed"] for part in parts),
                }
            )
    return pd.DataFrame(means)


def published_table(key: str, *, folder: Path = PUBLISHED) -> pd.DataFrame:
    """Returns one published table with the printed text in every cell: `-` if no value is printed, empty if
    unrecoverable.
    """
    return read_csv(folder / f"{key}.csv", columns=("model",))


def number(text: str) -> float:
    """Returns a printed cell as a number: `80.87%` -> 80.87, NaN for `-` and empty. Raises BadInput for other text."""
    text = text.strip()
    if text in BLANK:
        return float("nan")
    if not re.fullmatch(r"[+−-]?\d+(\.\d+)?%?", text):
        raise BadInput(f"{text!r} is not a printed number")
    return float(text.removesuffix("%").replace("−", "-"))


def add_entry(words: str, *, date: str) -> None:
    """Adds a version to the changelog for data other than the papers' tables, which do not change."""
    newest = history()[0]
    first, second = newest["number"].split(".")
    entry = f"## {first}.{int(second) + 1}, {date}\n\nDigest: `{newest['digest']}`\n\n- {words}\n"
    text = CHANGELOG.read_text(encoding="utf-8")
    CHANGELOG.write_text(text.replace("\n## ", f"\n{entry}\n## ", 1), encoding="utf-8")


def history(path: Path = CHANGELOG) -> list[dict[str, str]]:
    """Returns all versions, the newest first: number such as `1.2`, date, digest of the scores, and the changes in
    Markdown.

    Raises BadInput for an entry that cannot be read.
    """
    _, *entries = path.read_text(encoding="utf-8").split("\n## ")
    matches = {entry.partition("\n")[0]: ENTRY.fullmatch(entry.strip()) for entry in entries}
    for title, match in matches.items():
        if match is None:
            raise BadInput(
                f"{path.name}: the entry {title!r} is not `NUMBER, DATE`, a line `Digest: ...` and a list of changes"
            )
    return [match.groupdict() for match in matches.values()]
