"""A manifest as read (`compute.io.tables`), with values as Arrow arrays rather than one Python object per row.

Images inside a Parquet file stay there until they are read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from compute.content.items import Column
from compute.io.tables import ENDINGS, PARQUET, check_names, check_unpacked, is_table, read_table
from compute.tasks import parquet
from compute.types import BadInput

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

MOST_BYTES = 4 << 30  # of a manifest's texts
SPLIT = "split"  # limit for a manifest's texts
TRAIN, TEST = "train", "test"


@dataclass(frozen=True, kw_only=True)
class OwnTable:
    """the column that separates training from test rows"""

    title: str  # the file's name, for messages
    values: pa.Table
    folder: Path | None = None  # base of image paths; None: paths are not allowed
    # Columns of images' bytes: the images, given `cache`, the folder where content keys are stored.
    stored: Mapping[str, Callable[..., Column]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()  # columns of image paths, with any extension
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of columns of class numbers
    digest: str = ""  # of the file's content
    comma: bool | None = False  # whether decimals have a comma, as implied by the file's separator
    notes: tuple[str, ...] = ()  # on how the file was read, and on unused files of a folder

    def __len__(self) -> int:
        return self.values.num_rows

    @property
    def columns(self) -> tuple[str, ...]:
        """Returns the names of the columns."""
        return (*self.values.column_names, *self.stored)

    def texts(self, column: str) -> pd.Series | None:
        """Returns a column as texts, with class numbers as names; None for lists or objects."""
        import pyarrow as pa

        values = self.values.column(column)
        if pa.types.is_dictionary(values.type):  # pandas' categories
            values = values.cast(values.type.value_type)
        if pa.types.is_nested(values.type):
            return None
        if (names := self.class_names.get(column)) and pa.types.is_integer(values.type):
            return values.to_pandas().map(dict(enumerate(names))).astype("str")
        return values.cast(pa.large_string()).to_pandas().astype("str")


def read(path: Path, *, folder: Path | None = None) -> OwnTable:
    """Reads a manifest by its extension, one of ENDINGS.

    Image paths are relative to `folder`, by default the manifest's.

    Raises BadInput for a file that does not match its extension.
    """
    import pyarrow as pa

    if not path.is_file():
        raise BadInput(f"There is no file {path}")
    if not is_table(path):
        raise BadInput(f"{path.name} is not a manifest: its name must end in {', '.join(ENDINGS)}")
    if path.suffix.lower() == PARQUET:
        table = of_parquet(parquet.Table((path,), path.name), folder=path.parent, digest=digest_of(path))
    else:
        file = read_table(path, most_bytes=MOST_BYTES)
        table = OwnTable(
            title=path.name,
            values=pa.Table.from_pandas(file.frame, preserve_index=False),
            folder=path.parent,
            digest=digest_of(path),
            comma=file.comma,
            notes=file.notes,
        )
    return replace(table, folder=folder) if folder else table


def digest_of(path: Path) -> str:
    """Returns 32 hex digits of BLAKE2b over a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def of_parquet(table: parquet.Table, *, folder: Path | None, digest: str) -> OwnTable:
    """Reads the rows of a Parquet table, from a file or a hub data set. Raises BadInput for a damaged file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    check_names(table.columns, table.title)
    others = [name for name in table.columns if name not in table.in_bytes]
    for file in table.files:
        check_unpacked(file, others, most_bytes=MOST_BYTES)
    values = pa.concat_tables([pq.read_table(file, columns=others) for file in table.files])
    if not others:
        values = pa.table({"row": np.arange(len(table))})
    return OwnTable(
        title=table.title,
        values=values,
        folder=folder,
        stored={name: partial(table.images, name) for name in table.in_bytes},
        class_names={name: names for name in others if (names := table.class_names(name))},
        digest=digest,
    )
