"""python -m compute instructions: writes training examples as conversations for tuning multi-modal language models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compute.cli.workspace import Data, Offline, Results
from compute.types import BadInput, suggestion

SUITES = ("mini", "unisim")
UNRELATED = 8192  # drawn examples of each task where no number is given


def instructions(
    folder: Annotated[Path, typer.Argument(help="Where instructions.json and images/ are written.")],
    suite: Annotated[str, typer.Option(help="Whose training examples: mini (drawn) or unisim (Table 5).")] = "mini",
    datasets: Annotated[
        list[str] | None,
        typer.Option(help="The data sets of a task, image-for-text=hpdv2,magicbrush; repeatable. Default: all."),
    ] = None,
    count: Annotated[
        int | None, typer.Option(help="At most so many examples of each task; default: the paper's numbers.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides which examples, and their order.", min=0)] = 0,
    mix: Annotated[Path | None, typer.Option(help="Another instruction file in LLaVA's layout to mix in.")] = None,
    mix_ratio: Annotated[
        float, typer.Option(help="How many of its conversations for each of ours; the paper: 500K for 840K.")
    ] = 500 / 840,
    mix_images: Annotated[Path | None, typer.Option(help="The folder of its images, if their paths need it.")] = None,
    lines: Annotated[bool, typer.Option("--lines", help="JSON lines instead of one list.")] = False,
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
    from compute.tasks.source import Source
    from compute.training.unisim.data import leaks, mini, splits
    from compute.training.unisim.data.instructions import COUNTS, OtherInstructions, export, verify

    if suite not in SUITES:
        raise BadInput(f"No suite {suite!r} to train on.{suggestion(suite, SUITES)} Choose from {', '.join(SUITES)}")
    store, progress = results or paths.RESULTS, Progress()
    source = Source.keeping(store, root=data, offline=offline)
    if suite == "mini":
        named = splits.chosen(datasets or [], known=dict.fromkeys(splits.every(), (mini.DATASET,)))
        sets = [
            part
            for part in mini.unrelated(seed=seed, count=count or UNRELATED, cache=source.cache)
            if part.task in named
        ]
    else:
        sets = splits.training(splits.chosen(datasets or []), source=source, seed=seed)
    evaluated = leaks.evaluated_images(
        leaks.evaluated_tasks(shipped()),
        source=replace(source, offline=True),
        roots=(paths.COMPUTED, store),
        progress=progress,
    )
    compared = leaks.sentence(leaks.check(sets, evaluated, progress=progress))
    typer.echo(compared)
    record = export(
        sets,
        folder,
        seed=seed,
        counts=dict.fromkeys(COUNTS, count) if count else None,
        other=OtherInstructions(file=mix, ratio=mix_ratio, images=mix_images) if mix else None,
        lines=lines,
        leaks=compared,
        progress=progress,
    )
    total = verify(folder / record.file)
    mixed = f", {record.mixed:,} of them from {mix}" if mix else ""
    if record.renamed:
        mixed += f" ({record.renamed:,} without an id of their own in its file got one: mixed-NUMBER)"
    skipped = f" ({record.skipped:,} of its entries have not one token for each image)" if record.skipped else ""
    typer.echo(f"{folder / record.file}: {total:,} conversations{mixed}{skipped}, {record.images:,} images")
