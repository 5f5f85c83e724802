"""The ready comparisons: who gets them is computed, once a model, and a download is offered where nobody does."""

from __future__ import annotations

import pytest

from compute.analysis.domain import DomainCheck
from compute.live.examples import COMPARISONS
from compute.live.questions import Answer, LiveQuestion
from compute.live.roster import DEFAULT, FIRST, Availability, Listed
from compute.types import Model
from leaderboard.live.ready import FAILED, OUTSIDE, RIGHT, SILENT, WRONG, ReadyAnswers, verdict
from tests.compute.live.test_questions import asked, checked, reference, row

BY_KEY = {ready.key: ready for ready in COMPARISONS}
COPY, CAPTION = BY_KEY["copy"], BY_KEY["caption"]
WAIT = 120.0  # seconds


def plain(**answer: object) -> Answer:
    return Answer(row=row("m"), **answer)


PAIR, SCORES = asked("pair", "cat", "coffee"), (0.1, 0.9, 0.2)
FEW, AWAY = DomainCheck(reference=reference(scenes=14), few=True, why="few"), DomainCheck(why="outside")
READINGS = ((2.5, RIGHT), (0.5, WRONG), (1.5, SILENT))


@pytest.mark.parametrize(
    ("ready", "answer", "said"),
    [
        *((COPY, plain(scores=SCORES, pick=pick), said) for pick, said in ((1, RIGHT), (0, WRONG), (None, SILENT))),
        (COPY, plain(problem="No weights", pick=1), FAILED),
        (COPY, plain(scores=SCORES, pick=1, domain=AWAY), OUTSIDE),  # even a right pick may be luck
        *((CAPTION, checked(plain(scores=(score,)), PAIR), said) for score, said in READINGS),
        *((CAPTION, plain(scores=(score,), domain=FEW), said) for score, said in READINGS),
        (CAPTION, plain(scores=(0.3,), controls=(8, 8)), RIGHT),
        (CAPTION, plain(scores=(0.3,), controls=(7, 8)), WRONG),
        (CAPTION, plain(scores=(0.3,)), SILENT),
    ],
)
def test_an_answer_is_right_wrong_silent_or_worth_nothing(ready, answer, said):
    assert verdict(ready, answer) == said


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


class Asked:
    """In the place of Live: each model picks as `picks` says; `of` are the models that were asked, in their order."""

    def __init__(self, picks: dict[str, int | None], *, wanted: str = "") -> None:
        self.roster, self.pool, self.wanted = Roster(), self, {wanted}
        self.picks, self.of, self.dropped = picks, [], []

    def answers(self, question: LiveQuestion, models: list[Model], *, cache: dict) -> list[Answer]:
        (model,) = models
        self.of.append(model.key)
        return [plain(scores=(0.0,), pick=self.picks[model.key])]

    def drop(self, model: Model) -> None:
        self.dropped.append(model.key)


def test_each_model_is_asked_once_and_only_the_usual_ones():
    live = Asked({"tiny": 1, "ssim": 2}, wanted="ssim")
    answers = ReadyAnswers(live, comparisons=(COPY,))
    first = answers.records()
    assert not first["done"] and first["comparisons"]["copy"]["download"] is None
    answers._thread.join(WAIT)
    whole = answers.records()
    assert whole["done"] and live.of == ["tiny", "ssim"]
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
    assert live.of == ["tiny", "ssim"]
    assert live.dropped == ["tiny"], "what a visitor has asked stays in memory"


def answered(live: Asked) -> dict:
    answers = ReadyAnswers(live, comparisons=(COPY,))
    answers.records()
    answers._thread.join(WAIT)
    return answers.records()["comparisons"]["copy"]


@pytest.mark.parametrize("state", ["download", "impossible"])
def test_where_nobody_gets_it_a_download_is_offered(state):
    live = Asked({"tiny": None, "ssim": 0})
    live.roster.state = state
    record = answered(live)
    assert (record["right"], record["wrong"], record["silent"]) == ([], ["SSIM"], ["TINY"])
    assert record["download"] == {"key": DEFAULT, "title": DEFAULT.upper(), "bytes": 604_000_000, "state": state}


def test_a_model_that_fails_does_not_keep_the_others(caplog):
    record = answered(Asked({"ssim": 1}))  # none for tiny: a KeyError
    assert (record["right"], record["failed"]) == (["SSIM"], ["TINY"]) and "could not be asked" in caplog.text


def test_no_gpu_is_borrowed_for_a_question_that_no_visitor_asked(monkeypatch):
    monkeypatch.setattr("leaderboard.live.ready.borrows_gpu", lambda row: row.key == "tiny")
    record = answered(Asked({"ssim": 1}))
    assert (record["right"], record["failed"]) == (["SSIM"], [])
