"""What is said of a curve: where a score falls for good, and where it only dips."""

from functools import partial

import pytest

from compute.analysis.calibrated import DomainCheck
from compute.live.changes import Curve
from compute.tasks.perturb import PERTURBATIONS
from compute.types import BadInput
from leaderboard.pages.try_it.perturb import chosen_change, scaled, summary
from leaderboard.pages.try_it.perturb import drawing as curves
from tests.compute.live.test_questions import asked, reference

in_degrees = partial(PERTURBATIONS["rotate"].amount, size=(64, 64))
HIGH, MIDDLE, LOW = 2.5, 1.5, 0.5  # as a matching pair, between, as an unrelated one


@pytest.mark.parametrize(
    "scores, said",
    [
        ([HIGH] * 5, "scores it as a matching pair at every strength."),
        (
            [HIGH, HIGH, MIDDLE, MIDDLE, LOW],
            "no longer scores it as a matching pair from 22.5 degrees; scores it as an unrelated one from 45 degrees.",
        ),
        ([HIGH, LOW, HIGH, HIGH, HIGH], "scores it as a matching pair except at 1 of 5 strengths in between."),
        (
            [HIGH, LOW, HIGH, HIGH, LOW],
            "no longer scores it as a matching pair from 45 degrees; scores it as an unrelated one from 45 degrees.",
        ),
        ([MIDDLE] * 5, "does not score even the unchanged pair as a matching one."),
    ],
)
def test_a_curve_in_words(scores, said):
    assert summary(reference(), scores, in_units=in_degrees) == said


def test_curves_are_percentiles_only_where_every_model_has_them():
    whole = Curve(scores=(2.5, 0.5), domain=DomainCheck(reference=reference()))
    few = Curve(scores=(2.5, 1.5), domain=DomainCheck(reference=reference(scenes=14), few=True, why="few"))
    ((_, line),), axis = scaled([("M", whole)])
    assert line == pytest.approx([75, 25], abs=0.3) and "Percentile" in axis
    lines, axis = scaled([("M", whole), ("N", few)])
    assert [line for _, line in lines] == [pytest.approx([100, 0]), pytest.approx([100, 50])]
    assert "ercentile" not in axis


def test_the_axis_of_the_curves_is_in_units():
    figure = curves([("M", [90, 50, 10])], "Percentile", kind="rotate", at=22.5, most=45)
    assert list(figure.data[0].x) == [0, 22.5, 45] and figure.layout.shapes[0].x0 == 22.5
    assert figure.layout.xaxis.title.text == "Rotation (degrees)"


QUESTION = asked("pair", "coffee", "text-cat")


def test_what_the_controls_say_is_a_pair():
    pair = chosen_change(QUESTION, "0", "rotate", 50)
    assert (pair.image, pair.kind, pair.strength) == (QUESTION.inputs[0], "rotate", 0.5)


@pytest.mark.parametrize(
    "sent, said",
    [
        (("0", ["rotate"], 1), "There is no transformation"),
        (("1", "rotate", 1), "Choose an image"),  # a text
        (("2", "rotate", 1), "Choose an image"),
        ((True, "rotate", 1), "Choose an image"),
        (("0", "rotate", float("nan")), "strength"),
        (("0", "rotate", 10**400), "strength"),
        (("0", "rotate", "50"), "strength"),
    ],
)
def test_what_a_page_sends_is_read_without_trust(sent, said):
    with pytest.raises(BadInput, match=said) as error:
        chosen_change(QUESTION, *sent)
    assert len(str(error.value)) < 300
