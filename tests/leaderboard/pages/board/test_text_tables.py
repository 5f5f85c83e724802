"""LaTeX of a table: its texts escaped, its numbers bold where they are best; views are frozen in tests/golden."""

import pandas as pd
import pytest

from leaderboard.pages.board.text_tables import latex, tex


@pytest.mark.parametrize(
    "text, written",
    [
        ("50% & #1_{x}$ ~^\\", r"50\% \& \#1\_\{x\}\$ \textasciitilde{}\textasciicircum{}\textbackslash{}"),
        ("\\end{tabular}", r"\textbackslash{}end\{tabular\}"),
        ("a\nb\r\nc", "a b c"),
        ('less < more > "quoted" | bar', r"less \textless{} more \textgreater{} ''quoted'' \textbar{} bar"),
        ("−5 to -3, GPT-4-0125 ≥ 2† ε—", r"$-$5 to $-$3, GPT-4-0125 $\geq$ 2\textdagger{} $\varepsilon$---"),
        ("% all of it a comment", r"\% all of it a comment"),
    ],
)
def test_any_text_stays_text(text, written):
    assert tex(text) == written


def test_a_table_whole():
    frame = pd.DataFrame({"a & b": ["[optional]", "* a star"], "n_1": ["1.5", "—"], "%": ["-2.0†", "3"]})
    table = latex(frame, [[False, True, True], [False] * 3], caption="c %", label="tab:x")
    assert table.splitlines() == [
        r"% Needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\caption{c \%}",
        r"\label{tab:x}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"a \& b & n\_1 & \% \\",
        r"\midrule",
        r"{[optional]} & \textbf{1.5} & \textbf{$-$2.0}\textdagger{} \\",
        r"{* a star} & --- & 3 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
