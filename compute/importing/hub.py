"""Fetches the public MTEB results repository from the Hub."""

from __future__ import annotations

import re
from pathlib import Path

from compute.catalog import Catalog
from compute.catalog.catalog import MTEB
from compute.types import BadInput, first_line

REPOSITORY = "mteb/results"  # a dataset on the Hub


def fetch_mteb_results(cache: Path, *, catalog: Catalog, revision: str = "main") -> Path:
    """Downloads the result files of the catalogue's tasks of MIEB and ViDoRe as of one commit; returns their folder.

    `revision` is a commit, branch or tag; a branch is resolved first, and the folder is named after the commit, so
    that the import can be repeated. Raises BadInput when the revision does not exist or the Hub cannot be reached.
    """
    import httpx2
    from huggingface_hub import HfApi, snapshot_download

    names = sorted(task.title for task in catalog.tasks if task.benchmark in MTEB)
    try:
        whole = re.fullmatch(r"[0-9a-f]{40}", revision)
        commit = revision if whole else str(HfApi().dataset_info(REPOSITORY, revision=revision).sha)
        # Real files: the Hub's shared cache holds links, which the reader does not follow.
        snapshot_download(
            REPOSITORY,
            repo_type="dataset",
            revision=commit,
            local_dir=cache / commit,
            allow_patterns=[f"results/*/*/{name}.json" for name in (*names, "model_meta")],
        )
    except (OSError, ValueError, httpx2.HTTPError) as error:
        reason = first_line(error)
        raise BadInput(
            f"Cannot download {REPOSITORY} at {revision[:12]} ({reason}). Check the connection and the "
            "revision, or give a folder of results that is already on this machine"
        ) from error
    return cache / commit
