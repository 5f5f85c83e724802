"""The points of a map with facts to colour them by, and the names of their clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from compute.analysis.maps import Recipe
from leaderboard.html.formatting import blank
from leaderboard.html.labels import FAMILIES, MODEL_KINDS, SHORT
from leaderboard.page import Site

OUTSIDE, MIXED = "In no cluster", "Mixed"


def described_points(site: Site, points: pd.DataFrame, recipe: Recipe) -> pd.DataFrame:
    """Returns the map's points with everything they can be coloured by; facts in words, size and mean as numbers."""
    points = points.set_index("key", drop=False)
    if recipe.noun == "tasks":
        by, apart = ["short"], ["modality", "dataset"]
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
        by, apart = ["family", "organisation"], ["kind", "name"]
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
    points["cluster"] = names_of(points, by=by, apart=apart)
    return points.reset_index(drop=True)


def means(site: Site, recipe: Recipe) -> pd.Series:
    """Returns each model's mean on the map's first suite in shown units, for the map's origin."""
    sheet, ranked = (of(recipe.suites[0]) for of in (site.suite_cache.table, site.suite_cache.ranked))
    scale = sheet.category_columns[0].scale
    means = {sheet.rows[row].model: float(ranked.mean[row]) * scale for row in sheet.rows_of(recipe.origin)}
    return pd.Series(means, dtype=float)


def names_of(points: pd.DataFrame, *, by: Sequence[str], apart: Sequence[str]) -> list[str]:
    """Returns a name for the cluster of each point, except outliers: the most common value in the first column of `by`
    that most of its points have. Clusters with equal names get the most common value in the first column of `apart` in
    which it is unique; ties go to the value nearest the centre, else to a number. Columns: cluster, x, y and those of
    `by` and `apart`.
    """
    names = {}
    for label, part in points[points["cluster"] >= 0].groupby("cluster"):
        near = part.loc[(part[["x", "y"]] - part[["x", "y"]].mean()).pow(2).sum(axis=1).sort_values().index]
        common = _commonest(part, by)
        head = common[0] if len(common) == 1 else MIXED
        marks = [_commonest(near, [fact])[0] for fact in apart]
        names[label] = [" & ".join(sorted(common)), *(f"{head}: {mark}" for mark in [*marks, label + 1])]
    chosen = {
        label: next(name for at, name in enumerate(own) if [other[at] for other in names.values()].count(name) == 1)
        for label, own in names.items()
    }
    return [chosen.get(label, OUTSIDE) for label in points["cluster"]]


def _commonest(points: pd.DataFrame, facts: Sequence[str]) -> list[str]:
    """Returns the value shared by most points in the first of these columns that most points have, else the two most
    common values; ties go to the first.
    """
    counted = (Counter(value for value in points[fact] if not blank(value)) for fact in facts)
    common = next((each.most_common(2) for each in counted if each.total() * 2 > len(points)), [(MIXED, len(points))])
    return [common[0][0]] if common[0][1] * 2 > len(points) else [value for value, _ in common]
