"""A view of a table, or everything, as a file: CSV, Parquet, JSON, Markdown, LaTeX, BibTeX."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from compute.database import store
from compute.types import BadInput
from leaderboard.data import suite_queries
from leaderboard.data.database import Database
from leaderboard.data.payload import category_means
from leaderboard.data.ranked import Ranked
from leaderboard.data.suite_table import DISPUTED, SUSPECT, TRAINED, SuiteTable
from leaderboard.html.formatting import blank, or_dash
from leaderboard.html.labels import SIGNS, described, is_synthetic, signs
from leaderboard.web.responses import safe_cell

MEDIA = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
    "latex": "application/x-tex; charset=utf-8",
    "bibtex": "application/x-bibtex; charset=utf-8",
    "duckdb": "application/octet-stream",
}
ENDINGS = {"markdown": "md", "latex": "tex", "bibtex": "bib"}
PERCENT = "%"


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """Bytes to download, with their name and media type."""

    name: str
    media: str
    content: bytes


def view(table: SuiteTable, ranked: Ranked | None, *, rows: list[str], columns: list[str], form: str) -> ExportFile:
    """The chosen rows and columns in their order. Raises UnknownKey or BadInput for what the suite does not have."""
    name = f"likeness-{table.suite['key']}"
    if form == "bibtex":
        return _file(name, form, str(table.suite["bibtex"]).encode())
    frame = view_frame(table, ranked, rows=rows, columns=columns)
    if form in ("markdown", "latex"):
        frame = _to_read(frame, table, rows=rows, columns=columns)
    return _file(name, form, _encode(frame, form, caption=_caption(table)))


def everything(db: Database, *, form: str) -> ExportFile:
    """Every score of every suite, one row a score; `duckdb` is the database itself."""
    if form == "duckdb":
        return ExportFile(name="likeness.duckdb", media=MEDIA[form], content=db.path.read_bytes())
    if form not in ("csv", "parquet", "json"):
        raise BadInput(f"Everything is exported as csv, parquet, json or duckdb, not {form!r}")
    frame = suite_queries.everything(db)
    frame["synthetic"] = frame["benchmark"].map(is_synthetic).astype(bool)
    return _file("likeness-scores", form, _encode(frame, form, caption="Every score"))


def view_frame(table: SuiteTable, ranked: Ranked | None, *, rows: list[str], columns: list[str]) -> pd.DataFrame:
    """The view as a frame: model, origin, rank with its interval, mean, the columns in shown units, then their marks.

    `synthetic` says whether a program drew the items. `trained_on_tasks`, `suspect_columns` and `disputed_columns`
    list those of a row's columns, `;` between: the model was trained on the data set, a remark doubts the figure,
    another table prints another number.
    """
    indices = [table.row(row) for row in rows]
    every = {column.key: column for column in (*table.category_columns, *table.columns)}
    unknown = [key for key in columns if key not in every]
    if unknown:
        raise BadInput(f"{table.suite['key']} has no column {unknown[0]!r}. Reload the page and export again")
    facts = table.models.loc[[table.rows[index].model for index in indices]]
    frame = pd.DataFrame(
        {
            "model": facts["key"].tolist(),
            "title": facts["title"].tolist(),
            "kind": facts["kind"].tolist(),
            "origin": [table.rows[index].origin for index in indices],
            "parameters_m": facts["parameters_m"].tolist(),
            "suite": str(table.suite["key"]),
            "synthetic": is_synthetic(table.suite["benchmark"]),
        }
    )
    if ranked is not None:
        scale = table.category_columns[0].scale
        for name, values in (("rank", ranked.rank), ("rank_low", ranked.rank_low), ("rank_high", ranked.rank_high)):
            frame[name] = pd.array(
                [int(values[index]) if values[index] > 0 else None for index in indices], dtype="Int64"
            )
        frame["tie_class"] = [ranked.ties[index] for index in indices]
        for name, values in (("mean", ranked.mean), ("mean_low", ranked.mean_low), ("mean_high", ranked.mean_high)):
            frame[name] = [round(float(values[index]) * scale, 4) for index in indices]
        frame["coverage"] = [round(float(ranked.coverage[index]), 4) for index in indices]
    families = category_means(table, ranked)
    for key in columns:
        column = every[key]
        if column.kind == "family":
            source = families[:, list(table.categories).index(key)]
        else:
            source = table.values[:, table.columns.index(column)]
        frame[key] = [round(float(source[index]) * column.scale, column.digits + 2) for index in indices]
    marks = cell_marks(table, rows=rows, columns=columns)
    for name, bit in (("trained_on_tasks", TRAINED), ("suspect_columns", SUSPECT), ("disputed_columns", DISPUTED)):
        frame[name] = pd.Series(
            [";".join(key for key, mark in zip(columns, line, strict=True) if mark & bit) for line in marks], dtype=str
        )
    return frame


def cell_marks(table: SuiteTable, *, rows: list[str], columns: list[str]) -> list[list[int]]:
    """The marks of every exported cell [rows][columns]; a category's is TRAINED where one of its tasks' is."""
    families = {column.key: np.flatnonzero(table.codes == code) for code, column in enumerate(table.category_columns)}
    tasks = {column.key: index for index, column in enumerate(table.columns)}
    marks = []
    for index in (table.row(row) for row in rows):
        line = table.marks[index]
        marks.append(
            [
                TRAINED * int((line[families[key]] & TRAINED).any()) if key in families else int(line[tasks[key]])
                for key in columns
            ]
        )
    return marks


def _caption(table: SuiteTable) -> str:
    about = table.suite
    title, whose = str(about["title"]), str(about["benchmark_title"])
    named = title if whose in title else f"{whose}: {title}"
    legend = "; ".join(f"{sign} {words}" for _, sign, words in SIGNS)
    description = described(str(about["description"]), about["benchmark"])
    return f"{named}. {description} {legend[0].upper()}{legend[1:]}; — no figure."


def _to_read(frame: pd.DataFrame, table: SuiteTable, *, rows: list[str], columns: list[str]) -> pd.DataFrame:
    """The view for people: titles with units as headings, numbers at the digits the board shows, signs after them."""
    every = {column.key: column for column in (*table.category_columns, *table.columns)}
    out = pd.DataFrame(
        {
            "Model": frame["title"],
            "Origin": frame["origin"],
            "Parameters (millions)": ["" if blank(size) else f"{size:.4g}" for size in frame["parameters_m"]],
        }
    )
    if "rank" in frame:
        first = table.category_columns[0]
        unit = f" ({PERCENT})" if first.scale == 100 else ""
        out["Rank"] = frame["rank"]
        out["Rank, 95% interval"] = [
            _between(low, high, digits=0) for low, high in zip(frame["rank_low"], frame["rank_high"], strict=True)
        ]
        out["Tie class"] = frame["tie_class"]
        out[f"Mean{unit}"] = [_rounded(value, first.digits) for value in frame["mean"]]
        out[f"Mean, 95% interval{unit}"] = [
            _between(low, high, digits=first.digits)
            for low, high in zip(frame["mean_low"], frame["mean_high"], strict=True)
        ]
    marks = cell_marks(table, rows=rows, columns=columns)
    for at, key in enumerate(columns):
        column = every[key]
        facts = [column.metric_title] * (column.metric_title != column.title) + [PERCENT] * (column.scale == 100)
        facts += ["lower is better"] * (not column.higher)
        title = f"{column.title} ({', '.join(facts)})" if facts else column.title
        while title in out:
            title += f" [{key}]"
        shown = [_rounded(value, column.digits) for value in frame[key]]
        out[title] = [f"{value}{signs(line[at])}" if value else "" for value, line in zip(shown, marks, strict=True)]
    return out


def _rounded(value: float, digits: int) -> str:
    return "" if blank(value) else f"{value:.{digits}f}"


def _between(low: float, high: float, *, digits: int) -> str:
    return "" if blank(low) or blank(high) else f"{low:.{digits}f} to {high:.{digits}f}"


def _file(name: str, form: str, content: bytes) -> ExportFile:
    return ExportFile(name=f"{name}.{ENDINGS.get(form, form)}", media=MEDIA[form], content=content)


def _encode(frame: pd.DataFrame, form: str, *, caption: str) -> bytes:
    match form:
        case "csv":
            return _csv(frame)
        case "parquet":
            return store.parquet_bytes(frame)
        case "json":
            return _json(frame)
        case "markdown":
            return _markdown(frame, caption=caption)
        case "latex":
            return _latex(frame, caption=caption)
    raise BadInput(f"There is no export as {form!r}. Choose from: {', '.join(MEDIA)}")


def _csv(frame: pd.DataFrame) -> bytes:
    safe = frame.map(lambda cell: safe_cell(cell) if isinstance(cell, str) else cell)
    return safe.to_csv(index=False, lineterminator="\n").encode()


def _json(frame: pd.DataFrame) -> bytes:
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return json.dumps(records, ensure_ascii=False, default=_plain, indent=1).encode()


def _markdown(frame: pd.DataFrame, *, caption: str) -> bytes:
    def line(cells: Iterable[object]) -> str:
        return f"| {' | '.join(_shown(cell).translate(MARKDOWN) for cell in cells)} |"

    lines = [caption, "", line(frame.columns), "|" + "---|" * frame.shape[1]]
    return "\n".join([*lines, *map(line, frame.itertuples(index=False)), ""]).encode()


MARKDOWN = str.maketrans({"&": "&amp;", "<": "&lt;", "\\": r"\\", "|": r"\|"})
LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "†": r"\textdagger{}",
        "‡": r"\textdaggerdbl{}",
    }
)


def _latex(frame: pd.DataFrame, *, caption: str) -> bytes:
    def text(cell: object) -> str:
        return _shown(cell).translate(LATEX)

    def line(cells: Iterable[object]) -> str:
        return " & ".join(map(text, cells)) + r" \\"

    shape = "".join("r" if _numbers(frame[name]) else "l" for name in frame.columns)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{text(caption)}}}",
        rf"\begin{{tabular}}{{{shape}}}",
        r"\hline",
        line(frame.columns),
        r"\hline",
        *map(line, frame.itertuples(index=False)),
        r"\hline",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines).encode()


def _numbers(column: pd.Series) -> bool:
    """Whether every cell that holds something is a number, maybe with a sign after it."""
    return all(re.match(r"[-−]?\d", str(cell)) for cell in column if not blank(cell))


def _shown(cell: object) -> str:
    return " ".join(str(or_dash(cell)).splitlines())


def _plain(cell: object) -> object:
    return cell.tolist() if hasattr(cell, "tolist") else str(cell)
