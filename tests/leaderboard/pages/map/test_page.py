"""What the map page says of its points, for the shipped maps."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics.pairwise import nan_euclidean_distances

from compute.analysis.maps.suites import Recipe, join
from compute.analysis.table import of_suite
from compute.database import store
from leaderboard.pages.map import page
from leaderboard.pages.map.points import names_of


@pytest.mark.parametrize(
    ("noun", "suites", "colours"),
    [
        ("tasks", ("mieb",), ("cluster", "category", "metric")),
        ("models", ("mieb",), ("cluster", "organisation", "size", "mean")),
        ("tasks", ("pairbench",), ("category",)),
        ("models", ("pairbench",), ("kind",)),
        ("tasks", ("unisim-core", "unisim-ood"), ("benchmark",)),
        ("models", ("unisim-core", "unisim-ood"), ("group", "mean")),
    ],
)
def test_every_shipped_map_is_coloured_and_its_points_can_be_selected(site, noun, suites, colours):
    recipe = Recipe(noun=noun, suites=suites)
    points, made = page.stored_map(site.db, recipe)
    assert made["seed"] == 0 and 0.5 < made["trustworthiness"] <= 1
    facts = page.described_points(site, points, recipe)
    near = page.nearest(site, recipe, frozenset(facts["key"]))
    for colour in colours:
        figure = page.chart(site, facts, recipe, colour if colour in page.COLOURS[recipe.noun] else "cluster", near)
        meta = figure.layout.meta
        assert len(meta["keys"]) == len(points) == sum(len(trace.x) for trace in figure.data)
        assert {len(others) for others in meta["near"]} == {6}
        assert {place for group in meta["groups"] for place in group["places"]} == set(range(len(facts)))
        for part in meta["parts"]:
            assert part["places"] and part["address"].endswith(f"&{noun}=")
        assert facts["name"].notna().all()
    listed = page.table(facts, noun)
    assert listed.count(f"{noun[:-1]}?{noun[:-1]}=") == len(facts)
    assert "<img" not in page.table(facts.assign(name="<img onerror=x>"), noun)


def test_clusters_are_named_by_their_members():
    points = pd.DataFrame(
        {
            "cluster": [0, 0, 0, 1, 1, 1, 2, 2, 2, -1],
            "category": ["A", "A", "B", "A", "B", "C", "A", "A", "A", "A"],
            "name": list("abcdefghij"),
            "x": [0.0] * 3 + [0.0, 1.0, 5.0] + [9.0] * 4,
            "y": [0.0] * 10,
        }
    )
    names = names_of(points, by=("category",))
    assert names[:3] == ["Mostly A 1"] * 3 and names[6:9] == ["Mostly A 2"] * 3 and names[9] == "In no cluster"
    assert names[3:6] == ["e and 2 more"] * 3, "the nearest to the middle"


@pytest.mark.parametrize("noun", ["tasks", "models"])
def test_neighbours_are_those_of_the_data(site, noun):
    """Distances against scikit-learn's, correlations against scipy's."""
    recipe = Recipe(noun=noun)
    near = page.nearest(site, recipe, frozenset(page.stored_map(site.db, recipe)[0]["key"]))
    parts = [of_suite(store.suite_frames(site.db.ask, suite="mieb"), origin="usual")]
    models, tasks, scores = join(parts)
    first = next(iter(near))
    assert [other.distance for other in near[first]] == sorted(other.distance for other in near[first])
    if noun == "tasks":
        a, b = (scores[:, tasks.index(key)] for key in (first, near[first][0].key))
        both = ~np.isnan(a) & ~np.isnan(b)
        assert near[first][0].r == pytest.approx(stats.spearmanr(a[both], b[both]).statistic)
    else:
        scores = scores[:, ~np.isnan(scores).all(axis=0)]
        z = (scores - np.nanmean(scores, axis=0)) / np.nanstd(scores, axis=0)
        row = nan_euclidean_distances(z[[models.index(first)]], z)[0] / z.shape[1] ** 0.5
        row[[key not in near for key in models]] = np.inf
        row[models.index(first)] = np.inf
        nearest = int(np.nanargmin(row))
        assert near[first][0].key == models[nearest] and near[first][0].distance == pytest.approx(row[nearest])
