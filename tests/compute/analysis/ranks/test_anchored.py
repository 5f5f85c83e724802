"""Printed category means in place of lost figures."""

from __future__ import annotations

import numpy as np

from compute.analysis.ranks.anchored import anchor

NAN = np.nan


def test_the_mean_is_the_printed_one_and_the_spread_of_the_rest_is_kept():
    scores = [[0.2, 0.4, NAN, 0.9]]
    out, stands_in = anchor(scores=scores, categories=[0, 0, 0, 1], means=[[0.5, NAN]], counted=[True] * 4)
    np.testing.assert_allclose(out, [[0.4, 0.6, 0.5, 0.9]])
    assert np.isclose(out[0, :3].mean(), 0.5)
    assert stands_in.tolist() == [[True, False]]


def test_with_no_figure_at_hand_every_task_takes_the_printed_mean():
    out, stands_in = anchor(scores=[[NAN, NAN]], categories=[0, 0], means=[[0.3]], counted=[True, True])
    assert out.tolist() == [[0.3, 0.3]] and stands_in.all()


def test_a_whole_category_keeps_its_own_figures():
    out, stands_in = anchor(scores=[[0.1, 0.2]], categories=[0, 0], means=[[0.9]], counted=[True, True])
    assert out.tolist() == [[0.1, 0.2]] and not stands_in.any()


def test_a_part_of_a_category_has_no_printed_mean():
    out, stands_in = anchor(scores=[[0.1, NAN]], categories=[0, 0], means=[[0.9]], counted=[True, False])
    assert np.isnan(out[0, 1]) and out[0, 0] == 0.1 and not stands_in.any()
