"""Images of two objects in a spatial relation, with captions, in the layout of What's Up (Kamath et al. 2023).

A table of `image_path` and `caption_options`, the correct caption first. Each caption states the objects and one of
RELATIONS: "A mug to the left of a knife".
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

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
FORM = Form("What's Up", (FormField("image_path"), FormField("caption_options")))


class Shows(NamedTuple):
    """What an image shows."""

    objects: tuple[str, ...]  # the first is in this relation to the second
    relation: str
    captions: tuple[tuple[str, str], ...]  # relation -> caption, starting with the image's own


def read(path: Path, *, images: Path | None = None) -> tuple[Images, dict[str, Shows]]:
    """Returns the images of a table, and what each shows by its name; `images` is their folder, by default the table's
    own.

    Raises BadInput naming the row and what it needs.
    """
    table = read_table(path)
    present = list(table.frame)
    columns = fitting([FORM], present, title=path.name).columns(present)
    known = image_lists.opened(images or path.parent)
    names = {name: at for at, name in enumerate(known.names)}
    shown = {}
    for number, row in enumerate(table.rows(), 1):
        where, listed = f"{path.name}, row {number}", row[columns["image_path"]]
        # What's Up's paths begin with the folder in which they were made.
        parts = Path(str(listed).replace("\\", "/")).parts
        name = next((end for at in range(len(parts)) if (end := "/".join(parts[at:])) in names), "")
        if not name:
            raise BadInput(f"{where}: there is no image {listed} in {known.title}. Name its folder with --images")
        if name in shown:
            raise BadInput(f"{where}: {name} appears twice in the table. Remove one of the rows")
        options = row[columns["caption_options"]]
        options = options.tolist() if hasattr(options, "tolist") else options  # Parquet stores lists as arrays
        captions, objects = {}, ()
        for caption in options if isinstance(options, list) and options else [options]:
            if not (match := CAPTION.fullmatch(str(caption).strip().rstrip("."))):
                raise BadInput(f"{where}: {str(caption)!r} does not state two objects and their relation")
            captions.setdefault(match["relation"].lower(), str(caption).strip())
            objects = objects or (match["first"].lower(), match["second"].lower())
        shown[name] = Shows(objects, relation=next(iter(captions)), captions=tuple(captions.items()))
    return replace(known.take([names[name] for name in shown]), notes=()), shown
