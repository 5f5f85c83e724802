"""python -m compute train tiny: makes the bundled model anew."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from compute.database.store import ROOT
from compute.types import BadInput

MODELS = {"tiny": ROOT / "assets" / "tiny"}  # what can be trained, and where the trained model is shipped


def train(
    model: Annotated[str, typer.Argument(help="Which model: tiny.")],
    to: Annotated[Path | None, typer.Option(help="Folder to write to; default: the bundled model's own.")] = None,
    seed: Annotated[int, typer.Option(help="Decides the scenes, the captions and the first weights.", min=0)] = 0,
    steps: Annotated[
        int | None, typer.Option(help="Batches learned from; default: as the bundled model.", min=1)
    ] = None,
):
    """Trains the small bundled model on drawn scenes; a run that was stopped goes on where it was."""
    from compute.training import tiny

    if model not in MODELS:
        raise BadInput(f"There is no training of {model!r}: choose from {', '.join(MODELS)}")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    plan = tiny.Plan(seed=seed, steps=steps or tiny.Plan.steps)
    folder = to or MODELS[model]
    try:
        figures = tiny.train(folder, plan=plan)
    except KeyboardInterrupt:
        typer.echo("Interrupted: the same command goes on from the last kept step", err=True)
        raise typer.Exit(130) from None
    seconds, processor = figures.pop("seconds"), figures.pop("processor_seconds")
    typer.echo(
        f"{folder}: {plan.steps} steps in {seconds:.0f} s, {processor:.0f} s of processor; last losses: "
        + ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    )
