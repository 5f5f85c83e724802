"""Images of pairs in a Parquet file beside the manifest, where they are to be kept rather than made again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compute import drafts
from compute.tasks.parquet import Table
from compute.types import NotHere

GROUP = 32  # images a row group: what is read at once


@dataclass(frozen=True, kw_only=True)
class StoredImages:
    """Images by content key."""

    path: Path
    rows: dict[bytes, int]
    read: Callable[[int], Any]

    @classmethod
    def opened(cls, path: Path) -> StoredImages:
        """The images of a file. Raises NotHere where it is gone, BadInput where it is damaged."""
        if not path.is_file():
            raise NotHere(f"{path.name}, the images of the pairs, is no longer beside the manifest: move it back")
        table = Table((path,), path.name)
        (keys,) = table.values("key")
        return cls(
            path=path, rows={key.encode(): row for row, key in enumerate(keys)}, read=table.rows("image").__getitem__
        )

    def get(self, key: bytes) -> bytes | None:
        """The image's file; None for one that is not stored."""
        return self.read(self.rows[key]) if key in self.rows else None

    def source(self, name: str, key: bytes) -> bytes:
        """A source image's file. Raises NotHere for one that is not stored."""
        raise NotHere(f"{self.path.name} does not hold {name}: make the pairs again")


def write(path: Path, images: Iterable[tuple[bytes, Callable[[], bytes]]]) -> None:
    """Writes images by key, a few in memory at a time. Raises CannotWrite."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("key", pa.string()), ("image", pa.binary())])
    with drafts.replacing(path) as draft, pq.ParquetWriter(draft, schema, compression="none") as writer:
        batch: list[dict[str, Any]] = []
        for key, make in images:
            batch.append({"key": key.decode(), "image": make()})
            if len(batch) == GROUP:
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                batch = []
        if batch:
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
