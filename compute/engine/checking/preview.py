"""A few items of a data set as a person can look at them: small pictures, texts, and the right answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from compute.content.items import Column
from compute.engine.thumbnails import thumbnail
from compute.procedures.shared.preview import short
from compute.tasks.data import (
    Choices,
    Clusters,
    Data,
    Matches,
    Mixed,
    OddOneOut,
    Probe,
    Retrieval,
    Sentences,
    ZeroShot,
    size,
)
from compute.types import LETTERS, LikenessError

ITEMS = 3
SIDE = 256  # pixels of the longer side at most
DOCUMENTS = 3  # relevant documents of a query


@dataclass(frozen=True, kw_only=True)
class ShownContent:
    """One image or text of an item: `webp` is empty for a text, and for an image that cannot be read (`problem`)."""

    role: str
    webp: bytes = b""
    text: str = ""
    problem: str = ""
    right: bool = False  # whether it is the answer


@dataclass(frozen=True, kw_only=True)
class ShownItem:
    """One item: its name, its contents, and what is right in words."""

    name: str
    answer: str
    contents: tuple[ShownContent, ...]


def preview(data: Mapping[str, Data], *, items: int = ITEMS) -> list[ShownItem]:
    """The first, the last and those between at equal steps, of the first subset that has items."""
    part = next((part for part in data.values() if size(part)), None)
    if part is None:
        return []
    rows = np.unique(np.linspace(0, size(part) - 1, num=min(items, size(part))).round().astype(int))
    return [_item(part, row) for row in rows.tolist()]


def _item(data: Data, row: int) -> ShownItem:
    match data:
        case Choices():
            answer = int(data.answer[row])
            sides = [
                _content(f"Alternative {LETTERS[at]}", column, row, right=at == answer)
                for at, column in enumerate(data.alternatives)
            ]
            reference = _content("Reference", data.reference, row)
            return _shown(data.names[row], f"Answer: {LETTERS[answer]}", [reference, *sides])
        case OddOneOut():
            odd = int(data.odd[row])
            members = [
                _content(f"Image {LETTERS[at]}", column, row, right=at == odd) for at, column in enumerate(data.members)
            ]
            return _shown(data.names[row], f"Odd one out: {LETTERS[odd]}", members)
        case Probe(test=test) | Clusters(test=test) | ZeroShot(test=test):
            label = int(test.labels[row])
            shown = [_content("Item", test.items, row)]
            if isinstance(data, ZeroShot):
                shown.append(_content("Prompt of its class", data.prompts, label, right=True))
            return _shown(test.names[row], f"Label: {test.classes[label]}", shown)
        case Sentences():
            pair = [_content("First", data.first, row), _content("Second", data.second, row)]
            return _shown(data.names[row], f"Rating: {data.human[row]:g}", pair)
        case Matches():
            images = [_content(f"Image {at + 1}", column, row) for at, column in enumerate(data.images)]
            captions = [_content(f"Text {at + 1}", column, row) for at, column in enumerate(data.captions)]
            several = len(images) > 1 and len(captions) > 1
            answer = "Each image belongs to the text of its number" if several else "Image 1 and text 1 belong together"
            return _shown(data.names[row], answer, [*images, *captions])
        case Retrieval():
            query, document, grade = data.relevant
            relevant = document[(query == row) & (grade > 0)]
            shown = [*_mixed("Query", data.queries, row)]
            for at in relevant[:DOCUMENTS].tolist():
                shown += _mixed("Relevant document", data.documents, at, right=True)
            return _shown(data.queries.names[row], f"Relevant documents: {len(relevant):,}", shown)
        case _:
            raise TypeError(type(data).__name__)


def _shown(name: str, answer: str, contents: list[ShownContent]) -> ShownItem:
    return ShownItem(name=name, answer=answer, contents=tuple(contents))


def _content(role: str, column: Column, row: int, *, right: bool = False) -> ShownContent:
    try:
        if column.modality == "text":
            return ShownContent(role=role, text=short(str(column.read(row))), right=right)
        return ShownContent(role=role, webp=thumbnail(column.content(row), side=SIDE), right=right)
    except (LikenessError, OSError) as error:
        return ShownContent(role=role, problem=str(error), right=right)


def _mixed(role: str, items: Mixed, row: int, *, right: bool = False) -> Iterator[ShownContent]:
    for column, at in ((items.image, items.image_at), (items.text, items.text_at)):
        if column is not None and at[row] >= 0:
            yield _content(role, column, int(at[row]), right=right)
