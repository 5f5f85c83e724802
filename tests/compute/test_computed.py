"""The shipped runs of the mini suite: whole, and better than untrained weights. The freeze makes some again."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest

from compute.catalog import shipped
from compute.engine import run_folders as runs
from compute.engine import variants
from compute.paths import COMPUTED


@pytest.fixture(scope="module")
def shown():
    """The shipped run of each model and task that the board shows."""
    kept = [runs.read(folder) for folder in runs.every(COMPUTED)]
    main = variants.main_runs(
        kept, category={task.key: f"{task.benchmark}/{task.category}" for task in shipped().tasks}
    )
    return {(one.run.model, one.run.task): one for one in kept if one.run.id in main}


def test_training_beats_its_own_first_weights_on_every_kind_of_task(shown):
    """By more than two standard errors of the difference of the category's means, tasks taken as independent."""
    gains: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for task in shipped().tasks:
        if "mini" in task.suites:
            trained, untrained = (runs.headline(shown[model, task.key]) for model in ("tiny", "tiny-random"))
            variance = (trained.stderr or 0) ** 2 + (untrained.stderr or 0) ** 2
            gains[task.category].append((trained.value - untrained.value, variance))
    assert len(gains) == 15
    for category, found in gains.items():
        mean = np.mean([gain for gain, _ in found])
        error = math.sqrt(sum(variance for _, variance in found)) / len(found)
        assert mean > 2 * error, f"{category}: {mean:.3f} ± {error:.3f}"
