"""What a view of the page is about: a suite, and who is on its front."""

from __future__ import annotations

from collections.abc import Mapping

from compute.analysis.pareto import OFF, ON, UNKNOWN
from leaderboard.html.formatting import number
from leaderboard.html.labels import choice_title
from leaderboard.page import Described, DescribedRow, Site
from leaderboard.pages.cost.suite_front import AXES, SIZE, CostQuery, Point, SuiteFront, SuiteFronts

MOST = 6  # rows of the share picture


def describe(site: Site, query: Mapping[str, str]) -> Described | None:
    """The front that the query names; None for no suite, an unknown one, or one without a mean."""
    suite_fronts, suite = SuiteFronts(site.suite_cache), query.get("suite", "")
    if suite not in set(suite_fronts.suites()["key"]):
        return None
    axis = query.get("axis", SIZE) if query.get("axis", SIZE) in AXES else SIZE
    suite_front = suite_fronts.get(
        CostQuery(suite=suite, category=query.get("category", ""), axis=axis, device=query.get("device", ""))
    )
    title = choice_title(suite_front.suite["title"], suite_front.suite["benchmark"])
    device = suite_front.device if suite_front.device == query.get("device") else ""
    named = (
        ("suite", suite),
        ("category", suite_front.category),
        ("axis", "" if axis == SIZE else axis),
        ("device", device),
    )
    first = sorted(suite_front.of(ON), key=lambda point: point.rank)[:MOST]
    return Described(
        title=f"{title} by {suite_front.axis.title.lower()}{f' on {device}' if device else ''}",
        sentence=_sentence(suite_front, title),
        query=tuple((key, value) for key, value in named if value),
        rows=tuple(_row(suite_front, point) for point in first),
        caption=f"On the front: no model {suite_front.axis.no_more} is proved better",
    )


def _sentence(suite_front: SuiteFront, title: str) -> str:
    axis, score = suite_front.axis, f"{title}, {suite_front.category}" if suite_front.category else title
    known = f"{axis.known} on {suite_front.device}" if suite_front.device else axis.known
    counts = {state: len(suite_front.of(state)) for state in (ON, OFF, UNKNOWN)}
    if not suite_front.with_cost:
        return f"No model of {title} has {known}."
    if len(suite_front.with_cost) == 1:
        return f"Of {score} only {suite_front.with_cost[0].title} has {known}: there is nothing to compare it with."
    if not counts[ON] and not counts[OFF]:
        return f"Which of {counts[UNKNOWN]} models with {known} are on the front of {score} is not known."
    return (
        f"{counts[OFF] or 'None'} of the {sum(counts.values())} models with {known} {_are(counts[OFF] or 1)} proved "
        f"worse in {score} than one that is {axis.no_more}; {counts[ON]} {_are(counts[ON])} on the front"
        f"{f'; {counts[UNKNOWN]} cannot be tested' if counts[UNKNOWN] else ''}."
    )


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _row(suite_front: SuiteFront, point: Point) -> DescribedRow:
    ends = [end for each in suite_front.of(ON) for end in (each.low, each.high)]
    low, high = min(ends), max(ends)

    def at(value: float) -> float:
        return (value - low) / ((high - low) or 1.0)

    return DescribedRow(
        label=f"{point.title}  {suite_front.axis.write(point.cost)}",
        text=number(point.mean, digits=suite_front.digits),
        value=at(point.mean),
        low=at(point.low),
        high=at(point.high),
    )
