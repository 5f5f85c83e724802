"""The points of a map with the facts that they are coloured by, and the names of their clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from compute.analysis.maps import Recipe
from leaderboard.html.formatting import blank
from leaderboard.html.labels import FAMILIES, MODEL_KINDS, SHORT
from leaderboard.page import Site

OUTSIDE = "In no cluster"
NAMED_BY = {  # what a cluster is named by, and what tells those with the same name apart
    "tasks": (("short",), ("modality", "dataset")),
    "models": (("family", "organisation"), ("kind", "name")),
}


def described_points(site: Site, points: pd.DataFrame, recipe: Recipe) -> pd.DataFrame:
    """Returns the map's points with all that they can be coloured by; facts in words, size and mean as numbers."""
    points = points.set_index("key", drop=False)
    if recipe.noun == "tasks":
        tasks = pd.concat([site.db.query("suite_tasks", suite=suite) for suite in recipe.suites]).drop_duplicates("key")
        facts = tasks.set_index("key")
        metrics = site.db.keyed("metrics")["title"]
        points = points.assign(
            name=facts["title"],
            category=facts["category"],
            short=facts["category"].replace(SHORT),
            modality=facts["modalities"].map(
                lambda names: "images only" if list(names) == ["image"] else "text and images"
            ),
            dataset=site.db.keyed("tasks")["dataset_title"].str.partition(" (")[0],
            benchmark=facts["benchmark"],
            procedure=facts["procedure"].str.replace("_", " "),
            metric=facts["metrics"].map(lambda keys: metrics.get(keys[0], "") if len(keys) else ""),
        )
        titles = site.db.query("suites").drop_duplicates("benchmark").set_index("benchmark")["benchmark_title"]
        points["benchmark"] = points["benchmark"].map(titles)
    else:
        facts = site.db.keyed("models")
        points = points.assign(
            name=facts["title"],
            size=facts["parameters_m"].astype(float),
            dimension=facts["embed_dim"].astype(float),
            license=facts["license"],
            released=facts["released"].astype(str).str[:4],
            **{name: facts[name] for name in ("organisation", "group")},
            kind=facts["kind"].replace(MODEL_KINDS),
            family=facts["family"].replace(FAMILIES),
            mean=means(site, recipe),
        )
    by, apart = NAMED_BY[recipe.noun]
    points["cluster"] = names_of(points, by=by, apart=apart)
    return points.reset_index(drop=True)


def means(site: Site, recipe: Recipe) -> pd.Series:
    """Each model's mean on the map's first suite in shown units, of the origin that the map shows."""
    sheet, ranked = (of(recipe.suites[0]) for of in (site.suite_cache.table, site.suite_cache.ranked))
    scale = sheet.category_columns[0].scale
    means = {sheet.rows[row].model: float(ranked.mean[row]) * scale for row in sheet.rows_of(recipe.origin)}
    return pd.Series(means, dtype=float)


def names_of(points: pd.DataFrame, *, by: Sequence[str], apart: Sequence[str]) -> list[str]:
    """Returns a name for the cluster of each point, outliers apart: the value that most of its points have, else the
    two most common ones, in the first column of `by` that most points have a value of. Clusters that would have the
    same name also have their most common value of the first column of `apart` where it is no other's, else a number.
    Columns: cluster, x, y and those of `by` and `apart`."""
    clusters = {label: _from_centre(inside) for label, inside in points.groupby("cluster") if label >= 0}
    most = {label: _commonest(inside, by) for label, inside in clusters.items()}
    mixed = {label: "Mixed" if len(each) > 1 else each[0] for label, each in most.items()}
    heads = {label: " & ".join(sorted(each)) for label, each in most.items()}
    heads = {label: head if [*heads.values()].count(head) == 1 else mixed[label] for label, head in heads.items()}
    names = {-1: OUTSIDE, **heads}
    for label, head in heads.items():
        same = [other for other in heads if heads[other] == head]
        if len(same) > 1:
            marks = ({other: _commonest(clusters[other], [fact])[0] for other in same} for fact in apart)
            own = (each[label] for each in marks if each[label] and [*each.values()].count(each[label]) == 1)
            names[label] = f"{head}: {next(own, 1 + same.index(label))}"
    return [names[label] for label in points["cluster"]]


def _from_centre(points: pd.DataFrame) -> pd.DataFrame:
    """Returns the points of a cluster, the nearest to its centre first."""
    place = points[["x", "y"]]
    return points.loc[(place - place.mean()).pow(2).sum(axis=1).sort_values(kind="stable").index]


def _commonest(points: pd.DataFrame, facts: Sequence[str]) -> list[str]:
    """Returns the value that most points have in the first of these columns that most have a value of, else the two
    most common ones; of equally common ones, the first first. Empty text where no column has enough values."""
    counted = (Counter(str(value) for value in points[fact] if not blank(value)) for fact in facts)
    common = next((each.most_common(2) for each in counted if each.total() * 2 > len(points)), [("", 0)])
    return [value for value, _ in common][: 1 if common[0][1] * 2 > len(points) else 2]
