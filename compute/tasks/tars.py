"""WebDataset shards: plain tar files in which members with one key form a sample, read without unpacking.

Source: the WebDataset layout. A sample's key is its path up to the first dot of the file's name; the rest gives the
kind of member: an image, or a prompt as `.txt`, `.caption`, or `.json` with a field `prompt`, `caption` or `text`.
"""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from compute.tasks.source import Member
from compute.types import BadInput

TEXTS, RECORD = ("txt", "caption"), "json"
FIELDS = ("prompt", "caption", "text")


@dataclass(kw_only=True)
class TarSample:
    """One key of a shard."""

    key: str
    image: Member | None = None
    name: str = ""  # of the image within the shard
    prompt: str | None = None


def samples(shards: list[Path], *, suffixes: tuple[str, ...]) -> tuple[list[TarSample], list[str]]:
    """Returns the samples that have an image, in the order of the shards, and the images that are not used because of a
    dot in their name.

    Links, devices and folders in a shard are ignored. Raises BadInput for a file that is not a plain tar, two images
    with one key, and a key in two shards.
    """
    known = {}
    unused = []
    for shard in shards:
        own = {}
        unused += [info.name for info in members(shard) if not _add(own, info, shard=shard, suffixes=suffixes)]
        for key in own.keys() & known.keys():
            raise BadInput(f"{shard.name}: the key {key!r} is in another shard too. Give every sample its own key")
        known |= own
    return [sample for sample in known.values() if sample.image is not None], unused


def members(shard: Path) -> Iterator[tarfile.TarInfo]:
    """Yields the files in a plain tar. Raises BadInput for another or a damaged one."""
    try:
        with tarfile.open(shard, mode="r:") as archive:
            for info in archive:
                archive.members = []  # a million entries take gigabytes
                if info.isreg() and not info.issparse():
                    yield info
    except (tarfile.TarError, OSError, EOFError, UnicodeError) as error:
        raise BadInput(
            f"{shard.name} cannot be read as a plain tar file ({error}). Unpack a compressed one first: gunzip"
        ) from error


def _add(own: dict[str, TarSample], info: tarfile.TarInfo, *, shard: Path, suffixes: tuple[str, ...]) -> bool:
    """Adds a member to its sample. Returns False for an image with additional dots in its name."""
    path = PurePosixPath(info.name)
    base, _, ending = path.name.partition(".")
    if not base:  # hidden
        return True
    key = (path.parent / base).as_posix().removeprefix("./")
    sample = own.setdefault(key, TarSample(key=key))
    ending = ending.lower()
    if f".{ending}" in suffixes:
        if sample.image is not None:
            raise BadInput(f"{shard.name}: the key {key!r} has two images, {sample.name} and {info.name}. Keep one")
        sample.image, sample.name = Member(shard, info.offset_data, info.size), info.name
    elif ending in (*TEXTS, RECORD):
        text = _prompt(Member(shard, info.offset_data, info.size).read(), ending, f"{shard.name}, {info.name}")
        if text is not None and (sample.prompt is None or ending != RECORD):
            sample.prompt = text
    return f".{ending}" in suffixes or not path.name.lower().endswith(suffixes)


def _prompt(data: bytes, ending: str, name: str) -> str | None:
    try:
        text = data.decode("utf-8-sig")
        if ending != RECORD:
            return text.strip()
        record = json.loads(text)
    except ValueError as error:
        raise BadInput(f"{name} cannot be read as {'JSON' if ending == RECORD else 'UTF-8 text'} ({error})") from error
    values = (record.get(field) for field in FIELDS) if isinstance(record, dict) else ()
    return next((value.strip() for value in values if isinstance(value, str)), None)
