"""How the clusters of a map are named."""

import pandas as pd

from leaderboard.pages.map.points import names_of


def test_clusters_are_named_by_what_is_common_in_them_and_no_two_alike():
    cells = [  # cluster, category, modality, data set
        *[(0, "A", "text", "x"), (0, "A", "text", "x"), (0, "B", "text", "y")],
        *[(1, "A", "text", "z"), (1, "B", "text", "z"), (1, "C", "text", "x")],
        *[(2, "A", "image", "x")] * 3,
        *[(3, "A", "text", "y")] * 3,
        *[(4, "A", "text", "x")] * 3,
        (-1, "A", "text", "x"),
    ]
    points = pd.DataFrame(cells, columns=["cluster", "category", "modality", "dataset"]).assign(x=0.0, y=0.0)
    names = names_of(points, by=("category",), apart=("modality", "dataset"))
    clusters = dict(zip(points["cluster"], names, strict=True))
    assert clusters == {0: "A: 1", 1: "A & B", 2: "A: image", 3: "A: y", 4: "A: 5", -1: "In no cluster"}
    mixed = pd.concat([points[points["cluster"] == 1].assign(cluster=at, dataset=name) for at, name in enumerate("pq")])
    assert set(names_of(mixed.reset_index(), by=("category",), apart=("dataset",))) == {"Mixed: p", "Mixed: q"}
