"""Points by words and by numbers: every point once, a mark for every value, groups for those without a mouse."""

from __future__ import annotations

import json

import numpy as np

from leaderboard.html.formatting import parameters_text
from leaderboard.html.plot_style import UNGROUPED, meet, pixels
from leaderboard.pages.map.figures import HEIGHT, MOST, WIDTH, Region, measured, name_points, points

META = {"keys": [], "groups": []}


def places(figure) -> list[int]:
    return sorted(place for trace in figure.data for place in trace.customdata)


def test_every_point_is_drawn_once_and_no_two_values_look_alike() -> None:
    values = [f"value {place % 12}" for place in range(40)] + ["Not known"] * 3
    xy = np.arange(43.0)
    figure = points(x=xy, y=xy, names=values, values=values, unknown="Not known", meta=META)
    assert places(figure) == list(range(43))
    looks = [(trace.marker.color, trace.marker.symbol) for trace in figure.data]
    assert len(set(looks)) == len(looks) == 13
    assert figure.data[-1].name == "Not known" and figure.data[-1].marker.color == UNGROUPED


def test_rare_values_share_a_mark_when_there_are_too_many() -> None:
    values = [f"organisation {place:02}" for place in range(30)]
    xy = np.arange(30.0)
    figure = points(x=xy, y=xy, names=values, values=values, unknown="Not known", meta=META)
    assert len(figure.data) == MOST + 1
    assert figure.data[-1].name == "Not known, or 13 rarer"
    assert places(figure) == list(range(30))


def test_numbered_clusters_keep_their_order() -> None:
    values = ["Cluster 10: mixed", "Cluster 2: mostly A", "Cluster 10: mixed", "Cluster 1: mostly B"]
    figure = points(x=np.arange(4.0), y=np.arange(4.0), names=values, values=values, unknown="In no cluster", meta=META)
    assert [trace.name for trace in figure.data] == ["Cluster 1: mostly B", "Cluster 2: mostly A", "Cluster 10: mixed"]


def test_an_unknown_number_is_grey_not_zero() -> None:
    figure = measured(
        x=np.arange(3.0),
        y=np.arange(3.0),
        names=list("abc"),
        values=np.array([100.0, np.nan, 1000.0]),
        title="Parameters (millions)",
        log=True,
        write=parameters_text,
        meta=META,
    )
    known, unknown = figure.data
    assert known.marker.color.tolist() == [2.0, 3.0] and known.marker.colorbar.ticktext == ("100", "1000")
    assert list(known.hovertext) == ["a: 100 M", "c: 1.0 B"]
    assert unknown.name == "Not known" and list(unknown.customdata) == [1]


def test_places_arrive_as_a_list_the_browser_can_search() -> None:
    figure = points(x=np.arange(2.0), y=np.arange(2.0), names=["a", "b"], values=["v", "v"], unknown="-", meta=META)
    assert json.loads(figure.to_json())["data"][0]["customdata"] == [0, 1]


def test_names_on_the_map_hide_neither_points_nor_each_other() -> None:
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


def test_an_outline_keeps_clear_of_its_points() -> None:
    x, y = np.array([0.0, 4.0, 2.0, 10.0]), np.array([0.0, 0.0, 3.0, 10.0])
    figure = points(x=x, y=y, names=list("abcd"), values=["v"] * 4, unknown="-", meta=META)
    name_points(figure, names=list("abcd"), x=x, y=y, regions=[Region(name="R", indices=[0, 1, 2])])
    path = figure.layout.shapes[0].path
    corners = np.array([[float(part) for part in pair.split(",")] for pair in path[1:-2].split(" L")])
    assert corners[:, 0].min() < 0 and corners[:, 0].max() > 4 and corners[:, 1].max() > 3
