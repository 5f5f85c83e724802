"""Scores from 1 to 10 of an image beside its changed copy, by models that are ready here and a judge at an endpoint."""

from __future__ import annotations

import pickle

from compute.live import changes, examples
from compute.live.changes import ChangedPair, PairRating
from leaderboard.live.live import OFTEN_TO_JUDGES, Live, TooMany
from tests.compute.models.chat_server import running

SESSION = "0123456789abcdef-0123"
COFFEE = examples.load("coffee")
JUDGE = "gpt-4o-2024-11-20"


def pair(strength: float = 0.5) -> ChangedPair:
    return ChangedPair(image=COFFEE, kind="rotate", strength=strength)


def scores(live: Live, *keys: str, of: ChangedPair | None = None, **how: object) -> dict:
    found = live.ratings(of or pair(), live.models(keys), session=SESSION, **how)
    return {(row.key, condition): rating for row, condition, rating in found}


def test_encoders_and_metrics_answer_and_a_judge_is_not_asked_without_a_press(monkeypatch):
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        live, free = Live(), lambda: 0.0
        found = scores(live, "tiny", "ssim", "psnr", JUDGE)
        assert all(isinstance(found[key, "sensitive"], PairRating) for key in ("tiny", "ssim"))
        assert found["psnr", "invariant"].startswith("Its own scores have no lowest and highest value")
        assert (found[JUDGE, "sensitive"], found[JUDGE, "invariant"]) == (None, None)
        assert server.state()["counts"].get("requests", 0) == 0

        pressed = scores(live, JUDGE, judges=free)
        for condition in ("sensitive", "invariant"):
            first, second = pressed[JUDGE, condition].scores
            assert first == second and 1 <= first <= 10  # it looks at the pixels, and knows no order
        assert server.state()["counts"]["requests"] == 4
        assert scores(live, JUDGE) == pressed  # from the session, without a press
        scores(live, JUDGE, judges=free)
        assert server.state()["counts"]["requests"] == 4

        assert scores(live, JUDGE, of=pair(0.25)) == {(JUDGE, "sensitive"): None, (JUDGE, "invariant"): None}


def test_a_drag_makes_the_fast_scores_only():
    live = Live()
    found = scores(live, "tiny", conditions=("sensitive",))
    assert isinstance(found["tiny", "sensitive"], PairRating) and found["tiny", "invariant"] is None
    assert isinstance(scores(live, "tiny")["tiny", "invariant"], PairRating)
    assert isinstance(scores(live, "tiny", conditions=("sensitive",))["tiny", "invariant"], PairRating)


def test_each_condition_counts_as_a_question_and_a_refusal_is_shown_until_it_passes(
    monkeypatch,
):
    with running() as server:
        monkeypatch.setenv("LIKENESS_ENDPOINT", server.url)
        live, waits = Live(), [0.0, 30.0]
        found = scores(live, JUDGE, judges=lambda: waits.pop(0))
        assert not waits and isinstance(found[JUDGE, "sensitive"], PairRating)
        assert found[JUDGE, "invariant"] == str(TooMany(OFTEN_TO_JUDGES, 30))
        assert scores(live, JUDGE)[JUDGE, "invariant"] == str(TooMany(OFTEN_TO_JUDGES, 30))
        assert isinstance(scores(live, JUDGE, judges=lambda: 0.0)[JUDGE, "invariant"], PairRating)


def test_what_runs_elsewhere_can_be_pickled():
    live, of = Live(), pair()
    (row,) = live.models(["ssim"])
    result, _ = live.pool.run(row, *pickle.loads(pickle.dumps(((), {}, changes.rate, of, "invariant"))))
    assert pickle.loads(pickle.dumps(result)) == scores(live, "ssim")["ssim", "invariant"]
