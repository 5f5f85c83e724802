"""likeness calibrate: models' own scores of matching and unrelated pairs, which give a score its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from annotated_types import Ge

from compute.cli.models import Models, named_models
from compute.cli.workspace import Build, Results, rebuild, warn
from compute.engine.settings import DataFolder, Offline, RunSettings
from compute.engine.workspace import catalog_with_own, workbench
from compute.types import BadInput


def calibrate(
    *,
    models: Models,
    domains: Annotated[
        Sequence[str], "Kinds of input that need no download, comma-separated: drawn, photographs, sentences."
    ] = ("drawn", "photographs", "sentences"),
    tasks: Annotated[
        Sequence[str], "Tasks whose items are paired instead, comma-separated; their domain is called tasks."
    ] = (),
    pairs: Annotated[int, "At most this many matching and unrelated pairs, images or drawn scenes."] = 500,
    seed: Annotated[int, "Seeds the sample.", Ge(0)] = 0,
    data: DataFolder = None,
    offline: Offline = False,
    results: Results = None,
    again: Annotated[bool, "Repeat stored calibrations, and retry items that could not be used."] = False,
    build: Build = True,
) -> None:
    """Scores matching and unrelated pairs with models, so that the app can say what their scores mean.

    Each domain has its own distributions, which apply only to inputs of its kind.
    """
    from compute.calibration import making
    from compute.calibration.pairs import FEWEST
    from compute.engine.named_models import record_named

    if pairs < FEWEST:
        raise BadInput(f"--pairs {pairs} is too few: a calibration needs {FEWEST}")
    catalog = catalog_with_own(results, warn=warn)
    named = named_models(models, catalog, offline=offline)
    chosen = [catalog.task(key) for key in dict.fromkeys(tasks)]
    kinds = list(dict.fromkeys(domains))
    if not chosen and not kinds:
        raise BadInput(f"--domains names none. Choose from: {', '.join(making.MADE)}; or name --tasks")
    if unknown := [kind for kind in kinds if kind not in making.MADE]:
        raise BadInput(f"There is no domain {unknown[0]!r} to make; there are: {', '.join(making.MADE)}")
    settings = RunSettings(results=results, data=data, offline=offline, skip_bad=True, again=again)
    root, bench = settings.results, workbench(settings, data=data)
    rows = [record_named(model, results=root) for model in named]
    if chosen:
        samples = [making.draw(chosen, bench=bench, most=pairs, seed=seed, report=typer.echo)]
    else:
        samples = [making.made(kind, most=pairs, seed=seed) for kind in kinds]
    outcomes = [outcome for sample in samples for outcome in making.make(rows, sample, bench=bench, report=typer.echo)]
    if any(outcome.state == "made" for outcome in outcomes):
        rebuild(root, wanted=build)
    if any(outcome.state == "failed" for outcome in outcomes) or not any(outcome.stored for outcome in outcomes):
        raise typer.Exit(1)
