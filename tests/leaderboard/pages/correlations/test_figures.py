"""The heatmap's size, its gaps, and where names stand."""

from __future__ import annotations

import numpy as np
import pytest

from compute.analysis.correlation import Correlation
from leaderboard.pages.correlations.figures import GAP, heatmap, scatter


def draw(size: int, *, blanks: int = 0, width: float = 0.1) -> object:
    rng = np.random.default_rng(3)
    r = rng.uniform(-1, 1, (size, size))
    r = (r + r.T) / 2
    np.fill_diagonal(r, 1)
    for place in range(blanks):
        r[place, size - 1 - place] = r[size - 1 - place, place] = np.nan
    n = np.full(r.shape, 46)
    return heatmap(
        labels=[f"A task with a long name, number {place}" for place in range(size)],
        keys=[f"mieb/a-task-with-a-long-key-{place}" for place in range(size)],
        groups=["A group"] * size,
        correlation=Correlation(r=r, n=n, low=r - width, high=r + width * (r > 0)),
        minimum=4,
    )


@pytest.mark.parametrize("width", [0.1, 0.8], ids=["narrow", "wide"])
@pytest.mark.parametrize(("size", "blanks"), [(130, 0), (130, 60), (40, 20), (10, 0)])
def test_payload_stays_small(size: int, blanks: int, width: float) -> None:
    assert len(draw(size, blanks=blanks, width=width).to_json().encode()) < (75_000 if width > 0.5 else 60_000)


def test_many_cells_some_of_them_wide_are_a_byte_of_colour_and_their_percent() -> None:
    figure = draw(130, blanks=2, width=0.8)
    trace = figure.data[0]
    z, percents = np.asarray(trace.z).astype(int), np.asarray(trace.customdata)
    assert z.dtype == int and np.asarray(trace.z).dtype == np.int8 and (z == GAP).sum() == (percents == GAP).sum() == 4
    centre = np.where(percents > 0, 85, 0)  # an interval of 1.6 or of 0.8
    known = (z != GAP) & (percents != 0)
    assert np.abs(z - centre - 0.42 * percents)[known].max() <= 0.5
    assert [trace.zmin, trace.zmax] == [GAP, 127]


def test_many_cells_are_whole_percents_in_a_byte_each() -> None:
    figure = draw(130, blanks=2)
    z = np.asarray(figure.data[0].z)
    assert z.dtype == np.int8
    assert z.shape == (130, 130)
    assert z.max() == 100 and z[5, 5] == 100
    assert (z == GAP).sum() == 4
    assert figure.data[0].zmin == GAP
    assert "customdata" not in figure.data[0].to_plotly_json()


def test_cells_with_a_wide_interval_are_fainter_and_keep_their_number() -> None:
    """Shares of strength: all up to a width of 0.75, half up to 1.25, a fifth above and where it is unknown."""
    r = np.full((3, 3), 0.5)
    half = np.array([[0.0, 0.375, 0.38], [0.375, 0.0, 0.63], [0.38, 0.63, np.nan]])
    names = {"labels": list("abc"), "keys": list("abc"), "groups": list("aab"), "minimum": 4}
    trace = heatmap(correlation=Correlation(r=r, n=np.full((3, 3), 9), low=r - half, high=r + half), **names).data[0]
    assert np.asarray(trace.z).tolist() == [[50, 50, 350], [50, 50, 650], [350, 650, 650]]
    assert (np.asarray(trace.customdata)[:, :, 0] == 0.5).all() and trace.text[2][2] == "0.50"
    alphas = [colour.rpartition(",")[2].rstrip(")") for at, colour in trace.colorscale if "114,178" in colour]
    assert [float(alpha) for alpha in alphas if float(alpha)][::2] == pytest.approx([0.8, 0.4, 0.16])


def test_groups_are_a_band_and_named_where_many_stand_together() -> None:
    size, rng = 70, np.random.default_rng(0)
    r = rng.uniform(-1, 1, (size, size))
    groups = ["One"] * 40 + ["Two"] * 3 + ["One"] * 27
    names = [f"task {at}" for at in range(size)]
    figure = heatmap(
        labels=names,
        keys=names,
        groups=groups,
        correlation=Correlation(r=r, n=np.full(r.shape, 46), low=r - 0.1, high=r + 0.1),
        minimum=4,
    )
    left, top = figure.data[1:]
    assert np.asarray(left.z)[:, 0].tolist() == np.asarray(top.z)[0].tolist() == [0] * 40 + [1] * 3 + [0] * 27
    assert figure.layout.yaxis.ticktext == ("One", "One")  # three of a group are too few for a name
    assert figure.layout.yaxis.tickvals == ("task 19", "task 56")


def test_few_cells_carry_their_interval_and_number() -> None:
    cell = np.asarray(draw(10).data[0].customdata)[2, 3]
    z = np.asarray(draw(10).data[0].z)[2, 3]
    assert cell == pytest.approx([z / 100, 46, z / 100 - 0.1, z / 100 + 0.1 * (z > 0)], abs=0.0101)


def test_blank_cells_are_marked_apart_from_zero() -> None:
    marks = draw(10, blanks=1).data[1]
    assert sorted(zip(marks.x.tolist(), marks.y.tolist(), strict=True)) == [(0, 9), (9, 0)]
    assert "4 are needed" in marks.hovertemplate


def test_the_middle_of_the_scale_is_the_page() -> None:
    trace = draw(10).data[0]
    at = {round(trace.zmin + (trace.zmax - trace.zmin) * at): colour for at, colour in trace.colorscale}
    assert at[0].endswith(",0)") and at[300].endswith(",0)") and at[600].endswith(",0)")
    assert "213" in at[-100] and "114" in at[100] and at[GAP].endswith(",0)")


def test_scatter_gives_every_kind_a_colour_and_a_shape() -> None:
    figure = scatter(
        names=["a", "b", "c"],
        kinds=["encoder", "metric", "encoder"],
        notes=["", "† trained on this data set", ""],
        x=np.array([1.0, 2, 3]),
        y=np.array([1.0, 2, 3]),
        x_title="x",
        y_title="y",
    )
    first, second = figure.data
    assert (first.name, len(first.x)) == ("encoder", 2)
    assert first.marker.color != second.marker.color and first.marker.symbol != second.marker.symbol
