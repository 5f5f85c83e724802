"""A model's page can be drawn for every kind of model, and says what the figures say."""

from __future__ import annotations

import pytest

from leaderboard.data import item_queries, model_queries
from leaderboard.pages.model import page as model

KINDS = ("royokong/e5-v", "xswu/hpsv2", "gpt-4o-2024-11-20", "black-forest-labs/flux.1-dev", "cfred")


@pytest.mark.parametrize("by", ["category", "task"])
def test_models_of_every_kind(site, by):
    listed = set(model_queries.listed_models(site.db)["key"])
    for key in KINDS:
        assert key in listed
        head, figure, rest = model.page(site, model=key, suite="", by=by)
        assert f"<code>{key}</code>" in head
        assert f"data/model?model={key}" in rest
        assert figure["visible"] is (key != "cfred")


def test_a_suite_without_the_model_says_so(site):
    head, figure, _ = model.page(site, model="unisim-vit-l-14", suite="mieb", by="task")
    assert "It has no score in MIEB" in head
    assert figure["visible"]


def test_a_guessed_alias_is_marked(site):
    head, *_ = model.page(site, model="gemini-1.5-flash", suite="", by="category")
    assert "guess</strong>" in head


def test_a_computed_run_can_be_opened(stand_in_site):
    *_, rest = model.page(stand_in_site, model="example/eye", suite="", by="category")
    runs = item_queries.computed_runs(stand_in_site.db, model="example/eye")
    assert rest.count('class="lk-run"') == len(runs)
    assert "not the one on the board" in rest
    *_, printed = model.page(stand_in_site, model="royokong/e5-v", suite="", by="category")
    assert "lk-run" not in printed


@pytest.mark.parametrize("key", ["gemini-1.5-flash", "example/eye", "black-forest-labs/flux.1-dev"])
def test_names_are_text(hostile_site, key):
    head, _, rest = model.page(hostile_site, model=key, suite="", by="category")
    for markup in (head, rest):
        assert "&lt;img src=x" in markup and "<img" not in markup and "{{7*7}}" in markup
