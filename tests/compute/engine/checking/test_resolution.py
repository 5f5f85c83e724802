"""The sentence on the smallest difference: assumed, measured from runs, or not known."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from compute.analysis import power
from compute.engine import run_folders
from compute.engine.checking.resolution import sentence
from compute.types import Run, Score, Task


def task(metric: str = "accuracy", n: int | None = 400) -> Task:
    return Task(
        key="own/set/choices", title="T", benchmark="own", category="C", dataset="d", metrics=(metric,), n_items=n
    )


def run(
    root: Path,
    model: str,
    values: list[float],
    *,
    metric: str = "accuracy",
    status: str = "complete",
    settings: dict[str, object] | None = None,
    fingerprint: str = "f" * 20,
) -> None:
    items = pd.DataFrame({"item": [f"{at}" for at in range(len(values))], "subset": "default", metric: values})
    row = Run(
        id=f"computed/{model}/own/set/choices/{fingerprint}",
        model=model,
        task="own/set/choices",
        fingerprint=fingerprint,
        origin="computed",
        status=status,
        settings=settings or {},
    )
    score = Score(run=row.id, subset="default", metric=metric, value=0.5, n=len(values))
    run_folders.write(root, run=row, scores=[score], items=items)


def test_without_runs_the_discordance_is_assumed_and_said():
    assert "under 6.2 points" in sentence(task()) and "assumed here" in sentence(task())


def test_with_runs_it_is_measured(tmp_path):
    """Of runs that count: whole ones, of models that are no baseline of chance, of the usual variant."""
    run(tmp_path, "first", [1.0] * 360 + [0.0] * 40)
    assert "assumed here" in sentence(task(), roots=(tmp_path,)), "one model alone tells no difference"
    run(tmp_path, "second", [1.0] * 320 + [0.0] * 80)
    before = sentence(task(), roots=(tmp_path,))
    smallest = 100 * power.of_proportions(400, discordance=0.1)
    assert f"under {smallest:.1f} points" in before and "2 models that have run differ on 10%" in before
    answers = [0.0, 1.0] * 200
    run(tmp_path, "third", answers, status="partial")
    run(tmp_path, "fourth", answers, settings={"coverage": 0.9})
    run(tmp_path, "tiny-random", answers)
    run(tmp_path, "second", answers, settings={"variant": "classifier=logistic"}, fingerprint="a" * 20)
    assert sentence(task(), roots=(tmp_path,)) == before
    next((tmp_path / "first").rglob("items.parquet")).write_bytes(b"damaged")
    assert "assumed here" in sentence(task(), roots=(tmp_path,))


def test_a_mean_needs_the_spread_of_runs(tmp_path):
    assert "run two models" in sentence(task("ndcg_at_10"), roots=(tmp_path,))
    run(tmp_path, "first", [1.0, 0.5] * 200, metric="ndcg_at_10")
    run(tmp_path, "second", [0.5, 0.5] * 200, metric="ndcg_at_10")
    said = sentence(task("ndcg_at_10"), roots=(tmp_path,))
    assert f"under {100 * power.of_means(400, deviation=0.2503):.1f} points" in said and "25.0 points" in said


def test_where_no_difference_can_be_named(tmp_path):
    for model in ("first", "second"):
        run(tmp_path, model, [1.0, 0.0])
    assert "give the same answers" in sentence(task(), roots=(tmp_path,))
    assert sentence(task(n=1)).startswith("1 item is too few")
    assert sentence(task(n=20)).startswith("20 items are too few")
    assert "is not a mean over items" in sentence(task("nmi"))
