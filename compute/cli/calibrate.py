"""likeness calibrate: models' own scores of matching and unrelated pairs, which give a score its meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from annotated_types import Ge

from compute.cli.workspace import Build, Models, Results, named_models, rebuild, warn
from compute.engine.workspace import Offline, RunSettings, catalog_with_own, workbench
from compute.types import BadInput


def calibrate(
    *,
    models: Models,
    domains: Annotated[Sequence[str], "Kinds of input, comma-separated: drawn, photographs, sentences."] = (
        "drawn",
        "photographs",
        "sentences",
    ),
    pairs: Annotated[int, "How many drawn scenes.", Ge(30)] = 500,
    seed: Annotated[int, "Seeds the sample.", Ge(0)] = 0,
    offline: Offline = False,
    results: Results = None,
    again: Annotated[bool, "Repeat stored calibrations."] = False,
    build: Build = True,
) -> None:
    """Scores matching and unrelated pairs with models, so that the app can say what their scores mean.

    Each domain has its own distributions, which apply only to inputs of its kind. Nothing but weights is downloaded.
    """
    from compute.calibration import making
    from compute.engine.named_models import record_named

    catalog = catalog_with_own(results, warn=warn)
    named = named_models(models, catalog, offline=offline)
    if not domains or (unknown := sorted({*domains} - making.SETS.keys())):
        named = f"There is no domain {unknown[0]!r}" if domains else "No domain is named"
        raise BadInput(f"{named}: choose from {', '.join(making.SETS)}")
    settings = RunSettings(results=results, offline=offline, again=again)
    rows = [record_named(model, results=settings.results) for model in named]
    outcomes = making.make(
        rows, domains, pairs=pairs, seed=seed, bench=workbench(settings, data=None), report=typer.echo
    )
    if any(outcome.state == "made" for outcome in outcomes):
        rebuild(settings.results, wanted=build)
    if any(outcome.state == "failed" for outcome in outcomes) or not any(outcome.stored for outcome in outcomes):
        raise typer.Exit(1)
