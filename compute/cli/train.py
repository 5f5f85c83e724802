"""python -m compute train: tunes a dual encoder as a multi-task metric, or trains the bundled model again."""

from __future__ import annotations

import logging
import shlex
from pathlib import Path
from typing import Annotated

import typer

from compute.cli.workspace import Data, Offline, names, shipped_file
from compute.paths import ASSETS
from compute.training.unisim import plan
from compute.types import BadInput

OF_BASE = ("suite", "tasks", "datasets", "data", "option", "save", "track", "device")  # options that need --base
MODELS = {"tiny": ASSETS / "tiny"}  # what is trained from nothing, and where the trained model is shipped


def train(
    context: typer.Context,
    model: Annotated[
        str, typer.Argument(help="A model that is trained from nothing: tiny, the bundled one. Else --base.")
    ] = "",
    base: Annotated[
        str,
        typer.Option(
            help="The dual encoder that is tuned: a key (python -m compute list models), a checkpoint's "
            "folder (./name), or hub:org/name@revision."
        ),
    ] = "",
    suite: Annotated[
        str,
        typer.Option(
            help="With --base: whose kind of examples it learns from: mini (drawn) or unisim (the "
            "training splits of Table 5, with the paper's plan)."
        ),
    ] = "mini",
    out: Annotated[
        Path | None, typer.Option("--out", "--to", help="Folder to write to; of tiny by default its own.")
    ] = None,
    tasks: Annotated[
        str,
        typer.Option(
            help="With --base: only these, comma-separated: image-choice, image-for-text, text-for-image, quality."
        ),
    ] = "",
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help="With --base: the data sets of a task, image-for-text=hpdv2,magicbrush; repeatable. Default: all."
        ),
    ] = None,
    data: Data = None,
    steps: Annotated[int | None, typer.Option(help="Training steps; default: the recipe's.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Decides what is drawn, its order, and initial weights.", min=0)] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option(
            help="With --base, a value of the plan as name=value, such as learning_rate=1e-4 or tune=full; repeatable. "
            f"There are: {', '.join(plan.names())}."
        ),
    ] = None,
    save: Annotated[
        str, typer.Option(help="With --base: merged, a whole checkpoint, or adapter, LoRA weights over the base.")
    ] = "merged",
    track: Annotated[
        str, typer.Option(help="With --base: tensorboard, or another tracker of accelerate; default: none.")
    ] = "",
    device: Annotated[str, typer.Option(help="With --base: cpu, cuda, cuda:1; default: the best available.")] = "",
    offline: Offline = False,
):
    """Tunes a dual encoder by UniSim's recipe (--base), or trains the bundled model (tiny); a stopped run resumes."""
    if bool(model) == bool(base):
        raise BadInput(
            "Name what to train: tiny, or --base MODEL --out FOLDER to tune a dual encoder"
            if not model
            else f"{model} is trained from nothing: leave out --base"
        )
    if base:
        if out is None:
            raise BadInput("Name the folder of the tuned model: --out checkpoints/NAME")
        _tune(
            base,
            suite=suite,
            out=out,
            tasks=tasks,
            datasets=datasets or [],
            data=data,
            steps=steps,
            options=_with_seed(option or [], seed, named=context.get_parameter_source("seed").name != "DEFAULT"),
            save=save,
            track=track,
            device=device,
            offline=offline,
        )
        return
    from compute.training.bundled import tiny

    if model not in MODELS:
        raise BadInput(
            f"{model!r} cannot be trained from nothing: choose from {', '.join(MODELS)}, or tune a model with --base"
        )
    for name in OF_BASE:
        if context.get_parameter_source(name).name != "DEFAULT":
            raise BadInput(f"--{name} applies only with --base: leave it out to train {model}")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    recipe = tiny.TrainingPlan(seed=seed, steps=steps or tiny.TrainingPlan.steps)
    folder = out or shipped_file(MODELS[model], option="--out")
    figures = tiny.train(folder, plan=recipe)
    seconds, processor = figures.pop("seconds"), figures.pop("processor_seconds")
    typer.echo(
        f"{folder}: {recipe.steps} steps in {seconds:.0f} s, {processor:.0f} s of processor time; last losses: "
        + ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
    )


def _tune(
    base: str,
    *,
    suite: str,
    out: Path,
    tasks: str,
    datasets: list[str],
    data: Path | None,
    steps: int | None,
    options: list[str],
    save: str,
    track: str,
    device: str,
    offline: bool,
) -> None:
    from compute.engine import named_models
    from compute.interface import train as interface
    from compute.training.unisim.data import drawn_groups
    from compute.training.unisim.results import option_words, suite_to_run

    with drawn_groups.second_process():
        tuned = interface.train(
            base,
            out=out,
            suite=suite,
            tasks=names(tasks),
            datasets=datasets,
            data=data,
            options=plan.with_steps(suite, options, steps),
            save=save,
            track=track,
            device=device,
            offline=offline,
            report=typer.echo,
        )
    loss = f", loss {tuned.losses[-1]['total']:.4f}" if tuned.losses else ""
    best = ""
    if tuned.best == 0:
        best = "; no step was better than the base on validation items, so the weights are the base's"
    elif tuned.best not in (None, tuned.steps):
        best = f"; the weights are of step {tuned.best}, the best"
    typer.echo(f"{tuned.folder}: {tuned.steps} steps in {tuned.seconds:.0f} s{loss}{best}")
    folder = shlex.quote(named_models.of_path(tuned.folder))
    loaded = " ".join(filter(None, (folder, option_words(tuned.model_options))))
    typer.echo(f"Its scores: python -m compute run --suite {suite_to_run(suite)} --models {loaded}")


def _with_seed(options: list[str], seed: int, *, named: bool) -> list[str]:
    """The options of the plan with the seed, which may be one of them where `--seed` does not name it."""
    if not any(name == "seed" for name, _ in plan.named(options)):
        return [f"seed={seed}", *options]
    if named:
        raise BadInput("--seed and the training option seed say the same: give one of them")
    return options
