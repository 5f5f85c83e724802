"""What a run stores of each prompt: the values that one image has, and which pictures show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from compute.arrays import Bools, Floats
from compute.engine import run_folders

DISTANCE = "distance"  # the squared distance of an image's features from those of its prompt's reference image
VALUE = "value"  # the column of the first kind of value
MOST_PICTURES = 2000  # of one comparison, the reference's among them: about 3 kB each
SIDE = 128  # pixels of the longer side at most


def described(kinds: Mapping[str, str]) -> dict[str, Any]:
    """What a run's settings say of its items' values: each kind (DISTANCE or a metric) with its backbone, the first of
    them in the column VALUE, the others in the details."""
    return {"kinds": list(kinds), "backbones": list(kinds.values())}


def prompt_items(
    *,
    ids: Sequence[str],
    texts: Sequence[str],
    values: Mapping[str, Floats],
    images: Sequence[np.ndarray] = (),
) -> pd.DataFrame:
    """A row a prompt: item, value and detail, which holds the prompt, all other kinds of values and the images' keys.

    `values` (n,) each by kind, as `described`; `images` are keys (n,) of the pictures that belong to a prompt, the
    reference's first.
    """
    first, *others = values

    def detail(row: int) -> dict[str, Any]:
        shown: dict[str, Any] = {"prompt": texts[row]}
        if others:
            shown |= {"metrics": others, "scores": [float(values[kind][row]) for kind in others]}
        return shown | ({"images": [keys[row].decode() for keys in images]} if len(images) else {})

    return pd.DataFrame(
        {"item": list(ids), VALUE: values[first], "detail": [partial(detail, row) for row in range(len(ids))]}
    )


def pictured(ids: Sequence[str], values: Mapping[str, Sequence[Floats]]) -> Bools:
    """(n,) which prompts get pictures: of those that a page can open, the ones on which generators differ most.

    `values` by kind hold (n,) of every generator. As many prompts as MOST_PICTURES allow for all of them and the
    reference.
    """
    generators = len(next(iter(values.values())))
    opened = np.isin(np.array(ids, dtype=object), run_folders.page_items(list(ids)))
    spread = np.zeros(len(ids))
    for of in values.values():
        every = np.array(of)
        scale = every.std() or 1.0
        spread = np.maximum(spread, np.ptp(every, axis=0) / scale)
    order = np.argsort(np.where(opened, -spread, np.inf), kind="stable")[: MOST_PICTURES // (generators + 1)]
    chosen = np.zeros(len(ids), bool)
    chosen[order] = True
    return chosen & opened
