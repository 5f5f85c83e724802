"""The table of scores from 1 to 10, and what its script is sent and sends back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from compute.catalog import shipped
from compute.live import examples
from compute.live.changes import ChangedPair, PairRating
from compute.live.questions import LiveQuestion
from compute.types import BadInput
from leaderboard.pages.try_it import ratings
from leaderboard.pages.try_it.ratings import ShownChange

ROWS = {row.key: row for row in shipped().models}
TINY, JUDGE = (ROWS[key] for key in ("tiny", "gpt-4o-2024-11-20"))
COFFEE, WORDS = examples.load("coffee"), examples.load("text-cat")
PAIR = ChangedPair(image=COFFEE, kind="rotate", strength=0.5)
VIEW = ShownChange(image=0, kind="rotate", amount=22.5)


def table(**scores: Any) -> str:
    rows = [TINY, JUDGE] if "judge" in scores else [TINY]
    named = {JUDGE.key if key == "judge" else key: value for key, value in scores.items()}
    return str(ratings.table(PAIR, rows, named, amount="22.5 degrees"))


def both(rating: Any) -> dict[str, Any]:
    return {"sensitive": rating, "invariant": rating}


def judged(*scores: int | None, problems: tuple[str, ...] = ("", ""), said: str = "Score", **counts: Any) -> PairRating:
    """By a judge in words, whose replies were counted so."""
    detail = {"problems": problems, "replies": (said, "Score: 9")}
    return PairRating(scores=scores, detail=detail, settings={"asked": 2, **counts})


COSINES = PairRating(scores=(9, 9), detail={"numbers": (0.881, 0.881)}, settings={"numbers": "cosine"})


def test_scores_stand_beside_what_is_expected():
    html = table(tiny=both(COSINES))
    assert "Told that the change matters <small>(expected 8)</small>" in html
    assert "Told to ignore the change <small>(expected 10)</small>" in html
    assert html.count("<b>9</b>") == 4 and "cosine 0.881" in html and "Rotation: 22.5 degrees" in html
    assert "the orders differ" not in html


def test_an_invalid_answer_is_no_score_and_shows_its_words_as_text():
    rating = judged(None, 9, problems=("refused", ""), said="I <b>cannot</b>")
    html = table(tiny=both(None), judge=both(rating))
    assert html.count('<b class="cp-invalid">no score</b>') == 2
    assert 'The answer is a refusal: <q dir="auto">I &lt;b&gt;cannot&lt;/b&gt;</q>' in html
    assert "the orders differ" not in html


def test_what_is_missing_says_why():
    apart = table(tiny=both(None), judge=both(judged(8, 5)))
    assert apart.count("the orders differ by 3") == 2
    html = table(tiny=both("Its weights are not on this machine"), judge=both(None))
    assert 'colspan="2"><span class="pg-quiet">Its weights are not on this machine</span>' in html
    assert html.count("not asked yet") == 2
    assert ratings.cells({"sensitive": COSINES, "invariant": None}, missing="…")[1] == {"why": "…"}
    assert "No model is chosen" in str(ratings.table(PAIR, [], {}, amount=""))


def test_tokens_and_cost_are_summed_and_what_some_answers_do_not_state_is_the_least():
    tokens = {"input_tokens": 1000, "output_tokens": 20}
    one, other, silent = judged(8, 8, **tokens, cost=0.0015), judged(8, 8, **tokens), judged(8, 8)
    half = judged(8, 8, in_part={"input_tokens": {"at_least": 500}, "output_tokens": {"at_least": 10}})
    assert ratings.totals([one, one]) == "2,040 tokens, $0.0030"
    assert ratings.totals([one, other]) == "2,040 tokens, at least $0.0015"
    assert ratings.totals([other, COSINES]) == "1,020 tokens"
    assert ratings.totals([other, half]) == "at least 1,530 tokens"
    assert ratings.totals([other, silent]) == "at least 1,020 tokens"
    assert ratings.totals([silent]) == ratings.totals([]) == ""


def test_the_state_names_the_judges_and_what_they_cost():
    facts = json.loads(ratings.state(VIEW, [TINY, JUDGE]))
    assert facts["judges"] == [{"key": JUDGE.key, "title": JUDGE.title, "questions": 4, "requests": 4}]
    assert facts["view"] == {"image": 0, "by": "rotate", "amount": 22.5} and facts["turn"] is None
    assert json.loads(ratings.state(None))["view"] is None
    assert "<" not in ratings.state(None, message="<script>")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (None, "There is no transformation 'None'"),
        ({"image": 0, "by": "melt", "amount": 1}, "There is no transformation 'melt'"),
        ({"image": True, "by": "rotate", "amount": 1}, "image"),
        ({"image": -1, "by": "rotate", "amount": 1}, "image"),
        ({"image": 0, "by": "rotate", "amount": float("nan")}, "amount"),
        ({"image": 0, "by": "rotate", "amount": 10**400}, "amount"),
        ({"image": 0, "by": "rotate"}, "amount"),
    ],
)
def test_what_a_page_sends_is_read_without_trust(fields, said):
    with pytest.raises(BadInput, match=said) as error:
        ShownChange.read(fields)
    assert len(str(error.value)) < 300


def test_an_amount_beyond_the_most_is_the_most():
    question = LiveQuestion(mode="pair", inputs=(COFFEE, WORDS))
    assert ShownChange(image=0, kind="rotate", amount=1e9).pair(question).strength == 1
    assert VIEW.pair(question).strength == 0.5
    for image in (1, 2):
        with pytest.raises(BadInput, match="Choose an image"):
            ShownChange(image=image, kind="rotate", amount=1).pair(question)


def test_what_is_shown_follows_the_controls():
    def at(**amounts: float) -> ShownChange:
        state = ratings.state(VIEW, [TINY])
        return ShownChange.current(state, image=1, amounts={"rotate": 0, "elastic": 0, **amounts})

    assert at(rotate=22.5) == ShownChange(image=1, kind="rotate", amount=22.5)
    assert at(rotate=45) == ShownChange(image=1, kind="rotate", amount=45)
    assert at(rotate=22.5, elastic=3) == ShownChange(image=1, kind="elastic", amount=3)
    assert at() == ShownChange(image=1, kind="rotate", amount=0)
    with pytest.raises(BadInput, match="transformation"):
        ShownChange.current(ratings.state(None), image=0, amounts={"rotate": 5})
