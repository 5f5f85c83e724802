"""The heatmap's size, its gaps, and where names stand."""

from __future__ import annotations

import numpy as np
import pytest

from compute.analysis.correlation import Correlation
from leaderboard.pages.correlations.figures import GAP, heatmap, scatter


def draw(size: int, *, blanks: int = 0) -> object:
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
        correlation=Correlation(r=r, n=n, low=r - 0.1, high=r + 0.1),
        minimum=4,
    )


@pytest.mark.parametrize(("size", "blanks"), [(130, 0), (130, 60), (40, 20), (10, 0)])
def test_payload_stays_below_60_kb(size: int, blanks: int) -> None:
    assert len(draw(size, blanks=blanks).to_json().encode()) < 60_000


def test_many_cells_are_whole_percents_in_a_byte_each() -> None:
    figure = draw(130, blanks=2)
    z = np.asarray(figure.data[0].z)
    assert z.dtype == np.int8
    assert z.shape == (130, 130)
    assert z.max() == 100 and z[5, 5] == 100
    assert (z == GAP).sum() == 4
    assert figure.data[0].zmin == GAP
    assert "customdata" not in figure.data[0].to_plotly_json()


def test_few_cells_carry_their_interval_and_number() -> None:
    cell = np.asarray(draw(10).data[0].customdata)[2, 3]
    z = np.asarray(draw(10).data[0].z)[2, 3]
    assert cell == pytest.approx([46, z - 0.1, z + 0.1], abs=1e-6)


def test_blank_cells_are_marked_apart_from_zero() -> None:
    marks = draw(10, blanks=1).data[1]
    assert sorted(zip(marks.x.tolist(), marks.y.tolist(), strict=True)) == [(0, 9), (9, 0)]
    assert "4 are needed" in marks.hovertemplate


def test_the_middle_of_the_scale_is_the_page() -> None:
    scale = dict(draw(10).data[0].colorscale)
    assert scale[0.5].replace(" ", "").endswith(",0)")
    assert "213" in scale[0.0] and "114" in scale[1.0]


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
