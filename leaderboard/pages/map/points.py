"""The points of a map with the facts that they are coloured by, and the names of their clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from compute.analysis.maps import Recipe
from leaderboard.html.formatting import blank
from leaderboard.html.labels import FAMILIES, MODEL_KINDS
from leaderboard.page import Site

OUTSIDE = "In no cluster"


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
    points["cluster"] = names_of(points, by=("category",) if recipe.noun == "tasks" else ("family", "organisation"))
    return points.reset_index(drop=True)


def means(site: Site, recipe: Recipe) -> pd.Series:
    """Each model's mean on the map's first suite in shown units, of the origin that the map shows."""
    sheet, ranked = (of(recipe.suites[0]) for of in (site.suite_cache.table, site.suite_cache.ranked))
    scale = sheet.category_columns[0].scale
    means = {sheet.rows[row].model: float(ranked.mean[row]) * scale for row in sheet.rows_of(recipe.origin)}
    return pd.Series(means, dtype=float)


def names_of(points: pd.DataFrame, *, by: Sequence[str]) -> list[str]:
    """Returns a name for the cluster of each point, by the first column of `by` that most of its points have a value
    of:
    `Mostly Linear Probing` where one is that of more than half of them, else the two that are most common; outliers
    apart. Columns: cluster and those of `by`."""
    names: dict[int, str] = {}
    for label in sorted(set(points["cluster"])):
        inside = points[points["cluster"] == label]
        counted = (Counter(str(value) for value in inside[fact] if not blank(value)) for fact in by)
        common = next((each.most_common(2) for each in counted if each.total() * 2 > len(inside)), [("Mixed", 0)])
        mostly = common[0][1] * 2 > len(inside)
        names[label] = f"Mostly {common[0][0]}" if mostly else " and ".join(value for value, _ in common)
        if label < 0:
            names[label] = OUTSIDE
    shared = Counter(names.values())
    turn: Counter[str] = Counter()
    for label, name in names.items():
        if label >= 0 and shared[name] > 1:
            turn[name] += 1
            names[label] = f"{name} {turn[name]}"
    return [names[label] for label in points["cluster"]]
