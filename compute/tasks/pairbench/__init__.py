"""PairBench: pairs that a judge rates, published or made from a user's images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compute.content.items import content_key
from compute.tasks.data import CONDITIONS, RatedPairs
from compute.tasks.pairbench import hub, making, pairs
from compute.tasks.perturb import VERSION as PERTURB_VERSION
from compute.tasks.source import CARD, Need, Source, weight
from compute.types import NotHere, Task

# Benchmarks of user pairs: a task's revision is its manifest's digest, its split one of SPLITS.
OWN = ("own", "own-synthetic")
PROCEDURES = ("judging",)
PRINTED = ("pairbench/aggregate",)  # scores of the paper without items


def load(task: Task, *, source: Source, options: Mapping[str, Any]) -> dict[str, RatedPairs]:
    """Returns a task's pairs by condition. Raises NotHere and BadInput."""
    if task.benchmark in OWN:
        return pairs.load(_manifest(task, source), split=task.split, source=source)
    return hub.load(task, source=source)


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns the manifest's digest or the published files, and the versions of the code that draws from them."""
    versions = {"pairs": making.VERSION, "perturb": PERTURB_VERSION}
    if task.benchmark in OWN:
        path = _manifest(task, source)
        return {"manifest": content_key(path.read_bytes()).decode() if path.is_file() else "", **versions}
    return {"loader": hub.VERSION, "files": source.state(hub.REPO, revision=task.revision), **versions}


def needs(task: Task, *, source: Source) -> Need:
    """Returns a task's cost; the number of images is unknown until its pairs are read."""
    if task.benchmark in OWN:
        return Need(present=_manifest(task, source).is_file(), **asked(task))
    config = hub.part_of(task)[0]
    folder = source.present(hub.REPO, revision=task.revision, files=(CARD, f"{config}/*"))
    return Need(
        repo=hub.REPO,
        revision=task.revision,
        bytes=weight(folder) if folder else hub.SIZES.get(config),
        present=folder is not None,
        **asked(task),
    )


def asked(task: Task) -> dict[str, int]:
    """Returns the number of comparisons by a model without vectors, and of questions to a judge, under both conditions.

    A task's n_items is the number of pairs per condition in both orders, as the paper counts comparisons. Under the
    invariant condition a distance compares random applications of the transformation.
    """
    if task.n_items is None:
        return {}
    return {"comparisons": task.n_items * (1 + making.APPLICATIONS), "questions": task.n_items * len(CONDITIONS)}


def _manifest(task: Task, source: Source) -> Path:
    file = source.own.get(task.revision)
    if file is None or file.path is None:
        raise NotHere(
            f"The manifest {task.dataset} of task {task.key!r} is not where it was, or has changed: name it with --data"
        )
    return file.path
