"""likeness train: tunes a dual encoder as a multi-task metric, or trains the bundled model again."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from annotated_types import Ge

from compute.cli.workspace import shipped_file
from compute.engine import named_models
from compute.interface.train import train as tune
from compute.options import taking
from compute.paths import ASSETS
from compute.training import plan as plans
from compute.training.exported import option_words, suite_to_run
from compute.types import BadInput, option

OF_BASE = ("suite", "tasks", "datasets", "data", "options", "save", "device")  # options that need --base


@taking(tune, without=("report",))
def train(
    context: typer.Context,
    model: Annotated[str, "A model that is trained from scratch: tiny, the bundled one. Else --base."] = "",
    *,
    base: Annotated[
        str,
        "The dual encoder to tune: a key (likeness list models), a checkpoint's folder (./name), or "
        "hub:org/name@revision.",
    ] = "",
    out: Annotated[
        Path | None, typer.Option("--out", "--to", help="Folder to write to; of tiny by default its own.")
    ] = None,
    steps: Annotated[int | None, "Training steps; default: the recipe's.", Ge(1)] = None,
    seed: Annotated[int, "Seeds what is drawn, its order, and initial weights.", Ge(0)] = 0,
    **how: Any,
) -> Iterator[str]:
    """Tunes a dual encoder by UniSim's recipe (--base), or trains the bundled model (tiny); a stopped run resumes."""
    if bool(model) == bool(base):
        raise BadInput("Name what to train: tiny, or --base MODEL --out FOLDER to tune a dual encoder")
    if not base:
        _train_tiny(context, model, steps=steps, seed=seed, out=out)
        return
    if out is None:
        raise BadInput("Name the folder of the tuned model: --out checkpoints/NAME")
    given, suite = how["options"], how["suite"]
    how["options"] = [f"seed={seed}", *given]
    if steps is not None:
        sizes = [text for text in given if text.startswith("batch_size=")]
        batch_size = plans.with_options(plans.SUITES.get(suite, plans.MINI), sizes).batch_size
        how["options"].append(f"samples={steps * batch_size}")
    tuned = tune(base, out=out, report=typer.echo, **how)
    best = ""
    if tuned.best == 0:
        best = "; no step was better than the base on validation items, so the weights are the base's"
    elif tuned.best not in (None, tuned.steps):
        best = f"; the weights are of step {tuned.best}, the best"
    loss = tuned.losses[-1]["total"]
    yield f"{tuned.folder}: {tuned.steps} steps in {tuned.seconds:.0f} s, loss {loss:.4f}{best}"
    folder = shlex.quote(named_models.of_path(tuned.folder))
    loaded = " ".join(filter(None, (folder, option_words(tuned.model_options))))
    yield f"Its scores: likeness run --suite {suite_to_run(suite)} --models {loaded}"


def _train_tiny(context: typer.Context, model: str, *, steps: int | None, seed: int, out: Path | None) -> None:
    from compute.training.bundled import tiny

    if model != "tiny":
        raise BadInput(f"{model!r} cannot be trained from nothing: choose tiny, or tune a model with --base")
    for name in OF_BASE:
        if context.get_parameter_source(name).name != "DEFAULT":
            raise BadInput(f"{option(name)} applies only with --base: omit it to train {model}")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    plan = tiny.TrainingPlan(seed=seed, steps=steps or tiny.TrainingPlan.steps)
    folder = out or shipped_file(ASSETS / "tiny", option="--out")
    losses, seconds = tiny.train(folder, plan=plan)
    listed = ", ".join(f"{name} {value:.3f}" for name, value in losses.items())
    typer.echo(f"{folder}: {plan.steps} steps in {seconds:.0f} s; last losses: {listed}")
