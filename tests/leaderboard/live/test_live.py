"""What is asked of models for visitors: requests read without trust, answers kept for the visit, judges by a press."""

import pickle
from functools import partial
from types import SimpleNamespace

import pytest
from starlette.requests import Request

from compute.live import changes, examples
from compute.live import inputs as live_inputs
from compute.live.changes import ChangedPair, PairRating
from compute.live.roster import READY, Availability
from compute.types import BadInput, LikenessError
from leaderboard.live import live as module
from leaderboard.live.live import LONGEST, MISSING, OFTEN_TO_JUDGES, OUT_OF_TIME, Live, TooMany
from leaderboard.pages.try_it import page
from leaderboard.web.errors import FAILED
from tests.compute.live.pictures import png
from tests.compute.models.chat_server import running

SESSION = "0123456789abcdef-0123"
JUDGE, SECRET = "gpt-4o-2024-11-20", "sk-never-to-be-seen"
PIXELS = ("ssim", "psnr", "ms-ssim", "colour-histogram")


@pytest.fixture(scope="module")
def live():
    return Live()


def example(key):
    return {"kind": "example", "key": key}


CAT, FACE = example("cat"), example("cat-face")


def payload(*inputs, mode="pair", models=("ssim",), **more):
    return {"session": SESSION, "inputs": list(inputs), "mode": mode, "models": list(models), **more}


def upload(live, colour, session=SESSION):
    return {"kind": "image", "key": live.uploads.add_image(session, png(colour))["key"]}


@pytest.mark.parametrize(
    "request_, said",
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


@pytest.fixture
def worked(live, monkeypatch):
    """The models that were started; each takes `seconds` by the clock, and fails where `broken` says so."""
    state = SimpleNamespace(keys=[], seconds=0.0, now=0.0, broken=())

    def work(row, *given, run=live.run):
        state.keys.append(row.key)
        state.now += state.seconds
        if row.key in state.broken:
            raise RuntimeError("secret of the host")
        return run(row, *given)

    monkeypatch.setattr(live, "_clock", lambda: state.now)
    monkeypatch.setattr(live, "run", work)
    return state


def test_answers_are_kept_for_the_visit_and_gone_with_it(live, worked):
    asked, rows = live.read(payload(CAT, upload(live, "red"), models=("ssim", "colour-histogram")))
    first = list(live.answers(asked, rows, session=SESSION))
    assert first == list(live.answers(asked, rows, session=SESSION)) and worked.keys == ["ssim", "colour-histogram"]
    gone = upload(live, "red")
    live.uploads.forget(SESSION)
    with pytest.raises(BadInput, match="no longer available"):
        live.read(payload(CAT, gone))
    list(live.answers(asked, rows, session=SESSION))
    assert len(worked.keys) == 4


def test_after_its_time_a_question_starts_no_further_model_and_another_press_goes_on(live, worked):
    worked.seconds = LONGEST * 0.6
    ask = partial(live.answers, *live.read(payload(CAT, FACE, models=PIXELS)), session="9" * 20)
    answers = list(ask())
    assert [answer.problem for answer in answers] == ["", "", OUT_OF_TIME, OUT_OF_TIME]
    assert worked.keys == [*PIXELS[:2]]
    again = list(ask())
    assert again[:2] == answers[:2] and not any(answer.problem for answer in again)
    assert worked.keys == [*PIXELS], "a model that has answered is not asked again"


def test_a_model_that_fails_leaves_the_others_and_may_be_asked_again(live, worked, caplog):
    worked.broken = ("ssim",)
    ask = partial(live.answers, *live.read(payload(CAT, FACE, models=("ssim", "psnr"))), session="e" * 20)
    first, second = ask()
    assert first.problem == FAILED and "ssim failed" in caplog.text
    assert second.problem == "" and len(second.scores) == 1
    worked.broken = ()
    assert not next(ask()).problem, "a failure is not kept"


def test_a_model_that_is_not_ready_is_not_loaded(monkeypatch):
    live = Live()
    monkeypatch.setattr(live.roster, "availability", lambda row: Availability(state="download", why=""))
    assert next(live.answers(*live.read(payload(CAT, FACE)))).problem == MISSING


def test_unrelated_examples_are_encoded_once_for_everyone(live, monkeypatch):
    seen = []
    live._shared.clear()
    with live.pool.use(live.roster.row("colour-histogram")) as encoder:
        monkeypatch.setattr(
            encoder, "embed", lambda kind, made, embed=encoder.embed: seen.append(len(made)) or embed(kind, made)
        )
        for session in ("1" * 20, "2" * 20):
            given = payload(CAT, upload(live, "green", session), models=("colour-histogram",), session=session)
            assert next(live.answers(*live.read(given), session=session)).controls[1] == 8
        assert seen == [2, 8, 2]  # of the second visitor, only what is his own: the cat and the upload


@pytest.mark.parametrize("key", [JUDGE, "royokong/e5-v"])
def test_a_text_that_a_large_model_would_read_whole_is_bounded(live, monkeypatch, key):
    """It costs the host, or memory with the square of its length; the other models read its beginning."""
    counted, worked = [], []
    ready = Availability(state=READY, why="")
    monkeypatch.setattr(live.roster, "availability", lambda row: ready)
    monkeypatch.setattr(live, "run", lambda row, *given: worked.append(row.key) or 1 / 0)

    def problems(length):
        half = {"kind": "text", "text": "a word " * (length // 14)}
        given = payload(half, half | {"text": half["text"][:-1] + "."}, models=(key, "wordllama"))
        return [answer.problem for answer in live.answers(*live.read(given), judges=partial(counted.append, key))]

    long, other = problems(live_inputs.LONGEST_FOR_LMM + 100)
    assert "too long for it" in long and f"{live_inputs.LONGEST_FOR_LMM:,} are the most" in long
    assert worked == ["wordllama"] and counted == [] and "too long" not in other
    problems(live_inputs.LONGEST_FOR_LMM)
    assert worked == ["wordllama", key, "wordllama"]


# ---- judges behind the host's endpoint


def asking(address="203.0.113.9"):
    return Request({"type": "http", "headers": [], "client": (address, 1)})


@pytest.fixture
def site(suite_cache, monkeypatch):
    """An app without a rate, at home."""
    monkeypatch.delenv("LIKENESS_RATE", raising=False)
    monkeypatch.delenv("SYSTEM", raising=False)
    return SimpleNamespace(live=Live(partial(module.calibrations, suite_cache)), db=suite_cache.db)


@pytest.fixture
def endpoint(monkeypatch):
    """A stand-in for the host's endpoint, which counts what it is asked."""
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        yield server


def pressed(site, *keys, press=True):
    """The markup of the answers about two examples."""
    given = payload(*map(example, keys or ("cat", "cat-face")), models=("ssim", JUDGE), pressed=press)
    return str([markup for markup, *_ in page.answered(site, given, asking())][-1])


def judged(live, monkeypatch, mode, *inputs, key=SECRET):
    """Of a judge behind an endpoint that takes this key, by a host that has the secret one."""
    with running(key=key) as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        monkeypatch.setenv("LIKENESS_ENDPOINT_KEY", SECRET)
        live.pool._models.clear()
        live.roster.forget(live.roster.row(JUDGE))
        given = payload(*map(example, inputs), mode=mode, models=(JUDGE,), question="sharpness")
        return next(live.answers(*live.read(given), judges=lambda: 0.0))


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


def test_no_limit_at_home_and_one_on_a_space(site, monkeypatch):
    assert site.live.rate is None and module.rate(files=module.FILES) is None
    for _ in range(100):
        site.live.admit(asking())
    monkeypatch.setenv("SYSTEM", "spaces")
    assert module.rate().a_minute == 20 and module.rate(files=module.FILES).a_minute == 80
    monkeypatch.setenv("LIKENESS_RATE", "0")
    assert module.rate() is None
    for wrong in ("many", "-1", "nan"):
        monkeypatch.setenv("LIKENESS_RATE", wrong)
        with pytest.raises(BadInput, match="LIKENESS_RATE is a number of requests a minute"):
            module.rate()


def test_a_press_asks_judges_once_in_each_order_and_nothing_else_does(site, endpoint):
    for press in (None, "true", 1):
        markup = pressed(site, press=press)
        assert "asked only when Compare is pressed" in markup and markup.count("cp-problem") == 1  # the other answers
    question, rows = site.live.read(payload(CAT, FACE, models=(JUDGE,)))
    ((_, curve),) = site.live.curves(question.inputs[0], None, rows, kind="rotate")
    assert "asked in comparisons only" in curve and endpoint.requests() == 0
    assert "asked only when" not in pressed(site)
    pressed(site, press=False)  # the answer is there, so nobody is asked
    assert endpoint.requests() == 2


def test_judges_are_counted_with_and_without_a_rate(site, endpoint, monkeypatch):
    live = site.live
    assert live.rate is None and live.judge_rate.a_minute == 30
    monkeypatch.setattr(module, "JUDGE_BURST", 2)
    live.judge_rate = module.rate(module.JUDGE_VARIABLE)
    markups = [pressed(site, "cat", other) for other in ("cat-face", "coffee", "rocket")]
    assert ["limited number of questions a minute" in markup for markup in markups] == [False, False, True]
    (record,) = live.score([("example", "cat"), ("example", "heart-left")], [JUDGE], asking())
    assert "limited number of questions a minute" in record["problem"] and endpoint.requests() == 4
    monkeypatch.setenv("LIKENESS_JUDGE_RATE", "0")
    assert module.rate(module.JUDGE_VARIABLE) is None


# ---- scores from 1 to 10 of an image beside its changed copy


CHANGED = ChangedPair(image=examples.load("coffee"), kind="rotate", strength=0.5)


def ratings(live, *keys, **how):
    found = live.ratings(CHANGED, live.models(keys), session=SESSION, **how)
    return {(row.key, condition): rating for row, condition, rating in found}


def test_encoders_and_metrics_rate_and_a_judge_by_a_press_alone_once_in_both_orders(endpoint):
    live = Live()
    found = ratings(live, "tiny", "psnr", JUDGE)
    assert isinstance(found["tiny", "sensitive"], PairRating)
    assert found["psnr", "invariant"].startswith("Its own scores have no lowest and highest value")
    assert "asked in comparisons only" in found[JUDGE, "sensitive"] and endpoint.requests() == 0
    by_press = ratings(live, JUDGE, judges=lambda: 0.0)
    for condition in ("sensitive", "invariant"):
        first, second = by_press[JUDGE, condition].scores
        assert first == second and 1 <= first <= 10  # it looks at the pixels, and knows no order
    assert ratings(live, JUDGE) == by_press == ratings(live, JUDGE, judges=lambda: 0.0), "from the session"
    assert endpoint.requests() == 4


def test_each_condition_counts_as_a_question(endpoint):
    live, waits = Live(), [0.0, 30.0]
    found = ratings(live, JUDGE, judges=lambda: waits.pop(0))
    assert not waits and isinstance(found[JUDGE, "sensitive"], PairRating)
    assert found[JUDGE, "invariant"] == str(TooMany(OFTEN_TO_JUDGES, 30))


def test_what_runs_elsewhere_can_be_pickled():
    live = Live()
    (row,) = live.models(["ssim"])
    result, _ = live.pool.run(row, *pickle.loads(pickle.dumps(((), {}, changes.rate, CHANGED, "invariant"))))
    assert pickle.loads(pickle.dumps(result)) == ratings(live, "ssim")["ssim", "invariant"]
