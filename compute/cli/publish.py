"""likeness publish: uploads the board's data to the hub, and a model's results to its repository."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from compute import paths
from compute.catalog import Catalog
from compute.catalog.hub_tasks import HUB_ID
from compute.cli import workspace
from compute.cli.command import as_command
from compute.cli.workspace import build
from compute.engine.workspace import catalog_with_own
from compute.io.files import temporary_folder, write_text
from compute.sharing import computed_runs, eval_results, every_eval_ever, model_card, mteb_results
from compute.sharing import space as space_files
from compute.sharing.computed_runs import SharedRuns
from compute.types import BadInput, LikenessError, NotHere, counted, first_line

CARD = "README.md"
HUB, EVERY = "hub", "every-eval-ever"  # the formats of results


def publish(
    context: typer.Context,
    *,
    repo: Annotated[str, "Data set to upload to, USER/NAME; created if it does not exist."] = "",
    to: Annotated[Path | None, "Instead: an empty folder to write the files to."] = None,
    private: Annotated[bool, "Make a new data set private."] = False,
    tag: Annotated[str, "Name of the snapshot; default: v and the scores' version, if it is still free."] = "",
    database: Annotated[Path | None, "Default: the app's, built first if it is out of date."] = None,
) -> Iterator[str]:
    """Uploads the database, its main tables as Parquet, and a card that describes them."""
    if context.invoked_subcommand:
        if repo or to or private or tag or database:
            raise BadInput(f"Options of {context.invoked_subcommand} go after its name: publish results --to ...")
        return
    yield from data(repo=repo, to=to, private=private, tag=tag, database=database)


def data(
    *, repo: str = "", to: Path | None = None, private: bool = False, tag: str = "", database: Path | None = None
) -> Iterator[str]:
    """Publishes the board's data, as `likeness publish` does."""
    from compute.database import publish, store

    if bool(repo) == bool(to):
        raise BadInput("Set a destination: --repo USER/NAME to upload, or --to FOLDER to write the files only")
    if tag and to:
        raise BadInput("A tag names a snapshot of an uploaded data set: give --repo USER/NAME with --tag")
    path = _database(database)
    version = store.recorded(path, "version")
    tag = publish.free_tag(repo, version=version, wanted=tag) if repo else ""
    with temporary_folder() as draft:
        folder = to or draft
        rows = publish.write(folder, database=path, repo=repo, tag=tag)
        for file, count in rows.items():
            yield f"{file}.parquet: {count:,} rows"
        if to:
            yield f"Written to {folder}"
            return
        address = publish.upload(folder, repo=repo, private=private, tag=tag)
    if not tag:
        yield f"v{version} names an earlier snapshot: to make this one citable too, publish it with --tag NAME"
    yield address


def space(
    *,
    repo: Annotated[str, "The Space, USER/NAME, which exists."] = "",
    to: Annotated[Path | None, "Instead: a folder to write the files to."] = None,
) -> Iterator[str]:
    """Uploads the app of this checkout to a Space, whose card names all models, so that their pages link to it."""
    from huggingface_hub import HfApi

    from compute.catalog import shipped
    from compute.database import publish

    if bool(repo) == bool(to):
        raise BadInput("Set a destination: --repo USER/NAME to upload, or --to FOLDER to write the files only")
    with temporary_folder() as draft:
        folder = to or draft
        yield f"{space_files.CARD} names {space_files.write(folder, catalog=shipped())} models"
        if repo:
            with publish.refusals(repo):
                HfApi().upload_folder(
                    repo_id=repo, repo_type="space", folder_path=str(folder), commit_message="The app and its scores"
                )
        yield f"https://huggingface.co/spaces/{repo}" if repo else f"Written to {folder}"


def results(
    *,
    model: Annotated[str, "Whose computed runs: a model key or ORG/NAME. Default: the model of --repo."] = "",
    to: Annotated[Path | None, "A folder to write to, such as a clone of the model's repository."] = None,
    repo: Annotated[str, "Instead: the model's repository, ORG/NAME, as a pull request."] = "",
    results: workspace.Results = None,
    format: Annotated[str, "hub: for its own repository; every-eval-ever: a file a suite, for that data set."] = HUB,
    evaluator: Annotated[str, "Who ran the model, as the files of every-eval-ever name them."] = "",
    suite: Annotated[Sequence[str], "Only runs of these suites, comma-separated."] = (),
    synthetic: Annotated[bool, "Show runs of synthetic suites in the card, marked."] = False,
    own: Annotated[bool, "Show runs of your data in the card, with their titles."] = False,
    source: Annotated[str, "Address that results name as their source; default: the model's page on the hub."] = "",
    dry_run: Annotated[bool, "Show what would be written or sent, and stop."] = False,
    database: workspace.Database = None,
) -> Iterator[str]:
    """Gives a model's computed results back: .eval_results for the hub, a section of its card, and mteb's files; or
    records of Every Eval Ever."""
    import httpx2
    from huggingface_hub import CommitOperationAdd, HfApi, get_token

    if bool(repo) == bool(to):
        raise BadInput(
            "Set a destination: --to FOLDER, or --repo ORG/NAME for a pull request to the model's repository"
        )
    if format not in (HUB, EVERY):
        raise BadInput(f"--format is {format[:60]!r}; it is {HUB} or {EVERY}")
    if format == EVERY and not (to and evaluator):
        raise BadInput(f"The files of {EVERY} go to its own data set: write them with --to FOLDER --evaluator WHO")
    if not model and not repo:
        raise BadInput("Name the model: --model KEY. List them: likeness list models")
    if repo and not HUB_ID.fullmatch(repo):
        raise BadInput(f"{repo!r} is not a name of a model's repository: give it as ORG/NAME")
    root = (results or paths.RESULTS).absolute()
    catalog = catalog_with_own(results, warn=workspace.warn)
    row = catalog.model((model or repo).lower())
    shared = computed_runs.gather(
        row,
        roots=tuple(dict.fromkeys((root, paths.COMPUTED))),
        catalog=catalog,
        suites=suite,
        synthetic=synthetic,
        own=own,
    )
    if repo and not dry_run and not get_token():  # the token is never shown
        raise NotHere(
            "A pull request needs a token that may write: put it into HF_TOKEN, or store it with: hf auth login. "
            "Without one, write the files to a folder with --to and upload them by hand"
        )
    notes, commit = [], ""
    if format == EVERY:
        files = every_eval_ever.files(shared, catalog=catalog, evaluator=evaluator, source_url=source)
        said = [f"{counted(len(files), 'file')} for Every Eval Ever's data set, one a suite, of {row.title}"]
    else:
        files, commit, said, notes = _for_hub(shared, repo, to, catalog=catalog, source=source, database=database)
    for path, text in sorted(files.items()):
        typer.echo(f"{path}  {len(text.encode()):,} bytes")
    for line in said:
        typer.echo(line)
    for note in (*shared.left_out, *notes):  # the first may name private data: only for the person who publishes
        typer.echo(f"Skipped: {note}")
    if dry_run:
        yield "Nothing was written or sent: --dry-run"
    elif repo:
        operations = [
            CommitOperationAdd(path_in_repo=path, path_or_fileobj=text.encode()) for path, text in sorted(files.items())
        ]
        try:
            made = HfApi().create_commit(
                repo_id=repo,
                repo_type="model",
                operations=operations,
                commit_message="Add evaluation results computed with Likeness",
                commit_description="\n".join(("Made by `likeness publish results`.", *(f"- {note}" for note in notes))),
                create_pr=True,
                parent_commit=commit,
            )
        except (httpx2.HTTPError, OSError) as error:
            raise LikenessError(
                f"The pull request to {repo!r} could not be opened: {first_line(error).rstrip('.')}. Check that the "
                "token may write and that the repository takes pull requests, or write the files with --to and upload "
                "them by hand"
            ) from error
        yield str(made.pr_url)
    else:
        for name, text in files.items():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            write_text(to / name, text)
        yield f"Written to {to}"


def _for_hub(
    shared: SharedRuns, repo: str, to: Path | None, *, catalog: Catalog, source: str, database: Path | None
) -> tuple[dict[str, str], str, list[str], list[str]]:
    """Returns the text of every file for a model's repository or a folder, the commit of its card, a summary in
    sentences, and why runs are skipped.
    """
    card, commit = _card(repo, to)
    metrics, hub_id = {metric.key: metric for metric in catalog.metrics}, repo or shared.hub_id
    page = f"https://huggingface.co/{hub_id}#{model_card.ANCHOR}" if hub_id else ""
    files, figures = eval_results.files(shared.runs, metrics=metrics, source_url=source or page)
    of_mteb, not_mteb = mteb_results.files(shared, name=hub_id or shared.model.key)
    path = _database(database)
    rows = model_card.suite_rows(
        shared,
        published=lambda suites: workspace.suite_scores(path, suites=suites, origin="published"),
        catalog=catalog,
    )
    section = model_card.section(shared, suites=rows, metrics=metrics, about=source)
    files[CARD] = model_card.insert(card, section)
    files |= {} if repo else {f"mteb/{path}": text for path, text in of_mteb.items()}
    notes = [f"{reason}: not in mteb's results" for reason in not_mteb]
    if without := [run.task.key for run in shared.runs if not run.dataset]:
        where = f"in the card alone, such as {without[0]}"
        notes.append(f"{counted(len(without), 'run')} of data that is not on the hub: {where}")
    said = [f"{counted(figures, 'score')} in .eval_results, {counted(len(of_mteb), 'file')} for mteb"]
    if repo and of_mteb:
        said.append("mteb's files belong to its own results repository: write them with --to FOLDER")
    return files, commit, said, notes


def _card(repo: str, folder: Path | None) -> tuple[str, str]:
    """Returns the README.md of a repository or folder, empty if there is none, and its commit.

    Raises NotHere if the hub cannot be reached, and BadInput if it shows no such repository or the card is not UTF-8,
    because replacing it would destroy it.
    """
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import EntryNotFoundError, HFValidationError, RepositoryNotFoundError

    hub, commit = HfApi(), ""
    try:
        if repo:
            commit = str(hub.model_info(repo).sha)
            content = Path(hub.hf_hub_download(repo, CARD, revision=commit)).read_bytes()
        else:
            content = (folder / CARD).read_bytes() if (folder / CARD).exists() else b""
        return content.decode(), commit
    except UnicodeDecodeError as error:
        raise BadInput(f"{CARD} of {repo or folder} is not UTF-8 text: convert it first") from error
    except EntryNotFoundError:
        return "", commit
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise BadInput(
            f"The hub shows no model {repo!r}: check the name; a private one needs a token in HF_TOKEN"
        ) from error
    except (httpx2.HTTPError, OSError) as error:
        reason = first_line(error).rstrip(".")
        raise NotHere(
            f"The card of {repo or folder} cannot be read: {reason}. Check the connection, or write the files to a "
            "folder with --to"
        ) from error


def _database(path: Path | None) -> Path:
    """Returns the given database, else the app's, built first if it is out of date."""
    from compute.database.build import is_stale

    if path is None and is_stale(paths.DATABASE):
        build()
    return path or paths.DATABASE


group = typer.Typer(add_completion=False, invoke_without_command=True, callback=as_command(publish))
group.command()(as_command(results))
group.command()(as_command(space))
