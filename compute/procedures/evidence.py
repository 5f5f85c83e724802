"""The result of a procedure, one row per item, and how a page shows it.

Also the credit for choosing one of k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from compute.arrays import Bools, Floats
from compute.content.items import Column
from compute.features.subject import Subject
from compute.rounding import rounded
from compute.tasks.data import Mixed
from compute.types import LETTERS, shortened

LONGEST = 300  # characters of a text shown on a page


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One row per item: `item`, `expected`, `answer` (text), `correct` (True, False, None), `value`, `detail`.

    Items are sorted by `value`: a margin, negative if wrong, or the item's score. `detail` is a dict with the `images`
    (content keys) and `texts` that a page can show, or a function that returns it. The function is called only for
    items that a page can open, because the texts of all hits of many queries would not fit into memory. A metric that
    is a mean over items has a column named by its key (`accuracy`, `ndcg_at_10`, ...), with NaN for items without an
    answer. Other metrics are functions of named columns (`human`, `value`, ...).
    """

    items: pd.DataFrame
    # Facts reported by the procedure, such as draws and iterations; `tied` counts the items decided by an exact tie.
    settings: dict[str, Any] = field(default_factory=dict)
    # Items without a row because one of their questions never reached the model. They have no answer, and the next run
    # asks again.
    unasked: int = 0

    @classmethod
    def of(
        cls,
        *,
        names: Sequence[str],
        expected: Sequence[str] | np.ndarray | str,
        answer: Sequence[str] | np.ndarray,
        value: np.ndarray,
        detail: Sequence[Any],
        worth: np.ndarray | None = None,
        figures: Mapping[str, np.ndarray] | None = None,
        settings: dict[str, Any] | None = None,
    ) -> Evidence:
        """Makes it from columns with one row per item: `figures` by metric; `worth`, which determines `correct`.

        Full credit is correct and no credit is wrong. A shared pick, a missing answer, or missing `worth` is neither.
        """
        known = [None] * len(names) if worth is None else worth.tolist()
        columns = {
            "item": list(names),
            "expected": expected,
            "answer": answer,
            "correct": pd.Series([bool(mark) if mark in (0, 1) else None for mark in known], dtype=object),
            "value": value,
            **(figures or {}),
            "detail": pd.Series(detail, dtype=object),
        }
        return cls(items=pd.DataFrame(columns), settings=settings or {})

    @classmethod
    def of_picks(
        cls, *, names: Sequence[str], right: NDArray[np.integer], scores: Floats, details: Sequence[dict[str, Any]]
    ) -> Evidence:
        """Makes it for choices of one of k per item, from scores (n, k) and the correct positions (n,)."""
        hot = one_hot(right, scores.shape[1])
        worth = credit(scores, hot)
        return cls.of(
            settings={"tied": int(is_shared(worth).sum())},
            names=names,
            expected=[LETTERS[at] for at in right.tolist()],
            answer=picked(scores),
            worth=worth,
            value=margin(scores, hot),
            figures={"accuracy": worth},
            detail=[detail | {"scores": row} for detail, row in zip(details, scores.tolist(), strict=True)],
        )


class ItemView(NamedTuple):
    """How single items of evidence are presented.

    `read(items)` returns `right`, `margin` (lowest for the worst items, NaN: none), `off` and `answer_text` if they do
    not follow from `correct`, `value` and `answer`. `filters(margins)` returns titles and boolean masks by key, for the
    margins (n, models).
    """

    roles: tuple[str, ...] = ()  # of an item's inputs; further inputs are items
    expected: tuple[str, str] = ("Expected", "Expected")  # its label: for people's answers, and for drawn items
    orders: Mapping[str, str] = {
        "worst": "Worst margin first",
        "close": "Closest calls first",
        "best": "Best margin first",
    }
    orders_of_two: Mapping[str, str] = {}  # additional orders for two models, listed first
    graded: bool = True  # items are right or wrong
    one_scale: bool = False  # margins of two models have the same unit
    read: Callable[[pd.DataFrame], Mapping[str, Any]] | None = None
    filters: Callable[[Floats], Mapping[str, tuple[str, Bools]]] | None = None  # None: filters by right and wrong
    margin: Callable[[float], str] | None = None  # a margin in words


def by_value(items: pd.DataFrame) -> dict[str, Any]:
    """Returns each item's value as its answer."""
    return {"answer_text": items["value"].map(lambda value: rounded(value, 3).replace("-", "−"))}


# For a generator's images, one per prompt.
GENERATED = ItemView(
    roles=("Reference", "Generated"),
    expected=("Prompt", "Prompt"),
    orders={"best": "Highest value first", "worst": "Lowest value first"},
    orders_of_two={"apart": "Farthest apart first"},
    graded=False,
    one_scale=True,
    read=by_value,
    margin="".format,
)


@dataclass(frozen=True, kw_only=True)
class Procedure:
    """How a kind of question is put to a model. `version` is part of every run's fingerprint: increase it when the
    rules change.

    `needs`: any one of these sets of abilities is enough. `options`: name -> allowed values, the first is the default.
    `run(subject, data, options)` gets every option with a value.
    """

    key: str
    needs: tuple[Set[str], ...]
    run: Callable[[Subject, Any, Mapping[str, Any]], Evidence]
    options: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    version: int = 1
    late_interaction: bool = False  # accepts models with many vectors per item
    view: ItemView = ItemView()

    @property
    def usual(self) -> dict[str, Any]:
        """Returns the default value of each option."""
        return {name: values[0] for name, values in self.options.items()}


def credit(scores: NDArray[np.floating], right: Bools) -> Floats:
    """Returns the credit for picking the best of each row: (..., k) scores and which are right -> (...,) in 0..1.

    Exactly tied best scores share the pick, like the average of a random draw among them, so no position is favoured.
    An arg max would give a tie to the first.
    """
    best = scores == scores.max(axis=-1, keepdims=True)
    return (best & right).sum(axis=-1) / best.sum(axis=-1)


def is_shared(worth: Floats) -> Bools:
    """Returns whether a pick with this credit is shared by right and wrong candidates."""
    return (worth > 0) & (worth < 1)


def margin(scores: NDArray[np.floating], right: Bools) -> Floats:
    """Returns the best right score minus the best wrong one: negative for a wrong pick, 0 for a tie."""
    good = np.where(right, scores, -np.inf).max(axis=-1)
    bad = np.where(right, -np.inf, scores).max(axis=-1)
    return np.subtract(good, bad, out=np.zeros(good.shape), where=good != bad)


def one_hot(right: NDArray[np.integer], k: int) -> Bools:
    """Converts (n,) positions to (n, k) booleans."""
    return np.asarray(right)[:, None] == np.arange(k)


def picked(scores: NDArray[np.floating]) -> list[str]:
    """Returns the letter of each row's best candidate: `B`, or `A/C` for a tie."""
    best = scores == scores.max(axis=-1, keepdims=True)
    return ["/".join(LETTERS[at] for at in np.flatnonzero(row)) for row in best]


def contents_of(columns: Sequence[Column]) -> list[dict[str, list[str]]]:
    """Returns one {"images": [...], "texts": [...]} per row, in the order of the columns; a pair contributes both."""
    rows = len(columns[0])
    images = [[key.decode() for key in column.keys.tolist()] for column in columns if column.modality == "image"]
    written = [[_cut(column.read(row)) for row in range(rows)] for column in columns if column.modality == "text"]
    return [
        {"images": [column[row] for column in images], "texts": [column[row] for column in written]}
        for row in range(rows)
    ]


def keys_and_texts(items: Mixed, positions: NDArray[np.integer]) -> list[tuple[str, str]]:
    """Returns image key and text of the items at these positions, empty if missing; each text is read once."""
    image, text = [""] * len(positions), [""] * len(positions)
    if items.image is not None:
        known = items.image.keys
        image = [known[at].decode() if at >= 0 else "" for at in items.image_at[positions].tolist()]
    if items.text is not None:
        at, again = np.unique(items.text_at[positions], return_inverse=True)
        read = [_cut(items.text.read(index)) if index >= 0 else "" for index in at.tolist()]
        text = [read[index] for index in again.tolist()]
    return list(zip(image, text, strict=True))


def as_detail(things: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Returns {"images": [...], "texts": [...]}, aligned with the things; a list without any entry is empty."""
    images, written = ([thing[side] for thing in things] for side in (0, 1))
    return {"images": images if any(images) else [], "texts": written if any(written) else []}


def _cut(text: object) -> str:
    return shortened(str(text), LONGEST)
