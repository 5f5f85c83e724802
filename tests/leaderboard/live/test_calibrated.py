"""Answers on the models' own scales, and where the models stand to one another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference
from compute.analysis.domain import DomainCheck
from compute.live import examples
from compute.live.domains import pairing
from compute.live.question import Answer, LiveQuestion
from compute.types import Model
from leaderboard.live.calibrated import CalibratedAnswer, bands, calibrated_answer


def reference(model: str = "m", pairing: str = "image-image", *, matching: bool = True, scenes: int = 500) -> Reference:
    """Unrelated pairs score 0 to 1, matching ones 2 to 3."""
    return Reference(
        model=model,
        pairing=pairing,
        unrelated=np.linspace(0, 1, 201),
        n_unrelated=500,
        n_matching=500,
        matching=np.linspace(2, 3, 201) if matching else np.zeros(0),
        separation=1.0 if matching else None,
        source="some/task",
        synthetic=True,
        domain="tasks",
        scenes=scenes,
    )


def asked(mode: str, *keys: str, attribute: str = "quality") -> LiveQuestion:
    return LiveQuestion(mode=mode, inputs=tuple(examples.load(key) for key in keys), attribute=attribute)


ROW = Model(key="m", title="M")
HELD = {("m", "image-image"): reference(), ("m", "sharpness"): reference(pairing="sharpness", matching=False)}


def checked(answer: Answer, question: LiveQuestion) -> Answer:
    """The answer as a model gives it that is calibrated as HELD says, on inputs like these."""
    held = HELD.get((answer.model, pairing(question)))
    return answer if answer.unit in ("rating", "votes") else replace(answer, domain=DomainCheck(reference=held))


def one(answer: Answer, question: LiveQuestion) -> CalibratedAnswer:
    return calibrated_answer(checked(answer, question), ROW, question)


def test_the_distribution_follows_from_the_question() -> None:
    assert pairing(asked("pair", "cat", "text-cat")) == "image-text"
    assert pairing(asked("choice", "text-cat", "cat", "coffee")) == "image-text"
    assert pairing(asked("odd", "cat", "coffee", "rocket")) == "image-image"
    assert pairing(asked("quality", "cat", attribute="sharpness")) == "sharpness"


def test_a_pair_has_its_place() -> None:
    found = one(Answer(model="m", scores=(2.5,)), asked("pair", "cat", "coffee"))
    assert found.percentiles == (pytest.approx(75, abs=0.3),)
    assert found.standings[0].reading == "as matching pairs" and found.margin is None


def test_a_choice_leads_by_percentile_points() -> None:
    found = one(
        Answer(model="m", scores=(0.5, 2.5, 0.1), pick=1), asked("choice", "cat", "coffee", "rocket", "astronaut")
    )
    assert found.margin == pytest.approx(75 - 25, abs=0.5)
    tie = one(Answer(model="m", scores=(0.5, 0.5), pick=None), asked("choice", "cat", "coffee", "rocket"))
    assert tie.margin is None


def test_the_odd_one_stands_lowest() -> None:
    pairs = {(0, 1): 2.5, (0, 2): 0.5, (1, 2): 0.5}
    found = one(Answer(model="m", scores=(0.5, 0.5, 2.5), pairs=pairs, pick=2), asked("odd", "cat", "coffee", "rocket"))
    assert found.percentiles == (pytest.approx(50, abs=0.5), pytest.approx(50, abs=0.5), pytest.approx(25, abs=0.5))
    assert found.margin == pytest.approx(25, abs=0.5)


def test_single_images_have_one_band() -> None:
    found = one(Answer(model="m", scores=(0.25,)), asked("quality", "cat", attribute="sharpness"))
    assert found.percentiles == (pytest.approx(25, abs=0.3),)
    unrelated, matching = bands(found.reference)
    assert unrelated == (pytest.approx(2.5, abs=0.3), pytest.approx(97.5, abs=0.3)) and matching is None


@pytest.mark.parametrize(
    "answer",
    [
        Answer(model="m", problem="out of order"),
        Answer(model="m"),
        Answer(model="m", scores=(7.0,), unit="rating"),
        Answer(model="m", scores=(1.0, 0.0), unit="votes"),
    ],
)
def test_what_is_no_score_of_its_own_has_no_place(answer: Answer) -> None:
    assert one(answer, asked("pair", "cat", "coffee")).reference is None
    assert one(Answer(model="m", scores=(1.0,)), asked("pair", "cat", "text-cat")).reference is None


def test_outside_its_domain_an_answer_has_no_place_and_says_why() -> None:
    answer = Answer(model="m", scores=(2.5,), controls=(8, 8), domain=DomainCheck(why="outside what this model knows"))
    found = calibrated_answer(answer, ROW, asked("pair", "cat", "coffee"))
    assert (found.reference, found.percentiles, found.standings, found.direction) == (None, (), (), None)
    assert found.why == "outside what this model knows" and found.answer.controls == (8, 8)


@pytest.mark.parametrize(("score", "nearer"), [(2.2, MATCHING), (0.9, UNRELATED), (1.4, UNRELATED), (1.6, MATCHING)])
def test_few_scenes_give_a_direction_and_no_percentile(score: float, nearer: str) -> None:
    """The medians are 0.5 and 2.5, so 1.5 divides them."""
    few = reference(scenes=14)
    held = DomainCheck(reference=few, few=True, why="calibrated on 14 photographs")
    found = calibrated_answer(Answer(model="m", scores=(score,), domain=held), ROW, asked("pair", "cat", "coffee"))
    assert (found.reference, found.percentiles, found.standings) == (None, (), ())
    assert found.few is few and found.why == "calibrated on 14 photographs"
    assert found.direction == (nearer, pytest.approx(2.5), pytest.approx(0.5))
