"""The answers as markup: what is said, and that nothing a visitor writes becomes markup. Those of the models that need
no download are frozen in tests/golden.
"""

import re

import pytest

from compute.analysis.calibrated import DomainCheck
from compute.live import inputs
from compute.live.questions import Answer, LiveQuestion
from leaderboard.live.live import OUT_OF_TIME
from leaderboard.pages.try_it import answers as page
from tests.compute.live.test_questions import asked, checked, reference, row

PAIR = asked("pair", "cat", "coffee")
CHOICE = asked("choice", "cat", "coffee", "rocket")


def found(question, *answers):
    """Answers that say nothing of their domain are within it."""
    return [answer if answer.domain.why else checked(answer, question) for answer in answers]


def drawn(question, *answers, pending=()):
    return page.result(question, found(question, *answers), asked=1, pending=pending)


def words(markup):
    return " ".join(re.sub(r"<[^>]+>", " ", markup).split())


def test_models_without_their_turn_are_named_with_what_to_do():
    late = [Answer(row=row(key), problem=OUT_OF_TIME) for key in ("n", "o")]
    answers = [Answer(row=row("m"), scores=(2.5,)), *late]
    sentence = "1 of 3 models had their turn, 2 did not (N, O). Press Compare again"
    text = words(drawn(PAIR, *answers))
    assert sentence in text and text.count("Not started: the models before it took over 5 minutes") == 2
    assert sentence not in words(drawn(PAIR, *answers[:2], pending=("O",))), "the others may still come"
    assert "The time for one question" not in words(drawn(PAIR, answers[0]))


@pytest.mark.parametrize(
    "question, values, said",
    [
        (PAIR, (2.5,), "The one model: similar."),
        (PAIR, (2.5, 2.6, 2.7), "All 3 models: similar."),
        (PAIR, (1.5, 1.6, 0.5, 2.5, 2.4), "2 of 5 models: similar; 1 not similar; 2 cannot tell."),
        (PAIR, (0.5, 2.5), "The models disagree: 1 not similar, 1 similar."),
        (PAIR, (1.5, 1.6), "None of the 2 models can tell."),
        (PAIR, (1.5,), "The model cannot tell."),
        (CHOICE, (0, 1, 1), "2 of 3 models pick B as the nearest; 1 picks A."),
        (CHOICE, (1, None), "1 of 2 models picks B as the nearest; 1 undecided."),
        (CHOICE, (None,), "No model picks an option: each sees a tie or gives no readable answer."),
    ],
)
def test_the_headline_counts_the_verdicts(question, values, said):
    scores = {0: (2.9, 0.5), 1: (0.5, 2.9), None: (1.0, 1.0)}
    asks = [{"scores": (each,)} if question is PAIR else {"scores": scores[each], "pick": each} for each in values]
    answers = [Answer(row=row("m"), **each) for each in asks]
    assert "".join(page.headline(question, found(question, *answers))) == said


FEW = DomainCheck(reference=reference(scenes=14), few=True, why="few")


def test_a_score_without_a_place_is_shown_with_the_reason():
    text = words(drawn(PAIR, Answer(row=row("n"), scores=(-0.3,), unit="cosine")))
    assert "cannot tell −0.3 cosine" in text and "No percentile: it is not calibrated (N)." in text


def test_judges_show_both_orders():
    steady = Answer(row=row("n"), scores=(1.0, 0.0), pick=0, picks=(0, 0), unit="votes", replies=("(A)", "(B)"))
    torn = Answer(row=row("o"), scores=(0.5, 0.5), picks=(0, 1), unit="votes", replies=("(A)", "(A)"))
    text = words(drawn(CHOICE, steady, torn))
    assert "picks A Picks in order and reversed: A, A" in text
    assert "undecided Picks in order and reversed: A, B" in text
    rated = words(drawn(PAIR, Answer(row=row("n"), scores=(7.0,), replies=("8", "<i>6</i>"), unit="rating")))
    assert "7 of 10 Replies in both orders: 8 and &lt;i&gt;6&lt;/i&gt;" in rated


@pytest.mark.parametrize("mode", ["pair", "choice"])
def test_a_visitors_words_never_become_markup(mode):
    hostile = tuple(
        inputs.text(f"<img src=x onerror=alert({at})>", name="<b>x</b>") for at in range(2 if mode == "pair" else 3)
    )
    markup = drawn(LiveQuestion(mode=mode, inputs=hostile), Answer(row=row("m"), scores=(1.0, 2.0), pick=0))
    assert "<img" not in markup and "<b>x" not in markup


def test_an_odd_one_that_percentiles_do_not_bear_out_says_so():
    question = asked("odd", "cat", "coffee", "rocket", "astronaut")
    pairs = {(0, 1): 1.0, (0, 2): 1.0, (0, 3): 1.0, (1, 2): 3.0, (1, 3): 0.9, (2, 3): 0.9}
    scores = (1.6, 0.97, 0.97, 1.67)
    text = words(drawn(question, Answer(row=row("m"), scores=scores, pairs=pairs, pick=0)))
    assert "picks A" in text and "By percentiles another image differs most." in text
