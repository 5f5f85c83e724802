"""Images of pairs in a Parquet file next to the manifest, where they are to be kept rather than made again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from compute.io.files import replacing
from compute.tasks.parquet import Table
from compute.types import NotHere

GROUP = 32  # images a row group: what is read at once


def opened(path: Path) -> Callable[[bytes], bytes | None]:
    """Reads a file's images by content key, None for one that it does not hold.

    Raises NotHere where the file is gone, BadInput where it is damaged.
    """
    if not path.is_file():
        raise NotHere(f"{path.name}, the images of the pairs, is no longer next to the manifest: move it back")
    table = Table((path,), path.name)
    (keys,) = table.values("key")
    rows, images = {key.encode(): row for row, key in enumerate(keys)}, table.rows("image")
    return lambda key: images[rows[key]] if key in rows else None


def write(path: Path, images: Iterable[tuple[bytes, Callable[[], bytes]]]) -> None:
    """Writes images by key, a few in memory at a time. Raises CannotWrite."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("key", pa.string()), ("image", pa.binary())])
    with replacing(path) as draft, pq.ParquetWriter(draft, schema, compression="none") as writer:
        batch: list[dict[str, Any]] = []
        for key, make in images:
            batch.append({"key": key.decode(), "image": make()})
            if len(batch) == GROUP:
                writer.write_table(pa.Table.from_pylist(batch, schema=schema))
                batch = []
        if batch:
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
