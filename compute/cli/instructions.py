"""python -m compute instructions: writes training examples as conversations for tuning multi-modal language models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from compute.cli.workspace import Data, Offline, Results
from compute.types import BadInput, suggestion

SUITES = ("mini", "unisim")
UNRELATED = 8192  # drawn examples of each task where no number is given


def instructions(
    context: typer.Context,
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
        float,
        typer.Option(
            help="With --mix: how many of its conversations come for each of ours, a finite number above 0; refused "
            "where that is more than the file has. Default: the paper's 500K for 840K."
        ),
    ] = 500 / 840,
    mix_images: Annotated[
        Path | None, typer.Option(help="With --mix: the folder of its images, if their paths need it.")
    ] = None,
    lines: Annotated[bool, typer.Option("--lines", help="JSON lines instead of one list.")] = False,
    data: Data = None,
    offline: Offline = False,
    results: Results = None,
):
    """Writes UniSim's training examples as conversations in LLaVA's layout; the tuning is left to existing trainers.

    Nothing is written where an evaluated image is among them, or among the images that --mix brings.
    """
    from dataclasses import replace

    from compute import paths
    from compute.catalog import shipped
    from compute.progress import Progress
    from compute.tasks.source import Source, data_folder
    from compute.training.unisim.data import leaks, mini, splits
    from compute.training.unisim.data.instructions import COUNTS, check, export
    from compute.training.unisim.data.llava import verify
    from compute.training.unisim.data.mixed_in import OtherInstructions, check_images

    if suite not in SUITES:
        raise BadInput(f"No suite {suite!r} to train on.{suggestion(suite, SUITES)} Choose from {', '.join(SUITES)}")
    if mix is None:
        for name, option in (("mix_ratio", "--mix-ratio"), ("mix_images", "--mix-images")):
            if context.get_parameter_source(name).name != "DEFAULT":
                raise BadInput(f"{option} is about the file that --mix names: name one, or leave {option} out")
    other = OtherInstructions(file=mix, ratio=mix_ratio, images=mix_images) if mix else None
    check(folder, other=other)
    store, progress = results or paths.RESULTS, Progress()
    source = Source.keeping(store, root=data_folder(data), offline=offline)
    if suite == "mini":
        named = splits.chosen(datasets or [], known=dict.fromkeys(splits.every(), (mini.DATASET,)))
        sets = [
            part
            for part in mini.unrelated(seed=seed, count=count or UNRELATED, cache=source.cache)
            if part.task in named
        ]
    else:
        sets = splits.training(splits.chosen(datasets or []), source=source, seed=seed)

    def compare(mixed: Sequence[Path]) -> str:
        evaluated = leaks.evaluated_images(
            leaks.evaluated_tasks(shipped()),
            source=replace(source, offline=True),
            roots=(paths.COMPUTED, store),
            progress=progress,
        )
        count = check_images(mixed, evaluated, file=mix, cache=source.cache, progress=progress) if mix else 0
        compared = leaks.sentence(leaks.check(sets, evaluated, progress=progress))
        if count:
            compared += f". Nor is any image of {mix.name} that is mixed in: compared {count:,}"
        typer.echo(compared)
        return compared

    record = export(
        sets,
        folder,
        seed=seed,
        counts=dict.fromkeys(COUNTS, count) if count else None,
        other=other,
        lines=lines,
        compare=compare,
        progress=progress,
    )
    total = verify(folder / record.file)
    mixed = f", {record.mixed:,} of them from {mix}" if mix else ""
    if record.renamed:
        mixed += f" ({record.renamed:,} without an id of their own in its file got one: mixed-NUMBER)"
    skipped = f" ({record.skipped:,} of its entries have not one token for each image)" if record.skipped else ""
    typer.echo(f"{folder / record.file}: {total:,} conversations{mixed}{skipped}, {record.images:,} images")
