"""A table as LaTeX with booktabs, whatever its texts hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_NAMED = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "|": "bar", "†": "dagger", "‡": "daggerdbl"}
_NAMED |= {"<": "less", ">": "greater"}  # the font that LaTeX starts with has other characters at these and at | and "
_MATHS = dict(zip("≥≤±×·ρε↓", ["geq", "leq", "pm", "times", "cdot", "rho", "varepsilon", "downarrow"], strict=True))
ESCAPES = str.maketrans(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    | {sign: rf"\text{name}{{}}" for sign, name in _NAMED.items()}
    | {sign: rf"$\{name}$" for sign, name in _MATHS.items()}
    | {'"': "''", "—": "---", "–": "--", "−": "$-$", "²": r"\textsuperscript{2}", "…": r"\ldots{}", "\u00a0": "~"}
)
MINUS = re.compile(r"(?<![\w.-])-(?=\d)")  # a hyphen that is a minus
NARROW = 8  # columns that fit a page at its usual size
NUMBER = re.compile(r"(?:-|−)?\d[\d.]*")


def text(value: str) -> str:
    """Words as LaTeX prints them, on one line."""
    return MINUS.sub("$-$", " ".join(value.split()).translate(ESCAPES))


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, best: Sequence[Sequence[bool]], caption: str, label: str
) -> str:
    """A floating table. `best` [rows][columns] says whose number is bold; columns of numbers are right-aligned."""
    cells = [list(row) for row in rows]
    shape = "".join("r" if _is_numeric(column) else "l" for column in zip(*cells, strict=True)) or "l" * len(heads)
    body = [
        [_cell(value, bold) for value, bold in zip(row, bolds, strict=True)]
        for row, bolds in zip(cells, best, strict=True)
    ]
    lines = [
        r"% Needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        *([r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"] if len(heads) > NARROW else []),
        rf"\caption{{{text(caption)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        _line(map(text, heads)),
        r"\midrule",
        *map(_line, body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _cell(value: str, bold: bool) -> str:
    number = NUMBER.match(value) if bold else None
    if number is None:
        return text(value)
    return rf"\textbf{{{text(number.group())}}}{text(value[number.end() :])}"


def _line(cells: Iterable[str]) -> str:
    """A row; its first cell in braces where the `\\` before it would take it for an argument or its star."""
    first, *others = cells
    return " & ".join([f"{{{first}}}" if first[:1] in ("[", "*") else first, *others]) + r" \\"


def _is_numeric(column: Iterable[str]) -> bool:
    """Whether every cell that holds something is a number, maybe with a sign after it."""
    return all(NUMBER.match(cell) for cell in column if cell not in ("", "—"))
