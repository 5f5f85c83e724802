"""A view of a table, or everything, as a file: CSV, Parquet, JSON, Markdown, LaTeX, BibTeX."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from compute.analysis.ranking import Ranking
from compute.database import store
from compute.io.files import replacing
from compute.rounding import clean, rounded, rounded_array
from compute.types import BadInput, CannotWrite
from leaderboard.data import suite_queries
from leaderboard.data.board_table import APART, DISPUTED, PARTIAL, PRINTED, SUSPECT, TRAINED, BoardTable, SuiteColumn
from leaderboard.data.csv_files import csv_bytes
from leaderboard.data.database import Database
from leaderboard.data.mean_rule import changed_rule, description, rule
from leaderboard.data.payload import category_marks, category_means
from leaderboard.html.formatting import blank, or_dash, parameters_text
from leaderboard.html.labels import SHORT, SIGNS, described, is_synthetic
from leaderboard.pages.board import latex

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
CELL_SIGNS = (
    *SIGNS,
    (PARTIAL, "~", "mean of only some of its tasks"),
    (PRINTED, "*", "mean as the paper prints it; some of its tasks are missing"),
)
USUAL = ("rank", "range", "class", "parameters", "mean")  # columns other than scores
BEST, NO_VALUE = "bold: best of its column", "— no value"


@dataclass(frozen=True, kw_only=True)
class ExportFile:
    """Bytes to download, with their name and media type."""

    name: str
    media: str
    content: bytes


def view(
    table: BoardTable,
    ranked: Ranking | None,
    *,
    rows: list[str],
    columns: list[str],
    form: str,
    suite_ranked: Ranking | None = None,
    filters: Sequence[str] = (),
    beside: Collection[str] = USUAL,
) -> ExportFile:
    """The chosen rows and columns in their order. Raises UnknownKey or BadInput for what the suite does not have.

    `suite_ranked` is the suite's own ranking where `ranked` follows a changed rule; `filters` say in words which
    rows are shown. `beside` are the columns shown other than scores, for the formats that people read.
    """
    name = f"likeness-{table.suite['key']}{table.scope.suffix}"
    if form == "bibtex":
        return _file(name, form, str(table.suite["bibtex"]).encode())
    frame = view_frame(table, ranked, rows=rows, columns=columns, suite_ranked=suite_ranked)
    if form in ("markdown", "latex"):
        marks = np.array(cell_marks(table, ranked, rows=rows, columns=columns), int).reshape(len(rows), len(columns))
        scales = {column.scale for column in (*map(table.by_key.get, columns), *table.category_columns[:1])}
        unit = " Scores in %." if scales == {100} else ""
        caption = _caption(table, changed_mean(frame, table, ranked), filters, marks) + unit
        shown = _to_read(frame, table, ranked, marks, columns=columns, beside=beside, unit=not unit)
        if "Range" in shown:
            caption += " Range: the ranks that are possible at 95%."
        best = _best(frame, table, marks, columns=columns)
        best = np.concatenate([np.zeros((len(rows), shown.shape[1] - len(columns)), bool), best], axis=1)
        made = (_markdown if form == "markdown" else _latex)(shown, best, caption=caption, label=f"tab:{name}")
        return _file(name, form, made.encode())
    encode = {"csv": csv_bytes, "parquet": store.parquet_bytes, "json": _json}.get(form)
    if encode is None:
        raise BadInput(f"{form!r} is not an export format. Choose from: {', '.join(MEDIA)}")
    return _file(name, form, encode(frame))


def everything(db: Database, *, form: str) -> tuple[str, Path]:
    """Every score of every suite, one row a score, as a name and a file; `duckdb` is the database itself.

    Raises CannotWrite for a full disk, BadInput for another form.

    The file is written to the folder of the database's copy, some thousand rows at a time, and goes with it.
    """
    with db.snapshot() as opening:
        if form == "duckdb":
            return "likeness.duckdb", opening.copy
        if form not in ("csv", "parquet", "json"):
            raise BadInput(f"Everything is exported as csv, parquet, json or duckdb, not {form!r}")
        if opening.folder is None:
            raise CannotWrite("There is no folder for temporary files")
        parts = (
            part.assign(synthetic=part["benchmark"].map(is_synthetic).astype(bool))
            for part in suite_queries.everything(opening)
        )
        path = opening.folder / f"likeness-scores.{form}"
        if form == "parquet":
            store.write_parquet(path, frame=pd.concat(parts, ignore_index=True))
        else:
            with replacing(path) as draft, draft.open("wb") as file:
                for text in (_csv_parts if form == "csv" else _json_parts)(parts):
                    file.write(text)
        return path.name, path


def view_frame(
    table: BoardTable,
    ranked: Ranking | None,
    *,
    rows: list[str],
    columns: list[str],
    suite_ranked: Ranking | None = None,
) -> pd.DataFrame:
    """The view as a frame: model, origin, rank with its interval, mean, the columns in shown units, then their marks.

    `ranked_by` is the rule of the mean, `suite_rank` the rank by the suite's own rule (`suite_ranked`, else `ranked`);
    `coverage` the share of the tasks with a score, `covered` that with the tasks for which a printed mean stands in.
    `few_tasks` says that the mean's interval rests on few tasks, `interval_unknown` why it or the class is missing.
    `trained` says whether the model saw any data set of the suite in training: yes, no, or unknown where nobody states
    its training data. `synthetic` says whether a program drew the items. `trained_on_tasks`, `suspect_columns` and
    `disputed_columns` list those of a row's columns, `;` between: the model was trained on the data set, a remark
    doubts the figure, another table prints another number.
    """
    for noun, keys in (("row", rows), ("column", columns)):
        if len(set(keys)) < len(keys):
            raise BadInput(f"The export names a {noun} twice. Reload the page and export again")
    indices = [table.row(row) for row in rows]
    every = table.by_key
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
            "license": facts["license"].fillna("").tolist(),
            "released": facts["released"].fillna("").tolist(),
            "trained": [table.trained(index) for index in indices],
            "suite": str(table.suite["key"]),
            "synthetic": is_synthetic(table.suite["benchmark"]),
        }
    )
    if ranked is not None:
        scale = table.category_columns[0].scale
        own = (suite_ranked or ranked).rank
        ranks = {"rank": ranked.rank, "rank_low": ranked.rank_low, "rank_high": ranked.rank_high, "suite_rank": own}
        for name, values in ranks.items():
            frame[name] = pd.array(
                [int(values[index]) if values[index] > 0 else None for index in indices], dtype="Int64"
            )
        frame["ranked_by"] = rule(table, changed_rule(table, ranked))
        frame["tie_class"] = [ranked.classes[index] for index in indices]
        for name, values in (("mean", ranked.mean), ("mean_low", ranked.mean_low), ("mean_high", ranked.mean_high)):
            frame[name] = [_figure(values[index], scale) for index in indices]
        frame["few_tasks"] = [bool(ranked.few[index]) for index in indices]
        frame["interval_unknown"] = pd.Series([ranked.unknown[index] for index in indices], dtype=str)
        for name, values in (("coverage", ranked.coverage), ("covered", ranked.covered)):
            frame[name] = [_figure(values[index], 1) for index in indices]
    families = category_means(table, ranked)
    figures = {}  # joined at once: a column at a time, a wide table is copied again and again
    for key in columns:
        column = every[key]
        if column.kind == "family":
            source = families[:, list(table.scores.categories).index(key)]
        else:
            source = table.scores.values[:, table.columns.index(column)]
        figures[key] = [_figure(source[index], column.scale) for index in indices]
    frame = pd.concat([frame, pd.DataFrame(figures, index=frame.index)], axis=1)
    marks = cell_marks(table, ranked, rows=rows, columns=columns)
    for name, bit in (("trained_on_tasks", TRAINED), ("suspect_columns", SUSPECT), ("disputed_columns", DISPUTED)):
        frame[name] = pd.Series(
            [";".join(key for key, mark in zip(columns, line, strict=True) if mark & bit) for line in marks], dtype=str
        )
    return frame


def cell_marks(table: BoardTable, ranked: Ranking | None, *, rows: list[str], columns: list[str]) -> list[list[int]]:
    """The marks of every exported cell [rows][columns], as the board shows them."""
    every = list(table.by_key)
    indices = [every.index(key) for key in columns]
    of_means = np.zeros((len(table.rows), 0), int) if ranked is None else category_marks(table, ranked)
    marks = np.concatenate([of_means, table.marks], axis=1)
    return marks[np.ix_([table.row(row) for row in rows], indices)].tolist()


def changed_mean(frame: pd.DataFrame, table: BoardTable, ranked: Ranking | None) -> str:
    """What was changed of the suite's rule, and how many ranks of the view differ; empty where nothing was."""
    changed = changed_rule(table, ranked)
    if not changed:
        return ""
    differ = int((frame["rank"].fillna(0) != frame["suite_rank"].fillna(0)).sum())
    return f"{rule(table, changed)}. {differ} of {len(frame)} ranks differ from the suite's own."


def _caption(table: BoardTable, changed: str, filters: Sequence[str], marks: np.ndarray) -> str:
    """The suite, the rule of the mean, the filters, and the signs of `marks`, bits of the cells."""
    about = table.suite
    title, whose = str(about["title"]), str(about["benchmark_title"])
    named = title if whose in title else f"{whose}: {title}"
    seen = int(np.bitwise_or.reduce(marks, axis=None))
    legend = "; ".join([*(f"{sign} {words}" for bit, sign, words in CELL_SIGNS if seen & bit), BEST, NO_VALUE])
    words = described(changed or description(table), about["benchmark"])
    rows = f" Only rows with {'; '.join(filters)}." if filters else ""
    return f"{named}. {words}{rows} {legend[0].upper()}{legend[1:]}."


def _to_read(
    frame: pd.DataFrame,
    table: BoardTable,
    ranked: Ranking | None,
    marks: np.ndarray,
    *,
    columns: list[str],
    beside: Collection[str],
    unit: bool,
) -> pd.DataFrame:
    """The view for people: short titles, numbers at the digits the board shows, signs after them.

    `beside` are the columns shown other than scores, as the board calls them; one without any value is dropped. `unit`:
    titles of columns in percent say so.
    """
    models = table.models.loc[frame["model"]]
    out: dict[str, list[str]] = {"Model": frame["title"].tolist()}
    if frame["origin"].nunique() > 1:
        out["Origin"] = frame["origin"].tolist()
    facts: dict[str, tuple[str, list[str]]] = {
        "parameters": ("Params", ["" if blank(size) else parameters_text(size) for size in frame["parameters_m"]]),
        "memory": ("MB", ["" if blank(size) else rounded(size, 0) for size in models["memory_mb"]]),
        "dimension": ("Dim.", ["" if blank(size) else str(int(size)) for size in models["embed_dim"]]),
        "tokens": ("Tokens", ["" if blank(size) else str(int(size)) for size in models["max_tokens"]]),
        "date": ("Released", frame["released"].tolist()),
        "late": ("Late", ["" if blank(late) else "yes" if late else "no" for late in models["late_interaction"]]),
    }
    if "rank" in frame:
        digits = table.category_columns[0].digits
        title = ("Your mean" if changed_rule(table, ranked) else "Mean") + _unit(unit, table.category_columns[0])
        at = [table.row(f"{model}~{origin}") for model, origin in zip(frame["model"], frame["origin"], strict=True)]
        ranges = _ranges(frame["rank_low"], frame["rank_high"], digits=0)
        borda = [ranked.borda[row] for row in at]
        facts = {
            "rank": ("Rank", ["" if blank(rank) else str(rank) for rank in frame["rank"]]),
            "range": ("Range", ranges),
            "class": ("Class", frame["tie_class"].tolist()),
            **facts,
            "coverage": (
                "Cov.",
                ["" if blank(share) else f"{int(100 * share + 1e-9)}%" for share in frame["coverage"]],
            ),
            "mean": (title, [_rounded(value, digits) for value in frame["mean"]]),
            "interval": ("95% interval", _ranges(frame["mean_low"], frame["mean_high"], digits=digits)),
            "borda": ("Borda", ["" if blank(points) else rounded(points, 1) for points in borda]),
        }
    out |= {title: texts for key, (title, texts) in facts.items() if key in beside and any(texts)}
    for at, key in enumerate(columns):
        column = table.by_key[key]
        title = SHORT.get(column.title, column.title) + _unit(unit, column) + " ↓" * (not column.higher)
        while title in out:
            title += f" [{key}]"
        shown = [_rounded(value, column.digits) for value in frame[key]]
        out[title] = [
            f"{value}{_signs(bits)}" if value else "" for value, bits in zip(shown, marks[:, at], strict=True)
        ]
    return pd.DataFrame(out)


def _best(frame: pd.DataFrame, table: BoardTable, marks: np.ndarray, *, columns: list[str]) -> np.ndarray:
    """Which cells [rows, columns] hold the best figure of their column, as shown; none of APART."""
    best = np.zeros(marks.shape, bool)
    for at, key in enumerate(columns):
        column = table.by_key[key]
        values = rounded_array(frame[key], column.digits)
        values[(marks[:, at] & APART) > 0] = np.nan
        known = values[~np.isnan(values)]
        if len(known) and known.min() < known.max():
            best[:, at] = values == (known.max() if column.higher else known.min())
    return best


def _signs(marks: int) -> str:
    return "".join(sign for bit, sign, _ in CELL_SIGNS if marks & bit)


def _figure(value: float, scale: float) -> float:
    """A stored value in shown units. Rounded by compute.rounding it is what the board shows."""
    return math.nan if math.isnan(value) else clean(value, scale=scale)


def _rounded(value: float, digits: int) -> str:
    return "" if blank(value) else rounded(value, digits)


def _ranges(low: Iterable[float], high: Iterable[float], *, digits: int) -> list[str]:
    ends = zip(low, high, strict=True)
    return ["" if blank(a) or blank(b) else f"{rounded(a, digits)}–{rounded(b, digits)}" for a, b in ends]


def _unit(said: bool, column: SuiteColumn) -> str:
    return f" ({PERCENT})" if said and column.scale == 100 else ""


def _file(name: str, form: str, content: bytes) -> ExportFile:
    return ExportFile(name=f"{name}.{ENDINGS.get(form, form)}", media=MEDIA[form], content=content)


def _csv_parts(parts: Iterable[pd.DataFrame]) -> Iterator[bytes]:
    for index, part in enumerate(parts):
        yield csv_bytes(part, header=index == 0)


def _json_parts(parts: Iterable[pd.DataFrame]) -> Iterator[bytes]:
    """The text of one list; every part's own brackets and line ends are cut off."""
    before = b"[\n"
    for part in parts:
        if len(part):
            yield before + _json(part)[len("[\n") : -len("\n]")]
            before = b",\n"
    yield b"[]" if before == b"[\n" else b"\n]"


def _json(frame: pd.DataFrame) -> bytes:
    records = frame.astype(object).where(frame.notna(), None).to_dict("records")
    return json.dumps(records, ensure_ascii=False, default=_plain, indent=1).encode()


def _markdown(frame: pd.DataFrame, best: np.ndarray, *, caption: str, label: str) -> str:
    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def text(cell: object) -> str:
        return _shown(cell).translate(MARKDOWN)

    body = [
        [
            latex.NUMBER.sub(r"**\g<0>**", text(cell), count=1) if bold else text(cell)
            for cell, bold in zip(row, bolds, strict=True)
        ]
        for row, bolds in zip(frame.itertuples(index=False), best, strict=True)
    ]
    lines = [text(caption), "", line(map(text, frame.columns)), "|" + "---|" * frame.shape[1], *map(line, body), ""]
    return "\n".join(lines)


def _latex(frame: pd.DataFrame, best: np.ndarray, *, caption: str, label: str) -> str:
    rows = [[_shown(cell) for cell in row] for row in frame.itertuples(index=False)]
    return latex.table(list(frame.columns), rows, best=best.tolist(), caption=caption, label=label)


MARKDOWN = str.maketrans({"&": "&amp;", "<": "&lt;", "\\": r"\\", "|": r"\|"})


def _shown(cell: object) -> str:
    return " ".join(str(or_dash(cell)).splitlines())


def _plain(cell: object) -> object:
    return cell.tolist() if hasattr(cell, "tolist") else str(cell)
