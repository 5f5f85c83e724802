"""likeness instructions: writes training examples as conversations for tuning multimodal language models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from annotated_types import Ge

from compute.cli.workspace import Results
from compute.engine.workspace import DataFolder, Offline
from compute.training.splits import Datasets


def instructions(
    folder: Annotated[Path, "Where instructions.json and images/ are written."],
    *,
    datasets: Datasets = (),
    count: Annotated[
        int | None, "At most this many examples of each task; default: the paper's numbers.", Ge(1)
    ] = None,
    seed: Annotated[int, "Seeds which examples, and their order.", Ge(0)] = 0,
    data: DataFolder = None,
    offline: Offline = False,
    results: Results = None,
) -> Iterator[str]:
    """Writes UniSim's training examples as conversations in LLaVA's layout; the tuning is left to existing trainers.

    Nothing is written where an evaluated image is among them.
    """
    from dataclasses import replace

    from compute import paths
    from compute.tasks.source import Source, data_folder
    from compute.training import splits
    from compute.training.conversations import COUNTS, export

    chosen = splits.chosen(datasets)
    source = Source(root=data_folder(data), offline=offline, cache=results or paths.RESULTS)
    sets = splits.training(chosen, source=source, seed=seed)
    record = export(
        sets,
        folder,
        seed=seed,
        counts=dict.fromkeys(COUNTS, count) if count else COUNTS,
        leaks=splits.check_leaks(sets, source=replace(source, offline=True)),
    )
    yield record["leaks"]
    yield f"{folder / record['file']}: {sum(record['counts'].values()):,} conversations, {record['images']:,} images"
