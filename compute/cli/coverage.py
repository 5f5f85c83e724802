"""likeness coverage: how often the board's intervals hold the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compute.cli.workspace import shipped_file
from compute.paths import COVERAGE


def coverage(
    trials: Annotated[int, typer.Option(help="Simulated suites for each row of the table.")] = 2000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same table.")] = 20261122,
    out: Annotated[Path | None, typer.Option(help="File to write; default: the page's.")] = None,
):
    """Simulates how often the intervals of means, differences and ranks cover the truth, and stores the table."""
    from compute.analysis.ranks.coverage import save, settings, simulate

    path = out or shipped_file(COVERAGE, option="--out")
    rows = []
    for suite in settings():
        row = simulate(**suite, trials=trials, seed=seed)
        rows.append(row)
        shares = [row.mean, row.difference, row.rank_apart, row.rank_close, row.boards_close]
        shown = " ".join("   -  " if share is None else f"{share:6.1%}" for share in shares)
        about = f"{'known' if row.errors else 'unknown'} errors{', uneven' * row.uneven}"
        if row.together > 1:
            about = f"clusters of {row.together} at {row.rho:g}"
        typer.echo(f"{','.join(map(str, row.tasks)):24} {about:22} {row.label:13} {shown}")
    save(rows, path, trials=trials, seed=seed)
    typer.echo(f"Wrote {path}")
