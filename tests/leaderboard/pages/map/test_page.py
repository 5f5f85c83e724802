"""What the map page says of its points, for the shipped maps."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

from leaderboard.data.database import Database
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.map import page
from leaderboard.pages.map.atlas import Atlas, recipe_of

USUAL = {"of": "tasks", "suites": ["mieb"], "origin": "published", "neighbours": 10, "distance": 0.1, "seed": 0}


@pytest.fixture(scope="module")
def site(database: Path) -> SimpleNamespace:
    db = Database(database)
    return SimpleNamespace(db=db, suite_cache=SuiteCache(db))


@pytest.mark.parametrize(
    ("noun", "suites"),
    [("tasks", ["mieb"]), ("models", ["mieb"]), ("tasks", ["pairbench"]), ("models", ["unisim-core", "unisim-ood"])],
)
@pytest.mark.parametrize("colour", ["cluster", "category", "metric", "kind", "organisation", "size", "mean"])
def test_every_point_can_be_coloured_and_selected(site, noun: str, suites: list[str], colour: str) -> None:
    recipe = recipe_of(**{**USUAL, "of": noun, "suites": suites})
    made = Atlas(site.db).find(recipe)
    facts = page.described_points(site, made, noun=noun, suites=recipe.suites, origin="published")
    figure = page.chart(site, made, facts, recipe, page.colour_of(recipe, colour))
    meta = figure.layout.meta
    assert len(meta["keys"]) == len(made.points) == sum(len(trace.x) for trace in figure.data)
    assert {place for group in meta["groups"] for place in group["places"]} == set(range(len(facts)))
    for part in meta["parts"]:
        assert part["places"] and part["address"].endswith(f"&{noun}=")
    assert facts["name"].notna().all()


def test_clusters_are_named_by_what_most_of_them_are() -> None:
    names = page.names_of(pd.Series([0, 0, 0, 1, 1, -1]), pd.Series(["A", "A", "B", "A", "B", "A"]))
    assert names == ["Cluster 1: mostly A"] * 3 + ["Cluster 2: mixed"] * 2 + ["In no cluster"]


def test_settings_seed_and_trust_are_said(site) -> None:
    made = Atlas(site.db).find(recipe_of(**USUAL))
    text = page.settings(made, "tasks")
    for part in (
        "seed 0",
        "n_neighbors 10",
        "min_dist 0.1",
        f"{made.settings['trustworthiness']:.3f}",
        "umap-learn",
        "published figures",
    ):
        assert part in text


def test_the_table_lists_every_point_and_escapes(site) -> None:
    made = Atlas(site.db).find(recipe_of(**USUAL))
    facts = page.described_points(site, made, noun="tasks", suites=("mieb",), origin="published")
    assert page.table(facts, "tasks").count("task?task=") == len(facts)
    facts.loc[0, "name"] = "<img onerror=x>"
    assert "<img" not in page.table(facts, "tasks")
