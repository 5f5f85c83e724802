"""The manifest of a set of pairs: every random choice written down, so that the same pairs can be made anywhere.

A Parquet file with a row a pair, without order: a judge rates both. The images themselves are made when they are read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compute import drafts
from compute.content.items import content_key
from compute.tasks.data import PAIR_TYPES
from compute.tasks.pairbench.splits import SPLITS
from compute.types import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1  # raise it when a column changes its name or meaning
HEADING = b"likeness.pairs"  # the key of the file's metadata that says what the pairs were made from, and how
AGAIN = "Make the pairs again: python -m compute pairs make"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One pair. Seeds and strengths are those of `perturb`."""

    split: str  # key of SPLITS
    item: str  # the source item
    type: str  # one of PAIR_TYPES
    first: str  # an image's name, shown as it is
    first_key: str  # content keys of the source files
    second: str = ""  # an image's name; empty for a text
    second_key: str = ""
    text: str = ""  # the second side, where that is a text
    change: str = ""  # of the second image: resize, or a key of PERTURBATIONS
    strength: float = 0.0  # of a resize the share of each side
    seed: int = 0  # everything random about the pair is drawn from it
    template: int = 0  # 0..4: which prompt template
    # Random applications of the split's transformation to each side, for models without a prompt (section 4.2.2).
    first_strengths: tuple[float, ...] = ()
    first_seeds: tuple[int, ...] = ()
    second_strengths: tuple[float, ...] = ()
    second_seeds: tuple[int, ...] = ()
    # Of some pairs, what the second image came out as where they were made.
    pixels: str = ""  # a digest
    thumbnail: bytes = b""  # of a few pixels: tells another rounding from another image

    @property
    def name(self) -> str:
        """Unique within the split."""
        return f"{self.item}/{self.type}"


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Pairs and what they were made from. `about` holds seed, sources, options and package versions."""

    pairs: tuple[Pair, ...]
    about: Mapping[str, Any] = field(repr=False)
    path: Path
    digest: str = ""  # of the file; empty for what is not written

    @property
    def splits(self) -> tuple[str, ...]:
        """Keys of the splits, in the usual order."""
        own = {pair.split for pair in self.pairs}
        return tuple(key for key in SPLITS if key in own)

    def of(self, split: str) -> tuple[Pair, ...]:
        """The pairs of a split. Raises BadInput for one that the manifest does not have."""
        pairs = tuple(pair for pair in self.pairs if pair.split == split)
        if not pairs:
            raise BadInput(f"{self.path.name} has no split {split!r}; it has: {', '.join(self.splits)}")
        return pairs

    def counts(self) -> dict[str, Counter[str]]:
        """Pairs by split and type."""
        return {split: Counter(pair.type for pair in self.pairs if pair.split == split) for split in self.splits}


def _schema() -> pa.Schema:
    import pyarrow as pa

    kinds = {
        "str": pa.string(),
        "float": pa.float64(),
        "int": pa.int64(),
        "bytes": pa.binary(),
        "tuple[float, ...]": pa.list_(pa.float64()),
        "tuple[int, ...]": pa.list_(pa.int64()),
    }
    return pa.schema([(column.name, kinds[str(column.type)]) for column in fields(Pair)])


def write(path: Path, pairs: Sequence[Pair], *, about: Mapping[str, Any]) -> Manifest:
    """Writes a manifest, whole or not at all, and reads it again. Raises CannotWrite."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    heading = json.dumps({"version": VERSION, **about}, sort_keys=True)
    table = pa.Table.from_pylist([asdict(pair) for pair in pairs], schema=_schema())
    with drafts.replacing(path) as draft:
        pq.write_table(table.replace_schema_metadata({HEADING: heading.encode()}), draft, compression="zstd")
    return read(path)


def read(path: Path) -> Manifest:
    """A manifest. Raises BadInput for a file that is none, is damaged, or is of another version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not path.is_file():
        raise BadInput(f"There is no file {path}. {AGAIN}")
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).strip().splitlines()[0]
        raise BadInput(f"{path.name} is no Parquet file, or a damaged one ({reason}). {AGAIN}") from error
    heading = (table.schema.metadata or {}).get(HEADING)
    if heading is None:
        raise BadInput(f"{path.name} is a Parquet file but no manifest of pairs. {AGAIN}")
    about = json.loads(heading)
    if about.get("version") != VERSION:
        raise BadInput(
            f"{path.name} is a manifest of version {about.get('version')}; this program reads {VERSION}. {AGAIN}"
        )
    if missing := [name for name in _schema().names if name not in table.column_names]:
        raise BadInput(f"{path.name} has no column {missing[0]!r}. {AGAIN}")
    pairs = tuple(
        Pair(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})
        for row in table.select(_schema().names).to_pylist()
    )
    _check(pairs, path.name)
    return Manifest(pairs=pairs, about=about, path=path, digest=content_key(path.read_bytes()).decode())


def _check(pairs: Sequence[Pair], title: str) -> None:
    if not pairs:
        raise BadInput(f"{title} holds no pair. {AGAIN}")
    names: set[tuple[str, str]] = set()
    for pair in pairs:
        if pair.split not in SPLITS or pair.type not in PAIR_TYPES or not 0 <= pair.template < 5:
            raise BadInput(
                f"{title}: pair {pair.name!r} has split {pair.split!r}, type {pair.type!r}, template {pair.template}, "
                f"of which one is unknown. {AGAIN}"
            )
        if (pair.split, pair.name) in names:
            raise BadInput(f"{title}: split {pair.split} has the pair {pair.name!r} twice. {AGAIN}")
        names.add((pair.split, pair.name))
