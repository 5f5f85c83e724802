"""Runs of the drawn generators with made-up figures: nothing here is a measurement."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from compute.engine import run_folders
from compute.tasks.mini import generators as drawn
from compute.types import Run, Score

TASK, BLOCKS, PROMPTS = "mini/generators", 8, 256
UNLIMITED = ("clipscore", "vendi")
# By (metric, subset) and fault, what a strength adds: cFreD sees all but copies, FD is blind to swapped prompts.
EFFECTS = {
    ("cfred", "tiny|tiny"): {"copies": -0.05},
    ("fd", "tiny"): {"prompts": 0.0, "copies": -0.05},
    ("fd", "efficientnet-lite0"): {"prompts": 0.0, "copies": -0.05, "noise": 0.001},
    ("kid", "tiny"): {"prompts": 0.0, "copies": 0.0},
    ("clipscore", "tiny"): {"prompts": -0.1, "copies": 0.0},
    ("vendi", "tiny"): {"prompts": 0.0, "copies": 0.0},
}
USUAL = 0.1


def make(results: Path) -> None:
    """A run a generator under `results`."""
    noise = np.random.default_rng(0).normal(size=(len(drawn.GENERATORS), BLOCKS)) * 0.001
    for row, own in zip(drawn.GENERATORS, noise, strict=True):
        mark = run_folders.fingerprint({"stand-in": row.key})
        run_id = f"computed/{row.model_key}/{TASK}/{mark}"
        scores, found = [], {}
        for (metric, subset), effects in EFFECTS.items():
            step = effects.get(row.fault, USUAL) * row.strength
            value = 1.0 + step
            found.setdefault(subset, {})[metric] = {
                "left_out": (value + (own if step else 0.001 * np.arange(BLOCKS))).tolist(),
                "low": value - 0.1,
                "high": value + 0.1,
                "smaller": {
                    "32": [3 * value, 3 * value - 0.2, 3 * value + 0.2],
                    "128": [1.5 * value, 1.5 * value - 0.1, 1.5 * value + 0.1],
                },
            } | ({} if metric in UNLIMITED else {"limit": [value - 0.7, value - 0.8, value - 0.6]})
            names = (subset,) if subset.startswith("efficientnet") else ("default", subset)
            scores += [
                Score(run=run_id, subset=name, metric=metric, value=value, n=PROMPTS, stderr=0.01) for name in names
            ]
        run = Run(
            id=run_id,
            model=row.model_key,
            task=TASK,
            procedure="frechet",
            origin="computed",
            fingerprint=mark,
            settings={
                "procedure": {"options": {"blocks": [PROMPTS // BLOCKS] * BLOCKS}},
                "model": {"generator": row.key, "fault": row.fault, "strength": row.strength},
                "found": found,
                "coverage": 1.0,
            },
        )
        items = run_folders.table({"default": pd.DataFrame({"item": ["0000"], "expected": ["one red star"]})})
        run_folders.write(results, run=run, scores=scores, items=items)


def database(folder: Path, *, results: Path) -> Path:
    """The shipped figures without shipped runs, and the runs under `results`."""
    import pytest

    from compute.database import build

    empty = folder / "computed"
    empty.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build.paths, "COMPUTED", empty)
        return build.build(folder / "likeness.duckdb", results=results).path
