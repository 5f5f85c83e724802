"""likeness instructions: writes training examples as conversations for tuning multi-modal language models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compute.cli.workspace import Data, Offline, Results
from compute.types import BadInput, unknown

SUITES = ("mini", "unisim")
UNRELATED = 8192  # drawn examples of each task where no number is given


def instructions(
    folder: Annotated[Path, typer.Argument(help="Where instructions.json and images/ are written.")],
    suite: Annotated[str, typer.Option(help="Whose training examples: mini (drawn) or unisim (Table 5).")] = "mini",
    datasets: Annotated[
        list[str] | None,
        typer.Option(
            help="With --suite unisim: the data sets of a task, image-for-text=hpdv2,magicbrush; repeatable. Default: "
            "all."
        ),
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="At most this many examples of each task; default: the paper's numbers.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seeds which examples, and their order.", min=0)] = 0,
    data: Data = None,
    offline: Offline = False,
    results: Results = None,
):
    """Writes UniSim's training examples as conversations in LLaVA's layout; the tuning is left to existing trainers.

    Nothing is written where an evaluated image is among them.
    """
    from dataclasses import replace

    from compute import paths
    from compute.catalog import shipped
    from compute.progress import Progress
    from compute.tasks.source import Source, data_folder
    from compute.training import leaks, splits
    from compute.training.conversations import COUNTS, export
    from compute.training.drawn import DrawnExamples
    from compute.training.examples import TASKS, ExampleSet

    if suite not in SUITES:
        raise BadInput(unknown("training suite", suite, SUITES, listed=True))
    source = Source.keeping(results or paths.RESULTS, root=data_folder(data), offline=offline)
    sets: list[ExampleSet]
    if suite == "unisim":
        sets = [*splits.training(splits.chosen(datasets or []), source=source, seed=seed)]
    elif datasets:
        raise BadInput("The suite mini has only drawn examples: omit --datasets, or name --suite unisim")
    else:
        sets = [DrawnExamples(task=task, seed=seed, count=count or UNRELATED, unrelated=True) for task in TASKS]
    progress = Progress()
    rows = leaks.evaluated_tasks(shipped())
    evaluated = leaks.evaluated_images(rows, source=replace(source, offline=True), progress=progress)
    leaks.check(sets, evaluated)
    record = export(
        sets,
        folder,
        seed=seed,
        counts=dict.fromkeys(COUNTS, count) if count else COUNTS,
        compare=leaks.guard(evaluated),
        leaks=evaluated.sentence(are_drawn=False),
        progress=progress,
    )
    typer.echo(record["leaks"])
    typer.echo(
        f"{folder / record['file']}: {sum(record['counts'].values()):,} conversations, {record['images']:,} images"
    )
