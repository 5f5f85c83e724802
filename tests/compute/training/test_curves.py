"""The table before and after training, and the page with both curves."""

import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from compute.interface.train import page
from compute.pages import curves as drawing
from compute.training import evaluation
from compute.training.run_folder import StepMeasurement
from tests.compute.interface.test_shown import trained

SIDES = {"mini/quality": "core", "mini/image-choice": "core", "mini/sharpness": "ood"}
BEFORE = {"mini/quality": [1, 0, 0, 0], "mini/image-choice": [1, 1, 0, 0], "mini/sharpness": [1, 1, 1, 1]}
AFTER = {"mini/quality": [1, 1, 1, 0], "mini/image-choice": [1, 1, 0, 0], "mini/sharpness": [1, 1, 0, 0]}


def measurement(values):
    """As `evaluation.measured` gives it, of items that are right or wrong as listed, twice."""
    sides = [SIDES[key] for key in values]
    rows = [
        {"task": key, "title": key, "side": SIDES[key], "metric": "accuracy", "value": float(np.mean(right))}
        | {"items": pd.DataFrame({"item": range(2 * len(right)), "subset": "default", "accuracy": right * 2})}
        | {"weight": 1 / sides.count(SIDES[key])}
        for key, right in values.items()
    ]
    return pd.DataFrame(rows)


def changed(before=BEFORE, after=AFTER):
    return evaluation.changes(before=measurement(before), after=measurement(after))


def test_averages_come_before_their_tasks_with_paired_intervals():
    rows = changed()
    assert [row.key for row in rows] == ["core", "mini/quality", "mini/image-choice", "ood", "mini/sharpness"]
    core, quality, choice, ood, sharpness = rows
    assert (core.before, core.after, core.difference) == (0.375, 0.625, 0.25)
    # Of eight items four changed, all to right: by all signs 0 is possible (p 0.125), a loss on average is not.
    assert 0 == quality.low < quality.difference == 0.5 < quality.high == 1
    assert choice.difference == 0 and math.isnan(choice.low)
    assert core.high - core.low == pytest.approx((quality.high - quality.low) / 2)  # a half of the average
    assert (ood.difference, ood.high - ood.low) == pytest.approx((-0.5, sharpness.high - sharpness.low))


def test_a_task_that_changed_alike_on_every_item_leaves_no_interval():
    rows = changed({"mini/quality": [0] * 4}, {"mini/quality": [1] * 4})
    assert all(math.isnan(row.low) and row.difference == 1 for row in rows)
    assert evaluation.numbers(rows[0]) == ("0.0", "100.0", "+100.0", "")


@pytest.mark.parametrize("values", [None, [1, 0, 0, 1]])
def test_an_equal_average_of_other_items_is_not_taken_for_no_change(values):
    """A task without items of its own, whose averages agree: its interval is not known, so the side's is not either.
    Items that changed both ways have an interval like any."""
    sides = []
    for right, choice in ((BEFORE["mini/quality"], [1, 1, 0, 0]), (AFTER["mini/quality"], values or [1, 1, 0, 0])):
        measured = measurement({"mini/quality": right, "mini/image-choice": choice})
        if values is None:
            measured.at[1, "items"] = None
        sides.append(measured)
    core, _, choice = evaluation.changes(before=sides[0], after=sides[1])
    assert choice.difference == 0 and math.isnan(core.low) == math.isnan(choice.low) == (values is None)


def drawn(*points, title="tuned", best=None):
    measured = [StepMeasurement(tasks={}, step=step, core=core, ood=ood) for step, core, ood in points]
    result = replace(trained(), best=best, measurements=tuple(measured), changes=tuple(changed()))
    return page("The base", title, result)


def polylines(page):
    found = re.findall(r'<polyline[^>]* points="([^"]+)"', page)
    return [[tuple(map(float, point.split(","))) for point in line.split()] for line in found]


def test_the_page_draws_both_curves_to_scale_and_loads_nothing():
    page = drawn((0, 0.8, 0.9), (50, 0.9, 0.8), (100, 1, 0.7), best=100)
    core, ood = polylines(page)
    assert [x for x, _ in core] == [x for x, _ in ood] and core[1][0] - core[0][0] == core[2][0] - core[1][0] > 0
    assert core[0][1] == ood[1][1] > core[1][1] == ood[0][1] > core[2][1]  # 80 and 90 percent are each one height
    assert all(0 <= x <= drawing.WIDTH and 0 <= y <= drawing.HEIGHT for x, y in core + ood)
    said = ("Core went from 37.5 to 62.5", "Core 100.0", "Out of distribution 70.0", "Step 100 was stored")
    assert all(each in page for each in said)
    assert not re.search("<(script|link|img|iframe)", page)


def test_a_side_that_is_not_measured_a_title_with_markup_and_curves_that_end_together():
    page = drawn((0, 0.5, None), title="<script>alert(1)</script>")
    assert len(polylines(page)) == 1 and "was stored" not in page and "<script>" not in page
    labels = re.findall(r"<text ([^>]*)>", drawn((0, 0.9, 0.9), (10, 0.9, 0.9001)))
    heights = [float(re.search(r'\by="([^"]+)"', label)[1]) for label in labels if 'class="tick"' not in label]
    assert abs(heights[0] - heights[1]) >= drawing.LABEL_GAP
