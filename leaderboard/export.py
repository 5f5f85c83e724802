"""A view of a table, or everything, as a file: CSV, Parquet, JSON, Markdown, LaTeX, BibTeX."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import pandas as pd

from compute import store
from compute.types import BadInput
from leaderboard import queries
from leaderboard.board.payload import family_values
from leaderboard.board.ranked import Ranked
from leaderboard.board.table import Table
from leaderboard.queries import Database

MEDIA = {
    "csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet",
    "json": "application/json; charset=utf-8", "markdown": "text/markdown; charset=utf-8",
    "latex": "application/x-tex; charset=utf-8", "bibtex": "application/x-bibtex; charset=utf-8",
    "duckdb": "application/octet-stream",
}
ENDINGS = {"markdown": "md", "latex": "tex", "bibtex": "bib"}
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # a spreadsheet runs a cell that starts so


@dataclass(frozen=True, kw_only=True)
class File:
    """Bytes to download, with their name and media type."""

    name: str
    media: str
    content: bytes


def view(table: Table, ranked: Ranked | None, *, rows: list[str], columns: list[str], form: str) -> File:
    """The chosen rows and columns in their order. Raises UnknownKey or BadInput for what the suite does not have."""
    if form == "bibtex":
        return _file(f"likeness-{table.suite['key']}", form, str(table.suite["bibtex"]).encode())
    frame = view_frame(table, ranked, rows=rows, columns=columns)
    caption = f"{table.suite['benchmark_title']}: {table.suite['title']}. {table.suite['description']}"
    return _file(f"likeness-{table.suite['key']}", form, _encode(frame, form, caption=caption))


def everything(db: Database, *, form: str) -> File:
    """Every score of every suite, one row a score; `duckdb` is the database itself."""
    if form == "duckdb":
        return File(name="likeness.duckdb", media=MEDIA[form], content=db.path.read_bytes())
    if form not in ("csv", "parquet", "json"):
        raise BadInput(f"Everything comes as csv, parquet, json or duckdb, not {form!r}")
    return _file("likeness-scores", form, _encode(queries.everything(db), form, caption="Every score"))


def view_frame(table: Table, ranked: Ranked | None, *, rows: list[str], columns: list[str]) -> pd.DataFrame:
    """The view as a frame: model, origin, rank with its interval, mean, then the columns in shown units."""
    places = [table.row(row) for row in rows]
    every = {column.key: column for column in (*table.families, *table.columns)}
    unknown = [key for key in columns if key not in every]
    if unknown:
        raise BadInput(f"{table.suite['key']} has no column {unknown[0]!r}. Reload the page and export again")
    facts = table.models.loc[[table.rows[place].model for place in places]]
    frame = pd.DataFrame({
        "model": facts["key"].tolist(), "title": facts["title"].tolist(), "kind": facts["kind"].tolist(),
        "origin": [table.rows[place].origin for place in places],
        "parameters_m": facts["parameters_m"].tolist(),
    })
    if ranked is not None:
        scale = table.families[0].scale
        for name, values in (("rank", ranked.rank), ("rank_low", ranked.rank_low), ("rank_high", ranked.rank_high)):
            frame[name] = pd.array([int(values[place]) if values[place] > 0 else None for place in places], dtype="Int64")
        frame["tie_class"] = [ranked.ties[place] for place in places]
        for name, values in (("mean", ranked.mean), ("mean_low", ranked.mean_low), ("mean_high", ranked.mean_high)):
            frame[name] = [round(float(values[place]) * scale, 4) for place in places]
        frame["coverage"] = [round(float(ranked.coverage[place]), 4) for place in places]
    families = family_values(table, ranked)
    for key in columns:
        column = every[key]
        family = column.kind == "family"
        source = families[:, list(table.categories).index(key)] if family else table.values[:, table.columns.index(column)]
        frame[key] = [round(float(source[place]) * column.scale, column.digits + 2) for place in places]
    return frame


def _file(name: str, form: str, content: bytes) -> File:
    return File(name=f"{name}.{ENDINGS.get(form, form)}", media=MEDIA[form], content=content)


def _encode(frame: pd.DataFrame, form: str, *, caption: str) -> bytes:
    writers = {"csv": _csv, "parquet": store.parquet_bytes, "json": _json,
               "markdown": lambda frame: _markdown(frame, caption=caption),
               "latex": lambda frame: _latex(frame, caption=caption)}
    if form not in writers:
        raise BadInput(f"There is no export as {form!r}. Choose from: {', '.join(MEDIA)}")
    return writers[form](frame)


def _csv(frame: pd.DataFrame) -> bytes:
    safe = frame.copy()
    for name in safe.columns:
        safe[name] = [f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell for cell in safe[name]]
    return safe.to_csv(index=False, lineterminator="\n").encode()


def _json(frame: pd.DataFrame) -> bytes:
    records = [{name: None if _blank(cell) else cell for name, cell in row.items()}
               for row in frame.astype(object).to_dict("records")]
    return json.dumps(records, ensure_ascii=False, default=_plain, indent=1).encode()


def _markdown(frame: pd.DataFrame, *, caption: str) -> bytes:
    def text(cell: object) -> str:
        escaped = _shown(cell).replace("&", "&amp;").replace("<", "&lt;").replace("\\", "\\\\")
        return escaped.replace("|", "\\|")

    lines = [caption, "", "| " + " | ".join(text(name) for name in frame.columns) + " |",
             "|" + "|".join("---" for _ in frame.columns) + "|"]
    lines += ["| " + " | ".join(text(cell) for cell in row) + " |" for row in frame.itertuples(index=False)]
    return ("\n".join(lines) + "\n").encode()


LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
         "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def _latex(frame: pd.DataFrame, *, caption: str) -> bytes:
    def text(cell: object) -> str:
        return "".join(LATEX.get(sign, sign) for sign in _shown(cell))

    shape = "".join("r" if pd.api.types.is_numeric_dtype(frame[name]) else "l" for name in frame.columns)
    body = [" & ".join(text(cell) for cell in row) + r" \\" for row in frame.itertuples(index=False)]
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{text(caption)}}}", rf"\begin{{tabular}}{{{shape}}}",
             r"\hline", " & ".join(text(name) for name in frame.columns) + r" \\", r"\hline", *body, r"\hline",
             r"\end{tabular}", r"\end{table}"]
    return ("\n".join(lines) + "\n").encode()


def _blank(cell: object) -> bool:
    return cell is None or cell is pd.NA or (isinstance(cell, float) and math.isnan(cell))


def _shown(cell: object) -> str:
    return "—" if _blank(cell) else " ".join(str(cell).splitlines())


def _plain(cell: object) -> object:
    return cell.tolist() if hasattr(cell, "tolist") else str(cell)
