"""A suite's frames as arrays: origins, gaps, printed means, and what may be chosen from."""

import pandas as pd
import pytest

from compute.analysis.lite.smaller import whole
from compute.analysis.maps import join
from compute.analysis.table import of_suite
from compute.types import BadInput, Undefined


def frames(values, *, averages=None, aggregate="category-mean"):
    """Two categories of two tasks, `a` and `b` of A, `c` and `d` of B; `d` is lower-is-better."""
    tasks = pd.DataFrame(
        {
            "key": list("abcd"),
            "title": list("ABCD"),
            "category": ["A", "A", "B", "B"],
            "cluster": ["", "", "both", "both"],
            "ranked": [True] * 4,
            "metric": ["accuracy"] * 4,
            "higher": [True, True, True, False],
            "proportion": [True] * 4,
            "lower": [0.0] * 4,
            "upper": [10.0] * 4,
            "scale": [1.0] * 4,
        }
    )
    long = pd.DataFrame([(*key, value) for key, value in values.items()], columns=["model", "origin", "task", "value"])
    return {
        "about": pd.DataFrame(
            {"key": ["s"], "aggregate": aggregate, "category_weights": None}
            | {"minimum_coverage": 1.0, "minimum_models": 0}
        ),
        "tasks": tasks,
        "values": long.assign(metric="accuracy", stderr=0.1, bias=None, n=40),
        "averages": pd.DataFrame(
            [(*key, value) for key, value in (averages or {}).items()], columns=["model", "category", "value"]
        ),
        "hours": pd.DataFrame({"task": ["a"], "hours": [1.5], "runs": [2]}),
    }


def full(model, origin, *numbers):
    return {(model, origin, task): number for task, number in zip("abcd", numbers, strict=True)}


def test_the_usual_origin_has_most_complete_models_and_comes_first_of_all():
    partial = {("m", "published", "a"): 9.0, ("l", "published", "a"): 9.0}
    given = full("m", "imported", 1, 2, 3, 4) | partial | full("k", "computed", 5, 6, 7, 8)
    usual = of_suite(frames(given), origin="usual")
    assert usual.models == ("m",) and usual.values.tolist() == [[1, 2, 3, 4]]
    everything = of_suite(frames(given), origin="all")
    assert everything.models == ("k", "l", "m") and everything.origins == ("computed", "published", "imported")


def test_unknown_origin_and_peoples_suites_are_refused():
    with pytest.raises(BadInput, match="No origin"):
        of_suite(frames(full("m", "published", 1, 2, 3, 4)), origin="guessed")
    with pytest.raises(BadInput, match="ranked by people"):
        of_suite(frames(full("m", "published", 1, 2, 3, 4), aggregate="human"), origin="all")


def test_a_printed_mean_stands_for_lost_figures_and_bars_the_task():
    """Without one the model does not count."""
    values = {}
    for place, model in enumerate("klmn"):
        values |= full(model, "published", place, place + 1.0, place + 2.0, place + 3.0)
    del values["k", "published", "b"]
    ready = whole(of_suite(frames(values, averages={("k", "A"): 5.0}), origin="published"))
    assert ready.table.models == tuple("klmn") and ready.filled == 1
    assert ready.table.values[0, :2].mean() == pytest.approx(5.0) and ready.table.values[0, 0] == 0
    assert ready.candidates.tolist() == [0, 2, 3]
    assert whole(of_suite(frames(values), origin="published")).table.models == ("l", "m", "n")
    del values["l", "published", "c"]
    with pytest.raises(Undefined, match="models"):
        whole(of_suite(frames(values), origin="published"))


def test_join_turns_columns_and_names_models_by_key():
    one = of_suite(frames(full("m", "published", 1, 2, 3, 4)), origin="published")
    other = of_suite(frames(full("k", "published", 5, 6, 7, 8)), origin="published")
    models, tasks, scores = join([one, other])
    assert models == ("k", "m") and tasks == ("a", "b", "c", "d")
    assert scores.tolist() == [[5, 6, 7, -8], [1, 2, 3, -4]]


def test_weights_follow_the_categories_and_the_catalogues_clusters_count_as_one():
    weighted = frames(full("m", "published", 1, 2, 3, 4))
    weighted["about"]["category_weights"] = '{"B": 3}'
    scores = of_suite(weighted, origin="published")
    assert scores.categories == ("A", "B") and scores.weights.tolist() == [1.0, 3.0]
    assert scores.clusters.tolist() == [0, 1, 2, 2]
