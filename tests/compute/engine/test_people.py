"""What people think, in every form of a table."""

import math

import pytest

from compute.engine.generators import people
from tests.compute.tasks.files import table


@pytest.mark.parametrize(
    "rows, metric, values",
    [
        ("model,rate|a,80.5%|b,20%", "human_rate", (0.805, 0.2)),
        ("model,rate|a,80.5|b,20", "human_rate", (0.805, 0.2)),
        ("Generator,Elo|a,1100|b,900", "elo", (1100, 900)),
        ("name,rank|a,1|b,2", "human_rank", (1, 2)),
        ("generator,rate,rank|a,0.3,2|b,0.7,1", "human_rate", (0.3, 0.7)),
    ],
)
def test_rates_ratings_and_ranks(tmp_path, rows, metric, values):
    found = people.read(table(tmp_path / "people.csv", rows), generated=("a", "b"))
    sign = -1 if metric == "human_rank" else 1
    assert found.metric == metric and [sign * each for each in found.ratings] == pytest.approx(values)
    if "rate,rank" in rows:
        assert found.ranks == (2, 1)


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
    found = people.read(table(tmp_path / "people.csv", rows), generated=("b", "c", "a"))
    half = 200 * math.log10(5)  # 2.5 to 0.5
    assert found.names == ("b", "a") and found.ratings == pytest.approx((-half, half))
    assert "(c) are not in people.csv" in found.warnings[0]


def test_a_name_is_no_side_and_votes_by_prompt_are_for_one_over_all(tmp_path):
    sided = table(tmp_path / "sided.csv", "first,second,choice|right,left,left|right,left,tie")
    prompts = table(tmp_path / "prompts.csv", "prompt,generator,votes|p,a,2|p,b,1|q,a,1|q,b,0")
    for path, names in ((sided, ("left", "right")), (prompts, ("a", "b"))):  # three to one
        half = 200 * math.log10(3)
        found = people.read(path, generated=names)
        assert found.names == names and found.ratings == pytest.approx((half, -half))
    assert "as if all were shown" in found.warnings[0]
