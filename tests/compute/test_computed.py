"""The shipped runs of the mini suite: whole, better than untrained weights, and the same when made again."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from typer.testing import CliRunner

from compute.__main__ import app
from compute.catalog import shipped
from compute.database import store
from compute.engine import run_folders as runs
from compute.engine import variants
from compute.paths import COMPUTED
from compute.types import Score

SLICE = ("mini/image-choice", "mini/things", "mini/sentences", "mini/swaps")


@pytest.fixture(scope="module")
def shown():
    """The shipped run of each model and task that the board shows."""
    kept = [runs.read(folder) for folder in runs.every(COMPUTED)]
    main = variants.main_runs(
        kept, category={task.key: f"{task.benchmark}/{task.category}" for task in shipped().tasks}
    )
    return {(one.run.model, one.run.task): one for one in kept if one.run.id in main}


def test_they_cover_the_suite(shown):
    tasks = {task.key for task in shipped().tasks if {"mini", "mini-pairs"} & set(task.suites)}
    for model in ("tiny", "tiny-random"):
        assert {task for name, task in shown if name == model} == tasks
    others = {"ssim", "colour-histogram", "conse", "efficientnet-lite0"}
    generators = {row.key for row in shipped().models if row.key.startswith("mini/")}
    assert {model for model, _ in shown} == {"tiny", "tiny-random"} | others | generators
    assert all(one.run.status == "complete" and one.coverage == 1 for one in shown.values())


def test_training_beats_its_own_first_weights_on_every_kind_of_task(shown):
    """By more than two standard errors of the difference of the category's means, tasks taken as independent."""
    gains: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for task in shipped().tasks:
        if "mini" in task.suites:
            trained, untrained = (runs.headline(shown[model, task.key]) for model in ("tiny", "tiny-random"))
            gains[task.category].append((trained.value - untrained.value, _variance(trained) + _variance(untrained)))
    assert len(gains) == 15
    for category, found in gains.items():
        mean = np.mean([gain for gain, _ in found])
        error = math.sqrt(sum(variance for _, variance in found)) / len(found)
        assert mean > 2 * error, f"{category}: {mean:.3f} ± {error:.3f}"


def _variance(score: Score) -> float:
    return 0.0 if score.stderr is None else score.stderr**2


def test_a_slice_made_again_is_the_same(shown, tmp_path):
    """Items exactly; scores and verdicts but for what another processor's rounding turns over."""
    words = f"run --suite mini --tasks {','.join(SLICE)} --models tiny,ssim --device cpu --thumbnails 0 --results"
    made = CliRunner().invoke(app, [*words.split(), str(tmp_path)])
    assert made.exit_code == 0, made.output
    again = {(one.run.model, one.run.task): one for one in map(runs.read, runs.every(tmp_path))}
    assert {("tiny", task) for task in SLICE} <= set(again) and ("ssim", "mini/image-choice") in again
    for key, one in again.items():
        before = shown[key]
        assert runs.headline(one).value == pytest.approx(runs.headline(before).value, abs=0.02), key
        first, second = (store.read_parquet(kept.folder / runs.ITEMS) for kept in (before, one))
        assert first["item"].tolist() == second["item"].tolist()
        assert first["expected"].fillna("").tolist() == second["expected"].fillna("").tolist()
        same = (first["correct"] == second["correct"]) | (first["correct"].isna() & second["correct"].isna())
        assert same.mean() > 0.97, key
