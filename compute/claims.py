"""The papers' claims, recomputed from their own tables: rows of assets/published/claims/<paper>.toml with queries.

Fields of a row: `paper`, `where`, `claim`, `printed`, `formula`, `note` and `why` (why it matters) are shown as they
stand; `notes` adds to the note of the claim with that text, or of all claims with that verdict. `query` is SQL over the
printed tables (common.sql lists them) and returns a row per claim: a row of the file with {placeholders} in
`claim` is a family, one claim per table cell. Its columns fill the placeholders of the texts, and three are special:
    value   compared with the printed number, in printed units; NULL cannot be recomputed
    slack   the largest error that the rounding of the inputs can cause, in printed units
    holds   whether the claim holds, or a verdict; without it, and without a value, `recomputed` has to equal `printed`
`recomputed` is the text shown; without it, the value is shown with two more digits than are printed. A claim has
`verdict` instead of `query` if the paper prints nothing to compute with.

`severity` says how much depends on a claim, regardless of its verdict:
    headline   a finding that the abstract, the conclusion or a section leads with: who is best, what transfers, what
               correlates. Its `why` says what a reader would decide by it.
    table      a result: a score, rank or correlation of a table, or a sentence about single models or tasks.
    detail     how much data there is, captions, repeated numbers, the order of rows: no ranking depends on it.

Two verdicts are not a conflict although the printed and the recomputed text differ:
    tables differ     the claim compares two sources that need not agree, such as tables that average
                      different categories
    not significant   a correlation over so few models that its interval neither confirms nor excludes the claim:
                      its sign is not significantly different from zero (`by_intervals`)
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from compute import paths
from compute.analysis.correlation import correlate, interval
from compute.catalog import shipped
from compute.catalog.published import OWN, number, published_table
from compute.database import store
from compute.io.tables import read_csv
from compute.metrics.agreement import rank_accuracy, squared_correlation
from compute.rounding import decimal, rounded
from compute.types import Claim, DatabaseError

PAPERS = ("unisim", "pairbench", "mieb", "cfred", "laboratories", "genai_bench")
TEXTS = ("claim", "where", "printed", "formula", "note", "why", "recomputed")
CANNOT = "cannot be recomputed"
NOT_IN_KEYS = re.compile(r"[^a-z0-9.]+")
HYPHEN = re.compile(r"(?<![\w.)-])-(?=\d)")  # of a negative number
NUMBER = re.compile(r"[+−-]?\d")  # how a printed number begins
SIZES = "Model Size"  # holds numbers and "N/A", so it is treated as text
PRINTED = ("source", "place", "heading", "row", "model", "key", "group", "text", "value")  # columns of all cells
NO_FILES = ("folder", "task", "subset", "metric")  # columns of other authors' results, for when there are none


def all_claims() -> list[Claim]:
    """Returns every claim of the four papers, of laboratories on their models, and of GenAI-Bench, with its verdict."""
    claims = []
    with printed_tables() as tables:
        for name in PAPERS:
            paper = read_paper(name, tables)
            for key, row in paper["claims"].items():
                result = tables.execute(row["query"]) if "verdict" not in row else None
                columns = [column[0] for column in result.description] if result else ["holds"]
                for values in result.fetchall() if result else [(row["verdict"],)]:
                    found = dict(zip(columns, values, strict=True))
                    claims.append(_claim(key, row, found, paper=paper["paper"]))
    return claims


def read_paper(name: str, tables: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    """Reads a paper's file and creates the tables that its claims query."""
    paper = tomllib.loads((paths.CLAIMS / f"{name}.toml").read_text(encoding="utf-8"))
    tables.execute(paper["tables"])
    return paper


def printed_tables() -> duckdb.DuckDBPyConnection:
    """Opens an in-memory database with the papers' tables and runs common.sql, which documents its contents."""
    tables = duckdb.connect(config={"threads": 1})
    for name, function, inputs, output in FUNCTIONS:
        tables.create_function(name, function, inputs, output)
    models = shipped().printed_names
    cells = []
    for table in read_csv(paths.PUBLISHED / "tables.csv").itertuples():
        text = published_table(table.key).to_dict("list")
        names, rows = text["model"], range(len(text["model"]))
        keys = [models.get((table.benchmark, name)) for name in names]
        wide = text | {"row": rows, "key": keys}
        for place, (heading, column) in enumerate(text.items()):
            if heading != SIZES and any(map(NUMBER.match, column)):  # skips columns of text
                wide[heading] = list(map(number, column))
                about = rows, names, keys, text.get("group", [""] * len(names)), column, wide[heading]
                cells += [(table.key, place, heading, *row) for row in zip(*about, strict=True)]
        tables.register(table.key, pd.DataFrame(wide))
    try:
        public_files = store.read_parquet(paths.IMPORTED / "mteb.parquet")
    except (OSError, DatabaseError):
        public_files = pd.DataFrame({"value": [0.0], "main": [False]} | dict.fromkeys(NO_FILES, ""))
    frames = {
        "printed": pd.DataFrame(cells, columns=PRINTED),
        "columns": read_csv(paths.PUBLISHED / "columns.csv"),
        "tasks": store.frame(shipped().tasks),
        "models": store.frame(shipped().models),
        "public_files": public_files,
        "own_scores": read_csv(paths.PUBLISHED / OWN),
        "laboratory_scores": _laboratory_scores(),
        "pair_votes": _pair_votes(),
        "same_data": read_csv(paths.CATALOG / "same_data.csv"),
        "metric_titles": store.frame(replace(metric, compute=None, whole=None) for metric in shipped().metrics),
    }
    for name, frame in frames.items():
        tables.register("_frame", frame)
        tables.execute(f"CREATE TABLE {name} AS FROM _frame")
    tables.execute((paths.CLAIMS / "common.sql").read_text(encoding="utf-8"))
    return tables


def _laboratory_scores() -> pd.DataFrame:
    """Returns the shipped scores measured by laboratories: model, task, subset, metric, value, who."""
    frames = []
    for mark in sorted(paths.IMPORTED.glob("*/collection.json")):
        files = json.loads(mark.read_text(encoding="utf-8"))["files"]
        laboratory, runs, scores = (
            store.read_parquet(mark.parent / files[table]) for table in ("laboratories", "runs", "scores")
        )
        scores = scores.merge(runs[["id", "model", "task"]], left_on="run", right_on="id")
        frames.append(scores.assign(who=laboratory["title"].iloc[0]))
    columns = ["model", "task", "subset", "metric", "value", "who"]
    return pd.concat([pd.DataFrame(columns=columns).astype({"value": float}), *(frame[columns] for frame in frames)])


def _pair_votes() -> pd.DataFrame:
    """Returns the shipped answers of judges on pairs, next to people's votes."""
    files = map(store.read_parquet, paths.IMPORTED.glob("genai-bench/votes.parquet"))
    return pd.concat([pd.DataFrame(columns=["task", "judge", "item", "human", "answer"], dtype=str), *files])


def _claim(key: str, row: dict[str, Any], found: dict[str, Any], *, paper: str) -> Claim:
    words = {name: decimal(word) if isinstance(word, float) else word for name, word in found.items()}
    text = {name: row.get(name, "").format_map(words) for name in TEXTS}
    value, holds = found.get("value"), found.get("holds")
    recomputed = text.pop("recomputed") or shown(value, like=text["printed"] or "0.0")
    if holds is None and "value" not in found and "recomputed" in row:
        holds = recomputed == text["printed"]
    if holds is None:
        slack = float(found.get("slack") or 0)
        verdict = judge(text["printed"], value, slack=slack) if text["printed"] else CANNOT
    else:
        verdict = {True: "reproduces", False: "conflict"}.get(holds, holds)
    notes = row.get("notes", {})
    text["note"] = " ".join(filter(None, [text["note"], notes.get(text["claim"]), notes.get(verdict)]))
    if "{" in row["claim"]:
        key += f"/{NOT_IN_KEYS.sub('-', text['claim'].lower()).strip('-')}"
    recomputed, text["note"] = (HYPHEN.sub("−", words) for words in (recomputed, text["note"]))
    return Claim(key=key, paper=paper, recomputed=recomputed, verdict=verdict, severity=row["severity"], **text)


def decimals(printed: str) -> int:
    """Returns the digits after the point of a printed number, `72.6%` -> 1."""
    return len(printed.strip(" %KM").partition(".")[2])


def judge(printed: str, recomputed: float | None, *, slack: float = 0.0) -> str:
    """Returns the verdict on one number.

    `recomputed` is in printed units; `slack` is the largest error that the rounding of the inputs can cause, in
    printed units. A value that rounds to the printed digits, half up or half to even, reproduces; one within half a
    printed unit plus slack is rounding; anything further is a conflict; None cannot be recomputed. Raises BadInput
    if `printed` is not a number with or without %, K or M.
    """
    if recomputed is None:
        return CANNOT
    half = 0.5 * 10 ** -decimals(printed)
    gap = abs(float(recomputed) - number(printed.rstrip("KM")))
    if gap <= half + 1e-9:
        return "reproduces"
    return "rounding" if gap <= half + slack + 1e-9 else "conflict"


def shown(value: float | None, *, like: str) -> str:
    """Formats a count as it is and any other value with two more digits than printed; None becomes an empty text."""
    if value is None or isinstance(value, int):
        return "" if value is None else str(value)
    return rounded(value, decimals(like) + 2)


# Functions that SQL lacks, under the names that queries use.


def correlated(method: str) -> Callable[[Sequence[float], Sequence[float]], float]:
    """Returns a function that correlates two lists by a method."""
    return lambda first, second: float(
        correlate(scores=np.column_stack([first, second]), method=method, minimum=2).r[0, 1]
    )


def correlation_interval(r: float, n: int, method: str, claims: int) -> list[float | None]:
    """Returns the ends of an interval that covers a number of correlations jointly with 95% confidence (Bonferroni).
    Ends are None if the interval does not exist.
    """
    ends = interval(r=r, n=n, method=method, quantile=NormalDist().inv_cdf(1 - 0.025 / claims))
    return [float(end) if math.isfinite(end) else None for end in ends]


def rho_slack(
    scores: Sequence[float], human: Sequence[float], scores_half: Sequence[float], human_half: Sequence[float]
) -> float:
    """Returns the largest shift of ρ² that rounding can cause, with each input moved half a unit along its gradient."""
    inputs, halves = np.array([*scores, *human]), np.array([*scores_half, *human_half])

    def rho(values: np.ndarray) -> float:
        return squared_correlation(scores=values[: len(scores)], human=values[len(scores) :])

    centre = rho(inputs)
    rises = [rho(inputs + step) > centre for step in np.diag(halves)]
    steps = np.where(rises, halves, -halves)
    return max(abs(rho(inputs + step) - centre) for step in (steps, -steps))


FUNCTIONS = (
    ("rounded", lambda value, digits: rounded(value, digits), ["DOUBLE", "INT"], "VARCHAR"),
    ("signed", lambda value, digits: rounded(value, digits, sign=True), ["DOUBLE", "INT"], "VARCHAR"),
    ("decimals", decimals, ["VARCHAR"], "INT"),
    ("kendall", correlated("kendall"), ["DOUBLE[]", "DOUBLE[]"], "DOUBLE"),
    ("spearman", correlated("spearman"), ["DOUBLE[]", "DOUBLE[]"], "DOUBLE"),
    ("correlation_interval", correlation_interval, ["DOUBLE", "BIGINT", "VARCHAR", "BIGINT"], "DOUBLE[]"),
    (
        "rank_accuracy",
        lambda ranks, people: rank_accuracy(ranks=ranks, human_ranks=people),
        ["DOUBLE[]", "DOUBLE[]"],
        "DOUBLE",
    ),
    ("rho_slack", rho_slack, ["DOUBLE[]"] * 4, "DOUBLE"),
)
