"""likeness lite: a smaller suite."""

from __future__ import annotations

from typing import Annotated

import typer

from compute.cli.workspace import Database, Names, Origin, names, suite_scores


def lite(
    suite: Annotated[str, typer.Option(help="Which suite to make smaller: likeness list suites.")] = "mieb",
    size: Annotated[int | None, typer.Option(help="How many tasks; without it, the knee of the curve.")] = None,
    hours: Annotated[float | None, typer.Option(help="Instead: GPU hours per model, from imported timings.")] = None,
    origin: Origin = "usual",
    thresholds: Annotated[str, typer.Option(help="Mean correlations above which tasks are dropped.")] = "0.5,0.45",
    method: Annotated[str, typer.Option(help="Correlation of tasks: spearman, pearson or kendall.")] = "spearman",
    exclude: Annotated[Names, typer.Option(help="Task keys never to choose, comma-separated.")] = None,
    database: Database = None,
):
    """Selects a smaller suite that ranks models like the full one, after MIEB section 6.3."""
    from compute.analysis.lite import smaller

    (scores,) = suite_scores(database, suites=(suite,), origin=origin)
    result = smaller.choose(
        scores,
        size=size,
        hours=hours,
        thresholds=smaller.thresholds(thresholds),
        method=method,
        exclude=names(exclude),
    )
    for line in smaller.lines(result):
        typer.echo(line)
