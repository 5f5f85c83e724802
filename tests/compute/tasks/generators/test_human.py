"""What people think, in every form of a table, and tables that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from compute.tasks.generators import human
from compute.types import BadInput


def written(folder: Path, *lines: str) -> Path:
    path = folder / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_rates_ratings_and_ranks(tmp_path):
    for head, cells, metric, values in (
        ("model,rate", ("a,80.5%", "b,20%"), "human_rate", (0.805, 0.2)),
        ("model,rate", ("a,80.5", "b,20"), "human_rate", (0.805, 0.2)),
        ("Generator,Elo", ("a,1100", "b,900"), "elo", (1100, 900)),
        ("name,rank", ("a,1", "b,2"), "human_rank", (1, 2)),
    ):
        table = human.read(written(tmp_path, head, *cells))
        assert table.metric == metric and tuple(table.values.values()) == pytest.approx(values)
    both = human.read(written(tmp_path, "generator,rate,rank", "a,0.3,2", "b,0.7,1"))
    assert both.values == {"a": 0.3, "b": 0.7} and both.ranks == {"a": 2, "b": 1}


def test_votes_of_every_form_make_the_same_table(tmp_path):
    expected = np.array([[0, 2.5], [0.5, 0]])
    for lines in (
        ("winner,loser,votes", "a,b,2.5", "b,a,0.5"),
        ("first,second,choice", "a,b,a", "b,a,second", "a,b,tie"),
        ("model_a,model_b,winner", "a,b,model_a", "b,a,model_b", "a,b,tie (bothbad)"),
        ("model_a,model_b,vote", "a,b,leftvote", "b,a,rightvote", "a,b,tie_bad"),
        ("model_a,model_b,winner", "a,b,A", "b,a,2", "a,b,tie_good"),
        ("Left,Right,Choice", "a,b,Left", "b,a,Right", "a,b,Tie"),
    ):
        table = human.read(written(tmp_path, *lines))
        assert table.names == ("a", "b") and (table.wins == expected).all()
    table = human.read(written(tmp_path, "first,second,choice", "right,left,left", "right,left,tie"))
    assert table.names == ("left", "right") and table.wins.tolist() == [[0, 1.5], [0.5, 0]], "a name, not a side"
    lines = ("prompt,generator,votes", "p,a,2", "p,b,1", "p,c,0", "q,a,1", "q,b,0")
    table = human.read(written(tmp_path, *lines))
    assert table.wins.tolist() == [[0, 3, 2], [1, 0, 1], [0, 0, 0]] and "as if all were shown" in table.notes[0]


def test_wrong_tables_name_the_row(tmp_path):
    for lines, word in (
        (("generator,colour", "a,red"), "rank"),
        (("generator,rate", "a,1", "a,2"), "row 2"),
        (("generator,rate", "a,120", "b,1"), "share"),
        (("generator,elo", "a,high"), "row 1"),
        (("winner,loser", "a,a"), "itself"),
        (("winner,loser,votes", "a,b,-1"), "negative"),
        (("first,second,choice", "a,b,c"), "choice"),
        (("generator,rate", "a,1,2"), "row 1 has 3"),
    ):
        with pytest.raises(BadInput, match=word):
            human.read(written(tmp_path, *lines))
