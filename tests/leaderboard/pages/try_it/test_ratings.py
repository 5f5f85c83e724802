"""The table of scores from 1 to 10."""

from dataclasses import replace

from compute.live import examples
from compute.live.changes import ChangedPair, PairRating
from leaderboard.pages.try_it import ratings
from tests.compute.live.test_questions import row

PAIR = ChangedPair(image=examples.load("coffee"), kind="rotate", strength=0.5)
ROWS = {"tiny": row("tiny"), "judge": replace(row("judge"), abilities=("choose",))}


def table(**scores):
    return str(ratings.table(PAIR, [ROWS[key] for key in scores], scores))


def both(rating):
    return {"sensitive": rating, "invariant": rating}


def judged(*scores, problems=("", ""), said="Score", **counts):
    """By a judge in words, whose replies were counted so."""
    detail = {"problems": problems, "replies": (said, "Score: 9")}
    return PairRating(scores=scores, detail=detail, settings={"asked": 2, **counts})


COSINES = PairRating(scores=(9, 9), detail={"numbers": (0.881, 0.881)}, settings={"numbers": "cosine"})


def test_an_invalid_answer_is_no_score_and_shows_its_words_as_text():
    rating = judged(None, 9, problems=("refused", ""), said="I <b>cannot</b>")
    html = table(tiny=both("…"), judge=both(rating))
    assert html.count('<b class="cp-invalid">no score</b>') == 2
    assert 'The answer is a refusal: <q dir="auto">I &lt;b&gt;cannot&lt;/b&gt;</q>' in html
    assert "the orders differ" not in html


def test_what_is_missing_says_why():
    apart = table(tiny={}, judge=both(judged(8, 5)))
    assert apart.count("the orders differ by 3") == 2
    html = table(tiny=both("Its weights are not on this machine"))
    assert 'colspan="2"><span class="pg-quiet">Its weights are not on this machine</span>' in html
    assert ratings.cells({"sensitive": COSINES})[1] == {"why": "…"} and ratings.cells({}) == "…"
    assert ratings.cells({"sensitive": "why", "invariant": COSINES})[0] == {"why": "why"}
    assert "No model is chosen" in table()


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
