"""Items whose label may be wrong, by the published rule, and in words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from compute.engine.checking import labels
from tests.compute.small_bench import NEAR


def answers(expected, accuracy, seed=0):
    """A model's items: right as often as `accuracy`, else one of the three labels at random."""
    rng = np.random.default_rng(seed)
    answer = np.where(rng.random(len(expected)) < accuracy, expected, rng.choice(list("abc"), len(expected)))
    items = np.arange(len(expected)).astype(str)
    return pd.DataFrame({"item": items, "expected": expected, "answer": answer, "value": 1.0 * (answer == expected)})


def test_the_rule_is_that_of_confident_learning(monkeypatch):
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
    monkeypatch.setattr(labels, "items_by_model", lambda task, roots: runs)
    first, *lines = labels.in_words(
        replace(NEAR, procedure="neighbours", metrics=("value",), n_items=3000), root=Path()
    )
    assert f"{len(listed):,} of 3,000 labels" in first
    assert [line.strip().partition(":")[0] for line in lines] == found.index[: len(lines)].tolist() and lines
    for task in (NEAR, replace(NEAR, procedure="neighbours")):
        runs.clear()
        assert "not checked" in next(labels.in_words(task, root=Path())), "another shape, or no run"
