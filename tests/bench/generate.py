"""A made-up database of any size with the schema of the real one: only for measuring, and titled so."""

import numpy as np
import pandas as pd

from compute.catalog import shipped
from compute.database import build, store
from compute.types import Model, Run, Score

SUITES = ("mieb", "unisim-core")  # every task of these gets a score of every model


def generate(path, *, models, seed=0):
    """Writes a database of `models` made-up models with a score on each task of SUITES; of all real models none."""
    rng = np.random.default_rng(seed)
    catalog = shipped()
    frames = build.catalog_frames(catalog)
    made = [
        Model(
            key=f"synthetic/model-{place:03d}",
            title=f"Synthetic {place:03d}",
            organisation="Made up",
            family="Synthetic",
            parameters_m=float(rng.integers(20, 9000)),
            modalities=("image", "text"),
            open_weights=bool(place % 2),
            released=f"{2019 + place % 7}-01-01",
        )
        for place in range(models)
    ]
    tasks = [task for task in catalog.tasks if set(task.suites) & set(SUITES)]
    skill = rng.normal(size=models)
    runs, scores = [], []
    for task in tasks:
        values = 1 / (1 + np.exp(-(0.6 * skill + rng.normal(scale=0.5, size=models) + rng.normal())))
        for model, value in zip(made, values.round(4), strict=True):
            run = f"{model.key}/{task.key}"
            runs.append(Run(id=run, model=model.key, task=task.key, source="Made up, for measuring"))
            scores.append(
                Score(
                    run=run,
                    subset="default",
                    metric=task.metrics[0],
                    value=float(value),
                    printed=f"{value * 100:.2f}",
                )
            )
    frames |= {"models": store.frame(made), "runs": store.frame(runs), "scores": store.frame(scores)}
    del frames["aliases"]
    frames["suites"]["title"] = [f"Synthetic, {title}" for title in frames["suites"]["title"]]
    frames["claims"] = pd.DataFrame()
    store.write(path, frames=frames)
    return path
