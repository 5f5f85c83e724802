"""likeness run: computes the missing scores of models on a suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from compute.cli.workspace import Build, Models, Results, named_models, rebuild, say, warn
from compute.engine.workspace import RunSettings
from compute.options import taking
from compute.types import BadInput


@taking(RunSettings)
def run(
    context: typer.Context,
    *,
    suite: Annotated[
        str, "Which suite: likeness list suites; or your suite.toml. Without it: --data of your own."
    ] = "",
    models: Models = (),
    model_name: Annotated[str, "Name of your model; default: its folder or id."] = "",
    family: Annotated[str, "The family that loads your own checkpoint, if its files do not say."] = "",
    model_option: Annotated[
        list[str], "name=value of that family, such as pooling=cls or base=org/name@revision; repeatable."
    ] = (),
    tasks: Annotated[Sequence[str], "Only these tasks of the suite, comma-separated."] = (),
    budget: Annotated[
        str,
        "Only the tasks that tell most of the model's place on the suite within this time by others' runs, such as 30m "
        "or 2.5h (likeness plan prints them), then its estimated place.",
    ] = "",
    build: Build = True,
    results: Results = None,
    **given: Any,
) -> Iterator[str]:
    """Computes the missing scores of models on a suite, rebuilds the database and prints the scores."""
    from functools import partial

    from compute import storage
    from compute.engine import estimate, estimate_lines, plan, ray_cluster, results_table, workspace
    from compute.engine.checking import judge
    from compute.engine.named_models import joined, keyed, record_named
    from compute.engine.run import execute
    from compute.interface import standing
    from compute.interface.evaluated import Evaluation
    from compute.models import hardware_for

    settings = RunSettings(results=results, **given)
    crews = hardware = None
    if settings.engine == "ray" and not settings.dry_run:
        crews, hardware = context.with_resource(ray_cluster.opened(settings))
    catalog, suite, bench = workspace.opened(settings, suite=suite, hardware=hardware, warn=warn, notice=typer.echo)
    named = named_models(
        list(dict.fromkeys(models)),
        catalog,
        name=model_name,
        family=family,
        options=model_option,
        offline=settings.offline or settings.dry_run,
    )
    keyed_models = [keyed(model, results=settings.results) for model in named]
    keys = [model.row.key for model in keyed_models]
    catalog = joined(catalog, keyed_models)
    planned = plan.make(catalog, suite=suite, models=keys, tasks=tasks, bench=bench)
    if budget:
        if tasks or len(keys) != 1:
            raise BadInput("--budget chooses the tasks of one model: name one with --models, and no --tasks")
        chosen = Evaluation.stored(planned, catalog=catalog, results=settings.results).next_tasks(budget)
        yield from standing.lines(chosen, model=keys[0], suite=suite, budget=budget)
        if chosen.empty:
            return
        planned = plan.make(catalog, suite=suite, models=keys, tasks=list(chosen["task"]), bench=bench)
    usual = bench.hardware
    precise = {row.key: hardware_for(row, usual).dtype for row in planned.models if row.adapter}
    dtypes = [usual.dtype, *(f"{key} in {dtype}" for key, dtype in precise.items() if dtype != usual.dtype)]
    stored = "" if settings.store_dtype == "float32" else f", vectors stored as {settings.store_dtype}"
    where = f"{usual.device}, a Ray cluster," if settings.engine == "ray" else usual.device
    yield from (*plan.lines(planned), f"On {where} in {', '.join(dtypes)}{stored}", *plan.reasons(planned))
    if not {job.model.key for job in planned.jobs} & set(keys):
        say("None of these models can be run on any of these tasks: nothing was changed")
        raise typer.Exit(1)
    if settings.dry_run:
        yield from estimate_lines.lines(planned, *estimate.estimate(planned, bench=bench), settings=settings)
        return
    plan.check_possible(planned, models=set(keys))
    for model in keyed_models:
        record_named(model, results=settings.results)
    outcomes = execute(
        planned,
        bench=bench,
        report=typer.echo,
        workers=crews,
        meet=partial(judge.check_once, report=typer.echo),
        ended=lambda outcome: storage.push(settings.results),
    )
    yield from results_table.lines(planned, outcomes, catalog=catalog)
    if any(outcome.stored for outcome in outcomes):
        rebuild(settings.results, wanted=build)
    if budget:
        whole = plan.make(catalog, suite=suite, models=keys, bench=bench)
        yield str(Evaluation.stored(whole, catalog=catalog, results=settings.results).place())
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(1)
