"""The shapes that user data can have: which columns, and the task that follows; and which one a file's columns make.

Everything follows from this table: what a file is taken for, what is checked, and how a run scores it. A new shape is a
row here and in docs/your-data.md, and a function that checks the rows and says what follows: its facts and its items.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from compute.tasks.data import Matches, Sentences
from compute.tasks.own import choosing, finding, labelled
from compute.tasks.own.rows import OwnFacts, OwnRows, modalities
from compute.tasks.own.table import SPLIT
from compute.types import BadInput, counted, shortened, suggestion, unknown

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
        counts=f"{counted(len(rows), 'pair')} of {f'{kinds[0]}s' if kinds[0] == kinds[1] else ' and '.join(kinds)}",
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
            f"a row has {counted(a, 'image')} and {counted(c, 'caption')}: give it one image and several captions, "
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
        counts=f"{counted(len(rows), 'row')} of {counted(a, 'image')} and {counted(c, 'caption')}",
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
    by: str = ""  # an optional column without which it is not


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
    columns={"": (_NAME, _ITEM, _LABEL, ShapeColumn(SPLIT, required=False))},
    facts=labelled.probe,
    by=SPLIT,
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
NEIGHBOURS = TaskShape(
    key="neighbours",
    title="Nearest neighbours",
    procedure="neighbours",
    columns={"": (_NAME, _ITEM, _LABEL)},
    facts=partial(labelled.clusters, category="Nearest Neighbours", metric="accuracy"),
    told=False,
)

# In the order in which a file's columns are compared with theirs.
SHAPES = (CHOICES, VOTES, ODD_ONE_OUT, RATED_PAIRS, PROBE, CLASSIFICATION, CLUSTERING, NEIGHBOURS, MATCHING, RETRIEVAL)
KEYS = tuple(shape.key for shape in SHAPES)
NEAR = 0.8  # likeness of an unknown column to a known one from which it is taken for a slip


def shape_named(key: str) -> TaskShape:
    """The shape of that key. Raises BadInput for another."""
    if key not in KEYS:
        raise BadInput(unknown("shape", key, KEYS, listed=True))
    return SHAPES[KEYS.index(key)]


def shape_of(present: tuple[str, ...], given: Mapping[str, str], *, title: str) -> TaskShape:
    """The shape whose columns a table has, by their names, its aliases or `given` (the shape's name -> the file's).

    Raises BadInput with the nearest shape and what it lacks.
    """
    alone = [shape for shape in SHAPES if set(shape.columns) == {""}]
    missing = {shape.key: _missing(shape.columns[""], present, given) for shape in alone}
    for shape in alone:
        if (
            shape.told
            and not missing[shape.key]
            and (not shape.by or shape.by in _chosen(shape.columns[""], present, given))
        ):
            return shape
    near = min(
        alone,
        key=lambda shape: (len(missing[shape.key]) / len(_required(shape.columns[""])), (not shape.told, shape.by)),
    )
    lacks = missing[near.key]
    if len(lacks) == len(_required(near.columns[""])):
        raise BadInput(
            f"{title} has no shape's columns: {', '.join(map(shortened, present))}. Say which is which, such as "
            f"--columns item={present[0]},label=NAME. docs/your-data.md lists the shapes ({', '.join(KEYS)}) "
            "and their columns"
        )
    raise BadInput(
        f"{title} has no shape's columns: {', '.join(map(shortened, present))}. Nearest is {near.key}, which also "
        f"needs {', '.join(lacks)}. Rename columns, or say which is which: --columns {lacks[0]}=NAME"
    )


def resolved(
    columns: tuple[ShapeColumn, ...], present: tuple[str, ...], given: Mapping[str, str], *, shape: str, title: str
) -> tuple[dict[str, str], tuple[str, ...]]:
    """The shape's names -> the file's columns, and the file's columns that nothing is read from.

    Raises BadInput for a missing column, a column that is nearly a known one, and names that are none.
    """
    known = [name for column in columns for name in column.names()]
    aliases = [alias for column in columns for alias in column.aliases]
    for name, own in given.items():
        if name not in (*known, *aliases):
            near = suggestion(name, known)
            raise BadInput(f"{shape} has no column {shortened(name)!r}.{near} It has: {_listed(columns)}")
        if own not in present:
            raise BadInput(
                f"{title} has no column {shortened(own)!r}.{suggestion(own, present)} It has: {', '.join(present)}"
            )
    chosen = _chosen(columns, present, given)
    if missing := _missing(columns, present, given):
        near = suggestion(missing[0], [name for name in present if name not in chosen.values()])
        raise BadInput(
            f"{title} has no column {missing[0]!r}, which {shape} needs.{near} It has: {', '.join(present)}. "
            f"Rename one, or name it: --columns {missing[0]}=NAME"
        )
    free = tuple(name for name in present if name not in chosen.values())
    _check_numbers(columns, chosen, present, title=title)
    absent, bases = [name for name in known if name not in chosen], {column.name for column in columns}
    for name in free:
        nearest = difflib.get_close_matches(name.lower(), absent, n=1, cutoff=NEAR)
        if nearest and name.lower() not in bases:
            raise BadInput(
                f"{title} has a column {name!r}, which {shape} does not know. Did you mean {nearest[0]!r}? "
                f"Columns that are not read may have any name that is not so near to one of: {_listed(columns)}"
            )
    return chosen, free


def _check_numbers(
    columns: tuple[ShapeColumn, ...], chosen: Mapping[str, str], present: tuple[str, ...], *, title: str
) -> None:
    """Raises BadInput for numbered columns with a gap, or above the most there can be."""
    for column in columns:
        if not column.least:
            continue
        there = [name in chosen for name in column.names()]
        if False in there and True in there[there.index(False) :]:
            gap = column.names()[there.index(False)]
            raise BadInput(
                f"{title} has no column {gap!r}, but a later one: number {column.name}_1, {column.name}_2, ..."
            )
        beyond = [name for name in present if re.fullmatch(rf"{column.name}_\d+", name.strip().lower())]
        if extra := [name for name in beyond if name not in chosen.values()]:
            raise BadInput(f"{title} has a column {extra[0]!r}: there are at most {column.most}, numbered from 1")


def of_table(given: Mapping[str, str], table: str, every: tuple[str, ...]) -> dict[str, str]:
    """Which columns of one of several tables are which of the shape's: `corpus.text=body`. Raises BadInput."""
    if every == ("",):
        return dict(given)
    for name in given:
        if name.partition(".")[0] not in every:
            raise BadInput(
                f"Columns are of {', '.join(every)}: write {every[0]}.{name}=NAME, not {shortened(name)}=NAME"
            )
    return {name.partition(".")[2]: own for name, own in given.items() if name.partition(".")[0] == table}


def _chosen(columns: Iterable[ShapeColumn], present: tuple[str, ...], given: Mapping[str, str]) -> dict[str, str]:
    free = {name.strip().lower(): name for name in reversed(present) if name not in given.values()}
    chosen = {}
    for column in columns:
        for at, name in enumerate(column.names()):
            spellings = (name, *(column.aliases if at == 0 else ()))
            own = next((names[each] for names in (given, free) for each in spellings if each in names), None)
            if own is not None:
                chosen[name] = own
    return chosen


def _missing(columns: tuple[ShapeColumn, ...], present: tuple[str, ...], given: Mapping[str, str]) -> list[str]:
    chosen = _chosen(columns, present, given)
    return [name for name in _required(columns) if name not in chosen]


def _required(columns: tuple[ShapeColumn, ...]) -> list[str]:
    return [name for column in columns for name in column.names(required=True)]


def _listed(columns: Iterable[ShapeColumn]) -> str:
    return ", ".join(
        f"{column.name}_1 to {column.name}_{column.most}" if column.least else column.name for column in columns
    )
