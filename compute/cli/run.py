"""python -m compute run: makes the missing scores of models on a suite."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from compute.types import BadInput


def run(
    suite: Annotated[str, typer.Option(help="Which suite: python -m compute list suites.")],
    models: Annotated[str, typer.Option(help="Model keys, comma-separated: python -m compute list models.")],
    tasks: Annotated[str, typer.Option(help="Only these tasks of the suite, comma-separated.")] = "",
    data: Annotated[
        Path | None, typer.Option(help="A folder with data sets as <org>/<name>/, looked at before the hub's cache.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps; default: what is there.")] = "",
    dtype: Annotated[str, typer.Option(help="float32, bfloat16 or float16; default: what the device does well.")] = "",
    batch_size: Annotated[int | None, typer.Option(help="Items at once; halved where memory is spent.", min=1)] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    skip_bad_items: Annotated[
        bool,
        typer.Option("--skip-bad-items", help="Leave out items that cannot be used; the coverage stands by the score."),
    ] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(help="name=value, such as quality=clip-iqa; may be given again: python -m compute list options."),
    ] = None,
    results: Annotated[Path | None, typer.Option(help="Where run folders go; default: results.")] = None,
    thumbnails: Annotated[int, typer.Option(help="Of how many items a task the app shows pictures.", min=0)] = 200,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be fetched, encoded and stored.")] = False,
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Make runs anew that are there already, and try items again that could not be used."
        ),
    ] = False,
):
    """Makes the missing scores of models on a suite, rebuilds the database and prints the scores."""
    try:
        wrong = _run(
            suite=suite,
            models=names(models),
            tasks=names(tasks),
            data=data,
            device=device,
            dtype=dtype,
            batch_size=batch_size,
            offline=offline,
            skip_bad=skip_bad_items,
            options=tuple(option or ()),
            results=results,
            pictures=thumbnails,
            dry_run=dry_run,
            again=again,
        )
    except KeyboardInterrupt:
        typer.echo("Interrupted: what was encoded is kept, the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    if wrong:
        raise typer.Exit(1)


def _run(
    *,
    suite: str,
    models: tuple[str, ...],
    tasks: tuple[str, ...],
    data: Path | None,
    device: str,
    dtype: str,
    batch_size: int | None,
    offline: bool,
    skip_bad: bool,
    options: tuple[str, ...],
    results: Path | None,
    pictures: int,
    dry_run: bool,
    again: bool,
) -> bool:
    """Whether a run failed."""
    from compute.features.encoding import share_cores

    share_cores()
    from compute import engine
    from compute.catalog.catalog import shipped
    from compute.database import build
    from compute.engine import plan, results_table
    from compute.engine.bench import assemble
    from compute.models import hardware
    from compute.progress import Progress
    from compute.tasks.source import Source

    if data is not None and not data.is_dir():
        raise BadInput(f"There is no folder {data}: give one that holds data sets as <org>/<name>/, or no --data")
    if offline or dry_run:
        stay_offline()
    root = (results or build.RESULTS).absolute()
    if not dry_run:
        writable(root)
    where = hardware(device=device, dtype=dtype)
    kept = keeping(root)
    os.environ.setdefault("LIKENESS_ANSWERS", str(kept / "answers"))
    source = Source.keeping(kept, root=data, offline=offline or dry_run)
    bench = assemble(
        features=kept / "features",
        hardware=where,
        batch_size=batch_size,
        source=source,
        skip_bad=skip_bad,
        retry_bad=again,
        progress=Progress(),
    )
    planned = plan.make(
        shipped(),
        suite=suite,
        models=models,
        tasks=tasks,
        options=options,
        bench=bench,
        results=root,
        skip_bad=skip_bad,
        again=again,
    )
    for line in (*plan.lines(planned), f"On {where.device} in {where.dtype}", *plan.reasons(planned)):
        typer.echo(line)
    if not {job.model.key for job in planned.jobs} & set(models):
        typer.echo("None of these models can be run on any of these tasks: nothing was changed", err=True)
        return True
    if dry_run:
        from compute.engine import estimate

        for line in estimate.lines(planned, *estimate.estimate(planned, bench=bench), results=root):
            typer.echo(line)
        return False
    outcomes = engine.execute(planned, bench=bench, results=root, skip_bad=skip_bad, pictures=pictures, say=typer.echo)
    for line in results_table.lines(planned, outcomes, catalog=shipped()):
        typer.echo(line)
    rebuild(root)
    return any(one.state == "failed" for one in outcomes)


def keeping(root: Path) -> Path:
    """Where runs under `root` keep what they share, encodings and answers: never among what is shipped."""
    from compute.database import build

    return build.RESULTS if root == build.COMPUTED else root


def writable(folder: Path) -> None:
    """Raises BadInput for a folder that can hold nothing, before hours of work find out."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise BadInput(
            f"Nothing can be written in {folder} ({error.strerror}): name another folder with --results"
        ) from error


def rebuild(root: Path) -> None:
    """Builds the database, where it is made from what lies under `root`."""
    from compute.database import build, store

    if root not in (build.RESULTS, build.COMPUTED):
        typer.echo(
            f"Kept under {root}, which the database is not made from. To have the app show them: "
            f"LIKENESS_RESULTS={root} python -m compute build"
        )
        return
    report = build.build(store.DATABASE, results=build.RESULTS)
    for line in report.problems:
        typer.echo(f"Warning: {line}", err=True)
    typer.echo(f"{report.path.name} built in {report.seconds:.1f} s: {report.computed} computed runs")


def stay_offline() -> None:
    """Libraries of the hub ask nothing of the network, not even whether a file has changed."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    from huggingface_hub import constants

    constants.HF_HUB_OFFLINE = True  # for when something imported it before


def names(text: str) -> tuple[str, ...]:
    """What a comma-separated option names."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
