"""Items with one class each: classified by the nearest prompt, by neighbours or by a probe, or clustered."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from compute.content.items import texts
from compute.tasks.data import Clusters, Labelled, Probe, ZeroShot, take
from compute.tasks.own.rows import OwnFacts, OwnRows
from compute.tasks.own.table import SPLIT, TEST, TRAIN
from compute.types import counted

PROMPTS = {"image": "a photo of a {}.", "text": "{}"}  # of a class, if the file has no prompts
UNUSED = ("val", "valid", "validation", "dev")  # splits used for neither training nor testing


def _classes(rows: OwnRows) -> tuple[str, np.ndarray, list[str], Callable[[], Labelled], Callable[..., OwnFacts]]:
    """Returns the items' modality; their classes (n,) int, -1 for a row without one; the sorted class names; the items;
    and a function for the facts, except those that depend on the question.
    """
    content, codes = rows.content("item"), rows.texts("label")
    rows.check_names()
    names = sorted(codes.distinct)
    rank = {name: at for at, name in enumerate(names)}
    labels = np.array([*map(rank.__getitem__, codes.distinct), -1])[codes.codes]
    if len(names) == 1:
        rows.whole(f"{rows.columns['label']} is {names[0]!r} in every row, and two classes are needed")
    facts = partial(
        OwnFacts,
        metrics=("accuracy",),
        chance=1 / len(names) if names else None,
        n_items=len(rows),
        modalities=(content.modality,),
        counts=f"{counted(len(rows), content.modality)} of {counted(len(names), 'class')}",
    )

    def items() -> Labelled:
        column = content.column(rows.cache)
        return Labelled(names=rows.names(), items=column, labels=labels, classes=tuple(names))

    return content.modality, labels, names, items, facts


def zero_shot(rows: OwnRows) -> OwnFacts:
    """Returns items classified by the nearest prompt; rows of one class must have the same prompt."""
    modality, labels, names, tested, facts = _classes(rows)
    start, about = PROMPTS[modality], "prompts in the file"
    if rows.has("prompt"):
        codes = rows.texts("prompt")
        first = np.full(len(names) + 1, -1, dtype=np.int64)
        order = np.arange(len(rows))[::-1]
        first[labels[order]] = order  # the last value written is the first row of the class
        earlier = first[labels]
        rows.fault(
            "prompt",
            (codes.codes != codes.codes[earlier]) & (codes.codes >= 0) & (labels >= 0),
            lambda at: (
                f"is {codes.at(at)!r}, in row {earlier[at] + 1:,} of the same class {codes.at(int(earlier[at]))!r}"
            ),
        )
        prompts = [codes.at(int(first[at])) for at in range(len(names))]
    else:
        prompts = [start.format(name.replace("_", " ")) for name in names]
        about = f'prompt "{start.format("CLASS")}"'
    return facts(
        category="Zero-shot Classification",
        modalities=tuple(sorted({modality, "text"})),
        notes=f"Classes by the {about}.",
        items=lambda: ZeroShot(test=tested(), prompts=texts(prompts, of=f"{rows.table.title}, prompts")),
    )


def clusters(rows: OwnRows) -> OwnFacts:
    """Returns items to be clustered."""
    *_, tested, facts = _classes(rows)
    return facts(category="Clustering", metrics=("nmi",), chance=None, items=lambda: Clusters(test=tested()))


def neighbours(rows: OwnRows) -> OwnFacts:
    """Returns items to be classified by their neighbours."""
    *_, tested, facts = _classes(rows)
    return facts(category="Nearest Neighbours", items=lambda: Clusters(test=tested()))


def probe(rows: OwnRows) -> OwnFacts:
    """Returns items classified by a probe, which is trained on the rows of the split `train` or, for data without
    splits, on half of each class, drawn once.
    """
    modality, labels, names, every, facts = _classes(rows)
    if rows.has(SPLIT):
        splits = rows.texts(SPLIT)
        kinds = np.array([*(value.strip().lower() for value in splits.distinct), ""], dtype=object)[splits.codes]
        rows.fault(
            SPLIT,
            ~np.isin(kinds, ("", TRAIN, TEST, *UNUSED)),
            lambda at: f"is {splits.at(at)!r}: write {TRAIN} or {TEST}",
        )
        train, test = kinds == TRAIN, kinds == TEST
        for name, part in ((TRAIN, train), (TEST, test)):
            if not part.any():
                rows.whole(f"no row has the {SPLIT} {name}: a probe is trained on {TRAIN} and scored on {TEST}")
        trained = np.unique(labels[train & (labels >= 0)])
        if train.any() and len(trained) < 2:
            rows.whole(f"the rows of the split {TRAIN} have one class, and a probe needs two")
        elif test.any():
            rows.fault(
                "label",
                test & (labels >= 0) & ~np.isin(labels, trained),
                lambda at: f"is {names[labels[at]]!r}, a class that no row of the split {TRAIN} has",
            )
        left = int(len(rows) - train.sum() - test.sum())
        notes = f"Skipped: {counted(left, 'row')} of other splits." if left else ""
    else:
        # Takes every other item of each class, including the first, in a fixed shuffled order.
        order = np.random.RandomState(42).permutation(len(rows))
        order = order[np.argsort(labels[order], kind="stable")]
        starts = np.flatnonzero(np.diff(labels[order], prepend=-2))
        train = np.zeros(len(rows), dtype=bool)
        train[order] = (np.arange(len(rows)) - np.repeat(starts, np.diff(starts, append=len(rows)))) % 2 == 0
        test, notes = ~train, "A probe is trained on half of each class, drawn once."

    def items() -> Probe:
        whole = every()
        return Probe(train=take(whole, np.flatnonzero(train)), test=take(whole, np.flatnonzero(test)))

    return facts(
        category="Linear Probing",
        n_items=int(test.sum()),
        counts=f"{test.sum():,} {modality}s of {len(names):,} classes, {train.sum():,} for training",
        notes=notes,
        items=items,
    )
