"""What is wrong with user data, by file and row: all of it counted, the first rows of each kind listed."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

LISTED = 20  # rows of one kind of fault
SHOWN = 5  # faults in the sentence of an error


class RowFault(NamedTuple):
    """One fault. Rows count from 1, the first after the header; 0 is the file as a whole."""

    file: str
    row: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}, row {self.row:,}: {self.what}" if self.row else f"{self.file}: {self.what}"


@dataclass(kw_only=True)
class Faults:
    """The faults found so far, as files are read."""

    listed: list[RowFault] = field(default_factory=list)
    count: int = 0

    def whole(self, file: str, what: str) -> None:
        """A fault of the file as a whole."""
        self.listed.append(RowFault(file, 0, what))
        self.count += 1

    def rows(self, file: str, wrong: np.ndarray, what: Callable[[int], str]) -> None:
        """The rows where `wrong` (n,) bool is true; `what(i)` says what is wrong with row i, from 0."""
        positions = np.flatnonzero(wrong)
        self.listed += [RowFault(file, at + 1, what(at)) for at in positions[:LISTED].tolist()]
        self.count += len(positions)

    def by_row(self) -> list[RowFault]:
        """Those that are listed, file by file and row by row, those of a file as a whole first."""
        files = list(dict.fromkeys(fault.file for fault in self.listed))
        return sorted(self.listed, key=lambda fault: (files.index(fault.file), fault.row))


def sentence(title: str, listed: list[RowFault] | tuple[RowFault, ...], count: int) -> str:
    """The first faults and how many there are, as an error has them."""
    first = " ".join(f"{fault}{'' if fault.what.endswith(('?', '.')) else '.'}" for fault in listed[:SHOWN])
    if count == 1:
        return str(listed[0])
    more = f", the first {SHOWN}" if count > SHOWN else ""
    return f"{title} has {count:,} faults{more}: {first} All of them: likeness task check {shlex.quote(title)}"
