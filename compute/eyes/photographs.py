"""The shipped photographs and their studies; `assets/eyes/recipe` makes the studies, including models' picks.

Credits and licences are in compute/live/examples.py.
"""

from __future__ import annotations

import io
import re
from functools import lru_cache

import numpy as np
from PIL import Image

from compute import paths
from compute.content.items import content_key
from compute.eyes.study import ASKS, Kind, Study
from compute.io.files import words_beside
from compute.live.inputs import Input
from compute.tasks.drawing.render import distort, photo_path
from compute.tasks.perturb import PERTURBATIONS, perturb
from compute.types import BadInput

FILES = words_beside(__file__)["files"]
NAME = re.compile(r"(\w+?)(?:-(\w+)-([\d.]+))?\.webp")  # a photograph, and a distortion with its strength
SEED = 20261127
SIDE = 512  # pixels, the longer side, as shown to a person
STORED = 200  # files in memory, about 40 kB each


@lru_cache
def study(kind: Kind) -> Study:
    """Returns the shipped study for one kind of question."""
    return Study.model_validate_json((paths.ASSETS / "eyes" / f"{kind}.json").read_bytes())


@lru_cache
def names() -> frozenset[str]:
    """Returns the contents of these studies: images and texts."""
    return frozenset(name for kind in ASKS for name in study(kind).contents)


@lru_cache(maxsize=STORED)
def image(name: str) -> bytes:
    """Returns an image of these studies as WebP. Raises BadInput for another name."""
    if name not in names() or not NAME.fullmatch(name):
        raise BadInput(f"There is no photograph {name[:40]!r}")
    out = io.BytesIO()
    read(name).content.save(out, "WEBP", quality=92, method=2)
    return out.getvalue()


def read(name: str) -> Input:
    """Returns an image of these studies as models see it."""
    photograph, kind, strength = NAME.fullmatch(name).groups()
    whole = _whole(photograph)
    if kind in PERTURBATIONS:
        whole = perturb(whole, kind=kind, strength=float(strength), seed=SEED)
    elif kind:
        whole = Image.fromarray(distort(np.asarray(whole), kind=kind, strength=int(strength), seed=SEED))
    return Input(modality="image", key=content_key(whole.tobytes()), name=name, content=whole)


@lru_cache(maxsize=2)
def _whole(photograph: str) -> Image.Image:
    with Image.open(photo_path(FILES[photograph])) as stored:
        whole = stored.convert("RGB")
    whole.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    whole.info.clear()
    return whole
