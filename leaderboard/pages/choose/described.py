"""What a guided choice is about: the need, its conditions, and the shortlist."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.html.formatting import blank, number
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.choose.needs import HARDWARE, LANGUAGES, LICENSES, NEEDS, SIZES
from leaderboard.pages.choose.shortlist import Conditions, shortlist

KNOWN = {
    "language": {key for key, _ in LANGUAGES},
    "size": {each.key for each in SIZES},
    "license": {key for key, _ in LICENSES},
    "hardware": {each.key for each in HARDWARE},
}


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The need that the query names and the models that meet it; None for no need or an unknown one."""
    need = next((each for each in NEEDS if each.key == query.get("need", "")), None)
    if need is None:
        return None
    chosen = {key: query[key] for key, known in KNOWN.items() if query.get(key) in known}
    written = (("need", need.key), *chosen.items())
    found = shortlist(site.suite_cache, need=need, conditions=Conditions(**chosen)) if need.suite else None
    if found is None or not found.choices:
        return Described(
            title=need.title,
            sentence="Which model the evidence allows to choose, and what it does not prove.",
            query=written,
        )
    first = found.choices[0]
    return Described(
        title=need.title,
        sentence=f"Choose a model: {first.title} has the highest mean over {found.tasks} tasks; models that fit: "
        f"{found.fitting}, of these not proved worse: {found.ties - 1}.",
        query=written,
        rows=tuple(
            DescribedRow(label=f"{each.rank}  {each.title}", text=number(each.mean, digits=found.digits))
            for each in found.choices
            if not blank(each.mean)
        ),
        caption="Shortlist: rank and mean",
    )
