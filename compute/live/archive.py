"""A visitor's ZIP in memory: its files are read one at a time, never extracted, and no declared size is trusted."""

from __future__ import annotations

import contextlib
import io
import unicodedata
import zipfile
from collections import defaultdict
from pathlib import PurePosixPath

from compute.types import BadInput, shortened

ENTRIES = 4_000  # most entries in the directory; each takes a thousand times the memory of its bytes
LONGEST_NAME = 1024  # characters of a file's path: normalisation is quadratic in the length of a run of marks
TABLES = (".csv", ".tsv")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may request gigabytes of memory before the first byte
ENTRY = b"PK\x01\x02"  # signature of each directory entry
ENCRYPTED, UTF8 = 0x1, 0x800  # bits of an entry's flags
JUNK = ("__macosx", ".ds_store", "thumbs.db", "desktop.ini")  # files that operating systems add to a folder
OFFICE = ("[Content_Types].xml", "META-INF/manifest.xml")  # workbooks are ZIPs too


class Archive:
    """The files of one ZIP by path. Raises BadInput if it cannot be opened or lists more than ENTRIES."""

    def __init__(self, data: bytes) -> None:
        if data.count(ENTRY) > ENTRIES:
            raise BadInput(f"The ZIP lists more than {ENTRIES:,} entries. Split it")
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
            listed = [(_written(entry), entry) for entry in self._file.infolist() if not entry.is_dir()]
        except Exception as error:  # zipfile raises many exceptions for damaged files
            raise BadInput("The ZIP is damaged or incomplete. Pack it again and add it once more") from error
        self._entries: dict[str, list[zipfile.ZipInfo]] = defaultdict(list)
        for name, entry in listed:
            parts = name.lower().replace("\\", "/").split("/")
            if len(name) <= LONGEST_NAME and not any(part in JUNK or part.startswith("._") for part in parts):
                self._entries[_normal(name)].append(entry)
        self._bases: dict[str, list[str]] = defaultdict(list)
        for path in self._entries:
            self._bases[PurePosixPath(path).name].append(path)

    def paths(self) -> list[str]:
        """Returns the paths of all files."""
        return list(self._entries)

    def table(self) -> str:
        """Returns the path of the only table. Raises BadInput if there is none or more than one."""
        tables = [path for path in self._entries if path.lower().endswith(TABLES)]
        if any(path in self._entries for path in OFFICE):
            raise BadInput("This is a workbook, not a ZIP of images. Save its sheet as CSV in UTF-8 and add that")
        if not tables:
            raise BadInput("The ZIP holds no CSV. Put one in it, with the columns first and second, next to the images")
        if len(tables) > 1:
            raise BadInput(f"The ZIP holds {len(tables)} CSV files ({_listed(tables)}). Leave exactly one in it")
        return tables[0]

    def find(self, name: str, *, beside: str = "") -> str | None:
        """Finds a file by its full path, by its path relative to the folder of `beside`, or by its base name alone.

        None if no file has that name. Raises BadInput for a base name that several files share.
        """
        if len(name) > LONGEST_NAME:  # a text, not a name
            return None
        plain = _normal(name).removeprefix("./")
        folder = beside.rpartition("/")[0]
        for path in (plain, f"{folder}/{plain}"):
            if path in self._entries:
                return path
        paths = self._bases.get(plain, [])
        if len(paths) > 1:
            raise BadInput(
                f"{shortened(name)} is in {len(paths)} folders of the ZIP ({_listed(paths)}). Write its full path"
            )
        return paths[0] if paths else None

    def read(self, path: str, *, most: int) -> bytes:
        """Returns the bytes of a file, up to `most`. Raises BadInput if it cannot be read or is larger."""
        (entry, *others), name = self._entries[path], shortened(path)
        if others:
            raise BadInput(f"{name} is in the ZIP {len(others) + 1} times. Give each file its own name")
        if entry.flag_bits & ENCRYPTED:
            raise BadInput(f"{name} is encrypted. Pack the ZIP without a password")
        if entry.compress_type not in METHODS:
            raise BadInput(
                f"{name} is compressed by method {entry.compress_type}, which is not supported. Pack the "
                "ZIP in the usual way (deflate)"
            )
        try:
            with self._file.open(entry) as stream:
                data = stream.read(most + 1)
        except Exception as error:  # as above
            raise BadInput(f"{name} is damaged in the ZIP. Pack it again") from error
        if len(data) > most:
            raise BadInput(f"{name} has more than {most / 1e6:.0f} MB when it is unpacked. Save it smaller")
        return data


def _written(entry: zipfile.ZipInfo) -> str:
    """Returns an entry's path as its packer meant it: some write UTF-8 without the flag for it."""
    name = entry.filename
    if not entry.flag_bits & UTF8:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name


def _normal(name: str) -> str:
    """Normalises a path to composed letters (NFC) and forward slashes: operating systems differ in both."""
    return unicodedata.normalize("NFC", name).replace("\\", "/")


def _listed(paths: list[str]) -> str:
    return ", ".join(path[:60] for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
