"""Features that are encoded already: arrays (n, d) by backbone, from a folder of .npy files or one .npz file.

Row i of every array belongs to prompt i. Arrays are read on access and never unpickled.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from compute.metrics.distribution.moments import feature_array
from compute.types import BadInput, shortened

ENDING, ARCHIVE = ".npy", ".npz"
SLASH = "__"  # a slash of a backbone's key, in the name of a file


class FeatureFiles(Mapping[str, np.ndarray]):
    """The features of one set by backbone; those of .npy files stay on disk. Access raises BadInput for an array that
    cannot be read or holds no features, naming the file."""

    def __init__(self, path: Path) -> None:
        """Raises BadInput for a missing file or folder, or one without arrays."""
        self.path = path
        self._members = _members(path)

    def __getitem__(self, key: str) -> np.ndarray:
        member = self._members[key]
        name = f"{self.path.name}, {key}"
        try:
            if isinstance(member, Path):
                array = np.load(member, mmap_mode="r", allow_pickle=False)
            else:
                with np.load(self.path, allow_pickle=False) as archive:
                    array = archive[member]
        except (OSError, EOFError, ValueError, MemoryError, zipfile.BadZipFile, NotImplementedError) as error:
            raise BadInput(f"{name} cannot be read as an array: {shortened(str(error))}") from error
        return feature_array(array, argument=name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)


def holds_features(path: Path) -> bool:
    """Whether a path is an .npz file, or a folder with .npy files."""
    return path.suffix.lower() == ARCHIVE or (path.is_dir() and next(path.rglob(f"*{ENDING}"), None) is not None)


def _members(path: Path) -> dict[str, Path | str]:
    if path.is_dir():
        files = sorted(file for file in path.rglob(f"*{ENDING}") if file.is_file())
        members: dict[str, Path | str] = {}
        for file in files:
            key = file.relative_to(path).as_posix().removesuffix(ENDING).replace(SLASH, "/")
            if key in members:
                raise BadInput(f"{path.name}: two files hold features of {key}. Remove one")
            members[key] = file
    else:
        try:
            with zipfile.ZipFile(path) as archive:
                names = [name.removesuffix(ENDING) for name in archive.namelist()]
        except (OSError, zipfile.BadZipFile) as error:
            raise BadInput(
                f"{path} cannot be read ({error}): give a folder of .npy files named after their backbones, or an .npz "
                "file of arrays by backbone"
            ) from error
        members = {name.replace(SLASH, "/"): name for name in names}
    if not members:
        raise BadInput(f"{path.name} holds no arrays, one a backbone")
    return members
