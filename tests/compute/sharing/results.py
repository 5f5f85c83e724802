"""Results folders in their real layout, with runs that no model made: for what reads and shares runs."""

from dataclasses import replace

import numpy as np
import pandas as pd

from compute.catalog import shipped
from compute.engine import run_folders
from compute.sharing import computed_runs
from compute.types import Run, Score

MODEL = "openai/clip-vit-base-patch32"
COMMIT = "3d74acf9a28c67741b2f4f2ea7635f0aaf6f0268"
STARTED = "2026-05-04T03:02:01+00:00"
USUAL = {"code": "0b2be2804bd1e6ac", "dtype": "float32", "device": "cpu", "seconds": 12.5, "started": STARTED}


def score(value, metric="accuracy", *, subset="default", **more):
    return Score(run="", subset=subset, metric=metric, value=value, **more)


def figures(task, *, seed=0):
    """A score for every subset and metric that a run of the task has."""
    draw = np.random.default_rng([seed, *map(ord, task.key)])
    subsets = list(task.subsets) if len(task.subsets) == 1 else [*task.subsets, "default"]
    return [
        score(float(draw.random()), metric, subset=subset, n=400, stderr=float(draw.random() / 40))
        for subset in subsets
        for metric in task.metrics
    ]


def store(
    root,
    key,
    *,
    model=MODEL,
    catalog=None,
    scores=None,
    fingerprint="f" * 20,
    settings=None,
    seed=0,
    **run,
):
    """Writes one run of a task under `root`."""
    task = (catalog or shipped()).task(key)
    id = f"computed/{model}/{key}/{fingerprint}"
    record = Run(
        id=id,
        model=model,
        task=key,
        procedure=task.procedure,
        origin="computed",
        settings={
            "model": {"revision": COMMIT},
            "data": {"dataset": task.dataset, "revision": task.revision, "options": {}},
            "procedure": {"key": task.procedure, "options": {"quality": "prompt"}},
            "coverage": 1.0,
            "variant": "",
            **(settings or {}),
        },
        fingerprint=fingerprint,
        **USUAL | run,
    )
    rows = scores if scores is not None else figures(task, seed=seed)
    items = pd.DataFrame({"item": ["a"], "subset": ["default"], "value": [1.0]})
    coverage = record.settings["coverage"]
    return run_folders.write(
        root,
        run=record,
        scores=[replace(row, run=id, coverage=row.coverage or coverage) for row in rows],
        items=items,
    )


def gathered(*roots, synthetic=False):
    """What is shared of the model's runs in these folders."""
    catalog = shipped()
    return computed_runs.gather(catalog.model(MODEL), roots=roots, catalog=catalog, synthetic=synthetic)
