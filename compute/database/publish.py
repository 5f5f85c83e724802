"""The board's data as a data set of the hub: the database itself, its main tables as Parquet, and a card."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute.catalog.own import SYNTHETIC_BENCHMARKS
from compute.database import store
from compute.types import BadInput, LikenessError

if TYPE_CHECKING:
    import pandas as pd

# File of the data set -> table or view of the database. Single items and pictures stay in the database alone.
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

# Likeness: scores of models that judge likeness

{scores:,} scores of {models:,} models on {tasks:,} tasks: UniSim-Bench, PairBench, MIEB and cFreD as their
papers print them, and what was computed or imported beside them. One row of `scores` is one figure, with where it
comes from.

| origin | scores | what it means |
| --- | --- | --- |
{origins}

{synthetic:,} scores are of the benchmark `mini` or of own data that is marked so. They are synthetic: a program draws
the items, and the figures say nothing about photographs.

`likeness.duckdb` holds all of it, with single items and their pictures, and is what the app reads. The other files are
its main tables:

{files}

The figures belong to their papers: cite those. `suites` and `tasks` say which they are of.
"""
ORIGINS = {
    "published": "as a paper prints it",
    "imported": "measured by others, brought in from their files",
    "computed": "computed by Likeness, with settings and single items",
}


def write(folder: Path, *, database: Path) -> dict[str, int]:
    """Writes the data set's files into an empty folder; rows by file. Raises DatabaseError for an unreadable one."""
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty: name a folder that is, or that is not there yet")
    frames = store.frames(database, names=tuple(TABLES.values()))
    tables = {file: frames[name] for file, name in TABLES.items()}
    shutil.copyfile(database, folder / "likeness.duckdb")
    for file, frame in tables.items():
        store.write_parquet(folder / f"{file}.parquet", frame=frame)
    (folder / "README.md").write_text(card(tables), encoding="utf-8")
    return {file: len(frame) for file, frame in tables.items()}


def card(frames: dict[str, pd.DataFrame]) -> str:
    """The data set's card, with its counts."""
    scores = frames["scores"]
    counts = scores["origin"].value_counts()
    return CARD.format(
        scores=len(scores),
        models=scores["model"].nunique(),
        tasks=scores["task"].nunique(),
        synthetic=int(scores["benchmark"].isin(SYNTHETIC_BENCHMARKS).sum()),
        configs="\n".join(f"- config_name: {file}\n  data_files: {file}.parquet" for file in frames),
        origins="\n".join(
            f"| {origin} | {int(counts.get(origin, 0)):,} | {words} |" for origin, words in ORIGINS.items()
        ),
        files="\n".join(f"- `{file}.parquet`: {len(frame):,} rows" for file, frame in frames.items()),
    )


def upload(folder: Path, *, repo: str, private: bool, api: Callable[[], Any] | None = None) -> str:
    """Uploads the folder in one commit, into a data set that is made if need be; its address.

    The token is the hub library's own (HF_TOKEN, or `hf auth login`). Raises LikenessError with what the hub says.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    hub = (api or HfApi)()
    try:
        hub.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        hub.upload_folder(
            repo_id=repo, repo_type="dataset", folder_path=str(folder), commit_message="The board's data, built anew"
        )
    except HFValidationError as error:
        raise BadInput(f"{repo!r} is no name of a data set: give it as USER/NAME") from error
    except (HfHubHTTPError, OSError) as error:
        reason = str(error).strip().partition("\n")[0].rstrip(".")
        raise LikenessError(
            f"The data set {repo!r} could not be uploaded: {reason}. A token that may write is read from "
            "HF_TOKEN, or stored by: hf auth login"
        ) from error
    return f"https://huggingface.co/datasets/{repo}"
