"""The shapes that user data can have: which columns, what each means, and the task that follows.

Everything follows from this table: what a file is taken for, what is checked, how a run scores it, and the table in
docs/your-data.md. A new shape is a row here and a function that checks the rows and says what follows: its facts and
its items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compute.tasks.own import choosing, finding, labelled, pairing
from compute.tasks.own.facts import OwnFacts
from compute.tasks.own.rows import OwnRows
from compute.tasks.own.table import SPLIT

MOST = 8  # columns of one name with a number


@dataclass(frozen=True, kw_only=True)
class ShapeColumn:
    """A column of a shape; `least` above 0: columns name_1, name_2, ... of which there are `least` to `most`."""

    name: str
    meaning: str
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
    scored: str  # metric and chance, in words
    example: str  # three lines
    facts: Callable[[Mapping[str, OwnRows]], OwnFacts | None]  # checks the rows, whose faults it adds; None with some
    told: bool = True  # whether a file with its columns is taken for it unless told otherwise


def _alone(function: Callable[[OwnRows], OwnFacts | None]) -> Callable[[Mapping[str, OwnRows]], OwnFacts | None]:
    """A function of the only table."""
    return lambda tables: function(tables[""])


_NAME = ShapeColumn(name="name", meaning="The item's own name.", required=False, aliases=("id",))
_ITEM = ShapeColumn(name="item", meaning="An image or a text.", aliases=("image", "img", "file_name", "text"))
_LABEL = ShapeColumn(name="label", meaning="Its class.", aliases=("class",))
_REFERENCE = ShapeColumn(name="reference", meaning="What they are compared with: an image or a text.", aliases=("ref",))
_ALTERNATIVES = ShapeColumn(name="alternative", meaning="2 to 8 images, or as many texts.", least=2)

CHOICES = TaskShape(
    key="choices",
    title="Choices",
    procedure="choice",
    columns={
        "": (
            _NAME,
            _REFERENCE,
            _ALTERNATIVES,
            ShapeColumn(name="answer", meaning="Number of the alternative nearest to the reference, from 1."),
        )
    },
    scored="accuracy; chance 1 / alternatives",
    example="reference,alternative_1,alternative_2,answer\na.jpg,a-left.jpg,a-right.jpg,2\nb.jpg,b-left.jpg,b-right.jpg,1",
    facts=_alone(choosing.choices),
)
VOTES = TaskShape(
    key="votes",
    title="Preference votes",
    procedure="choice",
    columns={
        "": (
            _NAME,
            ShapeColumn(
                name="prompt",
                meaning="What the alternatives were made for, or are compared with: a text or an image.",
                aliases=("caption", "reference", "ref"),
            ),
            _ALTERNATIVES,
            ShapeColumn(name="votes", meaning="Votes for each alternative: votes_1, votes_2, ...", least=2),
        )
    },
    scored="accuracy against the majority, ties skipped; chance 1 / alternatives",
    example="prompt,alternative_1,alternative_2,votes_1,votes_2\na red car,a.jpg,b.jpg,3,1\na cat,c.jpg,d.jpg,0,5",
    facts=_alone(choosing.votes),
)
ODD_ONE_OUT = TaskShape(
    key="odd-one-out",
    title="Odd one out",
    procedure="odd_one_out",
    columns={
        "": (
            _NAME,
            ShapeColumn(name="member", meaning="3 to 8 images.", least=3),
            ShapeColumn(name="odd", meaning="Number of the image that does not belong, from 1."),
        )
    },
    scored="accuracy; chance 1 / images",
    example="member_1,member_2,member_3,odd\na.jpg,b.jpg,c.jpg,3\nd.jpg,e.jpg,f.jpg,1",
    facts=_alone(choosing.odd),
)
RATED_PAIRS = TaskShape(
    key="rated-pairs",
    title="Rated pairs",
    procedure="sts",
    columns={
        "": (
            _NAME,
            ShapeColumn(name="first", meaning="An image or a text.", aliases=("sentence1",)),
            ShapeColumn(name="second", meaning="An image or a text.", aliases=("sentence2",)),
            ShapeColumn(name="score", meaning="How similar people find them, higher is more.", aliases=("rating",)),
        )
    },
    scored="Spearman correlation of similarity and score; chance 0",
    example="first,second,score\na.jpg,b.jpg,4.5\na.jpg,c.jpg,1",
    facts=_alone(pairing.rated),
)
MATCHING = TaskShape(
    key="matching",
    title="Image-text matching",
    procedure="matching",
    columns={
        "": (
            _NAME,
            ShapeColumn(name=pairing.IMAGES, meaning="1 to 8 images.", least=1, aliases=("image",)),
            ShapeColumn(
                name=pairing.CAPTIONS,
                least=1,
                aliases=("caption",),
                meaning="1 to 8 captions. Of several with one image the first is right, and the other way round; "
                "of as many of each, image_2 goes with caption_2.",
            ),
        )
    },
    scored="text, image or group accuracy; chance 1 / captions, 1 / images, 1 / 6 for two and two",
    example="image,caption_1,caption_2\na.jpg,a cat on a mat,a mat on a cat\nb.jpg,a dog,a cat",
    facts=_alone(pairing.matches),
)
_CONTENT = (
    ShapeColumn(name="id", meaning="Its name, once each.", aliases=("_id",)),
    ShapeColumn(name="text", meaning="Its text; it has a text, an image, or both.", required=False),
    ShapeColumn(name="image", meaning="Its image.", required=False),
)
RETRIEVAL = TaskShape(
    key="retrieval",
    title="Retrieval",
    procedure="retrieval",
    columns={
        finding.QUERIES: _CONTENT,
        finding.CORPUS: (*_CONTENT, ShapeColumn(name="title", meaning="Stands before the text.", required=False)),
        finding.QRELS: (
            ShapeColumn(name=finding.QUERY, meaning="The query's id.", aliases=("query_id",)),
            ShapeColumn(name=finding.DOCUMENT, meaning="The document's id.", aliases=("corpus_id", "doc-id", "doc_id")),
            ShapeColumn(name=finding.SCORE, meaning="How relevant it is; 0 is not.", aliases=("relevance",)),
        ),
    },
    scored="nDCG@10, hit rates, MRR@10, mAP; chance not stated",
    example='queries.jsonl: {"_id": "q1", "text": "a red car"}\ncorpus.jsonl: {"_id": "d1", "image": "a.jpg"}\n'
    "qrels/test.tsv: q1 d1 1",
    facts=finding.retrieval,
)
PROBE = TaskShape(
    key="probe",
    title="Linear probe",
    procedure="probe",
    columns={"": (_NAME, _ITEM, _LABEL, ShapeColumn(name=SPLIT, meaning="train or test; others are skipped."))},
    scored="accuracy; chance 1 / classes",
    example="item,label,split\na.jpg,cat,train\nb.jpg,dog,test",
    facts=_alone(labelled.probe),
)
CLASSIFICATION = TaskShape(
    key="classification",
    title="Zero-shot classification",
    procedure="zero_shot",
    columns={
        "": (
            _NAME,
            _ITEM,
            _LABEL,
            ShapeColumn(
                name="prompt",
                required=False,
                meaning="The class's text; without it `a photo of a CLASS.` for images, the class for texts.",
            ),
        )
    },
    scored="accuracy; chance 1 / classes",
    example="item,label\na.jpg,cat\nb.jpg,dog",
    facts=_alone(labelled.zero_shot),
)
CLUSTERING = TaskShape(
    key="clustering",
    title="Clustering",
    procedure="clustering",
    columns={"": (_NAME, _ITEM, _LABEL)},
    scored="NMI; chance not stated",
    example="item,label\na.jpg,cat\nb.jpg,dog",
    facts=_alone(labelled.clusters),
    told=False,
)

# In the order in which a file's columns are compared with theirs.
SHAPES: tuple[TaskShape, ...] = (
    CHOICES,
    VOTES,
    ODD_ONE_OUT,
    RATED_PAIRS,
    PROBE,
    CLASSIFICATION,
    CLUSTERING,
    MATCHING,
    RETRIEVAL,
)
KEYS = tuple(shape.key for shape in SHAPES)
