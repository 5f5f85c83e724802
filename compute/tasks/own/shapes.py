"""The shapes that user data can have: which columns, and the task that follows.

Everything follows from this table: what a file is taken for, what is checked, and how a run scores it. A new shape is a
row here and in docs/your-data.md, and a function that checks the rows and says what follows: its facts and its items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compute.tasks.own import choosing, finding, labelled, pairing
from compute.tasks.own.facts import OwnFacts
from compute.tasks.own.table import SPLIT

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
    facts=pairing.rated,
)
MATCHING = TaskShape(
    key="matching",
    title="Image-text matching",
    procedure="matching",
    columns={
        "": (
            _NAME,
            ShapeColumn(pairing.IMAGES, least=1, aliases=("image",)),
            ShapeColumn(pairing.CAPTIONS, least=1, aliases=("caption",)),
        )
    },
    facts=pairing.matches,
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
