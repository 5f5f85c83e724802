"""The mini suite: a small drawn task of every kind. All synthetic, nothing to download.

Items are drawn when a task is loaded, from seeds that its key alone decides. Scenes are never training scenes of the
bundled model: their descriptions are held out by hash, and photographs are cut from parts that training never sees.
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

GENERATOR_VERSION = 1  # part of every fingerprint: raise it when items of all tasks change
CHANGED = {"mini/image-choice": 1}  # how often the items of one task changed alone
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
# In a separate suite, for judges.
PAIRS: dict[str, Callable[[], dict[str, Data]]] = {
    f"mini/pairs-{split}": partial(pairs.rated, split) for split in ("cj", "r", "gb", "ps", "et", "sp", "sp-text")
}


def load(task: Task, *, source: Source | None = None, options: Mapping[str, Any] | None = None) -> dict[str, Data]:
    """Returns the task's items by subset, drawn once a process. Nothing is read but scikit-image's photographs.

    Raises NotHere without scikit-image.
    """
    return dict(drawn(task.key))


@cache
def drawn(key: str) -> dict[str, Data]:
    """Returns the items by subset of a key of TASKS or PAIRS, drawn once a process. Not to be changed."""
    made = (TASKS | PAIRS)[key]()
    return made if isinstance(made, dict) else {"default": made}


def edition() -> str:
    """Of all that is drawn: it changes with any task's items."""
    return f"{GENERATOR_VERSION}.{sum(CHANGED.values())}"


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns the version of what is drawn; of pairs also those of their drawing and of the transformations."""
    drawn = {"pairs": making.VERSION, "perturb": PERTURB_VERSION} if task.key in PAIRS else {}
    return {"generator": GENERATOR_VERSION + CHANGED.get(task.key, 0), **drawn}


def needs(task: Task, *, source: Source) -> Need:
    """Nothing is fetched; pairs count the comparisons and questions they take."""
    return Need(**(pairbench.asked(task) if task.key in PAIRS else {}))
