"""Files of a view: the numbers of the table, text made harmless for what opens it."""

import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from leaderboard.data.board_table import SUSPECT
from leaderboard.data.mean_rule import RankChoice
from leaderboard.pages.board import export

NASTY = ("a|b\nc", "<img src=x>", "50% & #1_{x}$ ~^\\", "\t=1", "\r=1")


def rows_of(suite_cache, suite, count):
    return [row.id for row in suite_cache.table(suite).rows][:count]


def test_a_markdown_table_of_nasty_titles_keeps_its_shape(suite_cache):
    table = suite_cache.table("unisim-core")
    rows, models = rows_of(suite_cache, "unisim-core", len(NASTY)), table.models.copy()
    for row, text in zip(rows, NASTY, strict=True):
        models.loc[row.rpartition("~")[0], "title"] = text
    ranked = suite_cache.ranked("unisim-core")
    view = export.BoardView(table=replace(table, models=models), ranked=ranked, rows=rows, columns=["IQA"])
    text = view.file("markdown").body.decode()
    lines = [line for line in text.split("\n") if line.startswith("|")]
    assert len(lines) == len(NASTY) + 2 and "<img" not in text
    assert {line.replace("\\|", "").count("|") for line in lines} == {lines[1].count("|")}


def test_the_best_is_bold_and_a_doubtful_figure_never_is(suite_cache):
    """The best figures of every second column are doubted: there the next best is bold."""
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    shown = np.round(100 * table.scores.values, 1)
    marks = table.marks | np.where(shown == np.nanmax(shown, axis=0), SUSPECT, 0) * (np.arange(shown.shape[1]) % 2)
    rows, columns = [row.id for row in table.rows], [column.key for column in table.columns]
    view = export.BoardView(table=replace(table, marks=marks), ranked=ranked, rows=rows, columns=columns)
    trusted = np.where((marks & SUSPECT) > 0, np.nan, shown)
    np.testing.assert_array_equal(view.best, trusted == np.nanmax(trusted, axis=0))
    assert (view.best & (shown < np.nanmax(shown, axis=0))).any(axis=0).tolist() == [
        at % 2 == 1 for at in range(len(columns))
    ]


def test_a_mean_of_some_tasks_is_never_the_best(suite_cache):
    """In MIEB's Retrieval the highest mean is that of a model with one of 45 tasks."""
    table, ranked = suite_cache.table("mieb"), suite_cache.ranked("mieb")
    at = table.rows_of("imported")
    view = export.BoardView(table=table, ranked=ranked, rows=[table.rows[row].id for row in at], columns=["Retrieval"])
    code = table.scores.categories.index("Retrieval")
    best = ranked.category_means[at, code][view.best[:, 0]]
    assert best == [np.nanmax(table.whole_means(ranked)[:, code])] < np.nanmax(ranked.category_means[at, code])


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_everything_is_one_row_a_score(suite_cache, form):
    name, path = export.everything(suite_cache.db, form=form)
    content = path.read_bytes()
    assert name == f"likeness-scores.{form}" and len(content) > 10000
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet, "json": lambda file: pd.DataFrame(json.load(file))}[form]
    frame = read(io.BytesIO(content))
    scores = suite_cache.db.ask("SELECT * FROM leaderboard_scores")
    assert len(frame) == len(scores) and set(frame) == {*scores, "data", "synthetic"}
    assert frame["value"].sum() == pytest.approx(scores["value"].sum())


def test_a_changed_mean_is_said_in_every_file(suite_cache):
    """Files for programs have the rule and the suite's own rank in each row; those for people say it in the caption."""
    table, own = suite_cache.table("mieb"), suite_cache.ranked("mieb")
    chosen = dict.fromkeys(table.scores.categories, 0.0) | {"Retrieval": 1.0, "Multilingual Retrieval": 1.0}
    ranked = suite_cache.ranked("mieb", RankChoice(tuple(chosen.items())))
    rows = [row.id for row in table.rows]

    view = export.BoardView(table=table, ranked=ranked, rows=rows, columns=[], suite_ranked=own)
    frame = pd.read_csv(io.BytesIO(view.file("csv").body))
    assert set(frame["ranked_by"]) == {"Your mean: Multilingual Retrieval 1, Retrieval 1"}
    before, after = (np.maximum(each.rank, 0) for each in (own, ranked))
    np.testing.assert_array_equal(frame[["suite_rank", "rank"]].fillna(0).T, [before, after])
    differ = (before != after).sum()
    assert differ > 10
    for form in ("markdown", "latex"):
        text = view.file(form, filters=["Kind: Encoder"]).body.decode()
        assert f"Your mean: Multilingual Retrieval 1, Retrieval 1. {differ} of {len(rows)} ranks differ" in text
        assert "All 130 tasks" not in text and "Only rows with Kind: Encoder." in text
        assert re.search(r"Your mean [|&\\]", text)


def test_estimates_are_marked_and_change_nothing_else(suite_cache):
    table, estimates = suite_cache.table("mieb"), suite_cache.estimates("mieb")
    rows = [table.rows[at].id for at in table.rows_of("imported")]
    given = {"table": table, "ranked": suite_cache.ranked("mieb"), "rows": rows, "columns": ["Retrieval"]}
    off, on = export.BoardView(**given), export.BoardView(**given, estimates=estimates)
    estimated = on.frame["estimated_rank_low"].notna()
    assert estimated.sum() > 0 and on.frame["rank"][estimated].isna().all()
    pd.testing.assert_frame_equal(on.frame[off.frame.columns][~estimated], off.frame[~estimated])
    for form, sign in (("markdown", "≈"), ("latex", r"$\approx$")):
        texts = [view.file(form).body.decode() for view in (off, on)]
        first, *_ = on.frame["title"][estimated]
        assert sign not in texts[0] and next(line for line in texts[1].split("\n") if first in line).count(sign) == 3
