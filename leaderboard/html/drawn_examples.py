"""One drawn item for each type of task: the input, the question, and the correct answer.

`drawn_examples.toml` lists them. The drawings are files in the folder `drawn`; no item of a data set is shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from markupsafe import Markup

from compute.io.files import words_beside
from leaderboard.html.labels import is_synthetic
from leaderboard.html.templates import macros

DRAWINGS = Path(__file__).parent / "drawn"
# A drawn item of a type of tasks: those of one `procedure` in some `categories`, or in all others if none is named.
# `title` names the type. `modality` is the tasks' only one, where that tells the types of a category apart. `asks` and
# `right` are a sentence each; `drawn` is what is right where a program draws the items, by default the same. `tiles`
# are its parts: `role`, a `drawing` (by its file's name) or a `text`, and whether it is `right`.
DrawnExample = dict[str, Any]
EXAMPLES: tuple[DrawnExample, ...] = tuple(words_beside(__file__)["examples"])


def example_of(task: Mapping[str, Any]) -> DrawnExample | None:
    """Returns the example of a task's type; None for a procedure without one. task: its procedure, category and
    modalities.
    """
    own = [each for each in EXAMPLES if each["procedure"] == task["procedure"]]
    fitting = [each for each in own if "modality" not in each or {each["modality"]} == set(task["modalities"])]
    named = [each for each in fitting if task["category"] in each.get("categories", ())]
    return next(iter([*named, *(each for each in fitting if "categories" not in each)]), None)


def markup(task: Mapping[str, Any]) -> Markup:
    """Returns the example of a task's type with its drawings; empty for none."""
    example = example_of(task)
    if example is None:
        return Markup("")
    right = example["drawn"] if "drawn" in example and is_synthetic(task["benchmark"]) else example["right"]
    return macros("html/drawn_examples.html").whole(example, right, pictures(example))


def short_markup(example: DrawnExample) -> Markup:
    """Returns an example's drawings and its question, in small size; the caller must say that they are drawn."""
    return macros("html/drawn_examples.html").short(example, pictures(example))


def pictures(example: DrawnExample) -> list[bytes]:
    """Returns the drawing of each tile as WebP of 64 pixels per side, empty for a text."""
    return [picture(tile["drawing"]) if "drawing" in tile else b"" for tile in example["tiles"]]


@cache
def picture(name: str) -> bytes:
    """Returns a drawing as WebP."""
    return (DRAWINGS / f"{name}.webp").read_bytes()
