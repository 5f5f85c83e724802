"""How the clusters of a map are named."""

import pandas as pd

from leaderboard.pages.map.points import names_of


def test_clusters_are_named_by_their_members():
    points = pd.DataFrame(
        {
            "cluster": [0, 0, 0, 1, 1, 1, 2, 2, 2, -1],
            "category": ["A", "A", "B", "A", "B", "C", "A", "A", "A", "A"],
        }
    )
    names = names_of(points, by=("category",))
    assert names[:3] == ["Mostly A 1"] * 3 and names[6:9] == ["Mostly A 2"] * 3 and names[9] == "In no cluster"
    assert names[3:6] == ["A and B"] * 3
