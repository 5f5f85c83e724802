"""Who agrees with a rater: raters whose answer is known, and judgments as files hold them."""

import numpy as np
import pytest

from compute.eyes.report import FIRST_REPORT, krippendorff_alpha, lead_and_bound, report
from compute.eyes.study import MOST_RATERS, NO_PICK, Judgment, parsed
from compute.types import BadInput
from tests.compute.eyes.studies import judgments, study

COUNT = 120
TRUTH = np.random.default_rng(3).integers(2, size=COUNT).tolist()
OPPOSITE = [1 - each for each in TRUTH]


@pytest.fixture
def three():
    """One model that is always right, one never, and one that is always tied."""
    return study({"never": OPPOSITE, "right": TRUTH, "tied": [NO_PICK] * COUNT}, [0.5] * COUNT)


def found(of, choices, *, count=60):
    return report(of, judgments(of, choices, count=count))


def test_a_rater_who_answers_as_one_model_does(three):
    """60 judgments are 54 questions, about half of them uniform, and 6 of those again."""
    answer = found(three, TRUTH)
    assert (answer.judgments, answer.cannot_tell, answer.raters, answer.alpha) == (54, 0, ("me",), None)
    assert [(each.title, each.letter, each.agreement.value) for each in answer.models] == [
        ("RIGHT", "A", 1.0),
        ("TIED", "B", 0.5),
        ("NEVER", "C", 0.0),
    ]
    assert {each.agreement.n for each in answer.models} <= set(range(27, 54))
    assert [pair.first + pair.second for pair in answer.pairs] == ["RIGHTTIED", "RIGHTNEVER", "TIEDNEVER"]
    assert {(pair.n, pair.more) for pair in answer.pairs} == {(50, 0)}
    assert [pair.sided for pair in answer.pairs] == pytest.approx([0.75, 1, 0.75])
    assert all(pair.is_significant for pair in answer.pairs)
    assert (answer.consistency.value, answer.consistency.n, answer.ceiling) == (1, 6, 1)
    assert answer.left.n == 60 and answer.left.low < 0.5 < answer.left.high
    assert {(each.chosen, each.models) for each in answer.mistakes} == {(0, ("NEVER",)), (1, ("NEVER",))}
    assert "RIGHT" in answer.lead and "NEVER" not in answer.lead


def test_models_are_compared_at_looks_and_the_verdict_stays_until_the_next(three):
    answers = [found(three, TRUTH, count=count) for count in (55, 56, 65)]
    assert [each.judgments for each in answers] == [50, 51, 59]
    assert {(each.compared, each.next_look) for each in answers} == {(50, 60)}
    assert answers[0].pairs[0] == answers[1].pairs[0] == answers[2].pairs[0]
    assert "60" in answers[0].rests_on


def test_a_rater_may_look_at_any_time_and_stop():
    """Seven equal models, 100 raters, of whom a test at each look alone would fail 18."""
    draw, wrong, looks = np.random.default_rng(8), 0, (20, 40, 80, 160, 320)
    for _ in range(100):
        agrees = draw.integers(2, size=(7, looks[-1]))
        parts = [np.where(np.arange(looks[-1]) < look, agrees, 0) for look in looks]
        ahead = [lead_and_bound(parts[: at + 1], looks=len(looks)) for at in range(len(looks))]
        wrong += any(z.max() > bound for z, bound in ahead)
    assert 0 < wrong <= 6


def test_models_with_the_same_picks_are_not_compared_and_a_study_without_models_is_read():
    answer = found(study({"a": TRUTH, "b": TRUTH}), TRUTH)
    (pair,) = answer.pairs
    assert (pair.n, pair.is_significant, pair.more) == (0, False, None) and np.isnan(pair.sided)
    bare = study({"a": TRUTH}).model_copy(update={"models": {}, "picks": {}})
    answer = found(bare, TRUTH)
    assert answer.models == answer.pairs == () and answer.judgments == 54 and answer.lead


def test_undone_judgments_do_not_count_and_of_repeated_rows_the_last_does(three):
    rows = judgments(three, TRUTH, count=60)
    wrong = [row.model_copy(update={"choice": 1 - row.choice}) for row in rows]
    assert report(three, [*wrong, *rows]) == report(three, rows)
    undone = [row.model_copy(update={"undone": True}) for row in rows[-10:]]
    assert report(three, [*rows, *undone]) == report(three, rows[:-10])
    assert report(three, [*rows, *undone, *rows[-10:]]).judgments == 54


def test_the_answer_needs_enough_judgments(three):
    """Repeats do not count: 22 judgments are 20 questions."""
    with pytest.raises(BadInput, match=str(FIRST_REPORT)):
        report(three, judgments(three, TRUTH, count=21))
    assert report(three, judgments(three, TRUTH, count=22)).judgments == FIRST_REPORT
    small = study({"right": TRUTH[:3], "tied": [NO_PICK] * 3})
    with pytest.raises(BadInput, match="3"):
        report(small, judgments(small, TRUTH, count=2))
    assert report(small, judgments(small, TRUTH, count=3)).judgments == 3
    assert "nan" not in report(small, judgments(small, [None] * 3, count=3)).lead


def test_two_raters_with_questions_of_their_own(three):
    """One agrees with a model, the other with its opposite, on the questions that both got."""
    first = judgments(three, TRUTH, count=60, seed=1, rater="one")
    other = judgments(three, OPPOSITE, count=60, seed=2, rater="two")
    answer = report(three, [*first, *other])
    assert (answer.raters, answer.judgments) == (("one", "two"), 108)
    assert answer.alpha is not None and answer.alpha < -0.9
    assert answer.models[0].agreement.value == pytest.approx(0.5, abs=0.15)
    assert answer.models[0].agreement.n > report(three, first).models[0].agreement.n
    assert answer.consistency.n == 12


@pytest.mark.parametrize("early", [0, 20])
def test_the_headline_is_of_answers_to_uniform_questions_only(early):
    """A model agrees only where models disagree, and those questions alone are drawn by the other draw."""
    hard = [at % 2 for at in range(COUNT)]
    of = study({"a": [t if h else 1 - t for t, h in zip(TRUTH, hard, strict=True)]}, [float(h) for h in hard])
    answers = [report(of, judgments(of, TRUTH, count=60, seed=seed, early=early)) for seed in range(60)]
    shares = [each.models[0].agreement for each in answers]
    assert np.mean([each.value for each in shares]) == pytest.approx(0.5, abs=0.03)
    assert {early + 17 <= each.n < 54 for each in shares} == {True}


def test_judgments_made_elsewhere_are_read(three):
    given = {"time": "", "draw": "given", "left": 1, "seconds": 0}
    rows = [Judgment(order=at, question=at, choice=TRUTH[at], **given) for at in range(30)]
    answer = report(three, rows)
    assert [each.agreement.n for each in answer.models] == [30, 30, 30]
    assert answer.models[0].agreement.value == 1 and answer.consistency.n == 0


def test_too_many_raters_are_refused(three):
    (row,) = judgments(three, TRUTH, count=1)
    rows = [row.model_dump() | {"seed": seed} for seed in range(MOST_RATERS + 1)]
    with pytest.raises(BadInput, match="raters"):
        parsed({"study": three.model_dump(), "judgments": rows}, name="It")


def test_alpha_of_the_published_example():
    """Krippendorff (2011), nominal data of four observers and twelve units with missing values: 0.743."""
    units = ["111", "2232", "3333", "3333", "2222", "1234", "4444", "1121", "2222", "555", "11", "3"]
    assert krippendorff_alpha(units) == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(["aa", "bb"]) == 1
    assert krippendorff_alpha(["ab", "ab"]) == pytest.approx(-0.5)
    for nothing in ([], ["a", "b"], ["aa", "aa"]):
        assert krippendorff_alpha(nothing) is None
