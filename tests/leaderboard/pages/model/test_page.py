"""A model's page for every kind of model, beside the figures; what it shows of four is frozen in tests/golden."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from leaderboard.pages.model import page as model


@pytest.mark.parametrize(
    ("key", "suite", "said"),
    [
        ("royokong/e5-v", "", "board?suite=mieb&amp;language=swa&amp;select=royokong/e5-v~imported"),
        ("xswu/hpsv2", "", "<code>xswu/hpsv2</code>"),
        ("black-forest-labs/flux.1-dev", "", "<code>black-forest-labs/flux.1-dev</code>"),
        ("cfred", "", "<code>cfred</code>"),
        ("wordllama", "", "<code>wordllama</code>"),
        ("gemini-1.5-flash", "", "guess</strong>"),
        ("unisim-vit-l-14", "mieb", "It has no score in MIEB"),
        ("unisim-vit-l-14", "unisim-core", "that of a mean rests on few tasks"),
    ],
)
def test_models_of_every_kind(site, key, suite, said):
    _, head, figure, rest = model.page(site, model=key, suite=suite, by="category")
    assert said in head + rest and f"data/model?model={key}" in rest and "intervals unknown" not in rest
    assert figure["visible"] is (key not in ("cfred", "wordllama"))
    assert key != "wordllama" or "huggingface.co" not in rest, "its weights are in a package"


def test_an_unknown_interval_is_said_with_its_reason(site, papers_cache):
    for row in model.ranks(papers_cache, "royokong/e5-v", ["mieb", "mieb-en"]):
        assert (row["rank_interval"], row["tie"], row["mean_interval"]) == ("unknown",) * 3 and not row["few"]
    papers = SimpleNamespace(**{**vars(site), "db": papers_cache.db, "suite_cache": papers_cache})
    assert (
        "intervals unknown: printed means are used for"
        in model.page(papers, model="royokong/e5-v", suite="mieb", by="category")[-1]
    )
    (row,) = model.ranks(site.suite_cache, "royokong/e5-v", ["mieb"])
    assert row["origin"] == "imported" and row["also"].endswith("by published scores"), "a remark beside one with"
