"""Questions about the shipped photographs: copies of one that are changed in different ways, or which fits a text.

Credits and licences are those of compute/live/examples.py. Their studies are shipped, with what the models that need no
download pick; `python -m compute.eyes.photographs` makes them again.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import combinations

import numpy as np
from PIL import Image

from compute import paths
from compute.catalog import shipped
from compute.content.items import content_key
from compute.eyes import making
from compute.eyes.making import Materials
from compute.eyes.study import ASKS, Kind, Study
from compute.io.files import words_beside, write_text
from compute.live.inputs import Input
from compute.live.pool import Pool
from compute.live.roster import Roster
from compute.tasks.drawing.distortions import distort
from compute.tasks.drawing.render import photo_path
from compute.tasks.perturb import PERTURBATIONS, perturb
from compute.types import BadInput

MADE_OF = words_beside(__file__)
CHANGED, DAMAGES, OTHERS, PROMPTS, PHOTOGRAPHS = MADE_OF.values()
MOST = 240  # questions
SEED = 20261127
SIDE = 512  # pixels, the longer side, that a person sees
STORED = 200  # files in memory, of about 40 kB


def study(kind: Kind) -> Study:
    """The shipped study of one kind of question."""
    return Study.model_validate_json((paths.ASSETS / "eyes" / f"{kind}.json").read_bytes())


def make(kind: Kind) -> Study:
    """The same, made by the models that are ready on this machine without the user's own."""
    pool, given = Pool(), materials(kind)
    models = Roster(shipped().models, pool=pool, network=lambda: False).usual(*making.MODES[kind])
    return making.finished(making.answered(making.finished(making.drawn(given)), given.images, models, pool.run))


def materials(kind: Kind) -> Materials:
    """The photographs of one kind of question, with the questions."""
    changes = {"image": [*DAMAGES, *OTHERS], "quality": DAMAGES, "text": ()}[kind]
    if kind == "text":
        every = [(prompt, *pair) for prompt in PROMPTS for pair in combinations(map(_name, PHOTOGRAPHS), 2)]
    else:
        every = [
            (_name(photograph) if kind == "image" else "", _name(photograph, one), _name(photograph, other))
            for photograph in CHANGED
            for one, other in combinations(changes, 2)
            if one[0] != other[0]
        ]
    chosen = np.random.default_rng(SEED).permutation(len(every))[:MOST]
    images: dict[str, Callable[[], Input]] = {}
    for photograph in PHOTOGRAPHS if kind == "text" else CHANGED:
        for change in (None, *changes):
            images[_name(photograph, change)] = partial(_read, photograph, change)
    return Materials(
        kind=kind,
        images=images,
        prompts=PROMPTS if kind == "text" else (),
        questions=[every[at] for at in sorted(chosen.tolist())],
    )


@lru_cache(maxsize=STORED)
def image(name: str) -> bytes:
    """One of the images as WebP. Raises BadInput for another name."""
    read = {**materials("text").images, **materials("image").images}.get(name)
    if read is None:
        raise BadInput(f"There is no photograph {name[:40]!r}")
    out = io.BytesIO()
    read().content.save(out, "WEBP", quality=92, method=2)
    return out.getvalue()


def _name(photograph: str, change: tuple[str, float] | None = None) -> str:
    return f"{photograph}.webp" if change is None else f"{photograph}-{change[0]}-{change[1]:g}.webp"


def _read(photograph: str, change: tuple[str, float] | None) -> Input:
    whole = _whole(photograph)
    if change is not None:
        kind, strength = change
        if kind in PERTURBATIONS:
            whole = perturb(whole, kind=kind, strength=strength, seed=SEED)
        else:
            whole = Image.fromarray(distort(np.asarray(whole), kind=kind, strength=int(strength), seed=SEED))
    return Input(modality="image", key=content_key(whole.tobytes()), name=photograph, content=whole)


@lru_cache(maxsize=2)
def _whole(photograph: str) -> Image.Image:
    with Image.open(photo_path(PHOTOGRAPHS[photograph])) as stored:
        whole = stored.convert("RGB")
    whole.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    whole.info.clear()
    return whole


if __name__ == "__main__":
    for each in ASKS:
        write_text(paths.ASSETS / "eyes" / f"{each}.json", make(each).model_dump_json())
