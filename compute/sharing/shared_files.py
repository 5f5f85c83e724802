"""All files that give a model's results back, ready to be written to a folder or sent to the hub."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compute.io.files import replacing
from compute.sharing import eval_results, model_card, mteb_results
from compute.sharing.computed_runs import SharedRuns
from compute.types import BadInput, Metric, counted

CARD = "README.md"
MTEB_FOLDER = "mteb"


@dataclass(frozen=True, kw_only=True)
class SharedFiles:
    """What a model's repository takes, and mteb's results folder, by path; `notes` say what of it is in none, and why.

    `left_out` says which runs are in no file: for who publishes alone, as it may name what is private.
    """

    repository: dict[str, bytes]
    mteb: dict[str, bytes]
    figures: int  # entries of `.eval_results`
    notes: tuple[str, ...]
    left_out: tuple[str, ...]


def prepare(
    shared: SharedRuns,
    *,
    suites: Sequence[Mapping[str, Any]],
    metrics: Mapping[str, Metric],
    hub_id: str,
    source_url: str,
    card: str,
) -> SharedFiles:
    """The files of a model's runs; `suites` are rows of `model_card.suite_rows`.

    `card` is the repository's README.md as it is, empty where there is none. `hub_id` names the model as the hub has
    it, empty where it does not. Raises BadInput for a card with damaged marks.
    """
    page = f"https://huggingface.co/{hub_id}#{model_card.ANCHOR}" if hub_id else ""
    yaml_files = eval_results.files(shared.runs, metrics=metrics, source_url=source_url or page)
    section = model_card.section(shared, suites=suites, metrics=metrics, about=source_url)
    repository = {path: text.encode() for path, text in yaml_files.items()}
    repository[CARD] = model_card.insert(card, section).encode()
    texts, not_mteb = mteb_results.files(shared, name=hub_id or shared.model.key)
    notes = [f"{reason}: not in mteb's results" for reason in not_mteb]
    without = [run.task.key for run in shared.runs if not run.dataset]
    if without:
        notes.append(
            f"{counted(len(without), 'run')} of data that is not on the hub: in the card alone, such as {without[0]}"
        )
    return SharedFiles(
        repository=repository,
        mteb={path: text.encode() for path, text in texts.items()},
        figures=sum(len(eval_results.entries(run, metrics=metrics)) for run in shared.runs),
        notes=tuple(notes),
        left_out=shared.left_out,
    )


def read_card(folder: Path) -> str:
    """The README.md of a folder; empty where there is none. Raises BadInput for one that is not a text."""
    path = folder / CARD
    if not path.exists():
        return ""
    return as_card(path.read_bytes(), name=str(path))


def as_card(content: bytes, *, name: str) -> str:
    """A card's text. Raises BadInput where it is not UTF-8, which to replace would destroy."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"{name} is not UTF-8 text: convert it first") from error


def write(files: SharedFiles, *, folder: Path) -> None:
    """Writes all of it into a folder, each file whole or not at all. Other files there stay as they are."""
    every = {**files.repository, **{f"{MTEB_FOLDER}/{path}": content for path, content in files.mteb.items()}}
    for name, content in every.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as draft:
            draft.write_bytes(content)
