"""python -m compute calibrate: models' own scores of matching and unrelated pairs, which give a score its meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compute.cli.run import keeping, names, rebuild, stay_offline, writable
from compute.types import BadInput


def calibrate(
    models: Annotated[str, typer.Option(help="Model keys, comma-separated: python -m compute list models.")],
    tasks: Annotated[
        str, typer.Option(help="Tasks whose items are paired, comma-separated; default: drawn ones of the suite mini.")
    ] = "",
    pairs: Annotated[int, typer.Option(help="At most so many matching and unrelated pairs, or images.")] = 500,
    seed: Annotated[int, typer.Option(help="Of the draw.", min=0)] = 0,
    data: Annotated[Path | None, typer.Option(help="As in run: a folder with data sets as <org>/<name>/.")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    results: Annotated[Path | None, typer.Option(help="Where calibrations go; default: results.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Make anew what is there, and try items again that could not be used.")
    ] = False,
):
    """Scores matching and unrelated pairs with models, so that the app can say what a score of theirs means."""
    try:
        wrong = _calibrate(
            models=names(models),
            tasks=names(tasks),
            pairs=pairs,
            seed=seed,
            data=data,
            offline=offline,
            results=results,
            again=again,
        )
    except KeyboardInterrupt:
        typer.echo("Interrupted: what was encoded is kept, the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    if wrong:
        raise typer.Exit(1)


def _calibrate(
    *,
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    pairs: int,
    seed: int,
    data: Path | None,
    offline: bool,
    results: Path | None,
    again: bool,
) -> bool:
    """Whether a model failed, or none of them could be calibrated."""
    from compute.features.encoding import share_cores

    share_cores()
    from compute.calibration import making
    from compute.calibration.pairs import FEWEST, TASKS
    from compute.catalog.catalog import shipped
    from compute.database import build
    from compute.engine.bench import assemble
    from compute.models import hardware
    from compute.progress import Progress
    from compute.tasks.source import Source

    if pairs < FEWEST:
        raise BadInput(f"--pairs {pairs} is too few: a calibration needs {FEWEST}")
    if data is not None and not data.is_dir():
        raise BadInput(f"There is no folder {data}: give one that holds data sets as <org>/<name>/, or no --data")
    catalog = shipped()
    rows = [catalog.model(key) for key in dict.fromkeys(models)]
    if not rows:
        raise BadInput("No model is named. List them: python -m compute list models")
    chosen = [catalog.task(key) for key in dict.fromkeys(tasks or TASKS)]
    if offline:
        stay_offline()
    root = (results or build.RESULTS).absolute()
    writable(root)
    kept = keeping(root)
    bench = assemble(
        features=kept / "features",
        hardware=hardware(),
        skip_bad=True,
        retry_bad=again,
        source=Source.keeping(kept, root=data, offline=offline),
        progress=Progress(),
    )
    drawn = making.draw(chosen, bench=bench, most=pairs, seed=seed, say=typer.echo)
    outcomes = making.make(rows, drawn, bench=bench, results=root, again=again, say=typer.echo)
    if any(one.state == "made" for one in outcomes):
        rebuild(root)
    return any(one.state == "failed" for one in outcomes) or not any(one.kept for one in outcomes)
