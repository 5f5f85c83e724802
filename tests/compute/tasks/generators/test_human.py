"""What people think, in every form of a table."""

import numpy as np
import pytest

from compute.tasks.generators import human
from tests.compute.tasks.files import table


@pytest.mark.parametrize(
    ("rows", "metric", "values"),
    [
        ("model,rate|a,80.5%|b,20%", "human_rate", (0.805, 0.2)),
        ("model,rate|a,80.5|b,20", "human_rate", (0.805, 0.2)),
        ("Generator,Elo|a,1100|b,900", "elo", (1100, 900)),
        ("name,rank|a,1|b,2", "human_rank", (1, 2)),
        ("generator,rate,rank|a,0.3,2|b,0.7,1", "human_rate", (0.3, 0.7)),
    ],
)
def test_rates_ratings_and_ranks(tmp_path, rows, metric, values):
    found = human.read(table(tmp_path / "people.csv", rows))
    assert found.metric == metric and tuple(found.values.values()) == pytest.approx(values)
    if "rate,rank" in rows:
        assert found.ranks == {"a": 2, "b": 1}


@pytest.mark.parametrize(
    "rows",
    [
        "winner,loser,votes|a,b,2.5|b,a,0.5",
        "first,second,choice|a,b,a|b,a,second|a,b,tie",
        "model_a,model_b,winner|a,b,model_a|b,a,model_b|a,b,tie (bothbad)",
        "model_a,model_b,vote|a,b,leftvote|b,a,rightvote|a,b,tie_bad",
        "model_a,model_b,winner|a,b,A|b,a,2|a,b,tie_good",
        "Left,Right,Choice|a,b,Left|b,a,Right|a,b,Tie",
    ],
)
def test_votes_of_every_form_make_the_same_table(tmp_path, rows):
    found = human.read(table(tmp_path / "people.csv", rows))
    assert found.names == ("a", "b") and (found.wins == np.array([[0, 2.5], [0.5, 0]])).all()


def test_a_name_is_no_side_and_votes_by_prompt_are_for_one_over_all(tmp_path):
    found = human.read(table(tmp_path / "people.csv", "first,second,choice|right,left,left|right,left,tie"))
    assert found.names == ("left", "right") and found.wins.tolist() == [[0, 1.5], [0.5, 0]]
    found = human.read(table(tmp_path / "people.csv", "prompt,generator,votes|p,a,2|p,b,1|p,c,0|q,a,1|q,b,0"))
    assert found.wins.tolist() == [[0, 3, 2], [1, 0, 1], [0, 0, 0]] and "as if all were shown" in found.notes[0]
