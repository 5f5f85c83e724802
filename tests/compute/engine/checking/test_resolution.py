"""The sentence on the smallest difference: assumed, measured from runs, or not known."""

from dataclasses import replace

from compute.analysis import power
from compute.engine.checking.resolution import sentence
from tests.compute.small_bench import NEAR
from tests.compute.test_build_computed import keep

ANSWERS = [0.0, 1.0] * 200


def said(root, metric="accuracy", n=400):
    task = replace(NEAR, key="own/set/choices", metrics=(metric,), n_items=n)
    return sentence(task, roots=(root,))


def run(root, model, values, metric="accuracy", **changes):
    items = {"item": [f"{at}" for at in range(len(values))], metric: values}
    keep(root, model=model, task="own/set/choices", count=len(values), items=items, metric=metric, **changes)


def test_with_runs_it_is_measured_and_else_assumed(tmp_path):
    """Of runs that count: whole ones, of models that are no baseline of chance, of the usual variant."""
    assert "under 6.2 points" in said(tmp_path) and "assumed here" in said(tmp_path)
    run(tmp_path, "first", [1.0] * 360 + [0.0] * 40)
    assert "assumed here" in said(tmp_path), "one model alone tells no difference"
    run(tmp_path, "second", [1.0] * 320 + [0.0] * 80)
    before, smallest = said(tmp_path), 100 * power.of_proportions(400, discordance=0.1)
    assert f"under {smallest:.1f} points" in before and "2 models that have run differ on 10%" in before
    run(tmp_path, "third", ANSWERS, status="partial")
    run(tmp_path, "fourth", ANSWERS, settings={"coverage": 0.9})
    run(tmp_path, "tiny-random", ANSWERS)
    run(tmp_path, "second", ANSWERS, settings={"variant": "classifier=logistic"}, mark="b")
    assert said(tmp_path) == before
    next((tmp_path / "first").rglob("items.parquet")).write_bytes(b"damaged")
    assert "assumed here" in said(tmp_path)


def test_a_mean_needs_the_spread_of_runs(tmp_path):
    assert "run two models" in said(tmp_path, "ndcg_at_10")
    run(tmp_path, "first", [1.0, 0.5] * 200, "ndcg_at_10")
    run(tmp_path, "second", [0.5, 0.5] * 200, "ndcg_at_10")
    words = said(tmp_path, "ndcg_at_10")
    assert f"under {100 * power.of_means(400, deviation=0.2503):.1f} points" in words and "25.0 points" in words
