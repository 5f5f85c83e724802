"""The heatmap's size, its gaps, and where names stand."""

from __future__ import annotations

import numpy as np
import pytest

from compute.analysis.correlation import Correlation
from compute.analysis.figures.heatmap import heatmap


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


def test_few_cells_carry_their_interval_and_number() -> None:
    cell = np.asarray(draw(10).data[0].customdata)[2, 3]
    z = np.asarray(draw(10).data[0].z)[2, 3]
    assert cell == pytest.approx([z / 100, 46, z / 100 - 0.1, z / 100 + 0.1 * (z > 0)], abs=0.0101)


def test_blank_cells_are_marked_apart_from_zero() -> None:
    marks = draw(10, blanks=1).data[1]
    assert sorted(zip(marks.x.tolist(), marks.y.tolist(), strict=True)) == [(0, 9), (9, 0)]
    assert "4 are needed" in marks.hovertemplate
