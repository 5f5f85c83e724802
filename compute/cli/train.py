"""python -m compute train tiny: trains the bundled model again."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from compute.cli.workspace import shipped_file
from compute.paths import ASSETS
from compute.types import BadInput

MODELS = {"tiny": ASSETS / "tiny"}  # what can be trained, and where the trained model is shipped


def train(
    model: Annotated[str, typer.Argument(help="Which model: tiny.")],
    to: Annotated[Path | None, typer.Option(help="Folder to write to; default: the bundled model's own.")] = None,
    seed: Annotated[int, typer.Option(help="Decides scenes, captions and initial weights.", min=0)] = 0,
    steps: Annotated[int | None, typer.Option(help="Training steps; default: the bundled model's.", min=1)] = None,
):
    """Trains the small bundled model on drawn scenes; a stopped run resumes from its last saved step."""
    from compute.training.bundled import tiny

    if model not in MODELS:
        raise BadInput(f"{model!r} cannot be trained: choose from {', '.join(MODELS)}")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    plan = tiny.TrainingPlan(seed=seed, steps=steps or tiny.TrainingPlan.steps)
    folder = to or shipped_file(MODELS[model], option="--to")
    figures = tiny.train(folder, plan=plan)
    seconds, processor = figures.pop("seconds"), figures.pop("processor_seconds")
    typer.echo(
        f"{folder}: {plan.steps} steps in {seconds:.0f} s, {processor:.0f} s of processor time; last losses: "
        + ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    )
