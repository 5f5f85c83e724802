"""Makes the studies of the shipped photographs: copies changed in different ways, or which of two fits a text."""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from pathlib import Path

import numpy as np

from compute.catalog import shipped
from compute.eyes import making, photographs
from compute.eyes.study import ASKS, Kind, Study
from compute.io.files import words_beside, write_text
from compute.live.pool import Pool
from compute.live.roster import Roster

CHANGED, DAMAGES, OTHERS, PROMPTS = words_beside(__file__).values()
MOST, SEED = 240, 20261127  # of questions, and of their choice


def make(kind: Kind) -> Study:
    """A study with the picks of the models that are ready on this machine, without the user's own."""
    pool, given = Pool(), materials(kind)
    models = Roster(shipped().models, pool=pool, network=lambda: False).usual(*making.MODES[kind])
    return making.finished(making.answered(making.finished(making.drawn(given)), given.images, models, pool.run))


def materials(kind: Kind) -> making.Materials:
    """The photographs of one kind of question, with the questions."""
    changes = [
        f"-{what}-{strength:g}" for what, strength in {"image": DAMAGES + OTHERS, "quality": DAMAGES}.get(kind, [])
    ]
    if kind == "text":
        names = [f"{each}.webp" for each in photographs.FILES]
        every = [(prompt, *pair) for prompt in PROMPTS for pair in combinations(names, 2)]
    else:
        names = [f"{each}{change}.webp" for each in CHANGED for change in ("", *changes)]
        every = [
            (f"{each}.webp" if kind == "image" else "", f"{each}{one}.webp", f"{each}{other}.webp")
            for each, (one, other) in product(CHANGED, combinations(changes, 2))
            if one.split("-")[1] != other.split("-")[1]
        ]
    chosen = np.random.default_rng(SEED).permutation(len(every))[:MOST]
    return making.Materials(
        kind=kind,
        images={name: partial(photographs.read, name) for name in names},
        questions=[every[at] for at in sorted(chosen.tolist())],
    )


if __name__ == "__main__":
    for each in ASKS:
        write_text(Path(__file__).parents[1] / f"{each}.json", make(each).model_dump_json())
