"""The command line: python -m compute ..."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compute.cli.calibrate import calibrate
from compute.cli.fetch import fetch
from compute.cli.publish import publish
from compute.cli.run import run
from compute.cli.train import train
from compute.types import LikenessError

if TYPE_CHECKING:
    from compute.importing import Imported

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Makes and reads the scores behind Likeness.",
)
importing = typer.Typer(no_args_is_help=True, help="Brings in scores that others measured, marked as imported.")
app.add_typer(importing, name="import")
app.command()(fetch)
app.command()(run)
app.command()(calibrate)
app.command()(train)
app.command()(publish)


@app.command()
def build(path: Annotated[Path | None, typer.Option(help="Where to write; default assets/likeness.duckdb.")] = None):
    """Makes the database from the published tables, the catalogue, the imports and the run folders."""
    from compute.database import store
    from compute.database.build import build as make

    report = make(path or store.DATABASE)
    for line in report.problems:
        typer.echo(f"Warning: {line}", err=True)
    typer.echo(
        f"{report.path.name}: {report.models} models, {report.tasks} tasks, {report.runs} runs, "
        f"{report.scores} scores, {report.claims} claims in {report.seconds:.1f} s"
    )


@app.command("list")
def show(noun: Annotated[str, typer.Argument(help="models, tasks, suites, metrics, datasets or options")]):
    """Prints the catalogue, one line a row."""
    from compute.catalog.catalog import shipped
    from compute.cli.listing import lines

    for line in lines(shipped(), noun=noun):
        typer.echo(line)


@importing.command("mteb-results")
def import_mteb(
    path: Annotated[Path | None, typer.Argument(help="A copy of the results repository; without it, fetched.")] = None,
    revision: Annotated[str, typer.Option(help="Which commit or branch to fetch.")] = "main",
):
    """Result files of the public MTEB results repository: results/<org>__<model>/<revision>/<Task>.json."""
    from compute.catalog.catalog import shipped
    from compute.database.build import RESULTS
    from compute.importing import fetch_mteb_results, read_mteb_results

    folder = path or fetch_mteb_results(RESULTS / "fetched", revision=revision, catalog=shipped())
    _keep(read_mteb_results(folder, catalog=shipped()), name="mteb-results")


@importing.command("scores")
def import_scores(path: Annotated[Path, typer.Argument(help="A CSV: benchmark, model, task, metric, value, ...")]):
    """Any table of scores. A model or task that is not known must be declared in the file."""
    from compute.catalog.catalog import shipped
    from compute.importing import read_scores_csv

    _keep(read_scores_csv(path, catalog=shipped()), name=f"scores-{_slug(path.stem)}")


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:60] or "table"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _keep(imported: Imported, *, name: str) -> None:
    """Stores an import, rebuilds the database, and ends with exit code 1 when files had to be left out."""
    from compute.database import store
    from compute.database.build import RESULTS
    from compute.database.build import build as make
    from compute.importing import collection

    for problem in imported.problems:
        typer.echo(f"Left out: {problem}", err=True)
    if imported.skipped:
        those = "sound file is of a task" if len(imported.skipped) == 1 else "sound files are of tasks"
        typer.echo(f"{len(imported.skipped)} {those} outside the catalogue, such as {imported.skipped[0].path}")
    collection.save(imported, name=name, folder=RESULTS / "imported")
    models = len({run.model for run in imported.runs})
    report = make(store.DATABASE)
    scores, left = len(imported.scores), len(imported.problems)
    typer.echo(
        f"{name}: {_count(scores, 'score')} of {_count(models, 'model')} imported, {_count(left, 'file')} left out; "
        f"{report.path.name} built in {report.seconds:.1f} s"
    )
    if imported.problems:
        raise typer.Exit(1)


@app.command()
def lite(
    suite: Annotated[str, typer.Option(help="Which suite to make smaller: python -m compute list suites.")] = "mieb",
    size: Annotated[int | None, typer.Option(help="How many tasks; 51 is the size of MIEB-lite.")] = None,
    hours: Annotated[float | None, typer.Option(help="Instead: GPU hours a model, by imported running times.")] = None,
    origin: Annotated[str, typer.Option(help="published, imported, computed or all.")] = "published",
    thresholds: Annotated[str, typer.Option(help="Mean correlations above which tasks go, in turn.")] = "0.5,0.45",
    method: Annotated[str, typer.Option(help="Correlation of tasks: spearman, pearson or kendall.")] = "spearman",
    exclude: Annotated[str, typer.Option(help="Task keys never to choose, comma-separated.")] = "",
    database: Annotated[Path | None, typer.Option(help="Default: assets/likeness.duckdb.")] = None,
):
    """Chooses a smaller suite that ranks models like the whole one, after MIEB section 6.3."""
    from compute.analysis.lite import smaller
    from compute.cli.suite_scores import read
    from compute.database import store

    (scores,) = read(database or store.DATABASE, suites=(suite,), origin=origin)
    result = smaller.choose(
        scores,
        size=size,
        hours=hours,
        thresholds=smaller.thresholds(thresholds),
        method=method,
        exclude=tuple(filter(None, exclude.split(","))),
    )
    for line in smaller.lines(result):
        typer.echo(line)


@app.command()
def project(
    suites: Annotated[str, typer.Option(help="Suites of one map, comma-separated; empty: every shipped map.")] = "",
    noun: Annotated[str, typer.Option(help="tasks or models.")] = "tasks",
    origin: Annotated[str, typer.Option(help="published, imported, computed or all.")] = "published",
    seed: Annotated[int, typer.Option(help="Of UMAP; the same seed gives the same map.")] = 0,
    neighbors: Annotated[int | None, typer.Option(help="UMAP's n_neighbors; 10, of images 15.")] = None,
    min_dist: Annotated[float, typer.Option(help="UMAP's min_dist.")] = 0.1,
    to: Annotated[
        str,
        typer.Option(
            help="Where to write the CSV, - for standard output; default: the shipped file, "
            "or standard output for one map."
        ),
    ] = "",
    database: Annotated[Path | None, typer.Option(help="Default: assets/likeness.duckdb.")] = None,
    task: Annotated[str, typer.Option(help="Instead: a map of this task's images, as --model sees them.")] = "",
    model: Annotated[str, typer.Option(help="Whose embeddings place the images.")] = "",
    images: Annotated[int, typer.Option(help="Of a task with more, so many are drawn by lot.", min=5)] = 2000,
    data: Annotated[Path | None, typer.Option(help="As in run: a folder with data sets as <org>/<name>/.")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Fetch nothing.")] = False,
    results: Annotated[Path | None, typer.Option(help="Where a map of images goes; default: results.")] = None,
):
    """Makes the maps that the app shows: of tasks and models (UMAP, HDBSCAN), or of one task's images (UMAP)."""
    if task or model:
        from compute.cli import image_map

        image_map.make(
            task=task,
            model=model,
            images=images,
            seed=seed,
            neighbors=neighbors,
            min_dist=min_dist,
            data=data,
            offline=offline,
            results=results,
        )
        return
    from compute.analysis.maps import suites as maps
    from compute.cli.suite_scores import read
    from compute.database import store
    from compute.database.build import PROJECTIONS

    path = database or store.DATABASE
    stage = lambda text: typer.echo(text, err=True)  # noqa: E731
    if suites:
        recipe = maps.Recipe(
            noun=noun,
            suites=tuple(filter(None, suites.split(","))),
            origin=origin,
            seed=seed,
            n_neighbors=neighbors or maps.Recipe.n_neighbors,
            min_dist=min_dist,
        )
        frame = maps.project(read(path, suites=recipe.suites, origin=origin), recipe, progress=stage)
    else:
        frame = maps.shipped(lambda some: read(path, suites=some, origin="published"), seed=seed, progress=stage)
    if (to or ("-" if suites else "")) == "-":
        typer.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    target = Path(to) if to else PROJECTIONS
    target.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(target, index=False, lineterminator="\n")
    for line in maps.lines(frame):
        typer.echo(line)
    typer.echo(f"{target.name} written; python -m compute build puts it into the database")


def main() -> None:
    """Runs the command line; an error a user can mend is one line and exit code 1."""
    try:
        app()
    except LikenessError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
