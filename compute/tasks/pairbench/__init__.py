"""PairBench: pairs that a judge rates, from a manifest of one's own images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.content.items import content_key
from compute.tasks.data import CONDITIONS, RatedPairs
from compute.tasks.pairbench import making, pairs
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.source import Need, Source
from compute.types import NotHere, Task

OWN = "own"  # the benchmark of one's own pairs: a task's revision is its manifest's digest, its split one of SPLITS
PROCEDURES = ("judging",)


def load(task: Task, *, source: Source, options: Mapping[str, Any]) -> dict[str, RatedPairs]:
    """A task's pairs by condition. Raises NotHere and BadInput."""
    return pairs.load(_manifest(task, source), split=task.split, source=source)


def options_of(task: Task) -> Mapping[str, tuple[Any, ...]]:
    """None: what may be chosen is chosen when the pairs are made."""
    return {}


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """The manifest's digest, and the version of the transformations."""
    path = _manifest(task, source)
    return {
        "manifest": content_key(path.read_bytes()).decode() if path.is_file() else "",
        "perturb": PERTURB_VERSION,
        "loader": making.VERSION,
    }


def needs(task: Task, *, source: Source) -> Need:
    """Nothing to fetch; how many images are shown is not known before the manifest is read."""
    present = _manifest(task, source).is_file()
    return Need(repo="", revision="", bytes=0, present=present, images=None, texts=None, **asked(task))


def asked(task: Task) -> dict[str, int]:
    """How often a model without vectors compares, and how many questions a judge answers, under both conditions.

    A task's n_items are a condition's pairs in both orders, as the paper counts comparisons. Under the invariant
    condition a distance compares random applications of the transformation.
    """
    if task.n_items is None:
        return {}
    return {"comparisons": task.n_items * (1 + making.APPLICATIONS), "questions": task.n_items * len(CONDITIONS)}


def _manifest(task: Task, source: Source) -> Path:
    if task.benchmark != OWN:
        raise NotHere(f"Task {task.key!r} is no split of a manifest of pairs")
    if task.revision not in source.own:
        raise NotHere(
            f"The manifest {task.dataset} of task {task.key!r} is not where it was, or has changed: name it with --data"
        )
    return source.own[task.revision]
