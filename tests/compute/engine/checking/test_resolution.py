"""The sentence on the smallest difference: assumed, measured from runs, or not known."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

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


def test_without_runs_the_discordance_is_assumed_and_said() -> None:
    assert sentence(task()) == (
        "With 400 items, differences under 6.2 points cannot be seen (paired test at 5%, power 80%; two models, as "
        "assumed here, differ on 20% of the items)."
    )


def test_with_runs_it_is_measured(tmp_path: Path) -> None:
    run(tmp_path, "first", [1.0] * 360 + [0.0] * 40)
    assert "as assumed here" in sentence(task(), roots=(tmp_path,)), "one model alone tells no difference"
    run(tmp_path, "second", [1.0] * 320 + [0.0] * 80)
    smallest = 100 * power.of_proportions(400, discordance=0.1)
    assert sentence(task(), roots=(tmp_path,)) == (
        f"With 400 items, differences under {smallest:.1f} points cannot be seen (paired test at 5%, power 80%; the 2 "
        "models that have run differ on 10% of the items)."
    )


def test_a_mean_needs_the_spread_of_runs(tmp_path: Path) -> None:
    said = sentence(task("ndcg_at_10"), roots=(tmp_path,))
    assert said.startswith("What difference in nDCG@10 400 items can show depends") and "run two models" in said
    run(tmp_path, "first", [1.0, 0.5] * 200, metric="ndcg_at_10")
    run(tmp_path, "second", [0.5, 0.5] * 200, metric="ndcg_at_10")
    said = sentence(task("ndcg_at_10"), roots=(tmp_path,))
    assert said.startswith(
        f"With 400 items, differences under {100 * power.of_means(400, deviation=0.2503):.1f} points"
    )
    assert "standard deviation of 25.0 points" in said


def test_models_that_answer_alike(tmp_path: Path) -> None:
    for model in ("first", "second"):
        run(tmp_path, model, [1.0, 0.0])
    assert sentence(task(), roots=(tmp_path,)) == (
        "The 2 models that have run answer all items alike: no difference is seen."
    )


@pytest.mark.parametrize(("n", "start"), [(1, "1 item is"), (20, "20 items are")])
def test_too_few_items(n: int, start: str) -> None:
    assert sentence(task(n=n)) == (
        f"{start} too few: of two models that differ on 20% of the items, neither is proved better (paired test at 5%, "
        "power 80%)."
    )


@pytest.mark.parametrize("metric", ["nmi", "cosine_spearman", "mmscore"])
def test_a_figure_of_the_whole_set_is_no_mean(metric: str) -> None:
    assert "is no mean over items: what difference 400 items can show is not known" in sentence(task(metric))


def test_a_damaged_run_is_left_out(tmp_path: Path) -> None:
    run(tmp_path, "first", [1.0, 0.0])
    run(tmp_path, "second", [1.0, 1.0])
    next((tmp_path / "second").rglob("items.parquet")).write_bytes(b"damaged")
    assert "as assumed here" in sentence(task(n=100), roots=(tmp_path,))


@pytest.mark.parametrize(
    ("model", "given"),
    [
        ("third", {"status": "partial"}),
        ("third", {"settings": {"coverage": 0.9}}),
        ("tiny-random", {}),
    ],
)
def test_runs_of_a_part_and_baselines_of_chance_do_not_count(
    tmp_path: Path, model: str, given: dict[str, object]
) -> None:
    run(tmp_path, "first", [1.0] * 360 + [0.0] * 40)
    run(tmp_path, "second", [1.0] * 320 + [0.0] * 80)
    before = sentence(task(), roots=(tmp_path,))
    run(tmp_path, model, [0.0, 1.0] * 200, **given)
    assert sentence(task(), roots=(tmp_path,)) == before


def test_of_several_variants_the_usual_one_counts(tmp_path: Path) -> None:
    run(tmp_path, "first", [1.0] * 360 + [0.0] * 40)
    run(tmp_path, "second", [1.0] * 320 + [0.0] * 80)
    before = sentence(task(), roots=(tmp_path,))
    odd = {"variant": "classifier=logistic"}
    run(tmp_path, "second", [0.0, 1.0] * 200, settings=odd, fingerprint="a" * 20)
    assert sentence(task(), roots=(tmp_path,)) == before
