"""What the page asks of the models: plans, requests read without trust, answers kept for the visit."""

from __future__ import annotations

from functools import partial

import pytest

from compute.live import inputs as live_inputs
from compute.live.questions import Answer
from compute.live.roster import READY, Availability
from compute.types import BadInput, LikenessError
from leaderboard.live.live import LONGEST, MISSING, OUT_OF_TIME, Live
from leaderboard.web.errors import FAILED
from tests.compute.live.pictures import png
from tests.compute.models.chat_server import running

SESSION = "0123456789abcdef-0123"


@pytest.fixture(scope="module")
def live():
    return Live()


def payload(*inputs: dict, mode: str = "pair", models: tuple[str, ...] = ("ssim",), **more: object) -> dict:
    return {"session": SESSION, "inputs": list(inputs), "mode": mode, "models": list(models), **more}


def example(key: str) -> dict:
    return {"kind": "example", "key": key}


CAT, FACE = example("cat"), example("cat-face")


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({}, "nothing to compare"),
        (payload(CAT), "takes at least 2 inputs"),
        (payload(CAT, FACE, models=()), "No model is selected"),
        (payload(CAT, FACE, models=("evil/model",)), "There is no model 'evil/model' in this app"),
        (payload(CAT, FACE, mode="steal"), "There is no mode"),
        (payload(CAT, mode="quality", question="age"), "There is no question 'age'"),
    ],
)
def test_a_request_is_read_without_trust(live, request_, said):
    with pytest.raises(LikenessError, match=said):
        live.read(request_)


def test_answers_are_kept_for_the_visit_and_gone_with_it(live, monkeypatch):
    worked = []
    monkeypatch.setattr(live, "run", lambda *given, work=live.run: worked.append(given[0].key) or work(*given))
    kept = live.uploads.add_image(SESSION, png("red"))
    asked, rows = live.read(payload(CAT, {"kind": "image", "key": kept["key"]}, models=("ssim", "colour-histogram")))
    first = list(live.answers(asked, rows, session=SESSION))
    again = list(live.answers(asked, rows, session=SESSION))
    assert first == again and worked == ["ssim", "colour-histogram"]
    live.uploads.forget(SESSION)
    with pytest.raises(BadInput, match="no longer available"):
        live.read(payload(CAT, {"kind": "image", "key": kept["key"]}))
    list(live.answers(asked, rows, session=SESSION))
    assert len(worked) == 4


SLOW_MODELS = ("ssim", "psnr", "ms-ssim", "colour-histogram")


def slow(live: Live, monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> list[str]:
    """Each model takes so long by the clock; returns the models that were started, to be filled."""
    started, now = [], [0.0]

    def work(row: object, *given: object, run=live.run) -> object:
        started.append(row.key)
        now[0] += seconds
        return run(row, *given)

    monkeypatch.setattr(live, "_clock", lambda: now[0])
    monkeypatch.setattr(live, "run", work)
    return started


def test_after_its_time_a_question_starts_no_further_model_and_another_press_goes_on(live, monkeypatch):
    started = slow(live, monkeypatch, seconds=LONGEST * 0.6)
    question, rows = live.read(payload(CAT, FACE, models=SLOW_MODELS))
    ask = partial(live.answers, question, rows, session="9" * 20)
    answers = list(ask())
    assert [answer.problem for answer in answers] == ["", "", OUT_OF_TIME, OUT_OF_TIME]
    assert started == [*SLOW_MODELS[:2]]
    again = list(ask())
    assert again[:2] == answers[:2] and not any(answer.problem for answer in again)
    assert started == [*SLOW_MODELS], "a model that has answered is not asked again"


def test_a_model_that_fails_leaves_the_others_and_may_be_asked_again(live, monkeypatch, caplog):
    def broken(row: object, *given: object, work=live.run) -> object:
        if row.key == "ssim":
            raise RuntimeError("secret of the host")
        return work(row, *given)

    ask = partial(live.answers, *live.read(payload(CAT, FACE, models=("ssim", "psnr"))), session="e" * 20)
    with monkeypatch.context() as patch:
        patch.setattr(live, "run", broken)
        first, second = ask()
    assert first.problem == FAILED and "secret" not in first.problem
    assert second.problem == "" and len(second.scores) == 1
    assert "ssim failed" in caplog.text
    assert not next(ask()).problem, "a failure is not kept"


def test_a_model_that_is_not_ready_is_not_loaded(live, monkeypatch):
    monkeypatch.setattr(live.roster, "availability", lambda row: Availability(state="download", why=""))
    asked, rows = live.read(payload(CAT, FACE, models=("perceptual-hash",)))
    assert next(live.answers(asked, rows)).problem == MISSING


def test_unrelated_examples_are_encoded_once_for_everyone(live, monkeypatch):
    seen = []
    live._shared.clear()
    with live.pool.use(live.roster.row("colour-histogram")) as encoder:
        monkeypatch.setattr(
            encoder, "embed", lambda kind, made, embed=encoder.embed: seen.append(len(made)) or embed(kind, made)
        )
        for session in ("1" * 20, "2" * 20):
            key = live.uploads.add_image(session, png("green"))["key"]
            upload = {"kind": "image", "key": key}
            asked, rows = live.read(payload(CAT, upload, models=("colour-histogram",), session=session))
            assert next(live.answers(asked, rows, session=session)).controls[1] == 8
        assert seen == [2, 8, 2]  # of the second visitor, only what is his own: the cat and the upload


def test_a_pair_of_a_program(live):
    asked, rows = live.pair([("text", "a cat"), ("example", "cat")], [])
    assert asked.kinds == ("text", "image") and [row.key for row in rows] == ["conse", "tiny"]
    asked, rows = live.pair([("image", png("red")), ("image", png("blue"))], ["ssim"])
    assert [row.key for row in rows] == ["ssim"]


JUDGE = "gpt-4o-2024-11-20"
SECRET = "sk-never-to-be-seen"


def judged(live: Live, monkeypatch: pytest.MonkeyPatch, mode: str, *inputs: str, key: str = SECRET) -> Answer:
    """Of a judge behind an endpoint that takes this key, by a host that has the secret one."""
    with running(key=key) as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        monkeypatch.setenv("LIKENESS_ENDPOINT_KEY", SECRET)
        live.pool._models.clear()
        live.roster.forget(live.roster.row(JUDGE))
        asked, rows = live.read(payload(*map(example, inputs), mode=mode, models=(JUDGE,), question="sharpness"))
        return next(live.answers(asked, rows, judges=lambda: 0.0))


def test_a_judge_is_asked_through_the_hosts_endpoint(live, monkeypatch, tmp_path):
    monkeypatch.setenv("LIKENESS_ANSWERS", str(tmp_path / "answers"))
    found = judged(live, monkeypatch, "quality", "coffee", "coffee-blurred")
    assert found.problem == "" and found.unit == "votes" and len(found.replies) == 2
    assert found.picks[0] == found.picks[1] == found.pick  # the stand-in looks at the pixels: order is nothing to it
    assert not (tmp_path / "answers").exists()  # nothing of a visitor's is written down


def test_the_key_is_never_told(live, monkeypatch, caplog):
    found = judged(live, monkeypatch, "choice", "cat", "cat-face", "coffee", key="another key")
    assert found.problem and SECRET not in str(found) and SECRET not in caplog.text
    assert SECRET not in str(live.roster.plan(kinds=["image"] * 3))


@pytest.mark.parametrize("key", [JUDGE, "royokong/e5-v"])
def test_a_text_that_a_large_model_would_read_whole_is_bounded(live, monkeypatch, key):
    """It costs the host, or memory with the square of its length; the other models read its beginning."""
    counted, worked = [], []
    ready = Availability(state=READY, why="")
    monkeypatch.setattr(live.roster, "availability", lambda row: ready)
    monkeypatch.setattr(live, "run", lambda row, *given: worked.append(row.key) or 1 / 0)

    def problems(length: int) -> list[str]:
        half = {"kind": "text", "text": "a word " * (length // 14)}
        question, rows = live.read(payload(half, half | {"text": half["text"][:-1] + "."}, models=(key, "wordllama")))
        judges = partial(counted.append, key)
        return [answer.problem for answer in live.answers(question, rows, judges=judges)]

    long, other = problems(live_inputs.LONGEST_FOR_LMM + 100)
    assert "too long for it" in long and f"{live_inputs.LONGEST_FOR_LMM:,} are the most" in long
    assert worked == ["wordllama"] and counted == [] and "too long" not in other
    problems(live_inputs.LONGEST_FOR_LMM)
    assert worked == ["wordllama", key, "wordllama"]
