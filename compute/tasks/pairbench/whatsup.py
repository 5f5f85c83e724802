"""Images of two objects in a spatial relation, with captions: the layout of What's Up (Kamath et al. 2023), or a table.

What's Up's own JSON lists `image_path` and `caption_options`, the right one first. Any other table (CSV, JSON,
JSON Lines, Parquet) needs the columns `image` and `caption`, and `relation` and `objects` where the caption does not
tell them by one of RELATIONS: "A mug to the left of a knife".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from compute.io.forms import Form, FormField, fitting
from compute.io.tables import read_table
from compute.tasks import image_lists
from compute.tasks.image_lists import Images
from compute.types import BadInput

RELATIONS = (
    "to the left of",
    "to the right of",
    "in front of",
    "on top of",
    "left of",
    "right of",
    "next to",
    "behind",
    "above",
    "below",
    "under",
    "on",
    "in",
)
CAPTION = re.compile(
    rf"(?:(?:an?|the)\s++)?(?P<first>.+?)(?<!\s)\s++(?:is\s++)?(?P<relation>{'|'.join(RELATIONS)})\s++(?:(?:an?|the)\s+)?(?P<second>.+)",
    re.IGNORECASE | re.DOTALL,
)
FORM = Form(
    "What's Up",
    (
        FormField("image", ("image_path", "file_name", "path")),
        FormField("caption", ("caption_options",)),
        *(FormField(name, optional=True) for name in ("relation", "objects", "subject", "object")),
    ),
)


class Shows(NamedTuple):
    """What an image shows."""

    objects: tuple[str, ...]  # the first is in the relation to the second
    relation: str
    captions: tuple[tuple[str, str], ...]  # relation -> caption; its own first


def read(path: Path, *, images: Path | None = None) -> tuple[Images, dict[str, Shows]]:
    """The images of a table, and what each shows by its name; `images` is their folder, by default the table's own.

    Raises BadInput naming the row and what it needs.
    """
    table = read_table(path)
    present = [*table.frame, *table.stored]
    fitting([FORM], present, title=path.name)
    columns = FORM.columns(present)
    rows = [
        {name: cell.tolist() if hasattr(cell := row.get(own), "tolist") else cell for name, own in columns.items()}
        for row in table.rows()
    ]
    embedded = not isinstance(rows[0]["image"], str)
    root = images or path.parent
    known = image_lists.opened(path if embedded else root, column=columns["image"] * embedded)
    shown = {}
    parsed = [_parsed(row, f"{path.name}, row {number + 1}") for number, row in enumerate(rows)]
    relations = tuple(dict.fromkeys(relation for _, relation, _ in parsed))
    names = {name: at for at, name in enumerate(known.names)}
    for number, (row, facts) in enumerate(zip(rows, parsed, strict=True)):
        where, name = f"{path.name}, row {number + 1}", str(number)
        if not embedded:
            # What's Up's own paths begin with a folder of where they were made.
            parts = Path(str(row["image"]).replace("\\", "/")).parts
            name = next((end for at in range(len(parts)) if (end := "/".join(parts[at:])) in names), "")
            if not name:
                raise BadInput(
                    f"{where}: there is no image {row['image']} in {known.title}. Name its folder with --images"
                )
        if name in shown:
            raise BadInput(f"{where}: {name} appears twice in the table. Remove one of the rows")
        objects, relation, (caption, *options) = facts
        if options:
            matches = [CAPTION.fullmatch(option.rstrip(".")) for option in options]
            others = {
                match["relation"].lower() if match else f"option {at}": option
                for at, (match, option) in enumerate(zip(matches, options, strict=True), 2)
            }
        else:
            own = re.compile(rf"\b{re.escape(relation)}\b", re.IGNORECASE)
            others = {other: own.sub(other, caption, count=1) for other in relations}
        others.pop(relation, None)
        shown[name] = Shows(objects, relation, captions=((relation, caption), *others.items()))
    return replace(known.take([names[name] for name in shown]), notes=()), shown


def _parsed(row: Mapping[str, Any], where: str) -> tuple[tuple[str, ...], str, list[str]]:
    """Objects, relation and captions of a row, the right caption first."""
    stated = row["caption"]
    captions = [str(caption).strip() for caption in (stated if isinstance(stated, list) else [stated]) if caption]
    if not captions:
        raise BadInput(f"{where}: it has no caption")
    match = CAPTION.fullmatch(captions[0].rstrip("."))
    relation = str(row.get("relation") or "").replace("_", " ").strip()
    if relation.lower() not in captions[0].lower() or not relation:
        relation = match["relation"].lower() if match else ""
    objects = row.get("objects") or [row[name] for name in ("subject", "object") if row.get(name)]
    objects = objects.split(";") if isinstance(objects, str) else objects
    objects = tuple(str(thing).strip().lower() for thing in objects) or tuple(
        match[side].lower() for side in ("first", "second") if match
    )
    if not relation or len(objects) != 2:
        raise BadInput(
            f"{where}: {captions[0]!r} does not state two objects and their relation. Add the columns relation, as the "
            "caption writes it, and objects, separated by a semicolon"
        )
    return objects, relation, captions
