"""python -m compute coverage: how often the board's intervals hold the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compute.analysis.ranks.coverage import SEED, TRIALS
from compute.cli.workspace import shipped_file
from compute.paths import COVERAGE, FAULT_ERRORS


def coverage(
    trials: Annotated[int, typer.Option(help="Made-up suites for each row of the table.")] = TRIALS,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table.")] = SEED,
    out: Annotated[Path | None, typer.Option(help="File to write; without it the page's own.")] = None,
    faults: Annotated[
        int, typer.Option(min=0, help="Simulated studies of drawn generators without a fault, instead of the above.")
    ] = 0,
):
    """Simulates how often the intervals of means, differences and ranks hold the truth, and stores the table.

    With --faults: how often the study of drawn generators sees a fault where there is none.
    """
    path = out or shipped_file(FAULT_ERRORS if faults else COVERAGE, option="--out")
    if faults:
        _faults(studies=faults, seed=seed, path=path)
        return
    from compute.analysis.ranks.coverage import save, settings, simulate

    rows = []
    for suite in settings():
        row = simulate(**suite, trials=trials, seed=seed)
        rows.append(row)
        shares = [row.mean, row.difference, row.rank_apart, row.rank_close, row.best_close]
        shown = " ".join("   -  " if share is None else f"{share:6.1%}" for share in shares)
        about = f"{'known' if row.errors else 'unknown'} errors{', uneven' * row.uneven}"
        typer.echo(f"{','.join(map(str, row.tasks)):24} {about:22} {row.label:13} {shown}")
    save(rows, path, trials=trials, seed=seed)
    typer.echo(f"Wrote {path}")


def _faults(*, studies: int, seed: int, path: Path) -> None:
    from compute import drafts
    from compute.analysis.generators.false_verdicts import save
    from compute.catalog import shipped
    from compute.engine import fault_errors
    from compute.engine.bench import assemble
    from compute.models.adapter import Hardware
    from compute.tasks.source import Source

    with drafts.temporary_folder() as folder:
        bench = assemble(features=folder, source=Source(offline=True), hardware=Hardware(device="cpu", dtype="float32"))
        rows = fault_errors.simulate(catalog=shipped(), bench=bench, studies=studies, seed=seed, report=typer.echo)
    for row in rows:
        typer.echo(f"{row.metric:12} {row.backbone:12} single {row.single:6.1%}  study {row.study:6.1%}")
    save(rows, path, settings={"seed": seed, "pool": fault_errors.POOL})
    typer.echo(f"Wrote {path}")
