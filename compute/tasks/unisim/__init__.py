"""UniSim-Bench's 25 data sets as items, drawn with a fixed seed. Rules: UniSim-Bench section 3, Table 1.

The samples behind the published numbers cannot be reproduced: the public loaders drew their seeds at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random
from typing import Any, NamedTuple

import numpy as np

from compute.tasks.data import Data, Mixed, Retrieval
from compute.tasks.source import Need, Source, weight
from compute.tasks.unisim import ground_truth, image_pairs, odd, samples, text_images
from compute.tasks.unisim.files import Files
from compute.tasks.unisim.samples import Sample
from compute.types import BadInput, NotHere, Task

LOADER_VERSION, SEED = 1, 0
PROCEDURES = ("choice", "odd_one_out", "retrieval")
REPO, REWARDS, CIFAR = "saraghznfri/unisim_data", "THUDM/ImageRewardDB", "mteb/cifar100"
CIFAR_REVISION = "ac5511f885f65fb75d31a9d8810a8440913f7721"  # as in MIEB's row
# Only the validation split is used, so the training images are not fetched.
REWARD_FILES = ("metadata-validation.parquet", "images/validation/*")
# Download sizes in bytes, as listed on the hub; that of the benchmark's own data set is not listed.
SIZES = {REWARDS: 712_000_000 + 415_000_000, CIFAR: 22_600_000 + 118_000_000}
HPDV2 = "unisim/hpdv2"
ALTERNATIVES = (2, 3, 4, 5, 6, 7, 8)  # Figure 4
LANDMARKS = {"unisim/roxford": "roxford5k", "unisim/rparis": "rparis6k"}  # folders (Radenovic et al. 2018)
# Relevant and ignored views by protocol; all others are wrong.
PROTOCOLS = {"medium": (("easy", "hard"), ("junk",)), "hard": (("hard",), ("junk", "easy"))}


class Questions(NamedTuple):
    """How a task's samples are drawn, and what its reference and alternatives are."""

    draw: Callable[..., list[Sample]]  # draw(files, random, count), and the task's options
    reference: str = ""  # image | text | empty: the question is a quality
    alternatives: str = "image"
    question: str = "reference"
    count: int = 2  # alternatives per sample, unless an option sets it
    look: Callable[..., samples.Look] = samples.looker  # look(files, cache=): how names become columns
    repo: str = REPO
    revision: str = ""  # empty: the task row's
    files: tuple[str, ...] = ()  # patterns of files to fetch; none: all
    version: int = LOADER_VERSION  # part of the fingerprint: increase it when other questions are drawn


NEARER = partial(Questions, reference="image")
FITS_TEXT = partial(Questions, reference="text")
FITS_IMAGE = partial(Questions, reference="image", alternatives="text")
BETTER = partial(Questions, question="quality")
ODD = partial(Questions, question=samples.ODD, count=3)

QUESTIONS: dict[str, Questions] = {
    "unisim/nights": NEARER(image_pairs.nights),
    "unisim/bapps": NEARER(image_pairs.bapps),
    "unisim/pieapp-2afc": NEARER(image_pairs.pieapp),
    "unisim/imagereward": FITS_TEXT(text_images.imagereward, repo=REWARDS, files=REWARD_FILES),
    HPDV2: FITS_TEXT(partial(text_images.hpdv2, alternatives=2)),
    "unisim/agiqa-3k-alignment": FITS_TEXT(text_images.agiqa),
    "unisim/magicbrush": FITS_TEXT(text_images.magicbrush),
    "unisim/hq-edit-it": FITS_TEXT(partial(text_images.hq_edit, asks="text")),
    "unisim/cd-coco": FITS_IMAGE(text_images.cd_coco),
    "unisim/polaris": FITS_IMAGE(text_images.polaris),
    "unisim/hq-edit-text": FITS_IMAGE(partial(text_images.hq_edit, asks="image")),
    "unisim/kadid-10k": BETTER(image_pairs.kadid),
    "unisim/koniq-10k": BETTER(partial(image_pairs.koniq, attribute="MOS")),
    "unisim/pieapp-iqa": BETTER(image_pairs.pieapp_quality),
    "unisim/agiqa-3k-quality": BETTER(image_pairs.agiqa_quality),
    "unisim/pipal": BETTER(image_pairs.pipal),
    "unisim/sice-brightness": Questions(image_pairs.sice, question="brightness", look=image_pairs.smaller),
    **{
        f"unisim/koniq-10k-{attribute}": Questions(partial(image_pairs.koniq, attribute=attribute), question=attribute)
        for attribute in ("brightness", "colorfulness", "contrast", "sharpness")
    },
    "unisim/imagenet-ooo": ODD(odd.imagenet, version=2),
    "unisim/cifar-100-ooo": ODD(odd.cifar, look=odd.cifar_images, repo=CIFAR, revision=CIFAR_REVISION),
}


def load(task: Task, *, source: Source, options: Mapping[str, Any]) -> dict[str, Data]:
    """Returns a task's items; revisited Oxford and Paris have the subsets medium and hard."""
    repo, revision, patterns = _where(task)
    files = Files.of(repo, source.folder(repo, revision=revision, files=patterns))
    if task.key in LANDMARKS:
        return _landmarks(files, LANDMARKS[task.key], samples.looker(files, cache=source.cache))
    row = QUESTIONS[task.key]
    drawn = row.draw(files, Random(f"{SEED} {task.key}"), task.n_items, **options)
    if not drawn:
        raise BadInput("No question could be drawn: the data set's files are not what its loader expects")
    return {
        "default": samples.items(
            drawn,
            row.look(files, cache=source.cache),
            reference=row.reference,
            alternatives=row.alternatives,
            question=row.question,
        )
    }


def options_of(task: Task) -> Mapping[str, tuple[Any, ...]]:
    """Returns the option `alternatives`: the number of images per prompt of HPDv2 to choose from."""
    return {"alternatives": ALTERNATIVES} if task.key == HPDV2 else {}


def identity(task: Task, *, source: Source) -> dict[str, Any]:
    """Returns the loader's version, the seed, the number of questions, and the files if no revision identifies them."""
    repo, revision, _ = _where(task)
    return {
        "loader": QUESTIONS[task.key].version if task.key in QUESTIONS else LOADER_VERSION,
        "seed": SEED,
        "drawn": task.n_items,
        "files": source.state(repo, revision=revision),
    }


def needs(task: Task, *, source: Source) -> Need:
    """Returns the task's cost. The data set's archives contain all tasks, so their bytes are counted once per data
    set.
    """
    repo, revision, patterns = _where(task)
    folder = source.present(repo, revision=revision, files=patterns)
    row, count = QUESTIONS.get(task.key), task.n_items or 0
    shown = [row.alternatives] * row.count + [row.reference] if row else []
    compared = (
        row.count * (row.count - 1 if row.question == samples.ODD else 1) if row else 0
    )  # both orders for odd one out
    return Need(
        repo=repo,
        revision=revision,
        bytes=weight(folder) if folder else SIZES.get(repo),
        present=folder is not None,
        images=shown.count("image") * count or None,
        texts=shown.count("text") * count or None,
        comparisons=compared * count if count else None,
        questions=task.n_items if row else None,
    )


def _where(task: Task) -> tuple[str, str, tuple[str, ...]]:
    """Returns data set, revision, and patterns of the files that the task reads; none: all."""
    if task.key in QUESTIONS:
        row = QUESTIONS[task.key]
        return row.repo, row.revision or task.revision, row.files
    if task.key not in LANDMARKS:
        raise NotHere(f"Task {task.key!r} has no row in QUESTIONS of compute/tasks/unisim/__init__.py: add one")
    return REPO, task.revision, ()


def _landmarks(files: Files, folder: str, look: samples.Look) -> dict[str, Retrieval]:
    """Returns revisited Oxford or Paris: both protocols over the same queries and images. Queries are whole images, as
    in the public code.
    """
    folder_path = f"retrieval/revisitop/{folder}"
    truth = ground_truth.read(files.read(f"{folder_path}/gnd_{folder}.pkl"), of=f"gnd_{folder}.pkl")
    try:
        listed, query_names, rows = truth["imlist"], truth["qimlist"], truth["gnd"]
        marks = [
            {kind: np.asarray(row[kind], dtype=np.int64).ravel() for kind in ("easy", "hard", "junk")} for row in rows
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"gnd_{folder}.pkl has no {error}: it is not the revisited ground truth") from error
    queries, documents = (
        Mixed(
            names=tuple(map(str, names)),
            image=look([f"{folder_path}/jpg/{name}.jpg" for name in names], True),
            image_at=np.arange(len(names)),
        )
        for names in (query_names, listed)
    )

    def pairs(kinds: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        lists = [np.concatenate([row[kind] for kind in kinds]) for row in marks]
        return np.repeat(np.arange(len(lists)), [len(indices) for indices in lists]), np.concatenate(lists)

    by_protocol = {}
    for protocol, (right, out) in PROTOCOLS.items():
        query, document = pairs(right)
        by_protocol[protocol] = Retrieval(
            queries=queries,
            documents=documents,
            ignored=pairs(out),
            relevant=(query, document, np.ones(len(query), dtype=np.int64)),
        )
    return by_protocol
