"""Writes small data sets as the hub keeps them, with the hub's own library."""

import io
from collections.abc import Mapping, Sequence

import datasets
import yaml
from PIL import Image

from tests.compute.tasks.files import put

Table = datasets.Dataset | Mapping[str, Sequence]
Tables = Mapping[str | tuple[str, str], Table]  # by split, or by configuration and split


def image(red=0, *, size=(8, 6)):
    """A small picture known by its colour."""
    return Image.new("RGB", size, (red % 256, red // 256, 7))


def png(picture):
    """A picture as the bytes that the library writes for it."""
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return buffer.getvalue()


def table(columns, **kinds):
    """A table whose types follow from its values but for columns of these kinds, or of labels of these classes."""
    made = datasets.Dataset.from_dict(columns)
    for name, kind in kinds.items():
        kind = kind if isinstance(kind, datasets.List) else datasets.ClassLabel(names=list(kind))
        made = made.cast_column(name, kind)
    return made


def qrels(rows):
    """Judgements: query, document, grade."""
    return table(dict(zip(("query-id", "corpus-id", "score"), map(list, zip(*rows, strict=True)), strict=True)))


def write(folder, tables, *, card=True, shards=1):
    """Tables as `<configuration>/<split>-0000i-of-0000n.parquet`, listed in the card."""
    listed = {}
    for key, rows in tables.items():
        config, split = ("default", key) if isinstance(key, str) else key
        made = rows if isinstance(rows, datasets.Dataset) else table(rows)
        place = "data" if config == "default" else config
        (folder / place).mkdir(parents=True, exist_ok=True)
        for at in range(shards):
            path = folder / place / f"{split}-{at:05d}-of-{shards:05d}.parquet"
            made.shard(shards, at, contiguous=True).to_parquet(str(path))
        listed.setdefault(config, []).append({"split": split, "path": f"{place}/{split}-*"})
    if card:
        entries = [{"config_name": config, "data_files": files} for config, files in listed.items()]
        put(folder, {"README.md": f"---\n{yaml.safe_dump({'configs': entries})}---\n# Test data\n"})
    return folder


def snapshot(cache, repo, revision, files):
    """The newest files of a data set, these among them, where the hub's library puts them."""
    home = cache / f"datasets--{repo.replace('/', '--')}"
    put(home, {"refs/main": revision})
    place = home / "snapshots" / revision
    place.mkdir(parents=True, exist_ok=True)
    return put(place, files)
