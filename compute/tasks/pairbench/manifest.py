"""The manifest of a set of pairs: every random choice written down, so that the same pairs can be made anywhere.

A Parquet file with a row a pair, without order: a judge rates both. The images themselves are made when they are read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from compute.content.items import content_key
from compute.io.files import parse_json, replacing, short, validated
from compute.io.tables import check_unpacked
from compute.tasks.data import PAIR_TYPES
from compute.tasks.pairbench import sources
from compute.tasks.pairbench.pixels import RESIZE
from compute.tasks.pairbench.splits import SPLITS
from compute.tasks.perturb import PERTURBATIONS
from compute.types import BadInput, first_line

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1  # raise it when a column changes its name or meaning
TEMPLATES = 5  # prompt templates of each kind of pair (Appendix C.1)
HEADING = b"likeness.pairs"  # the key of the file's metadata that says what the pairs were made from, and how
MOST_BYTES = 1 << 30  # of a manifest's texts
AGAIN = "Make the pairs again: likeness pairs make"


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
    def synthetic(self) -> bool | None:
        """Whether a program drew the source images; None where nobody said, as in manifests made earlier."""
        return self.about.get("synthetic")

    @property
    def splits(self) -> tuple[str, ...]:
        """Keys of the splits, in the usual order."""
        own = {pair.split for pair in self.pairs}
        return tuple(key for key in SPLITS if key in own)

    @property
    def items(self) -> int:
        """How many source items there are."""
        return len({pair.item for pair in self.pairs})

    def of(self, split: str) -> tuple[Pair, ...]:
        """The pairs of a split. Raises BadInput for one that the manifest does not have."""
        return tuple(pair for pair in self.pairs if pair.split == split)

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
    with replacing(path) as draft:
        pq.write_table(table.replace_schema_metadata({HEADING: heading.encode()}), draft, compression="zstd")
    return read(path)


def read(path: Path) -> Manifest:
    """A manifest, which may come from anyone.

    Raises BadInput for a file that is none, is damaged, is of another version, or holds what no pair can.
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
    about = _about(heading, title=path.name)
    if missing := [name for name in _schema().names if name not in table.column_names]:
        raise BadInput(f"{path.name} has no column {missing[0]!r}. {AGAIN}")
    pairs = tuple(
        Pair(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})
        for row in _typed(table, title=path.name).to_pylist()
    )
    if not pairs:
        raise BadInput(f"{path.name} holds no pair. {AGAIN}")
    for pair in pairs:
        if problem := _problem(pair):
            raise BadInput(f"{path.name}: pair {short(pair.name)} has {problem}. {AGAIN}")
    (name, often), *_ = Counter((pair.split, pair.name) for pair in pairs).most_common(1)
    if often > 1:
        raise BadInput(f"{path.name}: split {name[0]} has the pair {name[1]!r} twice. {AGAIN}")
    return Manifest(pairs=pairs, about=about, path=path, digest=content_key(path.read_bytes()).decode())


class Heading(BaseModel):
    """What a file's metadata says of its pairs; it may say more."""

    model_config = ConfigDict(extra="allow", strict=True)

    version: Annotated[int, Field(ge=VERSION, le=VERSION)]
    sources: dict[str, Any]
    seed: int = 0
    left_out: list[str] = []
    notes: list[str] = []
    near_copies: list[list[str]] = []
    second_counterpart: bool = False
    packages: dict[str, str] = {}
    synthetic: bool | None = None
    stored: Annotated[str, Field(pattern="^[^/\\\\]*$")] = ""  # a file next to the manifest

    @field_validator("sources")
    @classmethod
    def found_again(cls, value: dict[str, Any]) -> dict[str, Any]:
        """A source has a kind, and what that kind needs to be opened."""
        for name in ("kind", *sources.FIELDS.get(str(value.get("kind")), ())):
            if not isinstance(value.get(name), str):
                raise ValueError(f"the sources do not say their {name}")
        return value


def _about(heading: bytes, *, title: str) -> dict[str, Any]:
    """The heading, with what it may omit. Raises BadInput."""
    try:
        return validated(parse_json(heading.decode(), name="the heading"), Heading).model_dump()
    except ValueError as error:
        raise BadInput(f"{title}: its heading is damaged ({first_line(error)}). {AGAIN}") from error


def _typed(table: pa.Table, *, title: str) -> pa.Table:
    """The columns of a pair, each with its type and without an empty cell. Raises BadInput."""
    import pyarrow as pa

    columns = []
    for column in _schema():
        try:
            values = table.column(column.name).cast(column.type).combine_chunks()
        except pa.ArrowException as error:
            raise BadInput(
                f"{title}: its column {column.name!r} does not belong to pairs ({first_line(error)}). {AGAIN}"
            ) from error
        if values.null_count or (pa.types.is_list(column.type) and values.flatten().null_count):
            raise BadInput(f"{title}: its column {column.name!r} has empty cells. {AGAIN}")
        columns.append(values)
    return pa.table(columns, schema=_schema())


def _problem(pair: Pair) -> str:
    """What no pair can have; empty where all is well."""
    for name, known in (("split", SPLITS), ("type", PAIR_TYPES), ("change", ("", RESIZE, *PERTURBATIONS))):
        if (value := getattr(pair, name)) not in known:
            return f"the {name} {short(value)}, which is unknown"
    if not 0 <= pair.template < TEMPLATES:
        return f"the template {pair.template}, of 0 to {TEMPLATES - 1}"
    strengths, seeds = (*pair.first_strengths, *pair.second_strengths), (*pair.first_seeds, *pair.second_seeds)
    if len(strengths) != len(seeds) or not all(0 <= each <= 1 for each in (pair.strength, *strengths)):
        return "strengths that are not one a seed, each from 0 to 1"
    if min(pair.seed, *seeds, 0) < 0:
        return "a seed below 0"
    if SPLITS[pair.split].second == "text":
        return "" if pair.text and not pair.second else "no text, or a second image next to it"
    return "" if pair.second and not pair.text else "no second image, or a text next to it"
