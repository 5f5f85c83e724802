"""Files of a data set by name, in a folder or inside its tar and zip archives."""

from __future__ import annotations

import zipfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np

from compute.content.items import Column, content_key, unreadable
from compute.tasks import tars
from compute.tasks.source import Member, stored_keys
from compute.types import BadInput, NotHere


@dataclass(frozen=True)
class Files:
    """All files of a data set. If a tar's members lack their folder's name, the tar's name is used."""

    repo: str
    folder: Path
    members: dict[str, Member] = field(repr=False)
    by_folder: dict[str, list[str]] = field(repr=False)

    @classmethod
    def of(cls, repo: str, folder: Path) -> Files:
        """Indexes a folder. Plain files take precedence over archived files of the same name."""
        members = {}
        plain = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
        for name, path in plain.items():
            if path.suffix == ".tar":
                inside = {
                    _plain(entry.name): Member(path, entry.offset_data, entry.size) for entry in tars.members(path)
                }
                below = f"{path.stem}/"
                members |= {f"{below}{each}": inside[each] for each in inside if not each.startswith(below)} | inside
            elif path.suffix == ".zip":
                try:
                    with zipfile.ZipFile(path) as archive:
                        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
                except zipfile.BadZipFile as error:
                    raise BadInput(f"{path.name} is not a whole zip archive ({error}). Fetch it again") from error
                members |= {f"{name[:-4]}/{_plain(each)}": Member(path, inner=each) for each in names}
        members |= {name: Member(path) for name, path in plain.items()}
        by_folder = defaultdict(list)
        for name in sorted(members):
            by_folder[str(PurePosixPath(name).parent)].append(name)
        return cls(repo, folder, members, dict(by_folder))

    def read(self, name: str) -> bytes:
        """Returns a file's bytes. Raises NotHere or LikenessError with its name."""
        if name not in self.members:
            raise NotHere(
                f"Data set {self.repo!r} has no file {name!r} in {self.folder}, neither as a file nor in a "
                "tar or zip. Fetch the data set's archives again, or unpack them there"
            )
        try:
            return self.members[name].read()
        except OSError as error:
            raise unreadable(f"{self.repo}, {name}", error) from error

    def text(self, name: str) -> str:
        """Returns a file as text. Raises BadInput for one that is not UTF-8."""
        try:
            return self.read(name).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(f"{self.repo}: {name} is not UTF-8 text ({error.reason}, byte {error.start})") from error

    def within(self, folder: str) -> list[str]:
        """Returns the sorted names of the files directly in a folder. Raises NotHere for a missing folder."""
        if folder not in self.by_folder:
            raise NotHere(
                f"Data set {self.repo!r} has no folder {folder!r} in {self.folder}, neither as a folder nor "
                "in a tar or zip. Fetch the data set's archives again, or unpack them there"
            )
        return self.by_folder[folder]

    def folders(self, above: str) -> list[str]:
        """Returns the sorted names of the folders directly below `above` that contain files."""
        depth = len(PurePosixPath(above).parts) + 1
        matches = {
            "/".join(PurePosixPath(name).parts[:depth]) for name in self.by_folder if name.startswith(f"{above}/")
        }
        return sorted(matches)

    def images(
        self, names: Sequence[str], *, change: Callable[[bytes], bytes] | None = None, cache: Path | None = None
    ) -> Column:
        """Returns a column of image files, each read once for its key; `change` turns a file's bytes into the shown
        image.
        """
        read = (lambda name: change(self.read(name))) if change else self.read
        distinct = sorted(set(names))
        sizes = [
            (name, member.container.stat().st_mtime_ns, member.offset, member.size)
            for name in distinct
            if (member := self.members.get(name))
        ]

        def count() -> np.ndarray:
            with ThreadPoolExecutor() as pool:
                return np.array(list(pool.map(lambda name: content_key(read(name)), distinct)), dtype="S32")

        keys = stored_keys(cache, repr((str(self.folder), change is not None, sizes)), count)
        return Column(
            modality="image",
            keys=keys[np.searchsorted(distinct, names)],
            read=lambda row: read(names[row]),
            name=lambda row: f"{self.repo}, {names[row]}",
        )


def _plain(name: str) -> str:
    return str(PurePosixPath(*[part for part in PurePosixPath(name).parts if part not in (".", "..", "/")]))
