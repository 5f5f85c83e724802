"""Another instruction file whose conversations are mixed in with ours, and its images beside the evaluated ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from compute.content.items import content_key
from compute.features.encoding import workers
from compute.progress import Progress
from compute.tasks.source import stored_keys
from compute.training.unisim.data.leaks import LISTED, EvaluatedImages
from compute.training.unisim.data.llava import LAYOUT, entries, image_paths, problem
from compute.training.unisim.data.splits import KEYS_AT_ONCE
from compute.types import BadInput


@dataclass(frozen=True, kw_only=True)
class OtherInstructions:
    """Another instruction file, mixed in: so many of its conversations for each of ours (the paper: 500K for 840K)."""

    file: Path  # a JSON list, or JSON lines, in the same layout
    ratio: float  # finite, above 0
    images: Path | None = None  # the folder of its images; None: its paths are left as they are

    @cached_property
    def contents(self) -> OtherContents:
        """What is in the file, which is read for it once. Raises BadInput where it is no instruction file."""
        counts: Counter[bool] = Counter()
        folders: set[str] = set()
        wrong = "it is empty"
        for entry in entries(self.file):
            if found := problem(entry):
                wrong = wrong if counts[False] else found
            else:
                folders.update(*(Path(path).parts[:1] for path in image_paths(entry)))
            counts[not found] += 1
        if not counts[True]:
            raise BadInput(
                f"{self.file}: none of its entries can be used ({wrong}). {LAYOUT}: mend it, or name another"
            )
        return OtherContents(usable=counts[True], skipped=counts[False], folders=frozenset(folders))


@dataclass(frozen=True, kw_only=True)
class OtherContents:
    """What another instruction file has."""

    usable: int  # entries
    skipped: int  # entries that cannot be used
    folders: frozenset[str]  # what the paths of its images begin with


class Mixture:
    """The conversations of another file, spread over its length, at the ratio to ours.

    Ids are unique in what is written, as trainers and `verify` expect. Those of LLaVA's own files are not, as one image
    has several conversations: an id that is missing, or that an earlier entry has, is replaced by `mixed-NUMBER`, the
    entry's number among those that can be used. `prefixes`: ids that begin so are ours.
    """

    def __init__(self, other: OtherInstructions, *, total: int, folder: Path, prefixes: tuple[str, ...]) -> None:
        self._other, self._prefixes = other, prefixes
        self._ours = self.taken = self.renamed = 0
        available, self.skipped = other.contents.usable, other.contents.skipped
        wanted = total * other.ratio  # infinite for ratios near the largest number
        if wanted > available + 0.5:
            raise BadInput(
                f"{other.file}: a ratio of {other.ratio:g} to {total:,} conversations takes {wanted:,.0f}, and it has "
                f"{available:,} that can be used. Lower the ratio (--mix-ratio), or the number of examples (--count)"
            )
        self._share = min(round(wanted), available), available
        images = other.images or folder
        paths: dict[Path, None] = {}
        for entry, renamed in self._drawn():
            self.renamed += renamed
            for path in image_paths(entry):
                if not (images / path).is_file():
                    remedy = "Complete that folder, or name another" if other.images else "Name the folder"
                    raise BadInput(f"{other.file}: its image {path} is not in {images}. {remedy}: --mix-images FOLDER")
                paths[images / path] = None
        self.images = list(paths)  # distinct, of the entries that are taken
        self._entries = (entry for entry, _ in self._drawn())

    def due(self) -> Iterator[dict[str, Any]]:
        """What belongs after the next of our conversations."""
        self._ours += 1
        for entry in islice(self._entries, round(self._ours * self._other.ratio) - self.taken):
            self.taken += 1
            yield entry

    def _drawn(self) -> Iterator[tuple[dict[str, Any], bool]]:
        """Each entry that is taken, evenly from the whole file; and whether its id is not the one in the file."""
        count, available = self._share
        seen: set[str] = set()
        for at, entry in enumerate(self._usable()):
            if (at + 1) * count // available > at * count // available:
                own = "" if entry.get("id") is None else str(entry["id"])
                name, renamed = own, not own or own in seen or own.startswith(self._prefixes)
                if renamed:
                    name = f"mixed-{at}"
                    while name in seen:
                        name += "-again"
                    entry = {**entry, "id": name}
                seen.add(name)
                yield entry, renamed

    def _usable(self) -> Iterator[dict[str, Any]]:
        for entry in entries(self._other.file):
            if problem(entry):
                continue
            paths = image_paths(entry)
            if self._other.images and paths:
                entry = {**entry, "image": [str((self._other.images / path).absolute()) for path in paths]}
            yield entry


def check_images(
    paths: Sequence[Path],
    evaluated: EvaluatedImages,
    *,
    file: Path,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> int:
    """Compares the images of another file with every evaluated one; returns how many distinct ones there are.

    As `leaks.check` does with training sets: by content keys, which are stored in `cache`. Raises BadInput naming the
    first images that are evaluated too.
    """
    keys = _keys_of_files(paths, cache=cache, progress=progress or Progress())
    hits = np.flatnonzero(np.isin(keys, np.concatenate([np.zeros(0, "S32"), *evaluated.keys.values()])))
    if count := len(hits):
        listed = "; ".join(f"{str(paths[at])!r} is {evaluated.description(keys[at])}" for at in hits[:LISTED])
        more = f", and {count - LISTED} more" if count > LISTED else ""
        raise BadInput(
            f"{file}: {count} of its images {'is' if count == 1 else 'are'} evaluated too: {listed}{more}. Nothing was "
            "written: take the conversations about them out of that file, or leave --mix out"
        )
    return len(np.unique(keys))


def _keys_of_files(paths: Sequence[Path], *, cache: Path | None, progress: Progress) -> np.ndarray:
    """(n,) S32: the files' content keys, stored in parts under their names, sizes and times of change."""

    def state(path: Path) -> tuple[str, int, int]:
        status = path.stat()
        return str(path.absolute()), status.st_mtime_ns, status.st_size

    parts = [np.zeros(0, dtype="S32")]
    bar = progress.bar("Reading images that are mixed in", total=len(paths), unit="image")
    with ThreadPoolExecutor(workers()) as pool, bar as done:
        for start in range(0, len(paths), KEYS_AT_ONCE):
            part = paths[start : start + KEYS_AT_ONCE]
            facts = repr(("mixed in", [state(path) for path in part]))
            parts.append(
                stored_keys(cache, facts, lambda part=part: np.array(list(pool.map(_key_of_file, part)), dtype="S32"))
            )
            done(len(part))
    return np.concatenate(parts)


def _key_of_file(path: Path) -> bytes:
    try:
        return content_key(path.read_bytes())
    except OSError as error:
        raise BadInput(
            f"{path}: cannot be read ({error.strerror or error}). Mend the folder of the images that are mixed in"
        ) from error
