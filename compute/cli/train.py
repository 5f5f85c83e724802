"""likeness train: tunes a dual encoder as a multi-task metric."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from annotated_types import Ge

from compute.engine import named_models
from compute.interface.train import train as tune
from compute.options import taking
from compute.training.exported import TO_RUN, option_words
from compute.training.plan import PAPER, with_options


@taking(tune, without=("report",))
def train(
    *,
    base: Annotated[
        str,
        "The dual encoder to tune: a key (likeness list models), a checkpoint's folder (./name), or "
        "hub:org/name@revision.",
    ],
    out: Annotated[Path, typer.Option("--out", "--to", help="Folder to write to.")],
    steps: Annotated[int | None, "Training steps; default: the recipe's.", Ge(1)] = None,
    seed: Annotated[int, "Seeds pairs that are drawn, their order, and initial weights.", Ge(0)] = 0,
    **how: Any,
) -> Iterator[str]:
    """Tunes a dual encoder by UniSim's recipe; a stopped run resumes."""
    given = how["options"]
    how["options"] = [f"seed={seed}", *given]
    if steps is not None:
        sizes = [text for text in given if text.startswith("batch_size=")]
        how["options"].append(f"samples={steps * with_options(PAPER, sizes).batch_size}")
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
    yield f"Its scores: likeness run --suite {TO_RUN['unisim']} --models {loaded}"
