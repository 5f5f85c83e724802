"""What a guided choice is about: the need, its conditions, and the shortlist."""

from __future__ import annotations

from collections.abc import Mapping

from leaderboard.html.formatting import blank, number
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.choose.needs import HARDWARE, LANGUAGES, LICENSES, NEEDS, SIZES
from leaderboard.pages.choose.shortlist import Conditions, Shortlist, shortlist

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
            sentence="Which models the evidence supports, and what it does not prove.",
            query=written,
        )
    return Described(
        title=need.title,
        sentence=_sentence(found),
        query=written,
        rows=tuple(
            DescribedRow(label=f"{each.rank}  {each.title}", text=number(each.mean, digits=found.digits))
            for each in found.choices
            if not blank(each.mean)
        ),
        caption="Shortlist: rank and mean",
    )


def _sentence(found: Shortlist) -> str:
    """Who leads, and of how many others that is proved, not proved, and not known."""
    first, others = found.choices[0], found.fitting - 1
    over = f"over {found.tasks} {'task' if found.tasks == 1 else 'tasks'}"
    if not others:
        mean = number(first.mean, digits=found.digits)
        return f"Choose a model: {first.title} is the only model that fits, with a mean of {mean} {over}."
    lead = f"Choose a model: {first.title} has the highest mean {over}; models that fit: {found.fitting}"
    if found.untested == others:
        return f"{lead}. None of the others can be compared with it, so its lead is not proved."
    untested = f", cannot be compared: {found.untested}" if found.untested else ""
    return f"{lead}, of these not proved worse: {found.ties - 1}{untested}."
