"""The shapes of tasks' items: one class a kind of question. A loader gives one of these a subset.

`names` (n,) are the items' names within the data set, unique within a subset; all columns have a row an item unless
said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from compute.content.items import Column

QUESTIONS = ("reference", "quality", "brightness", "colorfulness", "contrast", "sharpness")


@dataclass(frozen=True, kw_only=True)
class Choices:
    """Which of k alternatives is nearest to the reference, or has more of a quality (UniSim-Bench 2AFC, IQA, PAA)."""

    names: tuple[str, ...]
    alternatives: tuple[Column, ...]  # k columns, k in 2..8
    answer: np.ndarray  # (n,) int in 0..k-1
    reference: Column | None = None  # None: `question` is a quality
    question: str = "reference"  # one of QUESTIONS


@dataclass(frozen=True, kw_only=True)
class OddOneOut:
    """Which of k images does not belong (k = 3 in UniSim-Bench)."""

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
    """Items to be grouped; the labels are only compared with."""

    test: Labelled


@dataclass(frozen=True, kw_only=True)
class ZeroShot:
    """Items to be given one of the classes by its prompt."""

    test: Labelled
    prompts: Column  # one text a class


@dataclass(frozen=True, kw_only=True)
class Sentences:
    """Pairs scored by people (visual STS: both sides are images of text)."""

    names: tuple[str, ...]
    first: Column
    second: Column
    human: np.ndarray  # (n,) float


@dataclass(frozen=True, kw_only=True)
class Matches:
    """Images and captions of one row that belong together: a images and c captions a row.

    With one image, the first caption is right; with one caption, the first image; with two and two, i goes with i.
    """

    names: tuple[str, ...]
    images: tuple[Column, ...]
    captions: tuple[Column, ...]


@dataclass(frozen=True, kw_only=True)
class Mixed:
    """Queries or documents that have an image, a text, or both: `image_at` (n,) are rows of `image`, -1 for none."""

    names: tuple[str, ...]
    image: Column | None = None
    image_at: np.ndarray | None = None
    text: Column | None = None
    text_at: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Queries, documents and which belong together, as parallel arrays of positions.

    `relevant` is (query, document, grade); `ignored` (query, document) are taken out of a query's ranking before it is
    judged (the junk images of revisited Oxford and Paris); `candidates` (query, document) restricts each query's choice
    (multiple choice). `missing` (query, grade) are right answers that the documents lack: never found, yet counted.
    `skip_first` drops every query's first hit, whatever it is.
    """

    queries: Mixed
    documents: Mixed
    relevant: tuple[np.ndarray, np.ndarray, np.ndarray]
    ignored: tuple[np.ndarray, np.ndarray] | None = None
    candidates: tuple[np.ndarray, np.ndarray] | None = None
    missing: tuple[np.ndarray, np.ndarray] | None = None
    skip_first: bool = False


Data = Choices | OddOneOut | Probe | Clusters | ZeroShot | Sentences | Matches | Retrieval
