"""python -m compute calibrate: models' own scores of matching and unrelated pairs, which give a score its meaning."""

from __future__ import annotations

from typing import Annotated

import typer

from compute.cli.workspace import Data, Models, Offline, Results, named_models, names, rebuild, workbench
from compute.types import BadInput


def calibrate(
    models: Models,
    tasks: Annotated[
        str, typer.Option(help="Tasks whose items are paired, comma-separated; default: synthetic ones of mini.")
    ] = "",
    pairs: Annotated[int, typer.Option(help="At most this many matching and unrelated pairs, or images.")] = 500,
    seed: Annotated[int, typer.Option(help="Of the sample.", min=0)] = 0,
    data: Data = None,
    offline: Offline = False,
    results: Results = None,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat stored calibrations, and retry items that could not be used.")
    ] = False,
):
    """Scores matching and unrelated pairs with models, so that the app can say what a score of theirs means."""
    from compute.calibration import making
    from compute.calibration.pairs import FEWEST, TASKS
    from compute.catalog import shipped

    if pairs < FEWEST:
        raise BadInput(f"--pairs {pairs} is too few: a calibration needs {FEWEST}")
    catalog = shipped()
    rows = named_models(catalog, models)
    chosen = [catalog.task(key) for key in dict.fromkeys(names(tasks) or TASKS)]
    root, bench = workbench(results=results, data=data, offline=offline, skip_bad=True, retry_bad=again)
    sample = making.draw(chosen, bench=bench, most=pairs, seed=seed, report=typer.echo)
    outcomes = making.make(rows, sample, bench=bench, results=root, again=again, report=typer.echo)
    if any(outcome.state == "made" for outcome in outcomes):
        rebuild(root)
    if any(outcome.state == "failed" for outcome in outcomes) or not any(outcome.stored for outcome in outcomes):
        raise typer.Exit(1)
