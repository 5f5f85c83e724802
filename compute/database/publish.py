"""Publishes the board's data as a hub data set: the database, its main tables as Parquet, and a card."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd

from compute.catalog import published
from compute.catalog.own.suite import SYNTHETIC_BENCHMARKS
from compute.database import store
from compute.types import BadInput, LikenessError, first_line, kind_of, origins_in

# File of the data set -> table or view of the database. Single items and pictures are only in the database.
TABLES = {
    "scores": "leaderboard_scores",
    "models": "models",
    "tasks": "tasks",
    "suites": "suites",
    "claims": "claims",
    "ratings": "ratings",
    "calibrations": "calibrations",
}
CARD = """---
pretty_name: Likeness
tags: [leaderboard, embeddings, similarity, vision-language]
configs:
{configs}
---

# Likeness: scores of image and text similarity models

{scores:,} scores of {models:,} models on {tasks:,} tasks: UniSim-Bench, PairBench, MIEB and cFreD as their
papers print them, and what was computed or imported next to them. One row of `scores` is one figure, with where it
comes from.

| origin | scores | what it means |
| --- | --- | --- |
{origins}

{synthetic:,} scores are of the benchmark `mini` or of own data that is marked so. They are synthetic: a program draws
the items, and the scores say nothing about photographs.

`likeness.duckdb` holds all of it, with single items and their pictures, and is what the app reads. The other files are
its main tables:

{files}

## Version

{version}

## Cite

The scores belong to their papers: cite those. `suites` and `tasks` say which they are of. This collection:

```bibtex
{citation}
```
"""
CITATION = """@misc{{likeness-data,
  title = {{Likeness: scores of image and text similarity models}},
  author = {{{{Likeness contributors}}}},
  year = {{{year}}},
  version = {{{version}}},
  {where}
}}"""
DATASETS = "https://huggingface.co/datasets"
TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,49}")
ORIGINS = {
    "published": "as a paper prints it",
    "imported": "measured by others, brought in from their files",
    "computed": "computed by Likeness, with settings and single items",
}


def free_tag(repo: str, *, version: str, wanted: str) -> str:
    """Returns the tag of a new snapshot: the wanted one, else the version's; empty if that is taken.

    Raises BadInput for a wanted tag that is taken or invalid, LikenessError with the hub's message.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError

    if wanted and not TAG.fullmatch(wanted):
        raise BadInput(f"{wanted[:60]!r} cannot name a snapshot: use letters, digits, dots and dashes, such as v1.2")
    tag = wanted or (f"v{version}" if TAG.fullmatch(f"v{version}") else "")
    with refusals(repo):
        try:
            taken = {known.name for known in HfApi().list_repo_refs(repo, repo_type="dataset").tags}
        except RepositoryNotFoundError:
            return tag
    if wanted in taken:
        raise BadInput(f"{repo} has a snapshot {wanted} already, which may be cited: name another with --tag")
    return "" if tag in taken else tag


def write(folder: Path, *, database: Path, repo: str = "", tag: str = "") -> dict[str, int]:
    """Writes the data set's files into an empty folder, and returns the rows per file.

    `tag` is the name of the snapshot in `repo`; both are empty if there is none. Raises DatabaseError for an unreadable
    database.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty: name a folder that is, or that is not there yet")
    frames = store.frames(database, names=tuple(TABLES.values()))
    version = store.recorded(database, "version") or "not recorded"
    tables = {file: frames[name] for file, name in TABLES.items()}
    shutil.copyfile(database, folder / "likeness.duckdb")
    for file, frame in tables.items():
        store.write_parquet(folder / f"{file}.parquet", frame=frame)
    (folder / "README.md").write_text(_card(tables, version=version, repo=repo, tag=tag), encoding="utf-8")
    if version == published.history()[0]["number"]:
        shutil.copyfile(published.CHANGELOG, folder / published.CHANGELOG.name)
    return {file: len(frame) for file, frame in tables.items()}


def _card(frames: dict[str, pd.DataFrame], *, version: str, repo: str, tag: str) -> str:
    """Returns the data set's card, with its counts, its version and a citation: by tag if there is
    one, else by date.
    """
    scores, day = frames["scores"], datetime.now(UTC).date().isoformat()
    counts = scores["origin"].value_counts()
    about = f"The version of the published scores was not recorded. Built on {day}."
    for at, known in enumerate(published.history()):
        if known["number"] == version:
            about = (
                f"Published scores {version} of {known['date']}{f', tagged `{tag}`' if tag else ''}; built on {day}."
            )
            about += "" if at else " `CHANGELOG.md` says what changed from version to version."
    where = [f"url = {{{DATASETS}/{repo}{f'/tree/{tag}' if tag else ''}}}"] if repo else []
    where += [] if tag else [f"note = {{Built on {day}}}"]
    return CARD.format(
        version=about,
        citation=CITATION.format(year=day[:4], version=version, where=",\n  ".join(where)),
        scores=len(scores),
        models=scores["model"].nunique(),
        tasks=scores["task"].nunique(),
        synthetic=int(scores["benchmark"].isin(SYNTHETIC_BENCHMARKS).sum()),
        configs="\n".join(f"- config_name: {file}\n  data_files: {file}.parquet" for file in frames),
        origins="\n".join(
            f"| {origin} | {counts[origin]:,} | {ORIGINS[kind_of(origin)]} |" for origin in origins_in(counts.index)
        ),
        files="\n".join(f"- `{file}.parquet`: {len(frame):,} rows" for file, frame in frames.items()),
    )


def upload(folder: Path, *, repo: str, private: bool, tag: str = "") -> str:
    """Uploads the folder in one commit to a data set, which is created if necessary, tags it, and returns its address.

    The token is that of the hub library (HF_TOKEN, or `hf auth login`). Raises LikenessError with the hub's message.
    """
    from huggingface_hub import HfApi

    hub = HfApi()
    with refusals(repo):
        hub.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        commit = hub.upload_folder(
            repo_id=repo, repo_type="dataset", folder_path=str(folder), commit_message="The board's data, rebuilt"
        )
        if tag:
            hub.create_tag(
                repo, repo_type="dataset", tag=tag, revision=commit.oid, tag_message="A snapshot to be cited"
            )
    return f"{DATASETS}/{repo}{f'/tree/{tag}' if tag else ''}"


@contextmanager
def refusals(repo: str) -> Iterator[None]:
    """Converts the hub's refusals to this project's errors."""
    import httpx2
    from huggingface_hub.errors import HFValidationError

    try:
        yield
    except HFValidationError as error:
        raise BadInput(f"{repo!r} is not a name of a repository: give it as USER/NAME") from error
    except (httpx2.HTTPError, OSError) as error:
        reason = first_line(error).rstrip(".")
        raise LikenessError(
            f"{repo} could not be uploaded: {reason}. A token that may write is read from HF_TOKEN, or "
            "stored by: hf auth login"
        ) from error
