"""Features that are encoded already: arrays (n, d) by backbone, from a folder of .npy files or one .npz file.

Row i of every array belongs to prompt i. Arrays are read on access and never unpickled.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from compute.metrics.distribution.moments import feature_array
from compute.tasks.generators.sources import repeated
from compute.types import BadInput, shortened

ENDING, ARCHIVE = ".npy", ".npz"
SLASH = "__"  # a slash of a backbone's key, in the name of a file
BROKEN = (OSError, EOFError, ValueError, MemoryError, zipfile.BadZipFile, NotImplementedError)


class FeatureFiles(Mapping[str, np.ndarray]):
    """The features of one set by backbone; those of .npy files stay on disk. Access raises BadInput for an array that
    cannot be read or holds no features, naming the file."""

    def __init__(self, path: Path) -> None:
        """Raises BadInput for a missing file or folder, or one without arrays."""
        self.path = path
        if path.is_dir():
            files = sorted(file for file in path.rglob(f"*{ENDING}") if file.is_file())
            named = [file.relative_to(path).as_posix().removesuffix(ENDING) for file in files]
            reads = [partial(np.load, file, mmap_mode="r", allow_pickle=False) for file in files]
        else:
            try:
                archive = np.load(path, allow_pickle=False)
                named = archive.files
            except (*BROKEN, AttributeError) as error:
                raise BadInput(
                    f"{path} cannot be read ({error}): give a folder of .npy files named after their backbones, or an "
                    ".npz file of arrays by backbone"
                ) from error
            reads = [partial(archive.__getitem__, name) for name in named]
        keys = [name.replace(SLASH, "/") for name in named]
        self._reads = dict(zip(keys, reads, strict=True))
        if not keys:
            raise BadInput(f"{path.name} holds no arrays, one a backbone")
        if twice := repeated(keys):
            raise BadInput(f"{path.name}: two files hold features of {twice[0]}. Remove one")

    def __getitem__(self, key: str) -> np.ndarray:
        read, name = self._reads[key], f"{self.path.name}, {key}"
        try:
            array = read()
        except BROKEN as error:
            raise BadInput(f"{name} cannot be read as an array: {shortened(str(error))}") from error
        return feature_array(array, argument=name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._reads)

    def __len__(self) -> int:
        return len(self._reads)


def holds_features(path: Path) -> bool:
    """Whether a path is an .npz file, or a folder with .npy files."""
    return path.suffix.lower() == ARCHIVE or (path.is_dir() and next(path.rglob(f"*{ENDING}"), None) is not None)
