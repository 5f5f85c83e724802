"""The mini suite: a small drawn task of every kind. Everything is synthetic and nothing is downloaded.

Items are drawn when a task is loaded, from seeds determined by its key. No scene is in the bundled model's training
data: descriptions are held out by hash, and photographs are cropped from parts not used in training.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from compute.tasks import pairbench
from compute.tasks.data import Data
from compute.tasks.mini import choices, finding, grouping, pairing, pairs
from compute.tasks.pairbench import making
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.source import Need, Source
from compute.types import Task

GENERATOR_VERSION = 1  # part of every fingerprint: increase it when items of all tasks change
CHANGED = {"mini/image-choice": 1}  # how often the items of only one task changed
PROCEDURES = (
    "choice",
    "odd_one_out",
    "retrieval",
    "probe",
    "zero_shot",
    "clustering",
    "sts",
    "matching",
    "multiple_choice",
    "judging",
)

TASKS: dict[str, Callable[[], Data | dict[str, Data]]] = {  # items, or items per subset
    **{f"mini/{task}": partial(choices.choice, task) for task in choices.DRAWN},
    "mini/odd-one-out": choices.odd_one_out,
    "mini/instances": finding.instances,
    "mini/shapes": grouping.shapes,
    "mini/shapes-present": grouping.shapes_present,
    "mini/photographs": grouping.photographs,
    "mini/things": grouping.things,
    "mini/swaps": pairing.swaps,
    "mini/places": pairing.places,
    "mini/sentences": pairing.sentences,
    "mini/texts": pairing.texts,
    "mini/images-by-text": finding.images_by_text,
}
# In a separate suite for judges.
PAIRS: dict[str, Callable[[], dict[str, Data]]] = {
    f"mini/pairs-{split}": partial(pairs.rated, split) for split in ("cj", "r", "gb", "ps", "et", "sp", "sp-text")
}


def load(task: Task, *, source: Source | None = None, options: Mapping[str, Any] | None = None) -> dict[str, Data]:
    """Returns the task's items by subset, drawn once per process. Only scikit-image's photographs are read.

    Raises NotHere without scikit-image.
    """
    return dict(drawn(task.key))


@cache
def drawn(key: str) -> dict[str, Data]:
    """Returns the items by subset of a key of TASKS or PAIRS, drawn once per process. Must not be modified."""
    made = (TASKS | PAIRS)[key]()
    return made if isinstance(made, dict) else {"default": made}


def edition() -> str:
    """Returns the version of all drawn items, which changes with any task's items."""
    return f"{GENERATOR_VERSION}.{sum(CHANGED.values())}"


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns the version of the drawn items; for pairs, also the versions of their drawing and of the
    transformations.
    """
    drawn = {"pairs": making.VERSION, "perturb": PERTURB_VERSION} if task.key in PAIRS else {}
    return {"generator": GENERATOR_VERSION + CHANGED.get(task.key, 0), **drawn}


def needs(task: Task, *, source: Source) -> Need:
    """Returns the task's cost: nothing is fetched, but pairs need comparisons and questions."""
    return Need(**(pairbench.asked(task) if task.key in PAIRS else {}))
