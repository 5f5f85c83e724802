"""Which mode fits what was dropped, who can answer, and what an answer means on the model's own scale."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from compute.analysis.calibrated import MATCHING, UNRELATED, Reference
from compute.analysis.domain import DomainCheck
from compute.catalog import shipped
from compute.live import examples, questions
from compute.live.questions import Answer, LiveQuestion
from compute.types import BadInput, Model

I, T = "image", "text"  # noqa: E741


@pytest.mark.parametrize(
    ("kinds", "mode"),
    [
        ((), ""),
        ((T,), ""),
        ((I,), "quality"),
        ((I, I), "pair"),
        ((I, T), "pair"),
        ((T, T), "pair"),
        ((I, I, I), "choice"),
        ((I, T, T), "choice"),
        ((T, I, I), "choice"),
        ((T, T, T), "choice"),
        ((I, I, T), ""),
        ((I,) * 9, "choice"),
        ((I,) * 10, ""),
    ],
)
def test_the_mode_follows_from_what_was_dropped(kinds: tuple[str, ...], mode: str) -> None:
    assert questions.natural(kinds) == mode
    assert bool(questions.needs(kinds)) == (mode == "")


def test_a_mode_says_what_it_takes() -> None:
    assert questions.problem("odd", (I, I)) == "It takes at least 3 inputs"
    assert questions.problem("odd", (I, I, T)) == "It takes images only"
    assert questions.problem("odd", (I,) * 9) == "It takes at most 8 inputs"
    assert questions.problem("choice", (I, I, T)) == "The alternatives must be all images or all texts"
    assert questions.problem("quality", (I,)) == ""
    with pytest.raises(BadInput, match="no mode 'guess'; there are: pair, choice, odd, quality"):
        questions.problem("guess", (I,))


ROWS = {row.key: row for row in shipped().models}


@pytest.mark.parametrize(
    ("key", "mode", "kinds", "able"),
    [
        ("tiny", "pair", (I, T), True),
        ("tiny", "pair", (T, T), True),
        ("tiny", "quality", (I,), True),
        ("ssim", "pair", (I, I), True),
        ("ssim", "pair", (I, T), False),
        ("ssim", "quality", (I, I), False),
        ("ssim", "odd", (I, I, I), True),
        ("colour-histogram", "quality", (I,), False),
        ("thudm/imagereward", "choice", (T, I, I), True),
        ("thudm/imagereward", "choice", (I, I, I), True),
        ("thudm/imagereward", "choice", (I, T, T), True),
        ("thudm/imagereward", "pair", (T, T), False),
        ("dreamsim-open-clip-vitb32", "quality", (I,), False),
        ("dreamsim-open-clip-vitb32", "pair", (I, T), False),
        ("aesthetic", "quality", (I,), True),
        ("aesthetic", "pair", (I, I), False),
        ("gpt-4o-2024-11-20", "choice", (I, T, T), True),
        ("gpt-4o-2024-11-20", "quality", (I,), False),
        ("gpt-4o-2024-11-20", "pair", (T, T), False),
        ("gpt-4o-2024-11-20", "quality", (I, I), True),
        ("facebook/dinov2-small", "odd", (I, I, I), True),
        ("facebook/dinov2-small", "pair", (I, T), False),
        ("google/t5-v1_1-base", "pair", (T, T), True),
        ("google/t5-v1_1-base", "pair", (I, I), False),
    ],
)
def test_who_can_answer(key: str, mode: str, kinds: tuple[str, ...], able: bool) -> None:
    assert (questions.cannot(ROWS[key], mode, kinds) == "") == able


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


def row(key: str) -> Model:
    return Model(key=key, title=key.upper())


def asked(mode: str, *keys: str, attribute: str = "quality") -> LiveQuestion:
    return LiveQuestion(mode=mode, inputs=tuple(examples.load(key) for key in keys), attribute=attribute)


HELD = {("m", "image-image"): reference(), ("m", "sharpness"): reference(pairing="sharpness", matching=False)}


def checked(answer: Answer, question: LiveQuestion) -> Answer:
    """The answer as a model gives it that is calibrated as HELD says, on inputs like these."""
    held = HELD.get((answer.row.key, question.pairing))
    return answer if answer.unit in ("rating", "votes") else replace(answer, domain=DomainCheck(reference=held))


def test_the_distribution_follows_from_the_question() -> None:
    assert asked("pair", "cat", "text-cat").pairing == "image-text"
    assert asked("choice", "text-cat", "cat", "coffee").pairing == "image-text"
    assert asked("odd", "cat", "coffee", "rocket").pairing == "image-image"
    assert asked("quality", "cat", attribute="sharpness").pairing == "sharpness"


def test_a_pair_has_its_place() -> None:
    found = checked(Answer(row=row("m"), scores=(2.5,)), asked("pair", "cat", "coffee"))
    assert found.percentiles == (pytest.approx(75, abs=0.3),)
    assert found.standings[0].reading == "as matching pairs" and found.margin is None


def test_a_choice_leads_by_percentile_points() -> None:
    found = checked(
        Answer(row=row("m"), scores=(0.5, 2.5, 0.1), pick=1), asked("choice", "cat", "coffee", "rocket", "astronaut")
    )
    assert found.margin == pytest.approx(75 - 25, abs=0.5)
    tie = checked(Answer(row=row("m"), scores=(0.5, 0.5), pick=None), asked("choice", "cat", "coffee", "rocket"))
    assert tie.margin is None


def test_the_odd_one_stands_lowest() -> None:
    pairs = {(0, 1): 2.5, (0, 2): 0.5, (1, 2): 0.5}
    found = checked(
        Answer(row=row("m"), scores=(0.5, 0.5, 2.5), pairs=pairs, pick=2), asked("odd", "cat", "coffee", "rocket")
    )
    assert found.percentiles == (pytest.approx(50, abs=0.5), pytest.approx(50, abs=0.5), pytest.approx(25, abs=0.5))
    assert found.margin == pytest.approx(25, abs=0.5)


def test_single_images_have_one_band() -> None:
    found = checked(Answer(row=row("m"), scores=(0.25,)), asked("quality", "cat", attribute="sharpness"))
    assert found.percentiles == (pytest.approx(25, abs=0.3),)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(row=row("m"), problem="out of order"),
        Answer(row=row("m")),
        Answer(row=row("m"), scores=(7.0,), unit="rating"),
        Answer(row=row("m"), scores=(1.0, 0.0), unit="votes"),
    ],
)
def test_what_is_no_score_of_its_own_has_no_place(answer: Answer) -> None:
    assert checked(answer, asked("pair", "cat", "coffee")).reference is None
    assert checked(Answer(row=row("m"), scores=(1.0,)), asked("pair", "cat", "text-cat")).reference is None


def test_outside_its_domain_an_answer_has_no_place_and_says_why() -> None:
    answer = Answer(
        row=row("m"), scores=(2.5,), controls=(8, 8), domain=DomainCheck(why="outside what this model knows")
    )
    assert (answer.reference, answer.percentiles, answer.standings, answer.direction) == (None, (), (), None)
    assert answer.why == "outside what this model knows" and answer.is_outside


@pytest.mark.parametrize(("score", "nearer"), [(2.2, MATCHING), (0.9, UNRELATED), (1.4, UNRELATED), (1.6, MATCHING)])
def test_few_scenes_give_a_direction_and_no_percentile(score: float, nearer: str) -> None:
    """The medians are 0.5 and 2.5, so 1.5 divides them."""
    few = reference(scenes=14)
    held = DomainCheck(reference=few, few=True, why="calibrated on 14 photographs")
    found = Answer(row=row("m"), scores=(score,), domain=held)
    assert (found.reference, found.percentiles, found.standings) == (None, (), ())
    assert found.few is few and found.why == "calibrated on 14 photographs"
    assert found.direction == (nearer, pytest.approx(2.5), pytest.approx(0.5))
