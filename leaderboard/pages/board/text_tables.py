"""A table of texts as Markdown, or as LaTeX with booktabs, with all texts escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from leaderboard.html.formatting import NOTHING, or_dash

_NAMED = {"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "|": "bar", "†": "dagger", "‡": "daggerdbl"}
_NAMED |= {"<": "less", ">": "greater"}  # the font that LaTeX starts with has other characters at these and at | and "
_MATHS = dict(
    zip("≥≤±×·ρε↓≈", ["geq", "leq", "pm", "times", "cdot", "rho", "varepsilon", "downarrow", "approx"], strict=True)
)
ESCAPES = str.maketrans(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    | {sign: rf"\text{name}{{}}" for sign, name in _NAMED.items()}
    | {sign: rf"$\{name}$" for sign, name in _MATHS.items()}
    | {'"': "''", "—": "---", "–": "--", "−": "$-$", "²": r"\textsuperscript{2}", "…": r"\ldots{}", "\u00a0": "~"}
)
MINUS = re.compile(r"(?<![\w.-])-(?=\d)")  # a hyphen that is a minus
MARKDOWN = str.maketrans({"&": "&amp;", "<": "&lt;", "\\": r"\\", "|": r"\|"})
NARROW = 8  # columns that fit a page at its usual size
NUMBER = re.compile(r"(?:-|−)?\d[\d.]*")


def tex(value: str) -> str:
    """Escapes words for LaTeX, on one line."""
    return MINUS.sub("$-$", " ".join(value.split()).translate(ESCAPES))


def markdown(frame: pd.DataFrame, best: np.ndarray, *, caption: str) -> str:
    """Returns the caption, then the frame; `best` [rows, columns] marks numbers in bold."""

    def text(value: str) -> str:
        return value.translate(MARKDOWN)

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    rule = "|" + "---|" * frame.shape[1]
    body = map(line, _cells(frame, best, text=text, bold="**{}**"))
    return "\n".join([text(caption), "", line(map(text, frame.columns)), rule, *body, ""])


def latex(frame: pd.DataFrame, best: np.ndarray, *, caption: str, label: str) -> str:
    """Returns a floating table. `best` [rows, columns] marks numbers in bold; columns of numbers are right-aligned."""

    def line(cells: list[str]) -> str:
        r"""Returns a row; its first cell is in braces if the `\\` before it would read it as an argument or its
        star.
        """
        first, *others = cells
        return " & ".join([f"{{{first}}}" if first[:1] in ("[", "*") else first, *others]) + r" \\"

    numeric = [all(NUMBER.match(cell) for cell in frame[name] if cell not in ("", NOTHING)) for name in frame]
    lines = [
        r"% Needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        *([r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"] if frame.shape[1] > NARROW else []),
        rf"\caption{{{tex(caption)}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{''.join('r' if each and len(frame) else 'l' for each in numeric)}}}",
        r"\toprule",
        line(list(map(tex, frame.columns))),
        r"\midrule",
        *map(line, _cells(frame, best, text=tex, bold=r"\textbf{{{}}}")),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
        "",
    ]
    return "\n".join(lines)


def _cells(frame: pd.DataFrame, best: np.ndarray, *, text: Callable[[str], str], bold: str) -> list[list[str]]:
    """Returns the cells by rows, formatted by `text`, with the best numbers in `bold`."""

    def cell(value: object, is_best: bool) -> str:
        value = " ".join(str(or_dash(value)).splitlines())
        number = NUMBER.match(value) if is_best else None
        return text(value) if number is None else bold.format(text(number.group())) + text(value[number.end() :])

    rows = zip(frame.itertuples(index=False), best, strict=True)
    return [[cell(value, is_best) for value, is_best in zip(row, bolds, strict=True)] for row, bolds in rows]
