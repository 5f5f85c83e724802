"""A user's table through the columns of its shape: each column is checked as a whole, then turned into items and facts
for the task.

Image paths are relative to the manifest's folder, or to a folder named by the user. A path must stay within these
folders, because a manifest may come from anyone. Links are judged by their targets.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

import numpy as np

from compute.content.items import Column, content_key
from compute.io.numbers import has_decimal_comma, read_numbers
from compute.progress import followed
from compute.tasks.data import Data
from compute.tasks.image_lists import MAX_FILE, SUCH_AS, content, endings, is_image_name
from compute.tasks.own.table import OwnTable
from compute.tasks.parquet import NO_KEY
from compute.tasks.source import stored_keys
from compute.types import WHOLE, shortened, suggestion

if TYPE_CHECKING:
    import pandas as pd

LISTED = 20  # rows listed per kind of fault
SHOWN = 5  # faults in the sentence of an error
FileState = tuple[str, int, int]  # path, bytes and modification time, for the cache of keys
OUTSIDE = "leads out of the manifest's folder: move the images there, or name the folder they are in with --images"
FIRST = 100  # values without the form of a path: if none of them is a file, the others are not looked up
MOST_NAMES = 2000  # files of a folder among which a suggestion is sought


class RowFault(NamedTuple):
    """One fault. Rows count from 1, after the header; 0 is the whole file."""

    file: str
    row: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}, row {self.row:,}: {self.what}" if self.row else f"{self.file}: {self.what}"


@dataclass(kw_only=True)
class Faults:
    """The faults found while files are read."""

    listed: list[RowFault] = field(default_factory=list)
    count: int = 0

    def whole(self, file: str, what: str) -> None:
        """Adds a fault of the whole file."""
        self.listed.append(RowFault(file, 0, what))
        self.count += 1

    def rows(self, file: str, wrong: np.ndarray, what: Callable[[int], str]) -> None:
        """Adds faults of the rows for which `wrong` (n,) bool is true; `what(i)` describes the fault of row i, from
        0.
        """
        positions = np.flatnonzero(wrong)
        self.listed += [RowFault(file, at + 1, what(at)) for at in positions[:LISTED].tolist()]
        self.count += len(positions)

    def by_row(self) -> list[RowFault]:
        """Returns the listed faults by file and row; those of a whole file come first."""
        files = list(dict.fromkeys(fault.file for fault in self.listed))
        return sorted(self.listed, key=lambda fault: (files.index(fault.file), fault.row))


def sentence(title: str, listed: list[RowFault] | tuple[RowFault, ...], count: int) -> str:
    """Describes the first faults and their number, as an error message."""
    first = " ".join(f"{fault}{'' if fault.what.endswith(('?', '.')) else '.'}" for fault in listed[:SHOWN])
    if count == 1:
        return str(listed[0])
    more = f", the first {SHOWN}" if count > SHOWN else ""
    return f"{title} has {count:,} faults{more}: {first} All of them: likeness task check {shlex.quote(title)}"


def located(names: Sequence[str], *, folders: Sequence[Path]) -> tuple[list[str], dict[int, str], list[FileState]]:
    """Looks up each of these distinct paths in the folders; the first folder that has it is used. No file is opened.

    Returns absolute paths, empty if there is a problem; the problems by position, as the end of a sentence; and the
    state of each file without a problem.
    """
    roots = [os.path.abspath(folder) for folder in folders]
    allowed = tuple(os.path.join(os.path.realpath(root), "") for root in roots)
    inside = tuple(os.path.join(root, "") for root in roots)
    paths = []
    problems = {}
    state = []
    for at, name in enumerate(names):
        path, problem, status = "", "is not a path", None
        for root in roots if "\0" not in name else ():
            path = os.path.normpath(spelled(root, name))
            status, problem = None, OUTSIDE
            if path.startswith(inside) and os.path.realpath(path).startswith(allowed):
                status, problem = _status(path)
            if not problem:
                break
        if problem:
            folder, file = os.path.split(path)
            if status is None and problem != OUTSIDE and len(problems) < LISTED and os.path.isdir(folder):
                near = suggestion(file, os.listdir(folder)[:MOST_NAMES])  # possible intended file
                problem += f".{near}" if near else ""
            problems[at] = problem
        paths.append("" if problem else path)
        state.append(("", 0, 0) if problem or status is None else (path, status.st_size, status.st_mtime_ns))
    return paths, problems, state


def _status(path: str) -> tuple[os.stat_result | None, str]:
    """Returns a file's status, None if it does not exist, and its problem."""
    try:
        status = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None, "does not exist"
    except OSError as error:
        return None, f"cannot be read ({error.strerror})"
    if not stat.S_ISREG(status.st_mode):
        return status, "is not a file"
    return status, f"has more than {MAX_FILE >> 20} MB" if status.st_size > MAX_FILE else ""


def spelled(folder: str, name: str) -> str:
    r"""Returns the path of a file in a folder as it is spelled on disk: `\\` may stand for `/`, and `é` may be one
    character or two.
    """
    path = os.path.join(folder, name)
    if name.isascii() and "\\" not in name or os.path.lexists(path):
        return path
    at = os.sep if os.path.isabs(name) else folder
    for part in filter(None, name.replace("\\", "/").split("/")):
        forms = [os.path.join(at, form) for form in (part, *(normalize(kind, part) for kind in ("NFC", "NFD")))]
        at = next(filter(os.path.lexists, forms), forms[0])
    return at


class Codes(NamedTuple):
    """A column of texts by its distinct values: row i has `distinct[codes[i]]`."""

    distinct: list[str]
    codes: np.ndarray  # (n,) int; -1 if the row has none

    def at(self, row: int) -> str:
        """Returns a row's text, empty if it has none."""
        code = int(self.codes[row])
        return "" if code < 0 else self.distinct[code]

    def rows(self, distinct: Sequence[bool] | np.ndarray) -> np.ndarray:
        """Returns (n,) bool: the rows whose distinct value is True here."""
        return np.append(np.asarray(distinct, dtype=bool), False)[self.codes]

    @classmethod
    def of(cls, values: pd.Series) -> Codes:
        """Makes it from texts; blank texts count as missing."""
        import pandas as pd

        codes, distinct = pd.factorize(values.where(values.str.strip() != ""))
        return cls(distinct.tolist(), codes)


@dataclass(frozen=True, kw_only=True)
class OwnContent:
    """A checked column of images or texts. Contents are read later, except images inside Parquet."""

    modality: str  # image or text
    name: str  # the file's column
    at: np.ndarray  # (n,) the content of each row, -1 for none; equal contents have the same number
    keys: Callable[[Path | None], np.ndarray]  # the contents' keys, given the folder of stored keys
    read: Callable[[int], bytes | str]  # returns a content by its number
    label: Callable[[int], str]  # a row in messages

    def distinct(self, cache: Path | None) -> tuple[Column, np.ndarray]:
        """Returns each distinct content once, and the content of each row (n,), -1 for none."""
        used, first, at = np.unique(self.at, return_index=True, return_inverse=True)
        empty = int(bool(len(used)) and used[0] < 0)
        return self.column(cache).take(first[empty:]), at - empty

    def column(self, cache: Path | None) -> Column:
        """Returns the items, one per row; a row without an item has no content."""
        keys = self.keys(cache)[self.at]
        return Column(modality=self.modality, keys=keys, read=lambda row: self.read(int(self.at[row])), name=self.label)


@dataclass(kw_only=True)
class OwnRows:
    """The rows of a table by the shape's column names. Faults are added to `faults`."""

    table: OwnTable
    columns: Mapping[str, str]  # the shape's name -> the file's, for existing columns
    faults: Faults
    folders: Sequence[Path] = ()  # folders that may contain images by path
    cache: Path | None = None  # where content keys are stored
    images: dict[str, OwnContent] = field(default_factory=dict, repr=False)  # columns of images that were read
    notes: list[str] = field(default_factory=list)  # notes on how ambiguous values were read
    _texts: dict[str, Codes] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.table)

    def has(self, name: str) -> bool:
        """Returns whether the file has this column of the shape."""
        return name in self.columns

    def numbered(self, name: str) -> tuple[str, ...]:
        """Returns the shape's existing columns name_1, name_2, ..."""
        return tuple(column for column in self.columns if re.fullmatch(rf"{name}_\d+", column))

    def fault(self, name: str, wrong: np.ndarray, what: Callable[[int], str]) -> None:
        """Adds faults of the rows for which `wrong` is true; `what(i)` completes a sentence that begins with the
        column's name.
        """
        column = self.columns[name]
        self.faults.rows(self.table.title, wrong, lambda at: f"{column} {what(at)}")

    def whole(self, what: str) -> None:
        """Adds a fault of the whole file."""
        self.faults.whole(self.table.title, what)

    def texts(self, name: str, *, required: bool = True) -> Codes:
        """Returns a column's values as texts, class numbers as names; blanks are faults in a required column."""
        if name not in self._texts:  # faults are counted once
            self._texts[name] = Codes.of(self._as_texts(name))
            self._check_empty(name, self._texts[name].codes < 0, required=required)
        return self._texts[name]

    def numbers(
        self, name: str, *, least: float = -np.inf, most: float = np.inf, whole: bool = False, meaning: str = ""
    ) -> np.ndarray:
        """Returns (n,) float64, or int64 if `whole`. Rows without a number from `least` to `most` are faults, with
        value NaN or -1.

        `meaning` describes valid values.
        """
        import pandas as pd

        codes, needed = self.texts(name), meaning or ("a number" if least == -np.inf else f"a number from {least:g}")
        cells = pd.Series(codes.distinct, dtype=object)
        distinct = read_numbers(cells, comma=has_decimal_comma([cells], separator=self.table.comma)).values
        right = np.isfinite(distinct) & (distinct >= least) & (distinct <= most)
        right &= (distinct == np.floor(distinct)) | (not whole)
        values = np.append(np.where(right, distinct, np.nan), np.nan)[codes.codes]
        self.fault(
            name,
            np.isnan(values) & (codes.codes >= 0),
            lambda at: f"is {shortened(codes.at(at))!r}, not {needed}",
        )
        return np.where(np.isnan(values), -1, values).astype(np.int64) if whole else values

    def content(self, name: str, *, only: str = "", required: bool = True) -> OwnContent:
        """Returns a column of images or texts; `only` allows one of these. Images are paths, or bytes inside Parquet.

        A column contains images if most of its values are paths: of an existing file, with an image's extension, or by
        their form. Empty rows are faults if `required`.
        """
        column = self.columns[name]
        if column in self.table.stored:
            if only == "text":
                self.whole(f"{column} holds images, and texts are needed")
            stored = self.table.stored[column](cache=self.cache)
            self._check_empty(name, stored.keys == NO_KEY, required=required)
            _, first, same = np.unique(stored.keys, return_index=True, return_inverse=True)
            self.images[name] = OwnContent(
                modality="image",
                name=column,
                at=np.where(stored.keys == NO_KEY, -1, first[same]),
                keys=lambda cache: stored.keys,
                read=stored.read,
                label=stored.name,
            )
            return self.images[name]
        codes = self.texts(name, required=required)
        listed, ends = codes.distinct, "|".join(map(re.escape, endings()))
        pattern = rf"(?i)({ends})\Z" if only == "text" else rf"(?i)({ends})([?#]\S*)?\Z|^\S*[/\\]\S*\Z"
        is_path = re.compile(pattern).search
        named = np.array([column in self.table.paths or bool(is_path(text)) for text in listed], dtype=bool)
        there = []
        for text, is_named in zip(listed, named.tolist(), strict=True):
            looked = is_named or len(there) < FIRST or True in there[:FIRST]
            there.append(looked and any(os.path.isfile(spelled(str(root), text)) for root in self.folders))
        named |= np.array(there, dtype=bool)
        images = 2 * codes.rows(named).sum() > (codes.codes >= 0).sum()
        if images and only == "text":
            self.whole(f"{column} holds paths of images, and texts are needed")
        if not images and only != "image":
            self.fault(
                name,
                codes.rows([here and is_image_name(text) for here, text in zip(there, listed, strict=True)]),
                lambda at: f"is {shortened(codes.at(at))!r}, the file of an image, and most others are texts",
            )
            return self._content_of(codes, column)
        self.fault(
            name,
            codes.rows(~named),
            lambda at: f"is {shortened(codes.at(at))!r}, no image: a file's name ends in {SUCH_AS}",
        )
        paths, problems, state = located(
            [text if is_named else "\0" for text, is_named in zip(listed, named.tolist(), strict=True)],
            folders=self.folders,
        )
        self.fault(
            name,
            codes.rows([at in problems and bool(named[at]) for at in range(len(listed))]),
            lambda at: f"{shortened(codes.at(at))} {problems[int(codes.codes[at])]}",
        )

        def keys() -> np.ndarray:  # each file is read only once while it is unchanged
            read = followed(paths, "Reading images")
            return np.array([content_key(content(path)) if path else NO_KEY for path in read], dtype="S32")

        self.images[name] = OwnContent(
            modality="image",
            name=column,
            at=codes.codes,
            keys=lambda cache: stored_keys(cache, repr(state), keys),
            read=lambda at: content(paths[at]),
            label=lambda row: f"{self.table.title}, row {row + 1:,}, {column} {codes.at(row)}",
        )
        return self.images[name]

    def joined_texts(self, names: Sequence[str]) -> OwnContent:
        """Joins columns of texts with a space; a row may be empty."""
        first, *others = [self._as_texts(name).fillna("") for name in names]
        values = (first.str.cat(others, sep=" ") if others else first).str.strip()
        column = " and ".join(self.columns[name] for name in names)
        return self._content_of(Codes.of(values), column)

    def _content_of(self, codes: Codes, column: str) -> OwnContent:
        """Returns the contents of a column of texts."""
        return OwnContent(
            modality="text",
            name=column,
            at=codes.codes,
            keys=lambda cache: np.array([content_key(text) for text in codes.distinct], dtype="S32"),
            read=codes.distinct.__getitem__,
            label=lambda row: f"{self.table.title}, row {row + 1:,}, {column}",
        )

    def names(self) -> tuple[str, ...]:
        """Returns the items' names: the column `id` or `name`, else row numbers from 1."""
        if not self._named_by:
            return tuple(map(str, range(1, len(self) + 1)))
        codes = self.texts(self._named_by)
        listed = codes.distinct
        return tuple(listed[at] for at in codes.codes.tolist())

    def check_names(self) -> None:
        """Adds a fault for each name that an earlier row has."""
        import pandas as pd

        if self._named_by:
            texts = self.texts(self._named_by)
            self.fault(
                self._named_by,
                pd.Series(texts.codes).duplicated().to_numpy() & (texts.codes >= 0),
                lambda at: (
                    f"is {shortened(texts.at(at))!r}, as in row "
                    f"{np.argmax(texts.codes == texts.codes[at]) + 1:,}: each item has its own name"
                ),
            )

    @property
    def _named_by(self) -> str:
        return next((name for name in ("id", "name") if self.has(name)), "")

    def _as_texts(self, name: str) -> pd.Series:
        """Returns a column's values as texts; a column of lists or objects is a fault and empty."""
        import pandas as pd

        if (texts := self.table.texts(self.columns[name])) is None:
            self.whole(f"{self.columns[name]} holds lists or objects, and a text or number a row is needed")
            texts = pd.Series([None] * len(self), dtype="str")
        return texts

    def _check_empty(self, name: str, empty: np.ndarray, *, required: bool) -> None:
        if required and len(empty) and empty.all():
            self.whole(f"{self.columns[name]} is empty in every row")
        elif required:
            self.fault(name, empty, lambda at: "is empty")


@dataclass(frozen=True, kw_only=True)
class OwnFacts:
    """Facts for the task's row about its items, and the items."""

    category: str
    metrics: tuple[str, ...]  # the first is the main metric
    chance: float | None  # expected value of the main metric when guessing
    n_items: int  # number of scored items
    modalities: tuple[str, ...]
    counts: str  # in words: "120 questions of 3 alternatives"
    items: Callable[[], Data | dict[str, Data]] = field(repr=False)  # of rows without a fault; several by subset
    subsets: tuple[str, ...] = (WHOLE,)
    notes: str = ""
    comparisons: int | None = None  # pairs that a model without vectors compares
    questions: int | None = None  # that a judge is asked
