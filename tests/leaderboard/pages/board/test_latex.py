"""LaTeX of a view: its structure read strictly, its texts escaped, its marks kept."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from leaderboard.data.board_table import SUSPECT
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.pages.board import export, latex

NASTY = (
    "50% & #1_{x}$ ~^\\",
    "[optional] argument",
    "* a star",
    "\\end{tabular}",
    "a\nb\r\nc",
    'less < more > "quoted" | bar',
    "−5 to -3, GPT-4-0125",
    "% all of it a comment",
    "x\\\\[2pt]",
)
COMMAND = re.compile(r"\\(?:[a-zA-Z]+|.)")


def structure(source: str) -> tuple[str, list[str], list[list[str]]]:
    """Caption, heads and rows of a table, read as LaTeX reads it; fails on what would not compile."""
    lines = source.splitlines()
    assert lines[0] == r"% Needs \usepackage{booktabs}" and source.endswith("\n")
    bare = "\n".join(lines[1:])
    # Without commands there is no special character left but braces, dollars in pairs, ~ and the &s between cells.
    depth = 0
    plain = COMMAND.sub("", bare)
    for character in plain:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
        assert character not in "%#^_\\", f"{character!r} is not escaped"
        assert ord(character) < 0x2000, f"{character!r} is not in the fonts that LaTeX starts with"
    assert depth == 0 and plain.count("$") % 2 == 0
    opened = re.findall(r"\\(begin|end)\{(\w+)\}", bare)
    assert opened == [("begin", "table"), ("begin", "tabular"), ("end", "tabular"), ("end", "table")]
    rules = [line for line in lines if line in (r"\toprule", r"\midrule", r"\bottomrule", r"\hline")]
    assert rules == [r"\toprule", r"\midrule", r"\bottomrule"]
    caption = next(line for line in lines if line.startswith(r"\caption{"))
    label = lines[lines.index(caption) + 1]
    assert re.fullmatch(r"\\label\{tab:[a-z0-9-]+\}", label), "a label follows its caption, or it names the section"
    shape = re.search(r"\\begin\{tabular\}\{([lr]+)\}", bare).group(1)
    head, body = lines.index(r"\toprule") + 1, lines.index(r"\midrule") + 1
    rows = []
    for line in [lines[head], *lines[body : lines.index(r"\bottomrule")]]:
        assert line.endswith(r" \\") and not line.startswith(("[", "*"))
        cells = re.split(r" (?<!\\)& ", line.removesuffix(r" \\"))
        assert len(cells) == len(shape), line
        rows.append(cells)
    assert lines[head + 1] == r"\midrule"
    return caption, rows[0], rows[1:]


def made(suite_cache: SuiteCache, suite: str, *, columns: list[str], form: str = "latex") -> str:
    table = suite_cache.table(suite)
    rows = [row.id for row in table.rows]
    file = export.view(table, suite_cache.ranked(suite), rows=rows, columns=columns, form=form)
    return file.content.decode()


@pytest.mark.parametrize("suite", ["unisim-core", "pairbench", "mieb", "cfred-coco", "mini"])
def test_every_view_is_a_table_with_rules_label_and_caption(suite_cache, suite):
    table = suite_cache.table(suite)
    keys = [column.key for column in (*table.category_columns, *table.columns)]
    source = made(suite_cache, suite, columns=keys)
    caption, heads, rows = structure(source)
    assert len(rows) == len(table.rows) and heads[0] == "Model"
    assert rf"\label{{tab:likeness-{suite}}}" in source
    assert latex.text(str(table.suite["title"])) in caption


def test_the_best_is_bold_and_a_doubtful_figure_never_is(suite_cache):
    """The best figures of every second column are doubted: there the next best is bold."""
    table, ranked = suite_cache.table("unisim-core"), suite_cache.ranked("unisim-core")
    shown = np.round(100 * table.scores.values, 1)
    marks = table.marks | np.where(shown == np.nanmax(shown, axis=0), SUSPECT, 0) * (np.arange(shown.shape[1]) % 2)
    columns = [column.key for column in table.columns]
    file = export.view(
        replace(table, marks=marks), ranked, rows=[row.id for row in table.rows], columns=columns, form="latex"
    )
    _, heads, rows = structure(file.content.decode())
    first = len(heads) - len(columns)
    doubted = (marks & SUSPECT) > 0
    best = np.nanmax(np.where(doubted, np.nan, shown), axis=0)
    assert ((np.nanmax(shown, axis=0) > best) == np.arange(len(columns)) % 2).all()
    for row, values, doubt in zip(rows, shown, doubted, strict=True):
        for at in range(len(columns)):
            cell = row[first + at]
            assert (r"\textbf" in cell) == (values[at] == best[at] and not doubt[at]), cell
            assert ("?" in cell) == (doubt[at] and not np.isnan(values[at])), cell


def test_a_mean_of_some_tasks_is_never_the_best(suite_cache):
    """In MIEB's Retrieval the highest mean is that of a model with one of 45 tasks."""
    table, ranked = suite_cache.table("mieb"), suite_cache.ranked("mieb")
    rows = [table.rows[row].id for row in table.rows_of("imported")]
    file = export.view(table, ranked, rows=rows, columns=["Retrieval"], form="latex", beside=())
    bold = [row[-1] for row in structure(file.content.decode())[2] if r"\textbf" in row[-1]]
    whole = table.whole_means(ranked)[:, table.scores.categories.index("Retrieval")]
    assert bold == [rf"\textbf{{{100 * np.nanmax(whole):.1f}}}"]


def test_nasty_texts_stay_text():
    rows = [[text, "1.5", "-2.0†"] for text in NASTY]
    best = [[False, True, False]] * len(rows)
    source = latex.table(["a & b", "n_1", "%"], rows, best=best, caption=" ".join(NASTY), label="tab:x-1")
    _, heads, cells = structure(source)
    assert heads == [r"a \& b", r"n\_1", r"\%"]
    assert [row[1:] for row in cells] == [[r"\textbf{1.5}", r"$-$2.0\textdagger{}"]] * len(rows)
    firsts = [row[0] for row in cells]
    assert firsts[1:4] == ["{[optional] argument}", "{* a star}", r"\textbackslash{}end\{tabular\}"]
    assert firsts[4] == "a b c" and firsts[6] == "$-$5 to $-$3, GPT-4-0125"
