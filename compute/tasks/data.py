"""The shapes of tasks' items: one class per kind of question, and what all share. A loader returns one of these per
subset.

`names` (n,) are the items' names within the data set, unique within a subset; all columns have a row per item unless
stated otherwise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compute.content.items import Column, joined, paired
from compute.types import BadInput

CONDITIONS = ("sensitive", "invariant")  # how a judge is to treat a transformation
POSITION = "position"  # the transformation of What's Up's pairs: the same objects in another spatial relation
PAIR_TYPES = ("identical", "transformed", "transformed-2", "irrelevant")
QUESTIONS = ("reference", "quality", "brightness", "colorfulness", "contrast", "sharpness")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Questions of which of k alternatives is nearest to the reference, or has more of a quality (UniSim-Bench 2AFC,
    IQA, PAA).
    """

    names: tuple[str, ...]
    alternatives: tuple[Column, ...]  # k columns, k in 2..8
    answer: np.ndarray  # (n,) int in 0..k-1
    reference: Column | None = None  # None: `question` is a quality
    question: str = "reference"  # one of QUESTIONS


@dataclass(frozen=True, kw_only=True)
class OddOneOut:
    """Questions of which of k images does not belong (k = 3 in UniSim-Bench)."""

    names: tuple[str, ...]
    members: tuple[Column, ...]  # k columns
    odd: np.ndarray  # (n,) int in 0..k-1


@dataclass(frozen=True, kw_only=True)
class Labelled:
    """Items with one class each, or with several."""

    names: tuple[str, ...]
    items: Column
    labels: np.ndarray  # (n,) int, or (n, classes) bool
    classes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Few-shot classification: a probe is trained on draws of `train` and tested on `test`."""

    train: Labelled
    test: Labelled
    samples_per_label: int = 16
    draws: int = 5


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """Items to be clustered; the labels are only for comparison."""

    test: Labelled


@dataclass(frozen=True, kw_only=True)
class ZeroShot:
    """Items to be classified by class prompts."""

    test: Labelled
    prompts: Column  # one text per class


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """Pairs scored by people (visual STS: both sides are images of text)."""

    names: tuple[str, ...]
    first: Column
    second: Column
    human: np.ndarray  # (n,) float


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Rows of matching images and captions: a images and c captions per row.

    With one image, the first caption is correct; with one caption, the first image; with two of each, i matches i.
    """

    names: tuple[str, ...]
    images: tuple[Column, ...]
    captions: tuple[Column, ...]


@dataclass(frozen=True, kw_only=True)
class RatedPairs:
    """Pairs that a judge rates from 1 to 10 under a condition, in both orders (PairBench section 3.1)."""

    names: tuple[str, ...]  # "<source item>/<pair type>"
    first: Column  # the original image
    second: Column  # its counterpart: an image, or a text
    expected: np.ndarray  # (n,) int: 10, 8 or 1
    types: np.ndarray  # (n,) str, of PAIR_TYPES
    sources: np.ndarray  # (n,) str: the source item, the unit of the bootstrap
    templates: np.ndarray  # (n,) int 0..4: which prompt template
    condition: str  # one of CONDITIONS; empty: the judge decides what counts as similar
    transformations: tuple[str, ...]  # keys of PERTURBATIONS, and POSITION
    # k random applications of the transformation to each side, for models without a prompt. Empty if the condition is
    # sensitive, a side is a text, or the only transformation is the position.
    first_variants: tuple[Column, ...] = ()
    second_variants: tuple[Column, ...] = ()

    @classmethod
    def of_one(cls, first: Column, second: Column) -> RatedPairs:
        """Makes one pair without a condition; each column has one row."""
        nothing = np.array([""])
        return cls(
            names=("live",),
            first=first,
            second=second,
            expected=np.zeros(1, dtype=int),
            types=nothing,
            sources=nothing,
            templates=np.zeros(1, dtype=int),
            condition="",
            transformations=(),
        )


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """Queries or documents with an image, a text, or both. `image_at` (n,) holds rows of `image`, -1 for none."""

    names: tuple[str, ...]
    image: Column | None = None
    image_at: np.ndarray | None = None
    text: Column | None = None
    text_at: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.names)

    def take(self, positions: np.ndarray) -> Mixed:
        """Returns the items at these positions, with the same columns."""
        return replace(
            self,
            names=tuple(self.names[at] for at in positions),
            image_at=None if self.image_at is None else self.image_at[positions],
            text_at=None if self.text_at is None else self.text_at[positions],
        )

    def joined(self) -> list[tuple[np.ndarray, Column]]:
        """Returns the items as inputs of a model that embeds image and text jointly: which items, and their column.

        Pairs for items with both come first, then single images, then single texts; there is no empty column.
        """
        image, text = (
            np.full(len(self), -1) if column is None else np.asarray(at)
            for column, at in ((self.image, self.image_at), (self.text, self.text_at))
        )
        both = (image >= 0) & (text >= 0)
        parts = []
        if both.any():
            parts.append((np.flatnonzero(both), paired(self.image.take(image[both]), self.text.take(text[both]))))
        for at, column in ((image, self.image), (text, self.text)):
            alone = (at >= 0) & ~both
            if alone.any():
                parts.append((np.flatnonzero(alone), column.take(at[alone])))
        return parts


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Queries, documents and relevance judgements, as parallel arrays of positions.

    `relevant` is (query, document, grade). A query whose grades are all 0 scores 0; a query without grades has no
    score. `ignored` (query, document) are removed from a query's ranking before scoring (the junk images of revisited
    Oxford and Paris). `candidates` (query, document) restricts the choices per query (multiple choice). `missing`
    (query, grade) are relevant documents outside the collection: never retrieved, but counted. `skip_first` drops the
    first hit of every query.
    """

    queries: Mixed
    documents: Mixed
    relevant: tuple[np.ndarray, np.ndarray, np.ndarray]
    ignored: tuple[np.ndarray, np.ndarray] | None = None
    candidates: tuple[np.ndarray, np.ndarray] | None = None
    missing: tuple[np.ndarray, np.ndarray] | None = None
    skip_first: bool = False


@dataclass(frozen=True, kw_only=True)
class CalibrationPairs:
    """Matching and unrelated pairs, or single images: a model's scores of them calibrate its scale."""

    names: tuple[str, ...]
    first: Column
    second: Column | None = None  # None: single images
    human: np.ndarray  # (n,) float: 1 matching, 0 unrelated; for a single image, how much of the attribute was added
    scenes: np.ndarray  # (n,) int: the scene of matching pairs or single images
    domain: str = ""  # drawn, photographs or sentences
    pairing: str = ""  # the modalities of both sides, or one of QUESTIONS

    @classmethod
    def of(
        cls, *, matching: tuple[Column, Column], unrelated: tuple[Column, Column], scenes: np.ndarray
    ) -> CalibrationPairs:
        """Makes it from matching pairs, one per scene, followed by unrelated pairs."""
        sizes = [len(side[0]) for side in (matching, unrelated)]
        first, second = (joined(parts) for parts in zip(matching, unrelated, strict=True))
        return cls(
            names=tuple(map(str, range(sum(sizes)))),
            first=first,
            second=second,
            human=np.repeat([1.0, 0.0], sizes),
            scenes=np.append(scenes, np.full(sizes[1], -1)),
        )


Data = (
    Choices | OddOneOut | Probe | Clusters | ZeroShot | Sentences | Matches | RatedPairs | Retrieval | CalibrationPairs
)


def columns(data: Data | Labelled | Mixed, *, joint: bool = False, variants: bool = True) -> list[Column]:
    """Returns every column of images or texts in `data`, including nested ones, but not a probe's training items.

    With `joint`, image and text of an item form one pair, for a model that embeds both jointly. Without `variants`,
    random applications of rated pairs are excluded.
    """
    if not variants and isinstance(data, RatedPairs):
        return [data.first, data.second]
    if joint and isinstance(data, Mixed):
        return [column for _, column in data.joined()]
    parts = [data.test] if isinstance(data, Probe) else [getattr(data, field.name) for field in fields(data)]
    out = []
    for part in parts:
        for value in part if isinstance(part, tuple) else (part,):
            if isinstance(value, Column):
                out.append(value)
            elif is_dataclass(value):
                out += columns(value, joint=joint)
    return out


def every_column(data: Mapping[str, Data], *, joint: bool = False, variants: bool = True) -> list[Column]:
    """Returns the columns of all subsets, as `columns` does."""
    return [column for part in data.values() for column in columns(part, joint=joint, variants=variants)]


def size(data: Data) -> int:
    """Returns the number of scored items."""
    match data:
        case Probe() | Clusters() | ZeroShot():
            return len(data.test.names)
        case Retrieval():
            return len(data.queries)
        case _:
            return len(data.names)


def take(data: Any, positions: np.ndarray) -> Any:
    """Returns the items at these positions: names, columns and arrays."""

    def taken(value: Any) -> Any:
        if isinstance(value, Column):
            return value.take(positions)
        if isinstance(value, tuple) and value and isinstance(value[0], Column):
            return tuple(map(taken, value))
        return value[positions] if isinstance(value, np.ndarray) else value

    values = {field.name: taken(getattr(data, field.name)) for field in fields(data)}
    return replace(data, **values | {"names": tuple(data.names[at] for at in positions)})


def without(data: Data, bad: Collection[bytes]) -> Data:
    """Returns `data` without the items that need a content of `bad`. A document removed this way is no longer relevant
    either.

    Raises BadInput if nothing is left, or if a class's prompt is bad, because every item needs it.
    """
    keys = np.array(sorted(bad), dtype="S32")
    match data:
        case Probe():
            rest = replace(data, train=_good(data.train, keys), test=_good(data.test, keys))
        case Clusters() | ZeroShot():
            wrong = np.flatnonzero(np.isin(data.prompts.keys, keys)) if isinstance(data, ZeroShot) else ()
            if len(wrong):
                raise BadInput(f"{data.prompts.name(int(wrong[0]))}: a class needs its prompt")
            rest = replace(data, test=_good(data.test, keys))
        case Retrieval():
            rest = _retrieval(data, keys)
        case _:
            rest = _good(data, keys)
    if size(rest) == 0:
        raise BadInput("No item is left without the bad ones: check the data set's files")
    return rest


def _good(data: Any, bad: np.ndarray) -> Any:
    is_bad = np.any([np.isin(column.keys, bad) for column in columns(data)], axis=0)
    return take(data, np.flatnonzero(~is_bad))


def _retrieval(data: Retrieval, bad: np.ndarray) -> Retrieval:
    queries, documents = _good_mixed(data.queries, bad), _good_mixed(data.documents, bad)
    query_at, document_at = renumbered(queries, len(data.queries)), renumbered(documents, len(data.documents))

    def pairs(first: np.ndarray, second: np.ndarray, *others: np.ndarray) -> tuple[np.ndarray, ...]:
        both = (query_at[first] >= 0) & (document_at[second] >= 0)
        return (query_at[first][both], document_at[second][both], *(other[both] for other in others))

    missing = None
    if data.missing is not None:
        query, grade = data.missing
        left = query_at[query] >= 0
        missing = (query_at[query][left], grade[left])
    relevant = pairs(*data.relevant)
    lost = np.setdiff1d(_answerable(data.relevant, data.missing), queries[_answerable(relevant, missing)])
    known = ~np.isin(queries[relevant[0]], lost)  # a query that lost all its right answers is not judged, not wrong
    return replace(
        data,
        queries=data.queries.take(queries),
        documents=data.documents.take(documents),
        missing=missing,
        relevant=tuple(side[known] for side in relevant),
        ignored=pairs(*data.ignored) if data.ignored else None,
        candidates=pairs(*data.candidates) if data.candidates else None,
    )


def _answerable(relevant: tuple[np.ndarray, ...], missing: tuple[np.ndarray, np.ndarray] | None) -> NDArray[np.integer]:
    """Returns the distinct queries that have a relevant document."""
    parts = [relevant[0][relevant[2] > 0]] + ([] if missing is None else [missing[0][missing[1] > 0]])
    return np.unique(np.concatenate(parts)).astype(np.int64)


def _good_mixed(mixed: Mixed, bad: np.ndarray) -> np.ndarray:
    is_bad = np.zeros(len(mixed), dtype=bool)
    for column, at in ((mixed.image, mixed.image_at), (mixed.text, mixed.text_at)):
        if column is not None and len(column):
            is_bad |= np.append(np.isin(column.keys, bad), False)[at]  # -1 (none) reads the appended False
    for at, column in mixed.joined():
        if column.modality == "pair":
            is_bad[at] |= np.isin(column.keys, bad)
    return np.flatnonzero(~is_bad)


def renumbered(positions: np.ndarray, total: int) -> np.ndarray:
    """Returns (total,) int: the index of each row among `positions`, -1 for rows not in it."""
    out = np.full(total, -1, dtype=np.int64)
    out[positions] = np.arange(len(positions))
    return out
