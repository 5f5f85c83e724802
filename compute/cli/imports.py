"""likeness import ...: scores that others measured."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compute import paths
from compute.cli import workspace
from compute.engine.workspace import catalog_with_own, check_writable, stay_offline
from compute.types import BadInput, slug

if TYPE_CHECKING:
    from compute.importing import Imported


def mteb_results(
    path: Annotated[Path | None, typer.Argument(help="A copy of the results repository; default: download it.")] = None,
    revision: Annotated[str, typer.Option(help="Which commit or branch to download.")] = "main",
):
    """Result files of the public MTEB results repository: results/<org>__<model>/<revision>/<Task>.json."""
    from compute.catalog import shipped
    from compute.importing import fetch_mteb_results, read_mteb_results

    folder = path or fetch_mteb_results(paths.RESULTS / "fetched", revision=revision, catalog=shipped())
    _store(read_mteb_results(folder, catalog=shipped()), name="mteb-results")


def scores(path: Annotated[Path, typer.Argument(help="A CSV: benchmark, model, task, metric, value, ...")]):
    """Any table of scores. A model or task that no catalogue has must be declared in the file."""
    from compute.importing import read_scores_csv

    catalog = catalog_with_own(None, warn=workspace.warn)
    _store(read_scores_csv(path, catalog=catalog), name=f"scores-{slug(path.stem, default='table', marks='')}")


def eval_results(
    where: Annotated[
        str, typer.Argument(help="A model's repository as ORG/NAME, or a folder or file of .eval_results.")
    ],
    model: Annotated[
        str,
        typer.Option(help="Whose results a folder or file holds: ORG/NAME or a model key. Of a repository, its own."),
    ] = "",
    revision: Annotated[str, typer.Option(help="Of the repository: a commit, branch or tag.")] = "main",
    offline: workspace.Offline = False,
):
    """Results in the hub's form, `.eval_results/*.yaml`: those that name a task of the catalogue and a clear unit."""
    from compute.catalog import hub_tasks, shipped
    from compute.importing import fetch_eval_results, read_eval_results

    path, source = Path(where), ""
    if not path.exists() and hub_tasks.HUB_ID.fullmatch(where):
        if offline:
            stay_offline()
        path, source = fetch_eval_results(where, revision=revision, offline=offline)
        model = model or where
    imported = read_eval_results(path, model=model, source=source, catalog=shipped())
    if not imported.scores:
        for problem in (*imported.problems, *imported.skipped[:3]):
            typer.echo(f"Skipped: {problem}", err=True)
        raise BadInput(f"{where} has no figure that can be read. The lines above say why; nothing was changed")
    name = re.sub(r"[^a-z0-9._-]+", "--", model.lower())[:60]
    _store(imported, name=f"eval-results-{name}", what="figure")


def parti_prompts(
    out: Annotated[Path, typer.Option(help="The table to write, a Parquet file.")],
    generators: Annotated[
        str, typer.Option(help="Data sets of diffusers-parti-prompts, comma-separated; default: the arena's four.")
    ] = "",
    votes: Annotated[
        list[Path] | None,
        typer.Option(help="Votes: generator, prompt or its row, perhaps votes. Repeatable."),
    ] = None,
    revision: Annotated[str, typer.Option(help="Of the data sets: a commit; default: the newest.")] = "",
    data: workspace.Data = None,
    offline: workspace.Offline = False,
):
    """Parti-Prompts' published generations and votes, as one table: prompt, generator, image, votes.

    `frechet --human` takes it as votes. The layout of the votes is assumed, as none is documented.
    """
    from compute.importing import parti_prompts as parti
    from compute.tasks import parquet
    from compute.tasks.source import Source

    if out.suffix != ".parquet":
        raise BadInput(f"{out.name}: the table ends in .parquet")
    check_writable(out.absolute().parent)
    if offline:
        stay_offline()
    source = Source(root=data, offline=offline)
    tables = {}
    for name in workspace.names(generators) or parti.GENERATORS:
        repo = f"{parti.ORGANISATION}/{name}"
        typer.echo(f"Reading {repo}", err=True)
        tables[name] = parquet.table(source.folder(repo, revision=revision), repo=repo, split="train")
    made = parti.write(out, generations=tables, votes=tuple(votes or ()))
    for note in made.notes:
        typer.echo(f"Warning: {note}", err=True)
    if not votes:
        typer.echo("Warning: without --votes the column of votes is empty", err=True)
    typer.echo(
        f"{out}: {made.rows:,} images of {made.prompts:,} prompts by {len(tables)} generators, {made.votes:,} votes"
    )


def _store(imported: Imported, *, name: str, what: str = "file") -> None:
    """Stores an import, rebuilds the database, and exits with code 1 where files had to be skipped."""
    from compute.engine.plan import counted
    from compute.importing import collection

    for problem in imported.problems:
        typer.echo(f"Skipped: {problem}", err=True)
    if imported.skipped:
        outside = counted(len(imported.skipped), what)
        typer.echo(f"{outside} for tasks outside the catalogue, such as {imported.skipped[0].path}")
    collection.save(imported, name=name, folder=paths.RESULTS / "imported")
    report = workspace.build()
    typer.echo(
        f"{name}: {counted(len(imported.scores), 'score')} of "
        f"{counted(len({run.model for run in imported.runs}), 'model')} imported, "
        f"{counted(len(imported.problems), what)} skipped; {report.path.name} built in {report.seconds:.1f} s. "
        f"{workspace.see_it()}"
    )
    if imported.problems:
        raise typer.Exit(1)
