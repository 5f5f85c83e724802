"""PairBench's published data set, `feiziaarash/pairbench`.

Known from its card: configurations coco and in100 with a split per transformation, wu_img_img and wu_img_text with
splits `subset_a_pos`, `subset_a_pos_colorjitter` ..., a row per item, images in columns img1, img2, ... (four of them
in coco and in100).

Assumed, because the card does not say so: img1 is the original; the image with 95% of its size belongs to the identical
pair, the last one to the irrelevant pair, and those in between to the transformed pairs, in order. Texts are in string
columns in the same order. This is checked as far as possible: a data set without a column of 95% of the size is
refused. The prompt templates of the pairs are not published, so they are drawn as for pairs made here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from compute.content import decoding
from compute.content.items import Column
from compute.tasks import parquet
from compute.tasks.data import RatedPairs
from compute.tasks.pairbench import making, pairs
from compute.tasks.pairbench.manifest import Pair
from compute.tasks.pairbench.pixels import SHARE, ImageMaker, MadeImage
from compute.tasks.pairbench.splits import OF_TASK, SPLITS, Split
from compute.tasks.source import CARD, Source
from compute.types import BadInput, NotHere, Task

VERSION = 1  # increase it when the same files give other pairs
REPO = "feiziaarash/pairbench"
SIZES = {"coco": 761_297_687}  # download size in bytes per configuration, from the card; others are unknown
LOOKED_AT = 20  # rows whose sizes determine the identical pair's column


def part_of(task: Task) -> tuple[str, tuple[str, ...], Split]:
    """Returns the location of a task's items: the configuration, the possible names of its split, and the difference in
    its pairs.

    Raises NotHere for a task that is not of the data set.
    """
    benchmark, _, name = task.key.partition("/")
    if benchmark != "pairbench" or task.key not in OF_TASK:
        raise NotHere(f"Task {task.key!r} is not a part of PairBench's data set {REPO}")
    split = SPLITS[OF_TASK[task.key]]
    kind, _, half, *_ = f"{name}--".split("-")
    if kind != "wu":
        return kind, (split.change,), split
    own = f"subset_{half}_pos" + (f"_{split.change}" if split.change else "")
    return "wu_img_text" if split.second == "text" else "wu_img_img", (own, f"wu_{own}"), split


def load(task: Task, *, source: Source) -> dict[str, RatedPairs]:
    """Returns a task's pairs by condition. Raises NotHere with the command that fetches them, BadInput for an unknown
    layout.
    """
    config, names, split = part_of(task)
    folder = source.folder(REPO, revision=task.revision, files=(CARD, f"{config}/*"))
    present = parquet.splits(folder, config=config)
    name = next((name for name in names if name in present), names[0])
    table = parquet.table(folder, repo=REPO, config=config, split=name)
    (original, *others), texts = _columns(table)
    columns = {original: table.images(original, cache=source.cache)}
    contents = {}
    if split.second == "text":
        seconds = _types(texts, table, identical=texts[:1])
        contents = dict(zip(seconds, table.values(*seconds), strict=True))
    else:
        columns |= {name: table.images(name, cache=source.cache) for name in others}
        identical = [name for name in others if _is_resized(columns[original], columns[name])]
        seconds = _types(others, table, identical=identical[:1])

    def pair(row: int, name: str, kind: str) -> Pair:
        """Returns one pair. Its images exist already, so only the template and the variants are drawn."""
        of_first, own = (
            making.drawn_choices(task.key, str(row), part, side=side)
            for part, side in (("first", "first"), (kind, "second"))
        )
        drawn = of_first | own
        if not split.change or split.second == "text":
            drawn = {key: own[key] for key in ("seed", "template")}
        if split.second == "text":
            second = {"text": contents[name][row]}
        else:
            second = {"second": f"{name} {row}", "second_key": columns[name].keys[row].decode()}
        first = {"first": f"{original} {row}", "first_key": columns[original].keys[row].decode()}
        return Pair(split=split.key, item=f"{row:04d}", type=kind, **first, **second, **drawn)

    def read(made: MadeImage) -> bytes | None:
        column, row = made.name.rsplit(" ", 1)
        return None if made.changes else columns[column].read(int(row))

    drawn = [pair(row, name, kind) for row in range(len(table)) for name, kind in seconds.items()]
    return pairs.rated(drawn, maker=ImageMaker(read), title=table.title)


def _columns(table: parquet.Table) -> tuple[list[str], list[str]]:
    """Returns the columns of images, starting with the original, and of texts."""
    import pyarrow as pa

    images = table.in_bytes
    texts = [
        field.name for field in table.schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
    ]
    if not images:
        raise BadInput(f"{table.title} has no column of images; it has: {', '.join(table.columns)}")
    return images, texts


def _types(names: Sequence[str], table: parquet.Table, *, identical: Sequence[str]) -> dict[str, str]:
    """Returns the pair type of each second column."""
    if len(names) not in (3, 4) or not identical:
        raise BadInput(
            f"{table.title} has an unknown layout: of its columns {', '.join(table.columns)}, three or four "
            f"should be second sides, one of them with {SHARE:.0%} of the first one's size. They are: "
            f"{', '.join(names) or 'none'}; with that size: {', '.join(identical) or 'none'}"
        )
    *transformed, irrelevant = [name for name in names if name not in identical]
    kinds = dict(zip(transformed, ("transformed", "transformed-2"), strict=False))
    return {identical[0]: "identical", **kinds, irrelevant: "irrelevant"}


def _is_resized(first: Column, second: Column) -> bool:
    """Returns whether most of the second images have SHARE of each side of the first, within one pixel."""
    shares = []
    for row in range(min(LOOKED_AT, len(first))):
        sizes = [decoding.opened(column.read(row)).size for column in (first, second)]
        off = [abs(small - SHARE * large) for large, small in zip(*sizes, strict=True)]
        shares.append(max(off) <= 1 and sizes[0] != sizes[1])
    return bool(np.mean(shares) > 0.5) if shares else False
