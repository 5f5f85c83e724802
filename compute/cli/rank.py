"""likeness rank: ranks, intervals and classes of any table of scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from compute.cli.workspace import Names, names
from compute.types import BadInput


def rank(
    scores: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, Excel, JSON, JSON Lines, Parquet or Markdown: a row a model and a column a task, or the "
            "columns model, task, value and optionally stderr, n, category, higher_is_better; or a folder, a file a "
            "model."
        ),
    ],
    model: Annotated[str, typer.Option(help="The column of models, where it is not named model.")] = "",
    only: Annotated[Names, typer.Option(help="The tasks to rank by, comma-separated; without it all.")] = None,
    ignore: Annotated[Names, typer.Option(help="Columns or tasks to omit, comma-separated.")] = None,
    category: Annotated[
        Names, typer.Option(help="A category and its tasks: NAME=TASK,TASK. Give it once for each.")
    ] = None,
    group: Annotated[
        Names,
        typer.Option(help="Tasks that share their data, which intervals count as one: NAME=TASK,TASK, once for each."),
    ] = None,
    weight: Annotated[Names, typer.Option(help="The weight of a category or task: NAME=NUMBER; others have 1.")] = None,
    lower_is_better: Annotated[Names, typer.Option(help="Tasks of which lower is better, comma-separated.")] = None,
    aggregate: Annotated[
        str,
        typer.Option(
            help="category-mean, task-mean, or borda: for tasks of different directions or units; intervals of ranks "
            "only by --test."
        ),
    ] = "category-mean",
    test: Annotated[
        str,
        typer.Option(help="Decide pairs by friedman-nemenyi or wilcoxon-holm instead of the board's own test."),
    ] = "",
    coverage: Annotated[float, typer.Option(help="The least share of the tasks that a model needs for a rank.")] = 1.0,
    bounds: Annotated[str, typer.Option(help="The least and largest possible mean, such as 0,100.")] = "",
    shares: Annotated[
        bool,
        typer.Option("--shares", help="Values are shares of n correct answers, so their standard errors are known."),
    ] = False,
    transpose: Annotated[
        bool, typer.Option("--transpose", help="The table has one row per task and one column per model.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(help="Also write the board to this file, which needs no network.")
    ] = None,
    title: Annotated[str, typer.Option(help="The heading of that file; default: the table's name.")] = "",
):
    """Ranks any table of scores: ranks and means with 95% intervals, and tie classes, as on the board."""
    from compute.interface.rank import rank as ranked_table

    limits = tuple(map(_number, names([bounds])))
    if len(limits) not in (0, 2):
        raise BadInput(f"--bounds takes the least and the largest mean, such as 0,100; got {bounds!r}")
    result = ranked_table(
        scores,
        model=model,
        only=names(only),
        ignore=names(ignore),
        categories={name: names([tasks]) for name, tasks in _pairs(category, "--category NAME=TASK,TASK")},
        groups={name: names([tasks]) for name, tasks in _pairs(group, "--group NAME=TASK,TASK")},
        weights={name: _number(text) for name, text in _pairs(weight, "--weight NAME=NUMBER")},
        lower_is_better=names(lower_is_better),
        aggregate=aggregate,
        test=test,
        coverage=coverage,
        bounds=limits or None,
        shares=shares,
        transpose=transpose,
    )
    typer.echo(str(result))
    if html is not None:
        result.save_html(html, title=title or scores.stem)
        typer.echo(f"Wrote {html}")


def _pairs(texts: Names, form: str) -> list[tuple[str, str]]:
    """`NAME=VALUE` as name and value, each name once. A name may hold `=`, a value may not."""
    pairs: list[tuple[str, str]] = []
    for text in texts or []:
        name, equals, value = text.rpartition("=")
        if not (equals and name.strip() and value.strip()):
            raise BadInput(f"Write {form}; got {text!r}")
        if name.strip() in (before for before, _ in pairs):
            raise BadInput(f"{name.strip()!r} is named twice. Write it once: {form}")
        pairs.append((name.strip(), value.strip()))
    return pairs


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is not a number; write one such as 0.5") from error
