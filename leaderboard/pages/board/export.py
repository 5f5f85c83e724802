"""Export of a view of a table, or of everything, as a file: CSV, Parquet, JSON, Markdown, LaTeX, BibTeX."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pandas as pd
from starlette.responses import Response

from compute.analysis.ranking import Ranking
from compute.database import store
from compute.io.files import replacing
from compute.rounding import rounded, rounded_array
from compute.types import BadInput, CannotWrite
from leaderboard.data.board_table import (
    APART,
    DISPUTED,
    ESTIMATED,
    PARTIAL,
    PRINTED,
    SUSPECT,
    TRAINED,
    BoardTable,
    Estimates,
    SuiteColumn,
)
from leaderboard.data.database import Database, shared
from leaderboard.data.mean_rule import changed_rule, description, rule
from leaderboard.data.payload import PLACES, cells, plain, standing
from leaderboard.html.formatting import blank, parameters_text, rank_range
from leaderboard.html.labels import SHORT, SIGNS, described, is_synthetic
from leaderboard.pages.board.text_tables import latex, markdown
from leaderboard.web.responses import csv_bytes, download

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
    (ESTIMATED, "≈", "estimated from the tasks that the model has; takes no rank, its interval is about these tasks"),
)
RANKED = (  # columns of a ranked suite
    *("rank", "rank_low", "rank_high", "suite_rank", "ranked_by", "tie_class", "mean", "mean_low", "mean_high"),
    *("few_tasks", "interval_unknown", "coverage", "covered"),
)
USUAL = ("rank", "range", "class", "parameters", "mean")  # columns other than scores
BEST, NO_VALUE = "bold: best of its column", "— no value"


def _range(low: float, high: float, digits: int) -> str:
    return f"{rounded(low, digits)}–{rounded(high, digits)}"


# Columns other than scores, by the board's names: title, what it shows of a row, how, also by the digits of means.
BESIDE: dict[str, tuple[str, tuple[str, ...], Callable[..., str]]] = {
    "rank": ("Rank", ("rank",), lambda rank, _: str(rank)),
    "range": ("Range", ("rank_low", "rank_high"), lambda low, high, _: _range(low, high, 0)),
    "class": ("Class", ("tie_class",), lambda letter, _: letter),
    "parameters": ("Params", ("parameters_m",), lambda millions, _: parameters_text(millions)),
    "memory": ("MB", ("memory_mb",), lambda size, _: rounded(size, 0)),
    "dimension": ("Dim.", ("embed_dim",), lambda size, _: str(int(size))),
    "tokens": ("Tokens", ("max_tokens",), lambda size, _: str(int(size))),
    "date": ("Released", ("released",), lambda date, _: date),
    "late": ("Late", ("late_interaction",), lambda late, _: "yes" if late else "no"),
    "coverage": ("Cov.", ("coverage",), lambda share, _: f"{int(100 * share + 1e-9)}%"),
    "mean": ("Mean", ("mean",), rounded),
    "interval": ("95% interval", ("mean_low", "mean_high"), _range),
}


@dataclass(frozen=True, kw_only=True)
class BoardView:
    """The chosen rows and columns of a table in their order. Raises UnknownKey or BadInput for what the suite does not
    have.

    `suite_ranked` is the suite's own ranking where `ranked` follows a changed rule.
    """

    table: BoardTable
    ranked: Ranking | None
    rows: list[str]
    columns: list[str]
    suite_ranked: Ranking | None = None
    estimates: Estimates | None = None  # of rows without a rank, where they are shown
    data: str = ""  # the version of the data

    def file(self, form: str, *, filters: Sequence[str] = (), beside: Collection[str] = USUAL) -> Response:
        """Returns the view as a file. For formats read by people, `filters` describes in words which rows are shown,
        and `beside` lists the shown columns other than scores.
        """
        table = self.table
        name = f"likeness-{table.suite['key']}{table.scope.suffix}"
        if form == "bibtex":
            content = str(table.suite["bibtex"]).encode()
        elif form in ("markdown", "latex"):
            scales = {column.scale for column in (*self.chosen, *table.category_columns[:1])}
            unit = " Scores in %." if scales == {100} else ""
            shown = self.to_read(beside=beside, unit=not unit)
            caption = self.caption(filters) + unit
            if "Range" in shown:
                caption += " Range: the ranks that are possible at 95%."
            others = np.zeros((len(self.rows), shown.shape[1] - len(self.columns)), bool)
            best = np.concatenate([others, self.best], axis=1)
            write = markdown if form == "markdown" else partial(latex, label=f"tab:{name}")
            content = write(shown, best, caption=caption).encode()
        elif form in WRITERS:
            content = WRITERS[form](self.frame)
        else:
            raise BadInput(f"{form!r} is not an export format. Choose from: {', '.join(MEDIA)}")
        return download(content, name=f"{name}.{ENDINGS.get(form, form)}", media=MEDIA[form])

    @cached_property
    def indices(self) -> list[int]:
        """Returns the indices of the rows in the table."""
        return [self.table.row(row) for row in self.rows]

    @cached_property
    def chosen(self) -> list[SuiteColumn]:
        """Returns the columns."""
        for noun, keys in (("row", self.rows), ("column", self.columns)):
            if len(set(keys)) < len(keys):
                raise BadInput(f"The export names a {noun} twice. Reload the page and export again")
        if unknown := [key for key in self.columns if key not in self.table.by_key]:
            suite = self.table.suite["key"]
            raise BadInput(f"{suite} has no column {unknown[0]!r}. Reload the page and export again")
        return [self.table.by_key[key] for key in self.columns]

    @cached_property
    def cells(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns values in stored units and marks [rows, columns] of every cell, as on the board."""
        every = list(self.table.by_key)
        at = np.ix_(self.indices, [every.index(column.key) for column in self.chosen])
        values, marks = cells(self.table, self.ranked, self.estimates)
        return values[at], marks[at]

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Returns model, origin, rank with its interval, mean, the columns in shown units, then their marks.

        `ranked_by` is the rule of the mean, `suite_rank` the rank by the suite's own rule; others are as in
        `payload.standing`. `trained` says whether the model saw any data set of the suite in training: yes, no, or
        unknown if nobody states its training data. `synthetic` says whether a program drew the items.
        `trained_on_tasks`, `suspect_columns` and `disputed_columns` list those of a row's columns, `;` between: the
        model was trained on the data set, a remark doubts the figure, another table prints another number.
        """
        table, ranked, chosen = self.table, self.ranked, self.chosen
        rows = [table.rows[index] for index in self.indices]
        facts = table.models.loc[[row.model for row in rows]].reset_index(drop=True)
        facts = facts[["key", "title", "kind", "parameters_m", "license", "released"]].rename(columns={"key": "model"})
        facts.insert(3, "origin", [row.origin for row in rows])
        frame = facts.assign(
            trained=[table.trained(index) for index in self.indices],
            suite=str(table.suite["key"]),
            data=self.data,
            synthetic=is_synthetic(table.suite["benchmark"]),
        )
        parts = [frame]
        if ranked is not None:
            ranks = standing(table, self.suite_ranked or ranked)["rank"]
            own = standing(table, ranked, self.estimates)
            own = own.assign(suite_rank=ranks, ranked_by=rule(table, changed_rule(table, ranked)))
            parts.append(own[[*RANKED, *(PLACES if self.estimates else ())]].iloc[self.indices].reset_index(drop=True))
        values, marks = self.cells
        figures = {
            column.key: list(map(column.shown, own)) for column, own in zip(chosen, values.T.tolist(), strict=True)
        }
        bits = {"trained_on_tasks": TRAINED, "suspect_columns": SUSPECT, "disputed_columns": DISPUTED}
        lists = {
            name: [";".join(np.array(self.columns, object)[line & bit > 0]) for line in marks]
            for name, bit in bits.items()
        }
        return pd.concat(
            [*parts, pd.DataFrame(figures, index=frame.index, dtype=float), pd.DataFrame(lists, dtype=str)], axis=1
        )

    def caption(self, filters: Sequence[str]) -> str:
        """Returns the suite, the rule of the mean and how many ranks it changes, the filters, and the signs of the
        marks.
        """
        about, frame = self.table.suite, self.frame
        title, whose = str(about["title"]), str(about["benchmark_title"])
        named = title if whose in title else f"{whose}: {title}"
        seen = int(np.bitwise_or.reduce(self.cells[1], axis=None)) | ESTIMATED * any(self.places)
        legend = "; ".join([*(f"{sign} {words}" for bit, sign, words in CELL_SIGNS if seen & bit), BEST, NO_VALUE])
        words = description(self.table)
        if changed := changed_rule(self.table, self.ranked):
            differ = int((frame["rank"].fillna(0) != frame["suite_rank"].fillna(0)).sum())
            words = f"{rule(self.table, changed)}. {differ} of {len(frame)} ranks differ from the suite's own."
        words += f" Data {self.data}."
        rows = f" Only rows with {'; '.join(filters)}." if filters else ""
        return f"{named}. {described(words, about['benchmark'])}{rows} {legend[0].upper()}{legend[1:]}."

    @property
    def places(self) -> list[str]:
        """Returns the estimated ranks of rows without a rank; empty for others."""
        found = self.estimates[0] if self.estimates else {}
        rows = map(found.get, self.indices)
        return [rank_range(one.rank_low, one.rank_high) if one else "" for one in rows]

    def to_read(self, *, beside: Collection[str], unit: bool) -> pd.DataFrame:
        """Returns the view for people: short titles, numbers at the digits the board shows, signs after them.

        `beside` are the columns shown other than scores, as the board calls them; one without any value is dropped.
        `unit`: titles of columns in percent say so.
        """
        table, frame, ranked = self.table, self.frame, self.ranked
        models = table.models.loc[frame["model"]]
        out: dict[str, list[str]] = {"Model": frame["title"].tolist()}
        if frame["origin"].nunique() > 1:
            out["Origin"] = frame["origin"].tolist()
        known = models.assign(**frame.set_index(models.index))
        first = None if ranked is None else table.category_columns[0]
        for key, (title, names, write) in BESIDE.items():
            if key == "mean" and first:
                title = ("Your mean" if changed_rule(table, ranked) else title) + _unit(unit, first)
            if key in beside and {*names} <= {*known}:
                texts = [
                    "" if any(map(blank, values)) else write(*values, first and first.digits)
                    for values in zip(*(known[name] for name in names), strict=True)
                ]
                if key in ("rank", "mean"):
                    pairs = zip(texts, self.places, strict=True)
                    texts = [f"{text or place}≈" if place else text for text, place in pairs]
                out |= {title: texts} if any(texts) else {}
        for column, marks in zip(self.chosen, self.cells[1].T, strict=True):
            title = SHORT.get(column.title, column.title) + _unit(unit, column) + " ↓" * (not column.higher)
            while title in out:
                title += f" [{column.key}]"
            signs = ["".join(sign for bit, sign, _ in CELL_SIGNS if own & bit) for own in marks]
            out[title] = [
                "" if blank(value) else rounded(value, column.digits) + own
                for value, own in zip(frame[column.key], signs, strict=True)
            ]
        return pd.DataFrame(out)

    @property
    def best(self) -> np.ndarray:
        """Returns which cells [rows, columns] have the best shown score of their column; none in APART."""
        marks = self.cells[1]
        best = np.zeros(marks.shape, bool)
        for at, column in enumerate(self.chosen):
            values = rounded_array(self.frame[column.key], column.digits)
            values[(marks[:, at] & APART) > 0] = np.nan
            known = values[~np.isnan(values)]
            if len(known) and known.min() < known.max():
                best[:, at] = values == (known.max() if column.higher else known.min())
        return best


@shared
def everything(db: Database, form: str) -> tuple[str, Path]:
    """Returns every score of every suite, one row per score, as a name and a file; `duckdb` is the database itself.

    Raises CannotWrite for a full disk, BadInput for another form.

    The file is written to the folder of the database's copy, and goes with it.
    """
    with db.snapshot() as opening:
        if form == "duckdb":
            return "likeness.duckdb", opening.copy
        if form not in WRITERS:
            raise BadInput(f"Everything is exported as csv, parquet, json or duckdb, not {form!r}")
        if opening.folder is None:
            raise CannotWrite("There is no folder for temporary files")
        frame = db.query("everything")
        frame = frame.assign(data=opening.data, synthetic=frame["benchmark"].map(is_synthetic).astype(bool))
        path = opening.folder / f"likeness-scores.{form}"
        with replacing(path) as draft:
            draft.write_bytes(WRITERS[form](frame))
        return path.name, path


def _unit(said: bool, column: SuiteColumn) -> str:
    return f" ({PERCENT})" if said and column.unit else ""


def _json(frame: pd.DataFrame) -> bytes:
    return json.dumps(plain(frame).to_dict("records"), ensure_ascii=False, default=_plain, indent=1).encode()


def _plain(cell: object) -> object:
    return cell.tolist() if hasattr(cell, "tolist") else str(cell)


WRITERS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    "csv": csv_bytes,
    "parquet": store.parquet_bytes,
    "json": _json,
}
