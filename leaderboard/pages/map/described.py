"""What a view of the map is about: its suites, and the clusters that it shows."""

from __future__ import annotations

from collections.abc import Mapping

from compute.analysis.maps.suites import Recipe
from leaderboard.data import suite_queries
from leaderboard.data.memo import shared
from leaderboard.html.labels import choice_title
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.map import atlas as maps
from leaderboard.pages.map.atlas import Atlas
from leaderboard.pages.map.points import OUTSIDE, described_points
from leaderboard.web.parameters import parse

MOST = 6  # clusters of the share picture
MOST_SUITES = 4  # that a description names
NAMING = ("of", "suites", "origin")  # parameters that say what is on the map


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The map that the query names, with its clusters where it is stored; None for a suite that does not exist."""
    suites = suite_queries.suites(site.db)
    parameters = tuple(each for each in maps.parameters(suites) if each.key in NAMING)
    values, _ = parse(parameters, {key: query[key] for key in NAMING if key in query})
    if values["suites"] is None or len(values["suites"]) > MOST_SUITES:
        return None
    written = tuple(
        (each.key, each.write(values[each.key]))
        for each in parameters
        if each.write(values[each.key]) != each.write(each.default)
    )
    titles = {row.key: choice_title(row.title, row.benchmark) for row in suites.itertuples()}
    named = ", ".join(titles[key] for key in values["suites"])
    recipe = Recipe(noun=values["of"], suites=tuple(sorted(values["suites"])), origin=values["origin"])
    sizes = clusters(site, recipe)
    alike = "tasks that rank models alike" if recipe.noun == "tasks" else "models with similar scores"
    return Described(
        title=f"Map of the {recipe.noun} of {named}" if written else "Map",
        sentence=f"{recipe.noun.capitalize()} of {named}, {recipe.origin} figures: {alike} are near each other"
        + (f", in {len(sizes)} groups." if len(sizes) > 1 else "."),
        query=written,
        rows=tuple(DescribedRow(label=name, text=f"{size} {recipe.noun}") for name, size in sizes[:MOST]),
        caption=f"Groups of {alike}" if sizes else "",
    )


def _clusters(site: Site, recipe: Recipe) -> tuple[tuple[str, int], ...]:
    made = Atlas(site.db).find(recipe)
    if made is None:
        return ()
    facts = described_points(site, made, noun=recipe.noun, suites=recipe.suites, origin=recipe.origin)
    sizes = facts[facts["cluster"] != OUTSIDE].groupby("cluster", sort=False).size().sort_values(ascending=False)
    return tuple((str(name), int(size)) for name, size in sizes.items())


# Names and sizes of a stored map's clusters, the largest first, by a site and a recipe; none for a map not made yet.
clusters = shared(_clusters, most=64)
