"""likeness run: makes the missing scores of models on a suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from compute.cli.models import Family, ModelName, ModelOptions, named_models
from compute.cli.workspace import Build, Names, names, rebuild, warn, with_run_settings
from compute.types import BadInput

if TYPE_CHECKING:
    from compute.engine.settings import RunSettings


@with_run_settings
def run(
    context: typer.Context,
    suite: Annotated[
        Names,
        typer.Option(
            help="Which suite: likeness list suites; or your suite.toml. Without it: --data of "
            "your own. With --dry-run several, comma-separated."
        ),
    ] = None,
    models: Annotated[
        Names,
        typer.Option(
            help="Models, comma-separated: keys (likeness list models), folders of checkpoints (./name), "
            "hub:org/name@revision, or judges by their names at LIKENESS_ENDPOINT (endpoint:NAME)."
        ),
    ] = None,
    model_name: ModelName = "",
    family: Family = "",
    model_option: ModelOptions = None,
    tasks: Annotated[Names, typer.Option(help="Only these tasks of the suite, comma-separated.")] = None,
    build: Build = True,
    settings: RunSettings = None,
):
    """Computes the missing scores of models on a suite, rebuilds the database and prints the scores."""
    from compute import paths, storage
    from compute.catalog.own.suite import is_suite_file
    from compute.engine import estimate, estimate_lines, plan, ray_cluster, results_table, workspace
    from compute.engine.named_models import joined, keyed, record_named
    from compute.engine.run import execute
    from compute.models import hardware_for

    suites = tuple(suite) if suite and all(map(is_suite_file, suite)) else names(suite)
    if len(suites) > 1 and not settings.dry_run:
        raise BadInput(f"A run is of one suite, not of {', '.join(suites)}: several are estimated at once by --dry-run")
    crews = hardware = None
    if settings.engine == "ray" and not settings.dry_run:
        crews, hardware = context.with_resource(ray_cluster.opened(settings))
    space = workspace.opened(
        settings, suite=suites[0] if suites else "", hardware=hardware, warn=warn, notice=typer.echo
    )
    space.catalog.suite(space.suite)  # before a model is recorded
    named = named_models(
        list(dict.fromkeys(names(models))),
        space.catalog,
        name=model_name,
        family=family,
        options=model_option or (),
        offline=settings.offline or settings.dry_run,
    )
    keyed_models = [keyed(model, results=settings.results) for model in named]
    keys = [model.row.key for model in keyed_models]
    catalog, bench = joined(space.catalog, keyed_models), space.bench
    plans = [
        plan.make(
            catalog,
            suite=key,
            models=keys,
            tasks=names(tasks),
            bench=bench,
            shipped=paths.COMPUTED,
        )
        for key in (space.suite, *suites[1:])
    ]
    planned = plans[0] if len(plans) == 1 else plan.joined(plans)
    usual = bench.hardware
    precise = {row.key: hardware_for(row, usual).dtype for row in planned.models if row.adapter}
    dtypes = [usual.dtype, *(f"{key} in {dtype}" for key, dtype in precise.items() if dtype != usual.dtype)]
    stored = "" if settings.store_dtype == "float32" else f", vectors stored as {settings.store_dtype}"
    where = f"{usual.device}, a Ray cluster," if settings.engine == "ray" else usual.device
    for line in (*plan.lines(planned), f"On {where} in {', '.join(dtypes)}{stored}", *plan.reasons(planned)):
        typer.echo(line)
    if not {job.model.key for job in planned.jobs} & set(keys):
        typer.echo("None of these models can be run on any of these tasks: nothing was changed", err=True)
        raise typer.Exit(1)
    if settings.dry_run:
        counted = estimate.estimate(planned, bench=bench)
        for line in estimate_lines.lines(planned, *counted, results=storage.location(settings.results)):
            typer.echo(line)
        return
    plan.check_possible(planned, models=set(keys))
    for model in keyed_models:
        record_named(model, results=settings.results)
    outcomes = execute(
        planned, bench=bench, report=typer.echo, workers=crews, ended=lambda outcome: storage.push(settings.results)
    )
    for line in results_table.lines(planned, outcomes, catalog=catalog):
        typer.echo(line)
    if any(outcome.stored for outcome in outcomes):
        rebuild(settings.results, wanted=build)
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(1)
