"""The shapes that data of one's own can have: which columns, what each means, and the task that follows.

Everything follows from this table: what a file is taken for, what is checked, how a run scores it, and the README's
list. A new shape is a row here and two functions: its facts, which check the rows, and its items.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from compute.tasks.data import Data
from compute.tasks.own import choosing, labelled
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
    facts: Callable[[Mapping[str, OwnRows]], OwnFacts]  # checks the rows, whose faults it adds
    items: Callable[[Mapping[str, OwnRows]], Data]  # of rows without a fault
    told: bool = True  # whether a file with its columns is taken for it unless told otherwise


def _alone(function: Callable[[OwnRows], object]) -> Callable[[Mapping[str, OwnRows]], object]:
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
    facts=_alone(choosing.choices_facts),
    items=_alone(choosing.choices),
)
PROBE = TaskShape(
    key="probe",
    title="Linear probe",
    procedure="probe",
    columns={"": (_NAME, _ITEM, _LABEL, ShapeColumn(name=SPLIT, meaning="train or test; others are left out."))},
    scored="accuracy; chance 1 / classes",
    example="item,label,split\na.jpg,cat,train\nb.jpg,dog,test",
    facts=_alone(labelled.probe_facts),
    items=_alone(labelled.probe),
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
    facts=_alone(labelled.zero_shot_facts),
    items=_alone(labelled.zero_shot),
)
CLUSTERING = TaskShape(
    key="clustering",
    title="Clustering",
    procedure="clustering",
    columns={"": (_NAME, _ITEM, _LABEL)},
    scored="NMI; chance not stated",
    example="item,label\na.jpg,cat\nb.jpg,dog",
    facts=_alone(labelled.clusters_facts),
    items=_alone(labelled.clusters),
    told=False,
)

# In the order in which a file's columns are compared with theirs.
SHAPES: tuple[TaskShape, ...] = (CHOICES, PROBE, CLASSIFICATION, CLUSTERING)
KEYS = tuple(shape.key for shape in SHAPES)
