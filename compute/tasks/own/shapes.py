"""The shapes that user data can have: which columns, and the task that follows.

Everything follows from this table: what a file is taken for, what is checked, and how a run scores it. A new shape is a
row here and in docs/your-data.md, and a function that checks the rows and says what follows: its facts and its items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compute.tasks.data import Matches, Sentences
from compute.tasks.own import choosing, finding, labelled
from compute.tasks.own.facts import OwnFacts, modalities, number_of
from compute.tasks.own.rows import OwnRows
from compute.tasks.own.table import SPLIT

IMAGES, CAPTIONS = "image", "caption"


def rated(rows: OwnRows) -> OwnFacts:
    """Pairs with a score by people."""
    first, second = rows.content("first"), rows.content("second")
    score = rows.numbers("score")
    rows.check_names()
    if len(rows) > 1 and (score == score[0]).all():
        rows.whole(f"{rows.columns['score']} is {score[0]:g} in every row: no order can follow it")
    elif len(rows) < 3 and not rows.faults.count:
        rows.whole("a rank correlation needs three pairs or more")
    kinds = first.modality, second.modality
    return OwnFacts(
        category="Rated pairs",
        metrics=("cosine_spearman",),
        chance=0.0,
        n_items=len(rows),
        modalities=modalities(kinds),
        counts=f"{number_of(len(rows), 'pair')} of {f'{kinds[0]}s' if kinds[0] == kinds[1] else ' and '.join(kinds)}",
        comparisons=len(rows),
        items=lambda: Sentences(
            names=rows.names(), first=first.column(rows.cache), second=second.column(rows.cache), human=score
        ),
    )


def matches(rows: OwnRows) -> OwnFacts:
    """Rows of images and captions: with one image the first caption is its own, with one caption the first image,
    with as many of each i goes with i."""
    images = [rows.content(name, only="image") for name in rows.numbered(IMAGES)]
    captions = [rows.content(name, only="text") for name in rows.numbered(CAPTIONS)]
    a, c = len(images), len(captions)
    rows.check_names()
    if not (min(a, c) == 1 < max(a, c) or a == c > 1):
        rows.whole(
            f"a row has {number_of(a, 'image')} and {number_of(c, 'caption')}: give it one image and several captions, "
            "one caption and several images, or as many of each"
        )
    metrics, chance = ("group_accuracy", "text_accuracy", "image_accuracy"), None
    if min(a, c) == 1:
        metrics, chance = (("text_accuracy",) if a == 1 else ("image_accuracy",)), 1 / max(a, c)
    elif a == c == 2:
        chance = 1 / 6  # of the 24 orders of four scores 4 are right
    return OwnFacts(
        category="Compositionality",
        metrics=metrics,
        chance=chance,
        n_items=len(rows),
        modalities=("image", "text"),
        counts=f"{number_of(len(rows), 'row')} of {number_of(a, 'image')} and {number_of(c, 'caption')}",
        comparisons=len(rows) * a * c,
        items=lambda: Matches(
            names=rows.names(),
            images=tuple(part.column(rows.cache) for part in images),
            captions=tuple(part.column(rows.cache) for part in captions),
        ),
    )


MOST = 8  # columns of one name with a number


@dataclass(frozen=True)
class ShapeColumn:
    """A column of a shape; `least` above 0: columns name_1, name_2, ... of which there are `least` to `most`."""

    name: str
    required: bool = True
    least: int = 0
    most: int = MOST
    aliases: tuple[str, ...] = ()  # names that files have for it; of numbered columns for the first

    def names(self, *, required: bool = False) -> tuple[str, ...]:
        """The names it can have; the required ones alone."""
        if not self.least:
            return (self.name,) if self.required or not required else ()
        return tuple(f"{self.name}_{at}" for at in range(1, (self.least if required else self.most) + 1))


@dataclass(frozen=True, kw_only=True)
class TaskShape:
    """One shape. `columns` are those of each of its tables: one without a name, or several by their file's name."""

    key: str
    title: str
    procedure: str
    columns: Mapping[str, tuple[ShapeColumn, ...]]
    facts: Callable[..., OwnFacts | None]  # of the rows, of several tables by name; adds their faults, None with some
    told: bool = True  # whether a file with its columns is taken for it unless told otherwise


_NAME = ShapeColumn("name", required=False, aliases=("id",))
_ITEM = ShapeColumn("item", aliases=("image", "img", "file_name", "text"))
_LABEL = ShapeColumn("label", aliases=("class",))
_ALTERNATIVES = ShapeColumn("alternative", least=2)

CHOICES = TaskShape(
    key="choices",
    title="Choices",
    procedure="choice",
    columns={"": (_NAME, ShapeColumn("reference", aliases=("ref",)), _ALTERNATIVES, ShapeColumn("answer"))},
    facts=choosing.choices,
)
VOTES = TaskShape(
    key="votes",
    title="Preference votes",
    procedure="choice",
    columns={
        "": (
            _NAME,
            ShapeColumn("prompt", aliases=("caption", "reference", "ref")),
            _ALTERNATIVES,
            ShapeColumn("votes", least=2),
        )
    },
    facts=choosing.votes,
)
ODD_ONE_OUT = TaskShape(
    key="odd-one-out",
    title="Odd one out",
    procedure="odd_one_out",
    columns={"": (_NAME, ShapeColumn("member", least=3), ShapeColumn("odd"))},
    facts=choosing.odd,
)
RATED_PAIRS = TaskShape(
    key="rated-pairs",
    title="Rated pairs",
    procedure="sts",
    columns={
        "": (
            _NAME,
            ShapeColumn("first", aliases=("sentence1",)),
            ShapeColumn("second", aliases=("sentence2",)),
            ShapeColumn("score", aliases=("rating",)),
        )
    },
    facts=rated,
)
MATCHING = TaskShape(
    key="matching",
    title="Image-text matching",
    procedure="matching",
    columns={
        "": (
            _NAME,
            ShapeColumn(IMAGES, least=1, aliases=("image",)),
            ShapeColumn(CAPTIONS, least=1, aliases=("caption",)),
        )
    },
    facts=matches,
)
_CONTENT = (
    ShapeColumn("id", aliases=("_id",)),
    ShapeColumn("text", required=False),
    ShapeColumn("image", required=False),
)
RETRIEVAL = TaskShape(
    key="retrieval",
    title="Retrieval",
    procedure="retrieval",
    columns={
        finding.QUERIES: _CONTENT,
        finding.CORPUS: (*_CONTENT, ShapeColumn("title", required=False)),
        finding.QRELS: (
            ShapeColumn(finding.QUERY, aliases=("query_id",)),
            ShapeColumn(finding.DOCUMENT, aliases=("corpus_id", "doc-id", "doc_id")),
            ShapeColumn(finding.SCORE, aliases=("relevance",)),
        ),
    },
    facts=finding.retrieval,
)
PROBE = TaskShape(
    key="probe",
    title="Linear probe",
    procedure="probe",
    columns={"": (_NAME, _ITEM, _LABEL, ShapeColumn(SPLIT))},
    facts=labelled.probe,
)
CLASSIFICATION = TaskShape(
    key="classification",
    title="Zero-shot classification",
    procedure="zero_shot",
    columns={"": (_NAME, _ITEM, _LABEL, ShapeColumn("prompt", required=False))},
    facts=labelled.zero_shot,
)
CLUSTERING = TaskShape(
    key="clustering",
    title="Clustering",
    procedure="clustering",
    columns={"": (_NAME, _ITEM, _LABEL)},
    facts=labelled.clusters,
    told=False,
)

# In the order in which a file's columns are compared with theirs.
SHAPES = (CHOICES, VOTES, ODD_ONE_OUT, RATED_PAIRS, PROBE, CLASSIFICATION, CLUSTERING, MATCHING, RETRIEVAL)
KEYS = tuple(shape.key for shape in SHAPES)
