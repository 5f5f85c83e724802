"""python -m compute run: makes the missing scores of models on a suite."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from compute.cli.models import Family, ModelName, ModelOptions, made_models, named_models
from compute.cli.workspace import (
    Columns,
    DataOrFile,
    Images,
    Offline,
    Results,
    Shape,
    column_names,
    names,
    rebuild,
    warn,
)
from compute.types import BadInput


class RunCommand(TyperCommand):
    """`--dry-run --estimate` without a rate is what `--dry-run` does by itself: it measures."""

    def parse_args(self, context: Any, args: list[str]) -> list[str]:
        """typer has no option whose value can be left out."""
        if "--dry-run" in args:
            followed = zip(args, [*args[1:], "--"], strict=True)
            args = [word for word, after in followed if word != "--estimate" or not after.startswith("--")]
        return super().parse_args(context, args)


def run(
    context: typer.Context,
    suite: Annotated[
        str,
        typer.Option(
            help="Which suite: python -m compute list suites; or a file of your own, suite.toml. Without it: --data of "
            "your own. With --dry-run several, comma-separated."
        ),
    ] = "",
    models: Annotated[
        str,
        typer.Option(
            help="Models, comma-separated: keys (python -m compute list models), folders of checkpoints (./name), "
            "hub:org/name@revision, or my_file.py:make_model, whose code is run."
        ),
    ] = "",
    model_name: ModelName = "",
    family: Family = "",
    model_option: ModelOptions = None,
    tasks: Annotated[str, typer.Option(help="Only these tasks of the suite, comma-separated.")] = "",
    data: DataOrFile = None,
    name: Annotated[str, typer.Option(help="What the suite of your own data is called; default: as they are.")] = "",
    shape: Shape = "",
    columns: Columns = "",
    images: Images = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps; default: the best available.")] = "",
    engine: Annotated[
        str, typer.Option(help="Where the work runs: local, in this process, or ray, on several devices or machines.")
    ] = "local",
    address: Annotated[
        str, typer.Option(help="The Ray cluster: HOST:PORT or auto; default: RAY_ADDRESS, else one started here.")
    ] = "",
    workers: Annotated[
        int | None,
        typer.Option(help="How many Ray workers encode; default: one a GPU, or a core where there is none.", min=1),
    ] = None,
    dtype: Annotated[
        str,
        typer.Option(
            help="float32, bfloat16 or float16; default: the device's best, for comparers and features of distribution "
            "metrics float32."
        ),
    ] = "",
    store_dtype: Annotated[
        str,
        typer.Option(
            help="float32, or float16: half the space, and vectors are rounded to about three digits. Scores say so, "
            "and are stored apart."
        ),
    ] = "float32",
    batch_size: Annotated[int | None, typer.Option(help="Items per batch; halved when memory runs out.", min=1)] = None,
    offline: Offline = False,
    skip_bad_items: Annotated[
        bool,
        typer.Option("--skip-bad-items", help="Skip items that cannot be used; coverage is shown by the score."),
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(help="name=value, such as quality=clip-iqa; repeatable: python -m compute list options."),
    ] = None,
    results: Results = None,
    thumbnails: Annotated[int, typer.Option(help="For how many items per task pictures are stored.", min=0)] = 200,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what would be downloaded, encoded, compared and stored, and how long it takes: models whose "
            "weights are here are measured for 10 s.",
        ),
    ] = False,
    estimate: Annotated[
        float | None,
        typer.Option(
            metavar="RATE",
            help="With --dry-run: items a second of models that cannot be measured here; without a number as without "
            "this option.",
            min=0.001,
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Repeat stored runs, and retry items that could not be used.")
    ] = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Run the suite's baselines too, whose shipped runs are shown otherwise.")
    ] = False,
):
    """Makes the missing scores of models on a suite, rebuilds the database and prints the scores."""
    from compute import mirror, paths
    from compute.catalog.own.suite_file import is_suite_file
    from compute.engine import estimate as estimating
    from compute.engine import estimate_lines, measure, plan, ray_cluster, results_table, workspace
    from compute.engine.named_models import joined, record_named, settled
    from compute.engine.run import execute
    from compute.models import hardware_for
    from compute.models.own import factories
    from compute.tasks.own import OwnReading

    if estimate is not None and not dry_run:
        raise BadInput("--estimate is a rate for the time that --dry-run tells: add --dry-run")
    suites = names(suite) if not is_suite_file(suite) else (suite,)
    if len(suites) > 1 and not dry_run:
        raise BadInput(f"A run is of one suite, not of {', '.join(suites)}: several are estimated at once by --dry-run")
    ray_cluster.check(engine, address=address, workers=workers)
    crews = hardware = None
    if not dry_run:
        crews, hardware = context.with_resource(
            ray_cluster.opened(engine, address=address, workers=workers, device=device, dtype=dtype)
        )
    texts = list(dict.fromkeys(names(models)))
    files = [text for text in texts if factories.is_factory(text)]
    made = made_models(files, name=model_name, device=device, dtype=dtype, batch_size=batch_size)
    space = workspace.opened(
        suite=suites[0] if suites else suite,
        data=data,
        reading=OwnReading(name=name, shape=shape, columns=column_names(columns), images=tuple(images or ())),
        results=results,
        offline=offline,
        device=device,
        dtype=dtype,
        store_dtype=store_dtype,
        hardware=made[files[0]][1] if len(texts) == len(files) == 1 else hardware,
        batch_size=batch_size,
        skip_bad=skip_bad_items,
        again=again,
        dry_run=dry_run,
        warn=warn,
        notice=typer.echo,
    )
    root, bench = space.root, space.bench
    space.catalog.suite(space.suite)  # before a model is recorded
    keys = {}
    for text, (model, _) in made.items():
        space, row = space.with_model(model, source=factories.source(text))
        keys[text] = row.key
    others = [text for text in texts if text not in made]
    settled_models = []
    if others or not made:
        named = named_models(
            others,
            space.catalog,
            name="" if made else model_name,
            family=family,
            options=model_option or (),
            offline=space.offline or dry_run,
        )
        settled_models = [settled(model, results=root) for model in named]
        keys |= {text: model.row.key for text, model in zip(others, settled_models, strict=True)}
    catalog = joined(space.catalog, settled_models)
    plans = [
        plan.make(
            catalog,
            suite=key,
            models=[keys[text] for text in texts],
            tasks=names(tasks),
            options=tuple(option or ()),
            bench=bench,
            results=root,
            skip_bad=skip_bad_items,
            again=again,
            baselines=baselines,
            shipped=paths.COMPUTED,
            offline=space.offline,
        )
        for key in (space.suite, *suites[1:])
    ]
    planned = plans[0] if len(plans) == 1 else plan.joined(plans)
    usual = bench.hardware
    precise = {row.key: hardware_for(row, usual).dtype for row in planned.models if row.adapter}
    dtypes = [usual.dtype, *(f"{key} in {dtype}" for key, dtype in precise.items() if dtype != usual.dtype)]
    stored = "" if store_dtype == "float32" else f", vectors stored as {store_dtype}"
    where = f"{usual.device}, a Ray cluster," if engine == "ray" else usual.device
    for line in (*plan.lines(planned), f"On {where} in {', '.join(dtypes)}{stored}", *plan.reasons(planned)):
        typer.echo(line)
    if not {job.model.key for job in planned.jobs} & set(keys.values()):
        typer.echo("None of these models can be run on any of these tasks: nothing was changed", err=True)
        raise typer.Exit(1)
    if dry_run:
        counted = estimating.estimate(planned, bench=bench, rate=estimate, seconds=measure.SECONDS)
        for line in estimate_lines.lines(planned, *counted, results=mirror.location(root)):
            typer.echo(line)
        return
    for model in settled_models:
        record_named(model, results=root)
    outcomes = execute(
        planned,
        bench=bench,
        results=root,
        skip_bad=skip_bad_items,
        pictures=thumbnails,
        report=typer.echo,
        workers=crews,
        ended=lambda outcome: mirror.push(root),
    )
    for line in results_table.lines(planned, outcomes, catalog=catalog):
        typer.echo(line)
    rebuild(root)
    if any(outcome.state == "failed" for outcome in outcomes):
        raise typer.Exit(1)
