"""PairBench's splits: the difference between the two sides of a pair (section 3.1, Table 8)."""

from __future__ import annotations

from typing import NamedTuple

from compute.tasks.data import POSITION
from compute.tasks.perturb import PERTURBATIONS
from compute.types import BadInput

SHORT = {"cj": "colorjitter", "r": "rotate", "gb": "gaussianblur", "ps": "perspective", "et": "elastic"}


class Split(NamedTuple):
    """One split. `second` is the modality of the pairs' second side."""

    key: str
    title: str
    transformations: tuple[str, ...]  # keys of PERTURBATIONS, and POSITION
    second: str = "image"

    @property
    def change(self) -> str:
        """Returns the transformation applied to pixels; empty if there is none."""
        return next((kind for kind in self.transformations if kind != POSITION), "")

    @property
    def spatial(self) -> bool:
        """Returns whether it needs images of the same objects in several spatial relations."""
        return POSITION in self.transformations


def in_sentence(title: str) -> str:
    """Returns a split's title for use within a sentence: `colour jitter`, `Gaussian blur`."""
    return title if title.startswith("Gauss") else title[0].lower() + title[1:]


IMAGE_SPLITS = tuple(Split(key, PERTURBATIONS[kind].title, (kind,)) for key, kind in SHORT.items())
SPATIAL_SPLITS = (
    Split("sp", "Spatial position", (POSITION,)),
    *(
        Split(f"sp-{key}", f"Spatial position and {in_sentence(PERTURBATIONS[kind].title)}", (POSITION, kind))
        for key, kind in SHORT.items()
    ),
    Split("sp-text", "Spatial position, image and text", (POSITION,), second="text"),
)
SPLITS = {split.key: split for split in (*IMAGE_SPLITS, *SPATIAL_SPLITS)}
# Splits of tasks whose own `split` names a file of the data set.
OF_TASK = {
    **{f"pairbench/{photographs}-{key}": key for photographs in ("coco", "in100") for key in SHORT},
    **{f"pairbench/wu-ii-{half}-{split.key}": split.key for half in "ab" for split in SPATIAL_SPLITS[:-1]},
    **{f"pairbench/wu-it-{half}": "sp-text" for half in "ab"},
    **{f"mini/pairs-{key}": key for key in ("cj", "r", "gb", "ps", "et", "sp", "sp-text")},
}


def split_of(task: str, *, split: str) -> str:
    """Returns the key of a task's split, given its own `split`; empty for another kind of task."""
    return split if split in SPLITS else OF_TASK.get(task, "")


def named(keys: tuple[str, ...]) -> tuple[Split, ...]:
    """Returns the splits of these keys. Raises BadInput."""
    for key in keys:
        if key not in SPLITS:
            raise BadInput(f"There is no split {key!r}; there are: {', '.join(SPLITS)}")
    return tuple(SPLITS[key] for key in dict.fromkeys(keys))


def expected(kind: str, condition: str) -> int:
    """Returns the true score of a pair type under a condition (section 3.1)."""
    if kind == "irrelevant":
        return 1
    return 8 if kind.startswith("transformed") and condition == "sensitive" else 10
