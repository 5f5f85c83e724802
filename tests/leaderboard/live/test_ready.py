"""The ready comparisons: who gets them is computed, once a model, and a download is offered where nobody does."""

from __future__ import annotations

import pytest

from compute.analysis.domain import DomainCheck
from compute.live.examples import COMPARISONS
from compute.live.models.availability import Availability
from compute.live.models.roster import DEFAULT, FIRST, Listed
from compute.live.question import Answer
from compute.types import Model
from leaderboard.data.suite_cache import SuiteCache
from leaderboard.live.calibrated import CalibratedAnswer, calibrated_answer
from leaderboard.live.panel import Panel
from leaderboard.live.ready import BORROWED, FAILED, OUTSIDE, RIGHT, SILENT, WRONG, ReadyAnswers, verdict
from tests.leaderboard.live.test_calibrated import ROW, asked, one, reference

BY_KEY = {ready.key: ready for ready in COMPARISONS}
COPY, CAPTION = BY_KEY["copy"], BY_KEY["caption"]
WAIT = 120.0  # seconds


def plain(**answer: object) -> CalibratedAnswer:
    return CalibratedAnswer(row=ROW, answer=Answer(model="m", **answer))


def test_a_pick_is_right_wrong_or_none() -> None:
    picks = [plain(scores=(0.1, 0.9, 0.2), pick=pick) for pick in (1, 0, None)]
    assert [verdict(COPY, each) for each in picks] == [RIGHT, WRONG, SILENT]
    assert verdict(COPY, plain(problem="No weights", pick=1)) == FAILED


@pytest.mark.parametrize(("score", "said"), [(2.5, RIGHT), (0.5, WRONG), (1.5, SILENT)])
def test_a_pair_goes_by_its_reading(score: float, said: str) -> None:
    pair = asked("pair", "cat", "coffee")
    assert verdict(CAPTION, one(Answer(model="m", scores=(score,)), pair)) == said


@pytest.mark.parametrize(("score", "said"), [(2.2, RIGHT), (0.9, WRONG)])
def test_few_scenes_decide_by_the_nearer_median(score: float, said: str) -> None:
    held = DomainCheck(reference=reference(scenes=14), few=True, why="few")
    answer = Answer(model="m", scores=(score,), domain=held)
    assert verdict(CAPTION, calibrated_answer(answer, ROW, asked("pair", "cat", "coffee"))) == said


def test_outside_of_the_domain_even_a_right_pick_may_be_luck() -> None:
    answer = Answer(model="m", scores=(0.1, 0.9, 0.2), pick=1, domain=DomainCheck(why="outside"))
    assert verdict(COPY, calibrated_answer(answer, ROW, COPY.live)) == OUTSIDE


@pytest.mark.parametrize(("controls", "said"), [((8, 8), RIGHT), ((7, 8), WRONG), (None, SILENT)])
def test_without_a_distribution_it_goes_by_the_unrelated_examples(controls: tuple | None, said: str) -> None:
    assert verdict(CAPTION, plain(scores=(0.3,), controls=controls)) == said


class Roster:
    """Two models that are ready by default, one that is not asked, and the one to download."""

    def __init__(self) -> None:
        self.state = "download"

    def listed(self, *, mode: str, kinds: tuple[str, ...]) -> list[Listed]:
        ready = Availability(state="ready")
        away = Availability(state=self.state, bytes=604_000_000)
        rows = [("tiny", ready), ("ssim", ready), ("psnr", ready), (DEFAULT, away)]
        return [
            Listed(row=Model(key=key, title=key.upper()), availability=one, loaded=False, usual=key in FIRST)
            for key, one in rows
        ]


def answers_of(picks: dict[str, int | None], asked_of: list[str]) -> ReadyAnswers:
    def ask(question: object, row: Model) -> CalibratedAnswer:
        asked_of.append(row.key)
        return plain(scores=(0.0,), pick=picks[row.key])

    roster = Roster()
    answers = ReadyAnswers(roster=lambda: roster, ask=ask, comparisons=(COPY,))
    answers.roster = roster
    return answers


def test_each_model_is_asked_once_and_only_the_usual_ones() -> None:
    asked_of: list[str] = []
    answers = answers_of({"tiny": 1, "ssim": 2}, asked_of)
    first = answers.records()
    assert not first["done"] and first["comparisons"]["copy"]["download"] is None
    answers.wait(WAIT)
    whole = answers.records()
    assert whole["done"] and asked_of == ["tiny", "ssim"]
    assert whole["comparisons"]["copy"] == {
        "right": ["TINY"],
        "wrong": ["SSIM"],
        "outside": [],
        "silent": [],
        "failed": [],
        "done": True,
        "download": None,
    }
    answers.records()
    assert asked_of == ["tiny", "ssim"]


@pytest.mark.parametrize("state", ["download", "impossible"])
def test_where_nobody_gets_it_a_download_is_offered(state: str) -> None:
    answers = answers_of({"tiny": None, "ssim": 0}, [])
    answers.roster.state = state
    answers.records()
    answers.wait(WAIT)
    record = answers.records()["comparisons"]["copy"]
    assert (record["right"], record["wrong"], record["silent"]) == ([], ["SSIM"], ["TINY"])
    assert record["download"] == {"key": DEFAULT, "title": DEFAULT.upper(), "bytes": 604_000_000, "state": state}


def test_a_model_that_fails_does_not_keep_the_others(caplog: pytest.LogCaptureFixture) -> None:
    answers = answers_of({"ssim": 1}, [])  # none for tiny: a KeyError
    answers.records()
    answers.wait(WAIT)
    record = answers.records()["comparisons"]["copy"]
    assert (record["right"], record["failed"]) == (["SSIM"], ["TINY"]) and "could not be asked" in caplog.text


def test_no_gpu_is_borrowed_for_a_question_that_no_visitor_asked(
    suite_cache: SuiteCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.live.panel.is_lent", lambda: True)
    panel = Panel(suite_cache)
    monkeypatch.setattr(panel, "ask", lambda *_: pytest.fail("a model is asked"))
    assert panel.ready.records() == {"done": True, "comparisons": {}, "why": BORROWED}
