"""Points by words and by numbers: every point once, a mark for every value, groups for those without a mouse."""

from __future__ import annotations

import numpy as np

from compute.analysis.figures.style import UNGROUPED, meet, pixels
from leaderboard.pages.map.figures import HEIGHT, WIDTH, Region, name_points, points

META = {"keys": [], "groups": []}


def places(figure) -> list[int]:
    return sorted(place for trace in figure.data for place in trace.customdata)


def test_every_point_is_drawn_once_and_no_two_values_look_alike():
    values = [f"value {place % 12}" for place in range(40)] + ["Not known"] * 3
    xy = np.arange(43.0)
    figure = points(x=xy, y=xy, names=values, values=values, unknown="Not known", meta=META)
    assert places(figure) == list(range(43))
    looks = [(trace.marker.color, trace.marker.symbol) for trace in figure.data]
    assert len(set(looks)) == len(looks) == 13
    assert figure.data[-1].name == "Not known" and figure.data[-1].marker.color == UNGROUPED


def test_names_on_the_map_hide_neither_points_nor_each_other():
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, 10, (2, 130))
    names = [f"A task called {at}" for at in range(130)]
    figure = points(x=x, y=y, names=names, values=["v"] * 130, unknown="-", meta=META)
    regions = [Region(name=f"Region {at}", indices=list(range(at * 10, at * 10 + 10))) for at in range(4)]
    name_points(figure, names=names, x=x, y=y, regions=regions)
    assert len(figure.layout.shapes) == 4 and 0 < len(figure.layout.annotations) <= 4
    px, py = pixels(x, y, width=WIDTH, height=HEIGHT)
    boxes = []
    for index, text, side in zip(
        figure.data[0].customdata, figure.data[0].text, figure.data[0].textposition, strict=True
    ):
        if not text:
            continue
        a, b, long = px[index], py[index], 5.6 * len(text)
        left = {
            "top center": a - long / 2,
            "bottom center": a - long / 2,
            "middle right": a + 6,
            "middle left": a - 6 - long,
        }
        low = {"top center": b + 5, "bottom center": b - 16}.get(side, b - 5.5)
        boxes.append((left[side], low, left[side] + long, low + 11))
    assert len(boxes) > 10
    assert not any(meet(one, other) for at, one in enumerate(boxes) for other in boxes[:at])
