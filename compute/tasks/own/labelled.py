"""Items with a class each: given the class of the nearest prompt, classified by a probe, or grouped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from compute.content import items
from compute.tasks.data import Clusters, Labelled, Probe, ZeroShot, take
from compute.tasks.own.facts import OwnFacts, modalities, number_of
from compute.tasks.own.rows import OwnRows
from compute.tasks.own.table import SPLIT

PROMPTS = {"image": "a photo of a {}.", "text": "{}"}  # of a class, where the file has no prompts
TRAIN, TEST = "train", "test"
UNUSED = ("val", "valid", "validation", "dev")  # splits that neither train nor test


def zero_shot_facts(rows: OwnRows) -> OwnFacts:
    """Of items that are given the class of the nearest prompt."""
    kinds = _of(rows)
    prompted = rows.has("prompt")
    if prompted:
        _prompts(rows, kinds)
    about = "prompts in the file" if prompted else f'prompt "{PROMPTS[kinds.modality].format("CLASS")}"'
    return OwnFacts(
        category="Zero-shot Classification",
        metrics=("accuracy",),
        chance=_chance(kinds),
        n_items=len(rows),
        modalities=modalities((kinds.modality, "text")),
        counts=kinds.counted(len(rows)),
        notes=f"Classes by the {about}.",
    )


def zero_shot(rows: OwnRows) -> ZeroShot:
    """The items and a prompt a class."""
    kinds = _of(rows)
    prompts = _prompts(rows, kinds) if rows.has("prompt") else None
    if prompts is None:
        prompts = [PROMPTS[kinds.modality].format(name.replace("_", " ")) for name in kinds.classes]
    return ZeroShot(test=_labelled(rows, kinds), prompts=items.texts(prompts, of=f"{rows.table.title}, prompts"))


def clusters_facts(rows: OwnRows) -> OwnFacts:
    """Of items to be grouped."""
    kinds = _of(rows)
    return OwnFacts(
        category="Clustering",
        metrics=("nmi",),
        chance=None,
        n_items=len(rows),
        modalities=(kinds.modality,),
        counts=kinds.counted(len(rows)),
    )


def clusters(rows: OwnRows) -> Clusters:
    """The items and their classes."""
    return Clusters(test=_labelled(rows, _of(rows)))


def probe_facts(rows: OwnRows) -> OwnFacts:
    """Of items whose class a probe tells, trained on the rows of the split `train`."""
    kinds = _of(rows)
    splits = rows.texts(SPLIT)
    known = (TRAIN, TEST, *UNUSED)
    rows.fault(
        SPLIT,
        _is_in(rows, lambda value: bool(value) and value not in known),
        lambda at: f"is {splits.at(at)!r}: write {TRAIN} or {TEST}",
    )
    train, test = (_is_in(rows, lambda value, split=split: value == split) for split in (TRAIN, TEST))
    for name, part in ((TRAIN, train), (TEST, test)):
        if not part.any():
            rows.whole(f"no row has the {SPLIT} {name}: a probe is trained on {TRAIN} and scored on {TEST}", name=SPLIT)
    trained = np.unique(kinds.labels[train & (kinds.labels >= 0)])
    if train.any() and len(trained) < 2:
        rows.whole(f"the rows of the split {TRAIN} have one class, and a probe needs two", name="label")
    elif test.any():
        rows.fault(
            "label",
            test & (kinds.labels >= 0) & ~np.isin(kinds.labels, trained),
            lambda at: f"is {kinds.name_of(at)!r}, a class that no row of the split {TRAIN} has",
        )
    left = int(len(rows) - train.sum() - test.sum())
    return OwnFacts(
        category="Linear Probing",
        metrics=("accuracy",),
        chance=_chance(kinds),
        n_items=int(test.sum()),
        modalities=(kinds.modality,),
        counts=f"{int(test.sum()):,} {kinds.modality}s of {len(kinds.classes):,} classes, {int(train.sum()):,} for "
        "training",
        notes=f"Left out: {number_of(left, 'row')} of other splits." if left else "",
    )


def probe(rows: OwnRows) -> Probe:
    """The training and the test items."""
    whole = _labelled(rows, _of(rows))
    train, test = (
        take(whole, np.flatnonzero(_is_in(rows, lambda value, split=split: value == split))) for split in (TRAIN, TEST)
    )
    return Probe(train=train, test=test)


@dataclass(frozen=True, kw_only=True)
class _Kinds:
    """What a table says of classes."""

    modality: str
    labels: np.ndarray  # (n,) int, -1 for a row without
    classes: tuple[str, ...]  # sorted

    def counted(self, items: int) -> str:
        return f"{number_of(items, self.modality)} of {number_of(len(self.classes), 'class')}"

    def name_of(self, row: int) -> str:
        return self.classes[int(self.labels[row])]


def _of(rows: OwnRows) -> _Kinds:
    return rows.once("classes", lambda: _read(rows))


def _read(rows: OwnRows) -> _Kinds:
    content = rows.content("item")
    codes = rows.texts("label")
    rows.check_names()
    listed = codes.listed()
    present = np.flatnonzero(codes.counts)
    order = sorted(present.tolist(), key=lambda at: listed[at])
    rank = np.full(len(listed) + 1, -1, dtype=np.int64)
    rank[order] = np.arange(len(order))
    if len(order) == 1:
        rows.whole(
            f"{rows.columns['label']} is {listed[order[0]]!r} in every row, and two classes are needed", name="label"
        )
    return _Kinds(modality=content.modality, labels=rank[codes.codes], classes=tuple(listed[at] for at in order))


def _chance(kinds: _Kinds) -> float | None:
    return 1 / len(kinds.classes) if kinds.classes else None


def _labelled(rows: OwnRows, kinds: _Kinds) -> Labelled:
    return Labelled(
        names=rows.names(),
        items=rows.content("item").column(rows.cache),
        labels=kinds.labels,
        classes=kinds.classes,
    )


def _is_in(rows: OwnRows, wanted: Callable[..., bool]) -> np.ndarray:
    """(n,) bool: the rows whose split, in lower case, is wanted."""
    codes = rows.texts(SPLIT)
    return np.append([wanted(value.strip().lower()) for value in codes.listed()], False).astype(bool)[codes.codes]


def _prompts(rows: OwnRows, kinds: _Kinds) -> list[str]:
    """One prompt a class; rows of one class with unlike prompts are faults."""
    codes = rows.texts("prompt")
    first = np.full(len(kinds.classes) + 1, -1, dtype=np.int64)
    order = np.arange(len(rows))[::-1]
    first[kinds.labels[order]] = order  # the last that is written is the first row of its class
    expected = codes.codes[first[kinds.labels]]
    rows.fault(
        "prompt",
        (codes.codes != expected) & (codes.codes >= 0) & (kinds.labels >= 0),
        lambda at: (
            f"is {codes.at(at)!r}, in row {rows.number(int(first[kinds.labels[at]])):,} of the same class "
            f"{codes.at(int(first[kinds.labels[at]]))!r}"
        ),
    )
    return [codes.at(int(first[at])) for at in range(len(kinds.classes))]
