"""The manifest of a set of pairs: it records every random choice, so that the same pairs can be made anywhere.

It is a Parquet file with a row per unordered pair; a judge rates both orders. A second file next to it has each image
once; variants are made when they are read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from compute.content.items import content_key
from compute.io.files import parse_json, replacing, validated
from compute.io.tables import check_unpacked
from compute.tasks.data import PAIR_TYPES
from compute.tasks.pairbench.pixels import RESIZE, ImageMaker, MadeImage
from compute.tasks.pairbench.splits import SPLITS
from compute.tasks.parquet import Table
from compute.tasks.perturb import PERTURBATIONS
from compute.types import BadInput, NotHere, first_line

VERSION = 1  # increase it when a column's name or meaning changes
TEMPLATES = 5  # prompt templates of each kind of pair (Appendix C.1)
HEADING = b"likeness.pairs"  # key of the file's metadata on how and from what the pairs were made
MOST_BYTES = 1 << 30  # of a manifest's texts
AGAIN = "Make the pairs again: likeness pairs make"
GROUP = 32  # images per row group, which is read at once


Strength = Annotated[float, Field(ge=0, le=1)]
Seed = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One pair. Seeds and strengths are those of `perturb`."""

    split: Literal[tuple(SPLITS)]
    item: str  # the source item
    type: Literal[PAIR_TYPES]
    first: str  # an image's name, shown as it is
    first_key: str  # content keys of the source files
    second: str = ""  # an image's name; empty for a text
    second_key: str = ""
    text: str = ""  # the second side, where that is a text
    change: Literal["", RESIZE, *PERTURBATIONS] = ""  # of the second image
    strength: Strength = 0.0  # of a resize the share of each side
    seed: Seed = 0  # everything random about the pair is drawn from it
    template: Annotated[int, Field(ge=0, lt=TEMPLATES)] = 0  # which prompt template
    # Random applications of the split's transformation to each side, for models without a prompt (section 4.2.2).
    first_strengths: tuple[Strength, ...] = ()
    first_seeds: tuple[Seed, ...] = ()
    second_strengths: tuple[Strength, ...] = ()
    second_seeds: tuple[Seed, ...] = ()

    @property
    def name(self) -> str:
        """Returns a name that is unique within the split."""
        return f"{self.item}/{self.type}"

    @property
    def sides(self) -> tuple[MadeImage, MadeImage | None]:
        """Returns how each side is made; None for a text."""
        first = MadeImage(name=self.first, source=self.first_key.encode())
        if not self.second:
            return first, None
        second = MadeImage(name=self.second, source=self.second_key.encode())
        if self.change:
            # A resize is not random: its key does not depend on the pair's seed, so that all splits share its image.
            own = 0 if self.change == RESIZE else self.seed
            second = second.then(self.change, self.strength, own)
        return first, second

    def variants(self, side: int) -> list[MadeImage]:
        """Returns the applications of the split's transformation to the first side, 0, or the second, 1."""
        change, shown = SPLITS[self.split].change, self.sides[side]
        if not change or not self.second:
            return []
        strengths, seeds = (
            (self.first_strengths, self.first_seeds) if side == 0 else (self.second_strengths, self.second_seeds)
        )
        return [shown.then(change, *drawn) for drawn in zip(strengths, seeds, strict=True)]


class Manifest(BaseModel):
    """Pairs, and what the file's metadata says they were made from, which may be more."""

    model_config = ConfigDict(extra="allow", defer_build=True)

    pairs: Annotated[tuple[Pair, ...], Field(min_length=1)]
    path: Path
    digest: str  # of the file
    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    synthetic: bool | None = None  # whether a program drew the images; None: nobody said, as in manifests made earlier
    stored: Annotated[str, Field(pattern="^[^/\\\\]*$")] = ""  # a file next to the manifest

    @model_validator(mode="after")
    def as_drawn(self) -> Manifest:
        """Raises ValueError for pairs that cannot have been drawn."""
        for pair in self.pairs:
            if len(pair.first_strengths + pair.second_strengths) != len(pair.first_seeds + pair.second_seeds):
                raise ValueError(f"{pair.name} has strengths that are not one a seed")
            is_text = SPLITS[pair.split].second == "text"
            if bool(pair.text) != is_text or bool(pair.second) == is_text:
                raise ValueError(f"{pair.name} has no second side, or one that is not of its split {pair.split}")
        (name, often), *_ = Counter((pair.split, pair.name) for pair in self.pairs).most_common(1)
        if often > 1:
            raise ValueError(f"split {name[0]} has the pair {name[1]!r} twice")
        return self

    @property
    def splits(self) -> tuple[str, ...]:
        """Returns the keys of the splits, in standard order."""
        own = {pair.split for pair in self.pairs}
        return tuple(key for key in SPLITS if key in own)

    @property
    def items(self) -> int:
        """Returns the number of source items."""
        return len({pair.item for pair in self.pairs})

    def of(self, split: str) -> tuple[Pair, ...]:
        """Returns the pairs of a split. Raises BadInput for one that the manifest does not have."""
        return tuple(pair for pair in self.pairs if pair.split == split)

    def counts(self) -> dict[str, Counter[str]]:
        """Returns the number of pairs by split and type."""
        return {split: Counter(pair.type for pair in self.pairs if pair.split == split) for split in self.splits}


def write(path: Path, pairs: Sequence[Pair], *, about: Mapping[str, Any]) -> Manifest:
    """Writes a manifest, whole or not at all, and reads it back. Raises CannotWrite."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    heading = json.dumps({"version": VERSION, **about}, sort_keys=True)
    table = pa.Table.from_pylist([asdict(pair) for pair in pairs])
    with replacing(path) as draft:
        pq.write_table(table.replace_schema_metadata({HEADING: heading.encode()}), draft, compression="zstd")
    return read(path)


def read(path: Path) -> Manifest:
    """Reads a manifest, which may come from anyone.

    Raises BadInput for a file that is not a manifest, is damaged, has another version, or holds invalid pairs.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise BadInput(f"There is no file {path}. {AGAIN}")
    try:
        check_unpacked(path, pq.read_schema(path).names, most_bytes=MOST_BYTES)
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{path.name} is not a Parquet file, or a damaged one ({first_line(error)}). {AGAIN}") from error
    heading = (table.schema.metadata or {}).get(HEADING)
    if heading is None:
        raise BadInput(f"{path.name} is a Parquet file but not a manifest of pairs. {AGAIN}")
    try:
        rows = {"pairs": table.to_pylist(), "path": path, "digest": content_key(path.read_bytes()).decode()}
        return validated(parse_json(heading.decode(), name="the heading") | rows, Manifest)
    except (ValueError, TypeError) as error:  # also of JSON that is not an object
        raise BadInput(f"{path.name}: its heading or a row is damaged ({first_line(error)}). {AGAIN}") from error


def shown(pairs: Iterable[Pair]) -> dict[bytes, MadeImage]:
    """Returns each image that pairs show, by its content key."""
    return {side.key: side for pair in pairs for side in pair.sides if side}


def images_of(manifest: Manifest) -> Callable[[MadeImage], bytes | None]:
    """Returns a function that reads a manifest's images; it returns None for a variant.

    Raises NotHere if the file is gone or lacks an image, BadInput if it is damaged.
    """
    name = manifest.stored
    if not name:
        raise NotHere(f"{manifest.path.name} has no images: earlier versions made them from their sources. {AGAIN}")
    path = manifest.path.with_name(name)
    if not path.is_file():
        raise NotHere(f"{name}, the images of the pairs, is no longer next to the manifest: move it back")
    table = Table((path,), name)
    (keys,) = table.values("key")
    rows, images = {key.encode(): row for row, key in enumerate(keys)}, table.rows("image")
    missing = [image.name for key, image in shown(manifest.pairs).items() if key not in rows]
    if missing:
        raise NotHere(f"{name} is missing an image of {missing[0]}. {AGAIN}")
    return lambda made: images[rows[made.key]] if made.key in rows else None


def write_images(path: Path, pairs: Iterable[Pair], *, maker: ImageMaker, done: Callable[[int], None]) -> None:
    """Writes the images of pairs, a few in memory at a time. Raises CannotWrite."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("key", pa.string()), ("image", pa.binary())])
    images = list(shown(pairs).items())
    with replacing(path) as draft, pq.ParquetWriter(draft, schema, compression="none") as writer:
        for start in range(0, len(images), GROUP):
            batch = [{"key": key.decode(), "image": maker.file(made)} for key, made in images[start : start + GROUP]]
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
            done(len(batch))
