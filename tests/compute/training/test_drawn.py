"""Drawn training examples: the tasks' forms, the same whoever draws them, and nothing that is evaluated."""

from __future__ import annotations

import numpy as np
import pytest

from compute.tasks import mini as suite
from compute.tasks.data import size
from compute.training import drawn
from compute.training.examples import TASKS, TrainingExample
from compute.training.question_groups import QUESTIONS

ROWS = range(0, QUESTIONS, 7)


def keys(example: TrainingExample) -> list[bytes]:
    return [content.key() for content in example.contents]


@pytest.mark.parametrize("part", drawn.training(seed=5, count=1), ids=str)
def test_examples_have_their_task_s_form_and_are_the_same_when_drawn_again(part):
    of_reference, of_alternatives = TASKS[part.task]
    before = [keys(part[row]) for row in ROWS]
    drawn._group.cache_clear()
    assert [keys(part[row]) for row in ROWS[::-1]] == before[::-1]
    assert keys(drawn.DrawnExamples(task=part.task, seed=6, count=QUESTIONS)[0]) != before[0]
    for row in ROWS:
        contents = part[row].contents
        assert [content.modality for content in contents] == [of_reference, of_alternatives, of_alternatives]
        assert all(
            content.text() if content.modality == "text" else content.image().size == (64, 64) for content in contents
        )
        assert before[0][1] != before[0][2]
    assert 0.25 < np.mean([part[row].preferred for row in range(QUESTIONS)]) < 0.75


def test_unrelated_examples_share_no_image():
    for task in TASKS:
        part = drawn.DrawnExamples(task=task, seed=1, count=6, unrelated=True)
        images = [content.key() for row in range(6) for content in part[row].contents if content.modality == "image"]
        assert len(set(images)) == len(images)


def test_validation_has_the_suite_s_forms_and_none_of_its_images(monkeypatch):
    """Of two tasks; tests/slow has all. An image of another task of the suite is taken out too."""
    keys = ("mini/quality", "mini/odd-one-out")
    monkeypatch.setattr(drawn, "CORE", keys[:1])
    monkeypatch.setattr(drawn, "OOD", keys[1:])
    monkeypatch.setattr(drawn, "VALIDATION_COUNT", 20)
    monkeypatch.setattr(suite, "TASKS", {key: suite.TASKS[key] for key in keys})
    before = drawn.validation()
    assert tuple(before) == keys and drawn.validation(core=False).keys() == {keys[1]}
    part = before[keys[0]]["default"]
    shown = part.alternatives[0].keys[:1]
    monkeypatch.setattr(drawn, "every_column", lambda data: [part.alternatives[0].take([0])])
    after = drawn.validation()[keys[0]]["default"]
    assert size(part) > 15 and size(after) == size(part) - 1 and shown[0] not in after.alternatives[0].keys
