"""The tasks of MIEB and ViDoRe as items, from Parquet on the hub at pinned revisions. Protocols: MIEB sections 3, 4."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from compute.tasks.data import Data
from compute.tasks.mieb import retrieval, rows, sets
from compute.tasks.mieb.rows import Row
from compute.tasks.source import Need, Source, weight
from compute.types import Task

LOADER_VERSION = 2  # part of every run's fingerprint: increase it when the items change

# Bytes per pixel, to estimate the size of data sets without a published size: small images are lossless, others are
# JPEG. Published sizes range from 2.2 (CIFAR) to 3.3 (GTSRB), and from 0.11 (RP2k) to 1.0 (Country211) with median 0.2.
BYTES_PER_PIXEL = {"small": 2.2, "large": 0.2}
SMALL = 96 * 96  # pixels

# Functions that make the items of a procedure's tasks: (row, source, subset, options) -> Data.
PROCEDURES = {
    "probe": sets.probe,
    "clustering": sets.clusters,
    "zero_shot": sets.zero_shot,
    "matching": sets.matches,
    "sts": sets.sentences,
    "retrieval": retrieval.load,
    "multiple_choice": retrieval.load,
}


def load(task: Task, *, source: Source, options: Mapping[str, Any]) -> dict[str, Data]:
    """Returns a task's items by subset (language, or `default`)."""
    row = rows.row(task)
    return {subset: PROCEDURES[task.procedure](row, source, subset, options) for subset in task.subsets}


def options_of(task: Task) -> Mapping[str, tuple[Any, ...]]:
    """Returns the option `prompts`: as in the public code, with line ends, or clean."""
    return {"prompts": ("public", "clean")} if rows.row(task).keeps_line_ends else {}


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns the loader's version, the task's facts, and the files if no pinned revision identifies them."""
    row = rows.row(task)
    return {"loader": LOADER_VERSION, "facts": rows.digest(row), "files": source.state(row.repo, revision=row.revision)}


def needs(task: Task, *, source: Source) -> Need:
    """Returns the task's cost: bytes of downloaded files, else the published size or an estimate. For a probe, it
    covers both splits, and the training items expected in its draws.
    """
    row: Row = rows.row(task)
    folder = row.present(source, procedure=task.procedure)
    known = rows.contents(task)
    trained = 0
    sizes = [known.bytes or _bytes(known.images, known.pixels)]
    if task.procedure == "probe":
        sizes.append(known.train_bytes or _bytes(known.train_images, known.train_pixels))
        if known.train_images and known.classes:
            trained = drawn(known.train_images, classes=known.classes, each=row.samples_per_label, draws=row.draws)
    return Need(
        repo=row.repo,
        revision=row.revision,
        bytes=weight(folder) if folder else sum(filter(None, sizes)) or None,
        present=folder is not None,
        images=None if known.images is None else known.images + trained,
        texts=known.texts,
        shared=known.shared,
        comparisons=_comparisons(task, known),
        questions=None,
    )


def _bytes(images: int | None, pixels: int | None) -> int | None:
    if not images or not pixels:
        return None
    return round(images * pixels * BYTES_PER_PIXEL["small" if pixels <= SMALL else "large"])


def drawn(items: int, *, classes: int, each: int, draws: int) -> int:
    """Returns the expected number of distinct training items in a probe's draws, for classes of equal size. An item of
    a class of m items is not in a draw of k with probability 1 - k / m, and in none of the draws with that probability
    to the power of their number.
    """
    of_class = items / classes
    return round(items * (1 - (1 - min(1.0, each / of_class)) ** draws))


def _comparisons(task: Task, known: rows.Contents) -> int | None:
    """Returns the number of pairs that a model without vectors compares: every image of an item with every caption, or
    two images in both orders.
    """
    if task.n_items is None:
        return None
    if task.procedure == "sts":
        return 2 * task.n_items
    if task.procedure == "matching" and known.images and known.texts:
        return task.n_items * math.ceil(known.images / task.n_items) * math.ceil(known.texts / task.n_items)
    return None
