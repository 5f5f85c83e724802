"""What the figures of several pages share."""

from __future__ import annotations

import numpy as np

from compute.analysis.figures.style import label_sides, unmarked


def test_names_hide_neither_points_nor_names() -> None:
    assert label_sides(["one", "two"], np.array([0.0, 1.0]), np.array([0.0, 1.0])) == ["top center", "top center"]
    crowd = label_sides(["a long name indeed"] * 12, np.full(12, 0.5) + np.arange(12) * 1e-6, np.linspace(0, 1e-6, 12))
    assert crowd[0] and len([side for side in crowd if side]) <= 12
    same = label_sides(["long name"] * 6, np.array([0, 0, 0, 0, 0, 1.0]), np.array([0, 0, 0, 0, 0, 1.0]))
    assert "" in same


def test_plotly_reads_no_markup_in_a_name() -> None:
    assert unmarked("<b>a</b>") == "‹b›a‹/b›"
