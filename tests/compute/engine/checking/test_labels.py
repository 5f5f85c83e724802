"""Items whose label may be wrong: labels exchanged on purpose are found, by the published rule."""

from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
import pandas as pd

from compute.content import decoding
from compute.engine.checking import labels
from compute.procedures import neighbours
from compute.tasks import mini
from compute.tasks.data import Clusters
from tests.compute.small_bench import NEAR


def test_exchanged_labels_are_found(monkeypatch):
    """9 of 180 drawn items have another class's label; one model sees their colours, one their frequencies."""
    test = mini.drawn("mini/photographs")["default"].test
    images = [decoding.picture(test.items.read(at)) for at in range(180)]
    colours = np.sqrt([image.convert("HSV").histogram() for image in images])
    waves = np.fft.rfft2([np.array(image.convert("L").resize((32, 32))) for image in images])
    waves = np.log1p(np.abs(waves).reshape(180, -1)[:, 1:])
    wrong, given = Random(0).sample(range(180), 9), test.labels.copy()
    given[wrong] = (given[wrong] + 5) % 12
    data = Clusters(test=replace(test, labels=given))
    task = replace(NEAR, procedure="neighbours")
    runs = {}
    monkeypatch.setattr(labels, "items_by_model", lambda task, roots: runs)
    for name, seen in (("colours", colours), ("waves", waves)):
        assert "not checked" in next(labels.in_words(task, root=Path())), "no run, or one"
        runs[name] = neighbours.run(SimpleNamespace(embed=lambda _, seen=seen: seen), data, {}).items
    first, *lines = labels.in_words(task, root=Path())
    assert f"{len(lines)} of 180 labels" in first and "stays with colours" in first
    hits = np.isin([line.strip().partition(":")[0] for line in lines], [test.names[at] for at in wrong])
    assert hits.sum() >= 5 and hits.mean() > 0.6, "recall and precision"
    assert "not checked" in next(labels.in_words(replace(task, procedure="sts"), root=Path()))


def answers(expected, accuracy, seed=0):
    """A model's items: right as often as `accuracy`, else one of the three labels at random."""
    rng = np.random.default_rng(seed)
    answer = np.where(rng.random(len(expected)) < accuracy, expected, rng.choice(list("abc"), len(expected)))
    items = np.arange(len(expected)).astype(str)
    return pd.DataFrame({"item": items, "expected": expected, "answer": answer, "value": 1.0 * (answer == expected)})


def test_the_rule_is_that_of_confident_learning():
    """Northcutt et al. 2021, equations 1 and 2 and the normalised margin; and two votes, more than for the label."""
    expected = np.random.default_rng(1).choice(list("abc"), 3000, p=[0.6, 0.3, 0.1])
    runs = {f"{at}": answers(expected, np.where(expected == "a", 0.9, 0.2), seed=at) for at in range(8)}
    useless = {"chance": answers(expected, 0), "constant": answers(expected, 1).assign(answer="a")}
    found, models = labels.doubts(runs | useless)
    assert len(models) == 4 and not {*useless} & {*models}
    shares = {label: np.mean([runs[model]["answer"] == label for model in models], axis=0) for label in "abc"}
    least = {label: shares[label][expected == label].mean() for label in "abc"}
    listed = {}
    for at, label in enumerate(expected):
        best = max(shares[other][at] for other in "abc" if shares[other][at] >= least[other] or other == label)
        if best >= 2 / 4 and best > shares[label][at]:
            listed[f"{at}"] = shares[label][at] - best
    assert {*found.index} == {*listed} and [listed[item] for item in found.index] == sorted(listed.values())
