"""The images of pairs, in a Parquet file next to the manifest, each once; variants are made when they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from compute.io.files import replacing
from compute.tasks.pairbench.manifest import AGAIN, Manifest, Pair
from compute.tasks.pairbench.pixels import ImageMaker, MadeImage
from compute.tasks.parquet import Table
from compute.types import NotHere

GROUP = 32  # images a row group: what is read at once


def shown(pairs: Iterable[Pair]) -> dict[bytes, MadeImage]:
    """Returns each image that pairs show, by its content key."""
    return {side.key: side for pair in pairs for side in pair.sides if side}


def opened(manifest: Manifest) -> Callable[[MadeImage], bytes | None]:
    """Returns what reads a manifest's images; None for a variant.

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


def write(path: Path, pairs: Iterable[Pair], *, maker: ImageMaker, done: Callable[[int], None]) -> None:
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
