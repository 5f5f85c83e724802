"""States in a sentence the smallest difference between two models that a task's items can show.

It depends on how much two models' answers differ, which is measured if two models have run on the task, and assumed
otherwise.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from compute.analysis import power
from compute.catalog import shipped
from compute.database import store
from compute.engine import run_folders, variants
from compute.metrics.registry import METRICS
from compute.types import LikenessError, Metric, Task, Undefined, counted

TEST = "paired test at 5%, power 80%"


def sentence(task: Task, *, roots: Sequence[Path] = ()) -> str:
    """Returns the smallest detectable difference on the task's headline metric, or why it is unknown.

    `roots` are folders of runs. Example: With 400 items, differences under 6.2 points cannot be seen (...).
    """
    metric = next(row for row in METRICS if row.key == task.metrics[0])
    n = task.n_items or 0
    items = counted(n, "item")
    if metric.compute is not None or metric.whole is not None:
        return f"{metric.title} is not a mean over items: what difference {items} can show is not known."
    scores = _scores(task, metric, roots=roots)
    measured, ran = len(scores) > 1, f"the {len(scores)} models that have run"
    if not measured and not metric.proportion:
        return (
            f"What difference in {metric.title} {items} can show depends on how much models differ item by item: "
            "run two models, then check again."
        )
    try:
        if metric.proportion:
            differ = power.discordance(scores) if measured else power.DISCORDANCE
            if differ == 0:
                return f"{ran.capitalize()} give the same answers: no difference is seen."
            smallest = power.of_proportions(n, discordance=differ)
            basis = f"{ran if measured else 'two models, as assumed here,'} differ on {differ:.0%} of the items"
        else:
            deviation = power.spread(scores)
            smallest = power.of_means(n, deviation=deviation)
            basis = f"item by item, {ran} differ with a standard deviation of {_shown(deviation, metric)}"
    except Undefined as error:
        return f"{items} {'is' if n == 1 else 'are'} too few: {error} ({TEST})."
    return f"With {items}, differences under {_shown(smallest, metric)} cannot be seen ({TEST}; {basis})."


def _shown(value: float, metric: Metric) -> str:
    """Formats a difference: in points if the metric is in percent."""
    return f"{value * metric.scale:.1f} points" if metric.unit == "%" else f"{value * metric.scale:.3g}"


def _scores(task: Task, metric: Metric, *, roots: Sequence[Path]) -> list[np.ndarray]:
    """Returns the metric per item, a row per model that has run on the task, in the order of the same items."""
    runs = items_by_model(task, roots=roots).items()
    frame = pd.DataFrame(
        {model: of.set_index("item")[metric.key].astype(float) for model, of in runs if metric.key in of}
    )
    return [frame[model].to_numpy() for model in frame]


def baselines() -> set[str]:
    """Returns the models that only represent chance."""
    return {key for suite in shipped().suites for key in suite.baselines}


def items_by_model(task: Task, *, roots: Sequence[Path]) -> dict[str, pd.DataFrame]:
    """Returns the stored items of each model that has run on the task.

    Includes each model's main run if it is complete and covers all items. Models that represent chance are excluded:
    their answers differ from all others, so differences would seem harder to detect.
    """
    chance = baselines()
    every = (folder for root in roots for folder in run_folders.every(root))
    stored, _ = run_folders.newest(folder for folder in every if folder.parts[-2] == run_folders.slug(task.key))
    whole = [run for run in stored if run.run.status == "complete" and run.coverage == 1]
    by_model = {}
    for run in variants.main_runs([run for run in whole if run.run.model not in chance], tasks=[task]).values():
        with contextlib.suppress(LikenessError):
            items = store.read_parquet(run.folder / run_folders.ITEMS)
            if items["item"].is_unique:
                by_model[run.run.model] = items
    return by_model
