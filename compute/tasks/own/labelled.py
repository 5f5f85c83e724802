"""Items with a class each: given the class of the nearest prompt, or of their neighbours, classified by a probe, or
grouped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compute.content import items
from compute.tasks.data import Clusters, Labelled, Probe, ZeroShot, take
from compute.tasks.own.rows import OwnContent, OwnFacts, OwnRows, modalities
from compute.tasks.own.table import SPLIT, TEST, TRAIN
from compute.types import counted

PROMPTS = {"image": "a photo of a {}.", "text": "{}"}  # of a class, where the file has no prompts
UNUSED = ("val", "valid", "validation", "dev")  # splits that neither train nor test


@dataclass(frozen=True, kw_only=True)
class _OwnClasses:
    """The items of a table and their classes."""

    rows: OwnRows
    content: OwnContent
    labels: np.ndarray  # (n,) int, -1 for a row without
    names: tuple[str, ...]  # sorted

    @classmethod
    def of(cls, rows: OwnRows) -> _OwnClasses:
        content = rows.content("item")
        codes = rows.texts("label")
        rows.check_names()
        names = sorted(codes.distinct)
        rank = {name: at for at, name in enumerate(names)}
        labels = np.array([*map(rank.__getitem__, codes.distinct), -1])[codes.codes]
        if len(names) == 1:
            rows.whole(f"{rows.columns['label']} is {names[0]!r} in every row, and two classes are needed")
        return cls(rows=rows, content=content, labels=labels, names=tuple(names))

    @property
    def counts(self) -> str:
        return f"{counted(len(self.labels), self.content.modality)} of {counted(len(self.names), 'class')}"

    @property
    def chance(self) -> float | None:
        return 1 / len(self.names) if self.names else None

    def items(self) -> Labelled:
        return Labelled(
            names=self.rows.names(),
            items=self.content.column(self.rows.cache),
            labels=self.labels,
            classes=self.names,
        )


def zero_shot(rows: OwnRows) -> OwnFacts:
    """Items that are given the class of the nearest prompt."""
    classes = _OwnClasses.of(rows)
    start = PROMPTS[classes.content.modality]
    if rows.has("prompt"):
        prompts, about = _prompts(rows, classes), "prompts in the file"
    else:
        prompts = [start.format(name.replace("_", " ")) for name in classes.names]
        about = f'prompt "{start.format("CLASS")}"'
    return OwnFacts(
        category="Zero-shot Classification",
        metrics=("accuracy",),
        chance=classes.chance,
        n_items=len(rows),
        modalities=modalities((classes.content.modality, "text")),
        counts=classes.counts,
        notes=f"Classes by the {about}.",
        items=lambda: ZeroShot(test=classes.items(), prompts=items.texts(prompts, of=f"{rows.table.title}, prompts")),
    )


def _prompts(rows: OwnRows, classes: _OwnClasses) -> list[str]:
    """One prompt a class; rows of one class with unlike prompts are faults."""
    codes = rows.texts("prompt")
    first = np.full(len(classes.names) + 1, -1, dtype=np.int64)
    order = np.arange(len(rows))[::-1]
    first[classes.labels[order]] = order  # the last that is written is the first row of its class
    earlier = first[classes.labels]
    rows.fault(
        "prompt",
        (codes.codes != codes.codes[earlier]) & (codes.codes >= 0) & (classes.labels >= 0),
        lambda at: f"is {codes.at(at)!r}, in row {earlier[at] + 1:,} of the same class {codes.at(int(earlier[at]))!r}",
    )
    return [codes.at(int(first[at])) for at in range(len(classes.names))]


def clusters(rows: OwnRows, *, category: str = "Clustering", metric: str = "nmi") -> OwnFacts:
    """Items to be grouped; or each to be given the class of its neighbours, by accuracy."""
    classes = _OwnClasses.of(rows)
    return OwnFacts(
        category=category,
        metrics=(metric,),
        chance=classes.chance if metric == "accuracy" else None,
        n_items=len(rows),
        modalities=(classes.content.modality,),
        counts=classes.counts,
        items=lambda: Clusters(test=classes.items()),
    )


def probe(rows: OwnRows) -> OwnFacts:
    """Items whose class a probe tells, trained on the rows of the split `train`; of data without splits on half of each
    class, drawn once."""
    classes = _OwnClasses.of(rows)
    if not rows.has(SPLIT):
        train = _half(classes.labels)
        return _probe(classes, train, ~train, notes="A probe is trained on half of each class, drawn once.")
    splits = rows.texts(SPLIT)

    def are(wanted: Callable[[str], bool]) -> np.ndarray:
        """(n,) bool: the rows whose split, in lower case, is wanted."""
        return splits.rows([wanted(value.strip().lower()) for value in splits.distinct])

    rows.fault(
        SPLIT,
        are(lambda value: bool(value) and value not in (TRAIN, TEST, *UNUSED)),
        lambda at: f"is {splits.at(at)!r}: write {TRAIN} or {TEST}",
    )
    train, test = are(TRAIN.__eq__), are(TEST.__eq__)
    for name, part in ((TRAIN, train), (TEST, test)):
        if not part.any():
            rows.whole(f"no row has the {SPLIT} {name}: a probe is trained on {TRAIN} and scored on {TEST}")
    labels = classes.labels
    trained = np.unique(labels[train & (labels >= 0)])
    if train.any() and len(trained) < 2:
        rows.whole(f"the rows of the split {TRAIN} have one class, and a probe needs two")
    elif test.any():
        rows.fault(
            "label",
            test & (labels >= 0) & ~np.isin(labels, trained),
            lambda at: f"is {classes.names[labels[at]]!r}, a class that no row of the split {TRAIN} has",
        )
    left = int(len(rows) - train.sum() - test.sum())
    return _probe(classes, train, test, notes=f"Skipped: {counted(left, 'row')} of other splits." if left else "")


def _half(labels: np.ndarray) -> np.ndarray:
    """(n,) bool: every other item of each class in a shuffled order that is the same every time, the first included."""
    order = np.random.RandomState(42).permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    starts = np.flatnonzero(np.diff(labels[order], prepend=-2))
    half = np.zeros(len(labels), dtype=bool)
    half[order] = (np.arange(len(labels)) - np.repeat(starts, np.diff(starts, append=len(labels)))) % 2 == 0
    return half


def _probe(classes: _OwnClasses, train: np.ndarray, test: np.ndarray, *, notes: str) -> OwnFacts:
    def items() -> Probe:
        whole = classes.items()
        return Probe(train=take(whole, np.flatnonzero(train)), test=take(whole, np.flatnonzero(test)))

    return OwnFacts(
        category="Linear Probing",
        metrics=("accuracy",),
        chance=classes.chance,
        n_items=int(test.sum()),
        modalities=(classes.content.modality,),
        counts=f"{test.sum():,} {classes.content.modality}s of {len(classes.names):,} classes, {train.sum():,} for "
        "training",
        notes=notes,
        items=items,
    )
