"""Writes small data sets as the hub keeps them, with the hub's own library."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path

import datasets
import yaml
from PIL import Image


def image(red: int = 0, *, size: tuple[int, int] = (8, 6)) -> Image.Image:
    """A small picture known by its colour."""
    return Image.new("RGB", size, (red % 256, red // 256, 7))


def png(picture: Image.Image) -> bytes:
    """A picture as the bytes that the library writes for it."""
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return buffer.getvalue()


Tables = Mapping[tuple[str, str], datasets.Dataset]


def write(folder: Path, tables: Tables, *, card: bool = True, shards: int = 1) -> Path:
    """Tables by (configuration, split) as `<configuration>/<split>-0000i-of-0000n.parquet`, listed in the card."""
    listed: dict[str, list[dict[str, str]]] = {}
    for (config, split), table in tables.items():
        place = "data" if config == "default" else config
        (folder / place).mkdir(parents=True, exist_ok=True)
        for at in range(shards):
            path = folder / place / f"{split}-{at:05d}-of-{shards:05d}.parquet"
            table.shard(shards, at, contiguous=True).to_parquet(str(path))
        listed.setdefault(config, []).append({"split": split, "path": f"{place}/{split}-*"})
    if card:
        entries = [{"config_name": config, "data_files": files} for config, files in listed.items()]
        (folder / "README.md").write_text(f"---\n{yaml.safe_dump({'configs': entries})}---\n# Test data\n")
    return folder


def snapshot(cache: Path, repo: str, revision: str, files: Mapping[str, str]) -> Path:
    """The newest files of a data set, these among them, where the hub's library puts them."""
    home = cache / f"datasets--{repo.replace('/', '--')}"
    (home / "refs").mkdir(parents=True, exist_ok=True)
    (home / "refs" / "main").write_text(revision)
    place = home / "snapshots" / revision
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place
