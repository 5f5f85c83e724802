"""A model's page can be drawn for every kind of model, and says what the figures say."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from markupsafe import Markup

from leaderboard.data.leaders import by_language
from leaderboard.data.scope import Scope
from leaderboard.pages.model import page as model

KINDS = ("royokong/e5-v", "xswu/hpsv2", "gpt-4o-2024-11-20", "black-forest-labs/flux.1-dev", "cfred")


def _text(markup: str) -> str:
    return " ".join(Markup(markup).striptags().split())


@pytest.mark.parametrize("by", ["category", "task"])
def test_models_of_every_kind(site, by):
    listed = set(site.db.query("listed_models")["key"])
    for key in KINDS:
        assert key in listed
        head, figure, rest = model.page(site, model=key, suite="", by=by)
        assert f"<code>{key}</code>" in head
        assert f"data/model?model={key}" in rest
        assert figure["visible"] is (key != "cfred")


def test_ranks_by_language_are_those_of_the_board(site):
    rows = {row["title"]: row for row in by_language(site.suite_cache, "royokong/e5-v")}
    assert len(rows) > 30
    for code, name in (("swa", "Swahili"), ("deu", "German")):
        table, ranked = (
            make("mieb", scope=Scope(language=code)) for make in (site.suite_cache.table, site.suite_cache.ranked)
        )
        assert rows[name]["rank"] == ranked.rank[table.row(f"royokong/e5-v~{table.origin}")]
        assert rows[name]["of"] == (ranked.rank[table.rows_of(table.origin)] > 0).sum()
    head, _, _ = model.page(site, model="royokong/e5-v", suite="", by="category")
    assert "board?suite=mieb&amp;language=swa&amp;select=royokong/e5-v~imported" in head


def test_a_suite_without_the_model_says_so(site):
    head, figure, _ = model.page(site, model="unisim-vit-l-14", suite="mieb", by="task")
    assert "It has no score in MIEB" in head
    assert figure["visible"]


def test_an_unknown_interval_is_said_with_its_reason(site, papers_cache):
    papers = SimpleNamespace(**{**vars(site), "db": papers_cache.db, "suite_cache": papers_cache})
    for row in model.ranks(papers_cache, "royokong/e5-v", ["mieb", "mieb-en"]):
        assert (row["rank_interval"], row["tie"], row["mean_interval"]) == ("unknown",) * 3 and not row["few"]
    head, _, _ = model.page(papers, model="royokong/e5-v", suite="mieb", by="category")
    assert "intervals unknown: printed means are used for" in head
    head, _, _ = model.page(site, model="unisim-vit-l-14", suite="unisim-core", by="category")
    assert "that of a mean rests on few tasks" in _text(head) and "intervals unknown" not in head


def test_a_row_without_an_interval_is_a_remark_beside_one_with(site):
    (row,) = model.ranks(site.suite_cache, "royokong/e5-v", ["mieb"])
    assert row["origin"] == "imported" and row["also"].endswith("by published scores")


def test_weights_in_a_package_are_not_looked_for_on_the_hub_and_a_guessed_alias_is_marked(site):
    head, *_ = model.page(site, model="wordllama", suite="", by="category")
    assert "<code>wordllama</code>" in head and "huggingface.co" not in head
    head, *_ = model.page(site, model="gemini-1.5-flash", suite="", by="category")
    assert "guess</strong>" in head
