"""Results show themselves: short as text, drawn and escaped in a notebook, as a figure, and as a frame."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import compute
from compute.interface.train import TrainingResult
from compute.pages.shown import ShownTable
from compute.training.evaluation import TaskChange
from compute.training.plan import PAPER
from compute.training.run_folder import StepMeasurement
from tests.compute.interface.test_correlate_lite_compare import table

HOSTILE = "<script>alert(1)</script>"


def hostile():
    return table().rename(columns={"t3": HOSTILE}).replace({"model": {"m3": HOSTILE}})


def generators():
    draw = np.random.default_rng(0)
    sets = {name: draw.normal(size=(60, 4)) + shift for name, shift in (("near", 0.1), ("far", 2.0), (HOSTILE, 0.5))}
    return compute.frechet(reference=draw.normal(size=(60, 4)), generated=sets)


def trained():
    points = [StepMeasurement(step=at, core=0.5 + at / 100, ood=0.8 - at / 100, tasks={}) for at in (0, 10, 20)]
    change = {"side": "core", "before": 0.5, "after": 0.7, "low": 0.1, "high": 0.3}
    return TrainingResult(
        folder=Path("tuned"),
        plan=PAPER,
        steps=20,
        best=10,
        seconds=1.0,
        measurements=tuple(points),
        losses=(),
        model_options={},
        changes=(TaskChange(key="core", title="Core", **change), TaskChange(key="a", title=HOSTILE, **change)),
    )


@pytest.mark.parametrize(
    "make, words, drawn",
    [
        (lambda: compute.correlate(hostile()), ("Most similar: ", "| 10 |"), "background: rgba"),
        (lambda: compute.compare(HOSTILE, "m7", scores=hostile()), (" than m7", "| difference |"), "<circle"),
        (lambda: compute.lite(hostile(), tasks=4), ("4 of 10 tasks", "took no part"), "<table"),
        (generators, ("| FD ↓", "95% interval over prompts or images"), "<circle"),
        (trained, ("step 10 is stored", "+20.0"), "<circle"),
    ],
    ids=["correlations", "comparison", "smaller", "generators", "training"],
)
def test_a_result_shows_itself(make, words, drawn):
    result = make()
    text, page, figure = repr(result), result._repr_html_(), result.plot()
    assert len(text) < 3000 and all(word in text for word in words)
    assert drawn in page and "<script" not in page and "nan" not in re.sub(r">[^<]*<", "><", page)
    assert figure.data and "<script" not in figure.to_json().replace("\\u003c", "<")
    assert isinstance(result.frame(), pd.DataFrame)


def test_the_corner_of_a_wide_table_is_printed_and_the_rest_named():
    shown = ShownTable(heads=[str(at) for at in range(40)], rows=[[str(at)] * 40 for at in range(40)])
    *lines, last = shown.text(30).splitlines()
    assert len({*map(len, lines)}) == 1 and "39" not in lines[0] and "26 more rows" in last
    assert len(shown.text().splitlines()) == 42 and "39" in shown.text()
