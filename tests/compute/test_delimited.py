"""The heading of text tables: the separator and the names of the columns, the same for every reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from compute.delimited import heading
from compute.interface.score_reading import ScoreReading
from compute.tasks.own.faults import Faults
from compute.tasks.own.table import read


@pytest.mark.parametrize(
    ("name", "text", "separator", "columns"),
    [
        ("a.csv", "model,x\n", ",", ["model", "x"]),
        ("a.csv", "model;x;y, in m\n", ";", ["model", "x", "y, in m"]),
        ("a.csv", '"model, or name";"x, y"\n', ";", ["model, or name", "x, y"]),
        ("a.csv", "model\tx\n", "\t", ["model", "x"]),
        ("a.tsv", "model\tx, y, z and w\n", "\t", ["model", "x, y, z and w"]),
        ("a.csv", "\ufeffmodel\r\n", ",", ["model"]),
        ("a.csv", '"model\nor name",x\n', ",", ["model\nor name", "x"]),
        ("a.csv", "", ",", []),
    ],
)
def test_the_separator_and_the_names(name: str, text: str, separator: str, columns: list[str], tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert heading(tmp_path / name) == (separator, columns)


def test_tables_of_scores_and_of_own_data_are_split_alike(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("model;easy, or so;hard;odd, too\na;1;2;3\nb;2;3;4\n")
    assert ScoreReading().table(path).tasks == ("easy, or so", "hard", "odd, too")
    assert read(path, faults=Faults()).columns == ("model", "easy, or so", "hard", "odd, too")
