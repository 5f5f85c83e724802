"""likeness import ...: imports scores that others measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from compute import paths
from compute.cli import workspace
from compute.cli.command import grouped
from compute.engine.workspace import Offline, catalog_with_own, stay_offline
from compute.importing import Imported
from compute.options import taking
from compute.types import LONGEST_KEY, BadInput, Laboratory, counted, is_origin, shortened, slug

SHOWN = 10  # doubtful scores that are printed


def report(imported: Imported, *, what: str) -> None:
    """Prints what was read, and what was skipped."""
    for note in imported.notes:
        typer.echo(note)
    for problem in imported.problems:
        workspace.say(f"Skipped: {problem}")
    if imported.skipped:
        outside = counted(len(imported.skipped), what)
        typer.echo(f"{outside} for tasks outside the catalogue, such as {imported.skipped[0].path}")


def _store(
    imported: Imported,
    *,
    kind: str,
    source: str,
    what: str = "file",
    name: Annotated[str, "Name of the collection; default: its source and a digest."] = "",
    replace: Annotated[
        bool, "Remove earlier imports of the same source, and the collection --name; else both stay."
    ] = False,
    folder: Path | None = None,
    build: workspace.Build = True,
) -> None:
    """Stores an import, rebuilds the database if wanted, and exits with code 1 if files had to be skipped."""
    from compute.importing import collection

    if name and not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,79}", name):
        raise BadInput(f"--name is {name[:80]!r}; use small letters, digits and . _ -")
    report(imported, what=what)
    folder = folder or paths.RESULTS / "imported"
    target, others = collection.save(imported, folder=folder, name=name, kind=kind, source=source, replace=replace)
    for other in others:
        if replace:
            typer.echo(f"Replaced: {other.name}, an earlier import of the same source")
        else:
            typer.echo(f"{other.name} is of the same source and stays. To replace earlier imports of it: --replace")
    typer.echo(
        f"{target.name}: {counted(len(imported.scores), 'score')} of "
        f"{counted(len({run.model for run in imported.runs}), 'model')} imported, "
        f"{counted(len(imported.problems), what)} skipped"
    )
    workspace.rebuild(paths.RESULTS, wanted=build)
    if build:
        _say_doubts(imported)
    if imported.problems:
        raise typer.Exit(1)


def _say_doubts(imported: Imported) -> None:
    """Prints the imported scores that the rest of the evidence contradicts."""
    from compute.database import doubts, store

    rows = store.frames(paths.DATABASE, names=["doubts"])["doubts"]
    runs = {(run.model, run.task, run.origin) for run in imported.runs}
    mine = rows[[key in runs for key in zip(rows["model"], rows["task"], rows["origin"], strict=True)]]
    mine = mine[mine["decision"] != doubts.RIGHT].drop_duplicates(["model", "kind", "reason"])
    for row in mine.head(SHOWN).itertuples():
        expected = "" if row.expected != row.expected else f", expected {row.low:.4g} to {row.high:.4g}"
        typer.echo(f"Doubtful: {row.model} on {row.task}: {row.value:.4g}{expected}: {row.reason}")
    if len(mine) > SHOWN:
        typer.echo(f"{len(mine) - SHOWN} more are doubtful: see the page Claims, or the table doubts")


storing = taking(_store, without=("imported", "kind", "source", "what", "folder"))


def _of_laboratory(
    path: Path,
    layout: str,
    *,
    laboratory: Annotated[str, "Who measured the scores: 'open_clip', 'Apple'."],
    name: Annotated[str, "Key of the laboratory's results, which is also the collection's name."],
    version: Annotated[str, "Version of the harness: scores of two versions are never ranked together."] = "",
    date: Annotated[str, "Date of the results, YYYY-MM-DD."] = "",
    repository: Annotated[str, "Where they are published, as OWNER/NAME."] = "",
    revision: Annotated[str, "Commit of the repository."] = "",
    license: Annotated[str, "License of the files."] = "",
    ship: Annotated[bool, "Write assets/imported, which every build reads, instead of the results."] = False,
    replace: Annotated[bool, "Replace the collection --name."] = False,
    build: workspace.Build = True,
) -> None:
    """Imports a laboratory's results in one of LAYOUTS."""
    from compute.importing import LAYOUTS, read_laboratory

    row = Laboratory(
        key=name,
        title=laboratory,
        harness=LAYOUTS[layout].harness,
        version=version,
        date=date,
        repository=repository,
        revision=revision,
        license=license,
    )
    if not is_origin(row.origin):
        raise BadInput(f"--name is {shortened(name)!r}; use small letters, digits and . _ -")
    if not ship and (paths.IMPORTED / name).is_dir():
        raise BadInput(f"Likeness ships results called {name}, which yours would be ranked with. Choose another --name")
    if long := next((text for text in vars(row).values() if not text.isprintable() or len(text) > LONGEST_KEY), ""):
        raise BadInput(f"{shortened(long)!r} is not one line of at most {LONGEST_KEY} characters")
    _store(
        read_laboratory(path, layout=layout, laboratory=row, catalog=catalog_with_own(None, warn=workspace.warn)),
        kind=layout,
        source=f"{repository or path.absolute()}, {name}",
        name=name,
        replace=replace,
        folder=paths.IMPORTED if ship else None,
        build=build,
    )


from_laboratory = taking(_of_laboratory, without=("path", "layout"))


@from_laboratory
def open_clip(
    path: Annotated[Path, "A folder with the CSV tables of open_clip's docs, or one of them."], **how: Any
) -> None:
    """Tables of open_clip: a row a checkpoint, a column a data set; also retrieval, by language."""
    _of_laboratory(path, "open-clip", **how)


@from_laboratory
def datacomp(path: Annotated[Path, "A folder of MODEL.jsonl, or one such file."], **how: Any) -> None:
    """Results of DataComp's evaluation, JSON Lines: a file a model, a line a data set."""
    _of_laboratory(path, "datacomp", **how)


@from_laboratory
def mmeb(path: Annotated[Path, "A folder of MODEL.json, or one such file."], **how: Any) -> None:
    """Results of MMEB's harness (VLM2Vec): a JSON file a model. Its video tasks are skipped."""
    _of_laboratory(path, "mmeb", **how)


@storing
def mteb_results(
    path: Annotated[Path | None, "A copy of the results repository; default: download it."] = None,
    *,
    revision: Annotated[str, "Commit or branch to download."] = "main",
    **how: Any,
) -> None:
    """Result files of the public MTEB results repository: results/<org>__<model>/<revision>/<Task>.json."""
    from compute.catalog import shipped
    from compute.importing import fetch_mteb_results, read_mteb_results

    folder = path or fetch_mteb_results(paths.RESULTS / "fetched", revision=revision, catalog=shipped())
    source = str(folder.absolute()) if path else "mteb/results"
    _store(read_mteb_results(folder, catalog=shipped()), kind="mteb-results", source=source, **how)


@storing
def scores(
    path: Annotated[Path, "A CSV: benchmark, model, task, metric, value, ..."],
    **how: Any,
) -> None:
    """Any table of scores. A model or task that is not in the catalogue must be declared in the file."""
    from compute.importing import read_scores_csv

    catalog = catalog_with_own(None, warn=workspace.warn)
    _store(
        read_scores_csv(path, catalog=catalog),
        kind=f"scores-{slug(path.stem, default='table', marks='')}",
        source=str(path.absolute()),
        **how,
    )


@storing
def eval_results(
    where: Annotated[str, "A model's repository as ORG/NAME, or a folder or file of .eval_results."],
    *,
    model: Annotated[
        str, "Whose results a folder or file holds: ORG/NAME or a model key. Of a repository, its own."
    ] = "",
    revision: Annotated[str, "Of the repository: a commit, branch or tag."] = "main",
    offline: Offline = False,
    **how: Any,
) -> None:
    """Results in the hub's form, `.eval_results/*.yaml`: those with a task of the catalogue and a clear unit."""
    from compute.catalog import hub_tasks, known
    from compute.importing import fetch_eval_results, read_eval_results

    path, source = Path(where), ""
    if not path.exists() and hub_tasks.HUB_ID.fullmatch(where):
        if offline:
            stay_offline()
        path, source = fetch_eval_results(where, revision=revision, offline=offline)
        model = model or where
    imported = read_eval_results(path, model=model, source=source, catalog=known())
    if not imported.scores:
        for problem in (*imported.problems, *imported.skipped[:3]):
            workspace.say(f"Skipped: {problem}")
        raise BadInput(f"{where} has no score that can be read. The lines above say why; nothing was changed")
    of = re.sub(r"[^a-z0-9._-]+", "--", model.lower())[:60]
    where = str(path.absolute()) if not source else where
    _store(imported, kind=f"eval-results-{of}", source=where, **how, what="figure")


def votes(
    path: Annotated[Path, "A table: item, answer, human, perhaps judge and task; or LMArena's, a row a vote."],
    *,
    judge: Annotated[str, "Whose answers they are, where the table does not say so."] = "",
    task: Annotated[str, "What was judged, where the table does not say so; default: the file's name."] = "",
    people: Annotated[Sequence[str], "Whose rows are people's votes, in a table with a row a vote: expert_*."] = (),
    name: Annotated[str, "Name of the votes; default: the file's."] = "",
    ship: Annotated[bool, "Write assets/imported, which every build reads, instead of the results."] = False,
    replace: Annotated[bool, "Replace the votes --name."] = False,
    build: workspace.Build = True,
) -> None:
    """Answers of judges of pairs, beside people's votes: GenAI-Bench, Multimodal RewardBench, LMArena, MT-bench."""
    from compute.importing import votes as pair_votes

    name = name or slug(path.stem, default="votes")
    if slug(name, default="", marks="._-") != name:
        raise BadInput(f"--name is {shortened(name)!r}; use small letters, digits and . _ -")
    found = pair_votes.read(path, task=task or path.stem, judge=judge, people=people)
    typer.echo(found.sentence)
    folder = paths.IMPORTED if ship else paths.RESULTS / "imported"
    pair_votes.save(found, folder=folder, name=name, replace=replace)
    workspace.rebuild(paths.RESULTS, wanted=build)


group = grouped(mteb_results, scores, eval_results, open_clip, datacomp, mmeb, votes)
