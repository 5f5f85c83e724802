"""python -m compute project --task T --model M: a map of one task's images."""

from __future__ import annotations

from pathlib import Path

import typer

from compute.cli.run import keeping, rebuild, stay_offline
from compute.types import BadInput


def make(
    *,
    task: str,
    model: str,
    images: int,
    seed: int,
    neighbors: int | None,
    min_dist: float,
    data: Path | None,
    offline: bool,
    results: Path | None,
) -> None:
    """Makes the map, writes it where the app finds it, and rebuilds the database."""
    from compute.catalog.catalog import shipped
    from compute.database import build
    from compute.engine import image_maps
    from compute.engine.bench import assemble
    from compute.models import hardware
    from compute.progress import Progress
    from compute.tasks.source import Source

    if not task or not model:
        raise BadInput("A map of images needs a task and a model: python -m compute project --task T --model M")
    if offline:
        stay_offline()
    catalog = shipped()
    root = (results or build.RESULTS).absolute()
    kept = keeping(root)
    source = Source.keeping(kept, root=data, offline=offline)
    bench = assemble(features=kept / "features", hardware=hardware(), source=source, progress=Progress())
    usual = {} if neighbors is None else {"n_neighbors": neighbors}
    made = image_maps.make(
        catalog.task(task),
        catalog.model(model),
        bench=bench,
        results=root,
        images=images,
        seed=seed,
        min_dist=min_dist,
        progress=lambda stage: typer.echo(stage, err=True),
        **usual,
    )
    for line in image_maps.lines(made):
        typer.echo(line)
    rebuild(root)
