"""Points by words and by numbers: every point once, a mark for every value, groups for those without a mouse."""

import pandas as pd

from compute.analysis.figures.style import UNGROUPED
from leaderboard.pages.map.figures import points

META = {"keys": [], "groups": []}


def places(figure):
    return sorted(place for trace in figure.data for place in trace.customdata)


def test_every_point_is_drawn_once_and_no_two_values_look_alike():
    values = [f"value {place % 12}" for place in range(40)] + ["Not known"] * 3
    facts = pd.DataFrame({"x": range(43), "y": range(43), "name": values})
    figure = points(facts, values=facts["name"], unknown="Not known", meta=META)
    assert places(figure) == list(range(43))
    looks = [(trace.marker.color, trace.marker.symbol) for trace in figure.data]
    assert len(set(looks)) == len(looks) == 13
    assert figure.data[-1].name == "Not known" and figure.data[-1].marker.color == UNGROUPED
