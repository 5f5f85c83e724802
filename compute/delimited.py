"""Text tables as programs write them: which character separates the columns, and what the columns are called."""

from __future__ import annotations

import csv
import re
from itertools import chain
from pathlib import Path

from compute.types import BadInput

SEPARATORS = ",\t;"
QUOTED = re.compile(r'"[^"]*"?')
MAX_LINE = 1 << 20  # characters of the first line, and of every line that its quoted names run over


def heading(path: Path) -> tuple[str, list[str]]:
    """The character that separates the columns of a text in UTF-8, and their names; none for an empty file.

    It is a tab where the file's name ends in .tsv, else the one of `SEPARATORS` that the first line has most of,
    outside quotation marks. Raises BadInput for a first line without end, UnicodeDecodeError, OSError.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline(MAX_LINE + 1)
        if len(first) > MAX_LINE:
            raise BadInput(f"The first line of {path.name} has more than {MAX_LINE:,} characters: it is no heading")
        separator = "\t" if path.suffix.lower() == ".tsv" else max(SEPARATORS, key=QUOTED.sub("", first).count)
        lines = chain([first], iter(lambda: file.readline(MAX_LINE + 1), ""))
        try:
            return separator, next(csv.reader(lines, delimiter=separator), [])
        except csv.Error as error:
            raise BadInput(
                f"The first line of {path.name} is no heading: {error}. Is a quotation mark open?"
            ) from error
