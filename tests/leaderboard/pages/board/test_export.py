"""Files of a view: the numbers of the table, text made harmless for what opens it."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pytest

from compute.types import BadInput, UnknownKey
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.data.suite_table import DISPUTED, SUSPECT, TRAINED
from leaderboard.pages.board import export

NASTY = (
    '=HYPERLINK("http://x")',
    "+1|2",
    "-1",
    "@x",
    "a|b\nc",
    "<img src=x>",
    "50% & #1_{x}$ ~^\\",
    "\t=1",
    "\r=1",
)


def rows_of(suite_cache: SuiteCache, suite: str, count: int) -> list[str]:
    return [row.id for row in suite_cache.table(suite).rows][:count]


def test_a_view_holds_the_table_in_shown_units(suite_cache: SuiteCache) -> None:
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    rows = rows_of(suite_cache, "unisim-core", 8)[::-1]
    frame = export.view_frame(table, ranked, rows=rows, columns=["unisim/nights", "IQA"])
    assert list(frame.columns) == [
        "model",
        "title",
        "kind",
        "origin",
        "parameters_m",
        "license",
        "released",
        "trained",
        "suite",
        "synthetic",
        "rank",
        "rank_low",
        "rank_high",
        "suite_rank",
        "ranked_by",
        "tie_class",
        "mean",
        "mean_low",
        "mean_high",
        "few_tasks",
        "interval_unknown",
        "coverage",
        "covered",
        "unisim/nights",
        "IQA",
        "trained_on_tasks",
        "suspect_columns",
        "disputed_columns",
    ]
    assert [f"{one.model}~{one.origin}" for one in frame.itertuples()] == rows
    assert frame["trained"].tolist() == [table.trained(table.row(row)) for row in rows]
    assert not frame["synthetic"].any() and set(frame["suite"]) == {"unisim-core"}
    nights = next(place for place, column in enumerate(table.columns) if column.key == "unisim/nights")
    for place, value in zip([table.row(row) for row in rows], frame["unisim/nights"], strict=True):
        stored = table.values[place, nights]
        assert value == pytest.approx(stored * 100, abs=1e-3, nan_ok=True)
    assert (frame["rank"].dropna() >= 1).all() and (frame["rank_low"] <= frame["rank_high"]).dropna().all()


@pytest.mark.filterwarnings("error::pandas.errors.PerformanceWarning")
def test_the_widest_view_is_joined_at_once(suite_cache: SuiteCache) -> None:
    table, ranked = suite_cache.table("mieb"), suite_cache.ranked("mieb")
    columns = [column.key for column in (*table.category_columns, *table.columns)]
    frame = export.view_frame(table, ranked, rows=rows_of(suite_cache, "mieb", 3), columns=columns)
    assert len(columns) > 100 and [name for name in frame.columns if name in set(columns)] == columns
    assert frame["Retrieval"].tolist() == pytest.approx(
        100 * ranked.category_means[:3, table.categories.index("Retrieval")], nan_ok=True
    )


def test_a_suite_that_people_rank_has_no_computed_rank(suite_cache: SuiteCache) -> None:
    table = suite_cache.table("cfred-hpdv2")
    frame = export.view_frame(
        table,
        suite_cache.ranked("cfred-hpdv2"),
        rows=rows_of(suite_cache, "cfred-hpdv2", 3),
        columns=[table.columns[0].key],
    )
    assert "rank" not in frame.columns and len(frame) == 3


@pytest.mark.parametrize("form", ["csv", "parquet", "json", "markdown", "latex", "bibtex"])
def test_an_empty_view_is_still_a_file(suite_cache: SuiteCache, form: str) -> None:
    made = export.view(
        suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core"), rows=[], columns=["IQA"], form=form
    )
    assert made.content and made.name.startswith("likeness-unisim-core.")


def test_what_is_not_there_is_said(suite_cache: SuiteCache) -> None:
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    with pytest.raises(UnknownKey, match="nobody"):
        export.view(table, ranked, rows=["nobody~published"], columns=[], form="csv")
    with pytest.raises(BadInput, match="'nothing'"):
        export.view(table, ranked, rows=[], columns=["nothing"], form="csv")
    with pytest.raises(BadInput, match="'docx'"):
        export.view(table, ranked, rows=[], columns=[], form="docx")
    with pytest.raises(BadInput, match="'xlsx'"):
        export.everything(suite_cache.db, form="xlsx")


@pytest.fixture
def nasty(suite_cache: SuiteCache) -> dict[str, bytes]:
    """Every form of a view whose titles are made to do harm."""
    table = suite_cache.table("unisim-core")
    rows = rows_of(suite_cache, "unisim-core", len(NASTY))
    models = table.models.copy()
    for row, text in zip(rows, NASTY, strict=True):
        models.loc[row.rpartition("~")[0], "title"] = text
    harmful = replace(table, models=models)
    return {
        form: export.view(harmful, suite_cache.ranked("unisim-core"), rows=rows, columns=["IQA"], form=form).content
        for form in ("csv", "parquet", "json", "markdown", "latex")
    }


def test_no_cell_of_a_csv_is_a_formula(nasty: dict[str, bytes]) -> None:
    titles = pd.read_csv(io.BytesIO(nasty["csv"]))["title"]
    assert titles[2] == NASTY[2] == "-1", "a number is no formula"
    assert not titles.drop(2).str.startswith(("=", "+", "-", "@", "\t", "\r")).any()
    assert titles[4] == NASTY[4]


def test_data_formats_keep_the_text_as_it_is(nasty: dict[str, bytes], tmp_path: Path) -> None:
    assert [row["title"] for row in json.loads(nasty["json"])] == list(NASTY)
    (tmp_path / "view.parquet").write_bytes(nasty["parquet"])
    with duckdb.connect() as connection:
        found = connection.execute("SELECT title FROM read_parquet(?)", [str(tmp_path / "view.parquet")]).fetchall()
    assert [title for (title,) in found] == list(NASTY)


def test_a_markdown_table_keeps_its_shape(nasty: dict[str, bytes]) -> None:
    lines = [line for line in nasty["markdown"].decode().split("\n") if line.startswith("|")]
    assert len(lines) == len(NASTY) + 2
    assert {line.replace("\\|", "").count("|") for line in lines} == {lines[1].count("|")}
    assert "<img" not in nasty["markdown"].decode()


def test_latex_signs_are_text(nasty: dict[str, bytes]) -> None:
    text = nasty["latex"].decode()
    assert r"50\% \& \#1\_\{x\}\$ \textasciitilde{}\textasciicircum{}\textbackslash{}" in text
    body = text[text.index(r"\begin{tabular}") :]
    columns = body[len(r"\begin{tabular}{") :].partition("}")[0]
    for line in body.splitlines():
        if line.endswith(r"\\"):
            assert line.replace(r"\&", "").count("&") == len(columns) - 1, line


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_everything_is_one_row_a_score(suite_cache: SuiteCache, form: str) -> None:
    made = export.everything(suite_cache.db, form=form)
    content = made.path.read_bytes()
    assert made.name == f"likeness-scores.{form}" and len(content) > 10000
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "json": lambda file: pd.DataFrame(json.load(file))}[form]
    frame = read(io.BytesIO(content))
    scores = suite_cache.db.ask("SELECT * FROM leaderboard_scores")
    assert len(frame) == len(scores) and set(frame) == {*scores, "synthetic"}
    assert frame["value"].sum() == pytest.approx(scores["value"].sum())


def test_everything_made_in_parts_is_the_same(suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of JSON has all its commas, the CSV one heading, and an empty view is still a file."""

    def of(*parts: pd.DataFrame) -> dict[str, bytes]:
        monkeypatch.setattr(export.suite_queries, "everything", lambda opening: iter(parts))
        return {
            form: export.everything(suite_cache.db, form=form).path.read_bytes() for form in ("csv", "json", "parquet")
        }

    frame = suite_cache.db.ask("SELECT * FROM leaderboard_scores ORDER BY ALL LIMIT 7")
    whole = of(frame)
    assert of(frame[:3], frame[3:6], frame[6:]) == whole
    assert json.loads(whole["json"])[6]["model"] == frame["model"][6]
    empty = of(frame[:0])
    assert json.loads(empty["json"]) == [] and empty["csv"] == whole["csv"].partition(b"\n")[0] + b"\n"


def test_a_row_or_column_named_twice_is_refused(suite_cache: SuiteCache) -> None:
    """Else a request of 1 MB makes a file of a hundred million cells."""
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    rows = rows_of(suite_cache, "unisim-core", 2)
    for twice in ({"rows": rows * 2, "columns": ["IQA"]}, {"rows": rows, "columns": ["IQA", "IQA"]}):
        with pytest.raises(BadInput, match="twice"):
            export.view(table, ranked, form="csv", **twice)


def test_marks_stand_beside_every_figure(suite_cache: SuiteCache) -> None:
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    rows, columns = [row.id for row in table.rows], [column.key for column in table.columns]
    frame = export.view_frame(table, ranked, rows=rows, columns=[*columns, "IQA"])
    seen = 0
    for place, row in enumerate(rows):
        for name, bit in (("trained_on_tasks", TRAINED), ("suspect_columns", SUSPECT), ("disputed_columns", DISPUTED)):
            expected = {key for key, mark in zip(columns, table.marks[place], strict=True) if mark & bit}
            found = set(filter(None, frame[name][place].split(";"))) - {"IQA"}
            assert found == expected, (row, name)
            seen += len(expected)
    assert seen > 10
    of_iqa = table.marks[:, [column.group == "IQA" for column in table.columns]]
    for name, bit in (("trained_on_tasks", TRAINED), ("suspect_columns", SUSPECT)):
        behind = (of_iqa & bit).any(axis=1).tolist()
        assert [("IQA" in cell.split(";")) for cell in frame[name]] == behind, "a mean has the marks of its figures"
        assert any(behind)


@pytest.mark.parametrize(("form", "sign"), [("markdown", "†"), ("latex", r"\textdagger{}")])
def test_what_people_read_has_titles_digits_and_signs(suite_cache: SuiteCache, form: str, sign: str) -> None:
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    place, at = next((r, c) for r, c in np.argwhere(table.marks == TRAINED))
    column = table.columns[at]
    made = export.view(table, ranked, rows=[table.rows[place].id], columns=[column.key], form=form).content.decode()
    assert f"{table.values[place, at] * column.scale:.{column.digits}f}{sign}" in made
    assert column.title in made and "unisim/" not in made
    assert "%" in made and "Origin" in made


def test_a_search_in_a_caption_is_text(suite_cache: SuiteCache) -> None:
    """Anyone can make an address with a search for markup."""
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    how = {"rows": rows_of(suite_cache, "unisim-core", 2), "columns": ["IQA"], "filters": ["“<b>\n|x|” in the name"]}
    caption, empty, *_ = export.view(table, ranked, form="markdown", **how).content.decode().splitlines()
    assert r"Only rows with “&lt;b> \|x\|” in the name." in caption and not empty


def test_a_caption_names_the_benchmark_once(suite_cache: SuiteCache) -> None:
    made = export.view(suite_cache.table("mieb"), suite_cache.ranked("mieb"), rows=[], columns=[], form="markdown")
    assert made.content.decode().startswith("MIEB. All 130 tasks")
    lite = export.view(suite_cache.table("cfred-coco"), None, rows=[], columns=[], form="markdown").content.decode()
    assert lite.startswith("cFreD: COCO. ")


def test_a_changed_mean_is_said_in_every_file(suite_cache: SuiteCache) -> None:
    """Files for programs have the rule and the suite's own rank in each row; those for people say it in the caption."""
    table, own = suite_cache.table("mieb"), suite_cache.ranked("mieb")
    chosen = dict.fromkeys(table.categories, 0.0) | {"Retrieval": 1.0, "Multilingual Retrieval": 1.0}
    ranked = suite_cache.ranked("mieb", tuple(chosen.items()))
    rows = [row.id for row in table.rows]

    def made(form: str, **more: object) -> str:
        return export.view(table, ranked, rows=rows, columns=[], form=form, suite_ranked=own, **more).content.decode()

    frame = pd.read_csv(io.StringIO(made("csv")))
    assert set(frame["ranked_by"]) == {"Your mean: Multilingual Retrieval 1, Retrieval 1"}
    assert frame["suite_rank"].fillna(0).astype(int).tolist() == np.maximum(own.rank, 0).tolist()
    assert frame["rank"].fillna(0).astype(int).tolist() == np.maximum(ranked.rank, 0).tolist()
    assert {row["ranked_by"] for row in json.loads(made("json"))} == set(frame["ranked_by"])
    differ = int((np.maximum(ranked.rank, 0) != np.maximum(own.rank, 0)).sum())
    assert differ > 10
    for form in ("markdown", "latex"):
        text = made(form, filters=["Kind: Encoder"])
        assert f"Your mean: Multilingual Retrieval 1, Retrieval 1. {differ} of {len(rows)} ranks differ" in text
        assert "All 130 tasks" not in text and "Only rows with Kind: Encoder." in text
        assert "Your mean (" in text


def test_the_suites_own_mean_is_named_too(suite_cache: SuiteCache) -> None:
    table, own = suite_cache.table("mieb"), suite_cache.ranked("mieb")
    rows = [row.id for row in table.rows]
    frame = export.view_frame(table, own, rows=rows, columns=[])
    assert set(frame["ranked_by"]) == {"Mean of 10 category means"}
    assert frame["rank"].equals(frame["suite_rank"])
    text = export.view(table, own, rows=rows, columns=[], form="markdown").content.decode()
    assert "All 130 tasks" in text and "Your mean" not in text and "Only rows" not in text


def test_drawn_items_are_marked_in_every_form(suite_cache: SuiteCache) -> None:
    """Tables for programs have a column, tables for people words."""
    table, rows = suite_cache.table("mini"), rows_of(suite_cache, "mini", 2)
    columns = [table.columns[0].key]
    found = {
        form: export.view(table, None, rows=rows, columns=columns, form=form).content.decode()
        for form in ("csv", "json", "markdown", "latex")
    }
    assert all("ynthetic" in text for text in found.values())
    assert found["csv"].splitlines()[0].split(",")[9] == "synthetic" and ",mini,True," in found["csv"].splitlines()[1]
    every = export.everything(suite_cache.db, form="csv").path.read_text().splitlines()
    assert every[0].endswith(",synthetic") and {line.rpartition(",")[2] for line in every[1:]} == {"True", "False"}
