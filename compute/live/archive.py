"""A visitor's ZIP in memory: its files are read one at a time, never extracted, and no declared size is trusted."""

from __future__ import annotations

import contextlib
import io
import struct
import unicodedata
import zipfile
import zlib
from collections import defaultdict
from pathlib import PurePosixPath

from compute.content import combining
from compute.types import BadInput, shortened

FILES = 400
ENTRIES = 4_000  # of the directory, ignored ones included; each takes a thousand times the memory of its bytes
UNPACKED = 400_000_000  # bytes of all files that are read
LONGEST_NAME = 1024  # characters of a file's name with its folders; systems end at 255 to 4,096 bytes
TABLES = (".csv", ".tsv")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes of memory before the first byte
ENTRY = b"PK\x01\x02"  # begins each entry of the directory
ENCRYPTED, UTF8 = 0x1, 0x800  # bits of an entry's flags
JUNK = ("__macosx", ".ds_store", "thumbs.db", "desktop.ini")  # what systems add to a folder
OFFICE = ("[Content_Types].xml", "META-INF/manifest.xml")  # workbooks are ZIPs too
# What zipfile and zlib raise for damaged and malicious files.
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
    RuntimeError,
)  # with NotImplementedError


class Archive:
    """The files of one ZIP by path. Raises BadInput where it cannot be opened or holds more than FILES."""

    def __init__(self, data: bytes) -> None:
        if data.count(ENTRY) > ENTRIES:
            raise BadInput(
                f"The ZIP lists more than {ENTRIES:,} entries. It can hold at most {FILES:,} files: split it"
            )
        try:
            self._file = zipfile.ZipFile(io.BytesIO(data))
            listed = [(_written(entry), entry) for entry in self._file.infolist() if not entry.is_dir()]
        except BROKEN as error:
            raise BadInput("The ZIP is damaged or incomplete. Pack it again and add it once more") from error
        listed = [(name, entry) for name, entry in listed if not _is_junk(name)]
        if len(listed) > FILES:
            raise BadInput(f"The ZIP holds {len(listed)} files. It can hold at most {FILES:,}: split it")
        self._entries: dict[str, list[zipfile.ZipInfo]] = defaultdict(list)
        for name, entry in listed:
            if problem := _name_problem(name):
                raise BadInput(f"There is {problem}: {shortened(name)!r}. Shorten it and pack the ZIP again")
            self._entries[_normal(name)].append(entry)
        self._bases: dict[str, list[str]] = defaultdict(list)
        for path in self._entries:
            self._bases[PurePosixPath(path).name].append(path)
        self._unpacked: dict[str, int] = {}  # bytes of the files that were read, by path

    def table(self) -> str:
        """The path of its one table. Raises BadInput for none or several."""
        tables = [path for path in self._entries if path.lower().endswith(TABLES)]
        if any(path in self._entries for path in OFFICE):
            raise BadInput("This is a workbook, not a ZIP of images. Save its sheet as CSV in UTF-8 and add that")
        if not tables:
            raise BadInput("The ZIP holds no CSV. Put one in it, with the columns first and second, beside the images")
        if len(tables) > 1:
            raise BadInput(f"The ZIP holds {len(tables)} CSV files ({_listed(tables)}). Leave exactly one in it")
        return tables[0]

    def find(self, name: str, *, beside: str = "") -> str | None:
        """The path of a file by its full path, by its path from the folder of `beside`, or by its base name alone.

        None where no file has that name. Raises BadInput for a base name that several files share.
        """
        if _name_problem(name):
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
        """The bytes of a file, up to `most`. Raises BadInput where it cannot be read or is larger."""
        entry, *others = self._entries[path]
        name = shortened(path)
        if others:
            raise BadInput(f"{name} is in the ZIP {len(others) + 1} times. Give each file its own name")
        if entry.flag_bits & ENCRYPTED:
            raise BadInput(f"{name} is encrypted. Pack the ZIP without a password")
        if entry.compress_type not in METHODS:
            raise BadInput(
                f"{name} is compressed by method {entry.compress_type}, which is not supported. Pack the "
                "ZIP in the usual way (deflate)"
            )
        self._unpacked[path] = most  # what a damaged file may have cost
        try:
            with self._file.open(entry) as stream:
                data = stream.read(most + 1)
        except BROKEN as error:
            raise BadInput(f"{name} is damaged in the ZIP. Pack it again") from error
        self._unpacked[path] = len(data)
        if sum(self._unpacked.values()) > UNPACKED:
            raise BadInput(f"Unpacked, the files of the ZIP have more than {UNPACKED // 1_000_000} MB. Split it")
        if len(data) > most:
            raise BadInput(f"{name} has more than {most / 1e6:.0f} MB when it is unpacked. Save it smaller")
        return data


def _written(entry: zipfile.ZipInfo) -> str:
    """An entry's path as its packer meant it: some write UTF-8 without the flag for it."""
    name = entry.filename
    if not entry.flag_bits & UTF8:
        with contextlib.suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name


def _is_junk(name: str) -> bool:
    """Whether a system added the entry."""
    return any(part.lower() in JUNK or part.startswith("._") for part in name.replace("\\", "/").split("/"))


def _name_problem(name: str) -> str:
    """Why a text is no file's name; empty where it may be. Checked before normal forms sort its marks."""
    if len(name) > LONGEST_NAME:
        return f"a file name of {len(name):,} characters in the ZIP, more than {LONGEST_NAME:,}"
    if combining.longest_run(name) > combining.MOST:
        return f"a file name with more than {combining.MOST} accents on one letter in the ZIP"
    return ""


def _normal(name: str) -> str:
    """Composed letters and forward slashes: systems differ in both."""
    return unicodedata.normalize("NFC", name).replace("\\", "/")


def _listed(paths: list[str]) -> str:
    return ", ".join(path[:60] for path in paths[:3]) + (", ..." if len(paths) > 3 else "")
