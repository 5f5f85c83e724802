"""Clusters of a map that nothing tells apart; all other names are frozen in tests/golden."""

import pandas as pd

from leaderboard.pages.map.points import names_of


def test_clusters_that_nothing_tells_apart_have_numbers():
    cells = [(cluster, "A", "x") for cluster in (0, 0, 0, 1, 1, 1)]
    points = pd.DataFrame(cells, columns=["cluster", "category", "dataset"]).assign(x=0.0, y=0.0)
    assert list(names_of(points, by=("category",), apart=("dataset",))) == ["A: 1"] * 3 + ["A: 2"] * 3
