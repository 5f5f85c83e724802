"""The shapes of user data: their columns and tasks, and how a file's columns determine the shape.

Everything follows from this table: how a file is recognised, what is checked, and how a run scores it. A new shape is a
row here and in docs/your-data.md, and a function that checks the rows and returns facts and items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from compute.io.forms import Form, FormField
from compute.tasks.data import Matches, Sentences
from compute.tasks.own import choosing, finding, labelled
from compute.tasks.own.rows import OwnFacts, OwnRows
from compute.tasks.own.table import SPLIT
from compute.types import BadInput, counted, shortened

IMAGES, CAPTIONS = "image", "caption"


def rated(rows: OwnRows) -> OwnFacts:
    """Returns pairs with people's scores."""
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
        modalities=tuple(sorted({*kinds})),
        counts=f"{counted(len(rows), 'pair')} of {f'{kinds[0]}s' if kinds[0] == kinds[1] else ' and '.join(kinds)}",
        comparisons=len(rows),
        items=lambda: Sentences(
            names=rows.names(), first=first.column(rows.cache), second=second.column(rows.cache), human=score
        ),
    )


def matches(rows: OwnRows) -> OwnFacts:
    """Returns rows of images and captions: with one image, the first caption matches; with one caption, the first
    image; with equally many, i matches i.
    """
    images = [rows.content(name, only="image") for name in rows.numbered(IMAGES)]
    captions = [rows.content(name, only="text") for name in rows.numbered(CAPTIONS)]
    a, c = len(images), len(captions)
    rows.check_names()
    if not (min(a, c) == 1 < max(a, c) or a == c > 1):
        rows.whole(
            f"a row has {counted(a, 'image')} and {counted(c, 'caption')}: give it one image and several captions, "
            "one caption and several images, or as many of each"
        )
    metrics, chance = ("group_accuracy", "text_accuracy", "image_accuracy"), None
    if min(a, c) == 1:
        metrics, chance = (("text_accuracy",) if a == 1 else ("image_accuracy",)), 1 / max(a, c)
    elif a == c == 2:
        chance = 1 / 6  # 4 of the 24 orders of four scores are correct
    return OwnFacts(
        category="Compositionality",
        metrics=metrics,
        chance=chance,
        n_items=len(rows),
        modalities=("image", "text"),
        counts=f"{counted(len(rows), 'row')} of {counted(a, 'image')} and {counted(c, 'caption')}",
        comparisons=len(rows) * a * c,
        items=lambda: Matches(
            names=rows.names(),
            images=tuple(part.column(rows.cache) for part in images),
            captions=tuple(part.column(rows.cache) for part in captions),
        ),
    )


class TaskShape(NamedTuple):
    """One shape. `fields` are those of its table or, for several tables, by file name."""

    key: str
    title: str
    procedure: str
    fields: Sequence[FormField] | Mapping[str, Sequence[FormField]]
    facts: Callable[..., OwnFacts | None]  # of the rows, of several tables by name; adds their faults, None with some
    told: bool = True  # whether a file with its columns is recognised automatically
    by: str = ""  # an optional column required for automatic recognition

    @property
    def forms(self) -> dict[str, Form]:
        """Returns its tables' columns; a single table has no name."""
        tables = self.fields if isinstance(self.fields, Mapping) else {"": self.fields}
        return {name: Form(self.key, tuple(fields)) for name, fields in tables.items()}


_NAME = FormField("name", ("id",), optional=True)
_ITEM = FormField("item", ("image", "img", "file_name", "text"))
_LABEL = FormField("label", ("class",))
_ALTERNATIVES = FormField("alternative", least=2)
_CONTENT = (FormField("id", ("_id",)), FormField("text", optional=True), FormField("image", optional=True))

RETRIEVAL = TaskShape(
    "retrieval",
    "Retrieval",
    "retrieval",
    {
        finding.QUERIES: _CONTENT,
        finding.CORPUS: (*_CONTENT, FormField("title", optional=True)),
        finding.QRELS: (
            FormField(finding.QUERY, ("query_id",)),
            FormField(finding.DOCUMENT, ("corpus_id", "doc-id", "doc_id")),
            FormField(finding.SCORE, ("relevance",)),
        ),
    },
    finding.retrieval,
)
PROBE = TaskShape(
    "probe",
    "Linear probe",
    "probe",
    (_NAME, _ITEM, _LABEL, FormField(SPLIT, optional=True)),
    labelled.probe,
    by=SPLIT,
)
CLASSIFICATION = TaskShape(
    "classification",
    "Zero-shot classification",
    "zero_shot",
    (_NAME, _ITEM, _LABEL, FormField("prompt", optional=True)),
    labelled.zero_shot,
)
CLUSTERING = TaskShape("clustering", "Clustering", "clustering", (_NAME, _ITEM, _LABEL), labelled.clusters, told=False)
NEIGHBOURS = CLUSTERING._replace(
    key="neighbours",
    title="Nearest neighbours",
    procedure="neighbours",
    facts=labelled.neighbours,
)

SHAPES = (  # in the order in which they are compared with a file's columns
    TaskShape(
        "choices",
        "Choices",
        "choice",
        (_NAME, FormField("reference", ("ref",)), _ALTERNATIVES, FormField("answer")),
        choosing.choices,
    ),
    TaskShape(
        "triplets",
        "Triplets",
        "choice",
        (_NAME, FormField("anchor"), FormField("positive"), FormField("negative", ("negative",), least=1)),
        choosing.triplets,
    ),
    TaskShape(
        "votes",
        "Preference votes",
        "choice",
        (
            _NAME,
            FormField("prompt", ("caption", "reference", "ref")),
            _ALTERNATIVES,
            FormField("votes", least=2),
        ),
        choosing.votes,
    ),
    TaskShape(
        "odd-one-out",
        "Odd one out",
        "odd_one_out",
        (_NAME, FormField("member", least=3), FormField("odd")),
        choosing.odd,
    ),
    TaskShape(
        "rated-pairs",
        "Rated pairs",
        "sts",
        (
            _NAME,
            FormField("first", ("sentence1",)),
            FormField("second", ("sentence2",)),
            FormField("score", ("rating",)),
        ),
        rated,
    ),
    PROBE,
    CLASSIFICATION,
    CLUSTERING,
    NEIGHBOURS,
    TaskShape(
        "captions",
        "Images and captions",
        "retrieval",
        (
            _NAME,
            FormField(IMAGES, ("file_name", "img", "image_path", "filename", "filepath")),
            FormField(CAPTIONS, ("text",)),
        ),
        finding.captions,
    ),
    TaskShape(
        "matching",
        "Image-text matching",
        "matching",
        (_NAME, FormField(IMAGES, ("image",), least=1), FormField(CAPTIONS, ("caption",), least=1)),
        matches,
    ),
    RETRIEVAL,
)
KEYS = tuple(shape.key for shape in SHAPES)


def shape_of(present: tuple[str, ...], given: Mapping[str, str], *, title: str) -> TaskShape:
    """Returns the shape whose columns a table has, by names, aliases or `given` (the shape's name -> the file's).

    Raises BadInput with the nearest shape and its missing columns.
    """
    alone = [shape for shape in SHAPES if "" in shape.forms]
    missing = {shape.key: shape.forms[""].missing(present, given) for shape in alone}
    for shape in alone:
        if (
            shape.told
            and not missing[shape.key]
            and (not shape.by or shape.by in shape.forms[""].columns(present, given))
        ):
            return shape
    near = min(
        alone,
        key=lambda shape: (len(missing[shape.key]) / len(shape.forms[""].required), (not shape.told, shape.by)),
    )
    lacks = missing[near.key]
    if len(lacks) == len(near.forms[""].required):
        raise BadInput(
            f"{title} has no shape's columns: {', '.join(map(shortened, present))}. Say which is which, such as "
            f"--columns item={present[0]},label=NAME. docs/your-data.md lists the shapes ({', '.join(KEYS)}) "
            "and their columns"
        )
    raise BadInput(
        f"{title} has no shape's columns: {', '.join(map(shortened, present))}. Nearest is {near.key}, which also "
        f"needs {', '.join(lacks)}. Rename columns, or say which is which: --columns {lacks[0]}=NAME"
    )


def of_table(given: Mapping[str, str], table: str, every: tuple[str, ...]) -> dict[str, str]:
    """Returns the mapping of columns for one of several tables: `corpus.text=body`. Raises BadInput."""
    if every == ("",):
        return dict(given)
    for name in given:
        if name.partition(".")[0] not in every:
            raise BadInput(
                f"Columns are of {', '.join(every)}: write {every[0]}.{name}=NAME, not {shortened(name)}=NAME"
            )
    return {name.partition(".")[2]: own for name, own in given.items() if name.partition(".")[0] == table}
