"""The training splits of UniSim's Table 5, read by the evaluation's loaders in the layouts of the public data.

Official splits are used if a data set has them: NIGHTS, PieAPP, HPDv2, MagicBrush, HQ-Edit, Polaris and PIPAL (whose
validation images are evaluated). KADID-10k has none: its first 72 reference images are for training, the last 9 for
evaluation. `check_leaks` compares the contents in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Annotated, NamedTuple

import numpy as np

from compute import tasks as loaders
from compute.catalog import shipped
from compute.content.items import content_key
from compute.progress import followed
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import Source
from compute.tasks.unisim import QUESTIONS, REPO
from compute.tasks.unisim.files import Files
from compute.training.examples import TASKS, Examples, packed
from compute.types import BadInput, LikenessError, NotHere, Task, suggestion, unknown

# At most this many and this share of a data set's examples select the stored step; Table 5 does not specify it.
VALIDATION_COUNT, VALIDATION_SHARE = 500, 0.1
BENCHMARKS = ("unisim", "mini")  # whose tasks are evaluated during training
LISTED = 5  # training images named in an error


class TrainingSplit(NamedTuple):
    """One data set's examples of one task."""

    task: str
    dataset: str
    folder: str  # of ORIGINS
    evaluated: str  # the catalogue's task whose questions are drawn in the same way


# Publishers of the training splits, by their folder below that of the benchmark's data.
ORIGINS = {
    "nights": "the DreamSim project's page, dreamsim-nights.github.io",
    "pie_app": "the data set's page, civc.ucsb.edu/graphics/Papers/CVPR2018_PieAPP",
    "hpdv2": "hub data set ymhao/HPDv2",
    "MagicBrush": "hub data set osunlp/MagicBrush",
    "HQ-Edit": "hub data set UCSC-VLAA/HQ-Edit",
    "polaris": "hub data set yuwd/Polaris",
    "kadid10k": "the data set's page, database.mmsp-kn.de",
    "PIPAL": "github.com/HaomingCai/PIPAL-dataset",
}
SPLITS = (
    TrainingSplit("image-choice", "nights", "nights", "unisim/nights"),
    TrainingSplit("image-choice", "pieapp", "pie_app", "unisim/pieapp-2afc"),
    TrainingSplit("image-for-text", "hpdv2", "hpdv2", "unisim/hpdv2"),
    TrainingSplit("image-for-text", "magicbrush", "MagicBrush", "unisim/magicbrush"),
    TrainingSplit("image-for-text", "hq-edit", "HQ-Edit", "unisim/hq-edit-it"),
    TrainingSplit("text-for-image", "polaris", "polaris", "unisim/polaris"),
    TrainingSplit("text-for-image", "hq-edit", "HQ-Edit", "unisim/hq-edit-text"),
    TrainingSplit("quality", "kadid-10k", "kadid10k", "unisim/kadid-10k"),
    TrainingSplit("quality", "pieapp", "pie_app", "unisim/pieapp-iqa"),
    TrainingSplit("quality", "pipal", "PIPAL", "unisim/pipal"),
)


def training(rows: Sequence[TrainingSplit], *, source: Source, seed: int = 0) -> list[Examples]:
    """Returns the examples of these rows of SPLITS.

    Raises NotHere with the missing split and its publisher, BadInput for tables with unexpected content.
    """
    try:
        files = Files.of(REPO, source.folder(REPO, revision=""))
    except NotHere as error:
        named = "; ".join(sorted({f"{row.folder}/ from {ORIGINS[row.folder]}" for row in rows}))
        raise NotHere(f"{error}. The training splits belong into the same folder: {named}") from error
    sets = []
    for row in rows:
        where, random = f"{row.dataset}, examples of {row.task}", Random(f"{seed} training {row.task} {row.dataset}")
        remedy = (
            f"The training split is published by {ORIGINS[row.folder]}; put it into {files.folder / row.folder}, or "
            "omit it"
        )
        try:
            samples = QUESTIONS[row.evaluated].draw(files, random, 0, split="train")
        except NotHere as error:
            raise NotHere(f"{where}: {error}. {remedy}") from error
        except (KeyError, ValueError, IndexError, TypeError) as error:
            raise BadInput(
                f"{where}: its table has no {error}, so it is not the training split in its public layout. {remedy}"
            ) from error
        if not samples:
            raise BadInput(f"{where}: the training split is empty. {remedy}")
        sets.append(packed(samples, task=row.task, dataset=row.dataset, files=files, cache=source.cache))
    return sets


def divided(parts: Sequence[Examples]) -> tuple[list[Examples], list[Examples]]:
    """Splits into training examples, and at most VALIDATION_COUNT examples of each data set that select the stored
    step.

    No image is in both, regardless of its file name or data set: two tasks may share images (PieAPP's, HQ-Edit's). A
    data set whose examples are all connected is used only for training.
    """
    held = [held_out(part, share=VALIDATION_SHARE) for part in parts]
    validation = [
        part.take(rows[np.linspace(0, len(rows) - 1, min(len(rows), VALIDATION_COUNT)).astype(int)])
        for part, chosen in zip(parts, held, strict=True)
        if len(rows := np.flatnonzero(chosen))
    ]
    shown = np.concatenate([np.zeros(0, "S32"), *(column.keys for part in validation for column in part.images)])
    training = [
        part.take(np.flatnonzero(~chosen & ~np.any([np.isin(column.keys, shown) for column in part.images], axis=0)))
        for part, chosen in zip(parts, held, strict=True)
    ]
    return [part for part in training if len(part)], validation


def held_out(part: Examples, *, share: float) -> np.ndarray:
    """Returns (n,) bool: about this share of the examples, less for large sets; none if it would be all.

    Examples connected by shared images, directly or through others, stay together; so do all distortions of one of
    KADID-10k's images. The side depends only on their names, so every seed holds out the same examples.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    named = [column.name(row).partition(", ")[2] for column in part.images for row in range(len(part))]
    if part.dataset == "kadid-10k":
        named = [name.rpartition("/")[2].partition("_")[0] for name in named]
    scenes, scene = np.unique(named, return_inverse=True)
    shown = scene.reshape(-1, len(part)).T  # (n, 2 or 3)
    first = np.repeat(shown[:, 0], shown.shape[1])
    links = coo_matrix((np.ones(len(first), dtype=np.int8), (first, shown.ravel())), shape=(len(scenes),) * 2)
    _, group = connected_components(links, directed=False)
    by_name = np.unique(group, return_index=True)[1]  # a group is represented by its first scene by name
    fraction = np.array([int(content_key(str(scenes[at]))[:8], 16) / 2**32 for at in by_name])
    held = (fraction < min(share, VALIDATION_COUNT / len(part)))[group[shown[:, 0]]]
    return held & ~held.all()


Datasets = Annotated[
    list[str] | Sequence[str],
    "The data sets of a task, image-for-text=hpdv2,magicbrush; repeatable. Default: all.",
]


def chosen(datasets: Sequence[str] = (), *, tasks: Sequence[str] = ()) -> list[TrainingSplit]:
    """Returns the rows of SPLITS by options such as `image-for-text=hpdv2,magicbrush` (the ablation of Table 4).

    A task without an option uses all of Table 5. With `tasks`, only these are returned. Raises BadInput for an unknown
    task, for a data set without examples of the task, and if nothing is left.
    """
    only: dict[str, list[str]] = {}
    for option in datasets:
        task, equals, listed = (part.strip() for part in option.partition("="))
        if not equals:
            raise BadInput(f"{option!r} does not map a task to data sets: write image-for-text=hpdv2,magicbrush")
        only[task] = [name.strip() for name in listed.split(",") if name.strip()]
    for task in (*tasks, *only):
        if task not in TASKS:
            raise BadInput(unknown("training task", task, TASKS, listed=True))
        known = [row.dataset for row in SPLITS if row.task == task]
        if others := [name for name in only.get(task, ()) if name not in known]:
            raise BadInput(
                f"No data set {others[0]!r} has examples of {task}.{suggestion(others[0], known)} There are: "
                f"{', '.join(known)}"
            )
    rows = [row for row in SPLITS if row.task in (tasks or TASKS) and row.dataset in only.get(row.task, (row.dataset,))]
    if not rows:
        raise BadInput("No data set is left to train on: name at least one of a task that is trained")
    return rows


def evaluated_tasks() -> list[Task]:
    """Returns the tasks whose items must not be in the training data: all of UniSim-Bench and of the drawn suites that
    have items.
    """
    return [task for task in shipped().tasks if task.benchmark in BENCHMARKS and loaders.computable(task)]


def check_leaks(sets: Sequence[Examples], *, source: Source) -> str:
    """Compares every image of the examples with those of the evaluated tasks. Returns a sentence on what was compared.

    A leak is an image of an evaluated item, in any role, that is also an image of a training example, by the bytes of
    their files; it is not recognised in another encoding. Texts do not count: many data sets share prompts, and an item
    of the four core tasks is never only a text.

    `source` must be offline: nothing is fetched. Raises BadInput with data set and item of the first leaks, so that
    training does not start.
    """
    images: dict[bytes, str] = {}  # content key -> description of the image
    rows, compared = evaluated_tasks(), 0
    for task in followed(rows, "Reading evaluation items", "task"):
        try:
            columns = loaders.every_column(loaders.load(task, source=source), variants=False)
        except LikenessError:
            continue
        compared += 1
        for column in columns:
            if column.modality == "image":
                for row, key in enumerate(column.keys.tolist()):
                    images.setdefault(key, f"{column.name(row)!r} of {task.key}")
    images.pop(NO_KEY, None)
    known = np.array(list(images), dtype="S32")
    hits = [
        f"{column.name(int(row))!r} is {images[column.keys[row]]}"
        for part in sets
        for column in part.images
        for row in np.flatnonzero(np.isin(column.keys, known))
    ]
    if hits:
        raise BadInput(
            f"{len(hits)} training images are evaluated too: {'; '.join(hits[:LISTED])}. Nothing was trained: take "
            "these examples out of the training data, or drop the data set"
        )
    missing = len(rows) - compared
    left = f"; {missing} tasks were not compared: their data is not on this machine or unreadable" if missing else ""
    return f"No training image is of {len(images):,} images of {compared} evaluated tasks{left}"
