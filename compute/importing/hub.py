"""Fetches the public MTEB results repository from the Hub."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from compute.types import BadInput

if TYPE_CHECKING:
    from compute.catalog import Catalog

REPOSITORY = "mteb/results"  # a dataset on the Hub


def fetch_mteb_results(cache: Path, *, revision: str, catalog: Catalog | None = None) -> Path:
    """Downloads the result files of the catalogue's MIEB tasks, as they were at one commit, and returns their folder.

    Raises BadInput when `revision` is no commit hash or the Hub cannot be reached.
    """
    import httpx2
    from huggingface_hub import snapshot_download

    if catalog is None:
        from compute.catalog import shipped

        catalog = shipped()
    if not re.fullmatch(r"[0-9a-f]{40}", revision):
        raise BadInput(f"{revision!r} is no commit: give the 40 hexadecimal digits of one, from the history of the "
                       f"dataset {REPOSITORY}, so that the import can be repeated")
    names = sorted(task.title for task in catalog.tasks if task.benchmark == "mieb")
    folder = Path(cache) / revision  # real files: the Hub's shared cache holds links, which the reader does not follow
    try:
        snapshot_download(REPOSITORY, repo_type="dataset", revision=revision, local_dir=folder,
                          allow_patterns=[f"results/*/*/{name}.json" for name in (*names, "model_meta")])
    except (OSError, ValueError, httpx2.HTTPError) as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise BadInput(f"Cannot download {REPOSITORY} at {revision[:12]} ({reason}). Check the connection and the "
                       "commit, or give a folder of results that is already here") from error
    return folder
