"""The app as the files of a Space. Its card names every model shown, so that the Hub links to it from their pages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from compute import paths
from compute.catalog import Catalog
from compute.catalog.hub_tasks import HUB_ID
from compute.importing import snapshot
from compute.types import NotHere

CARD = "README.md"


def write(folder: Path, *, catalog: Catalog) -> int:
    """Writes the files of this checkout that are in git, except tests. Returns the number of models in the card.

    The card names the weight repositories of the catalogue's models and of models that only the shipped results
    include. Raises NotHere outside a checkout.
    """
    from huggingface_hub import SpaceCard

    listed = subprocess.run(["git", "ls-files", "-z", ":!tests"], cwd=paths.ROOT, capture_output=True, text=True)
    if listed.returncode:
        raise NotHere(f"{paths.ROOT} is not a checkout: {listed.stderr.strip()}. Run this in a clone of Likeness")
    for name in listed.stdout.split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(paths.ROOT / name, folder / name)
    facts = snapshot.manifest(paths.IMPORTED).models.values()
    weights = {model.weights for model in catalog.models} | {meta.name for meta in facts if meta.open_weights}
    models = sorted(text for text in weights if HUB_ID.fullmatch(text) and not text.startswith("assets/"))
    card = SpaceCard.load(folder / CARD)
    card.data["models"] = models
    card.save(folder / CARD)
    return len(models)
