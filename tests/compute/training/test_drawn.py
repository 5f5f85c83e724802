"""Drawn training examples: the tasks' forms, answers that hold, shared contents, and nothing that is evaluated."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from compute.tasks import mini as suite
from compute.tasks.data import size
from compute.tasks.drawing.distortions import Shown
from compute.tasks.drawing.scenes import facts
from compute.training import drawn, question_groups
from compute.training.examples import TASKS, TrainingExample, batches
from compute.training.question_groups import ACROSS, CHANGES, KINDS, QUESTIONS, SCENES, STRENGTHS, WEAKEST

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
    for row, (_, first, second) in zip(ROWS, before, strict=True):
        contents = part[row].contents
        assert [content.modality for content in contents] == [of_reference, of_alternatives, of_alternatives]
        assert all(each.text() if each.modality == "text" else each.image().size == (64, 64) for each in contents)
        assert first != second
    assert 0.25 < np.mean([part[row].preferred for row in range(QUESTIONS)]) < 0.75


def test_unrelated_examples_share_no_image():
    for task in TASKS:
        part = drawn.DrawnExamples(task=task, seed=1, count=6, unrelated=True)
        images = [content.key() for row in range(6) for content in part[row].contents if content.modality == "image"]
        assert len(set(images)) == len(images)


def test_validation_has_the_suite_s_forms_and_none_of_its_images(monkeypatch):
    """Of two tasks; tests/slow has all. An image of another task of the suite is taken out too."""
    tasks = ("mini/quality", "mini/odd-one-out")
    monkeypatch.setattr(drawn, "CORE", tasks[:1])
    monkeypatch.setattr(drawn, "OOD", tasks[1:])
    monkeypatch.setattr(drawn, "VALIDATION_COUNT", 20)
    monkeypatch.setattr(suite, "TASKS", {key: suite.TASKS[key] for key in tasks})
    before = drawn.validation()
    assert tuple(before) == tasks and drawn.validation(core=False).keys() == {tasks[1]}
    part = before[tasks[0]]["default"]
    shown = part.alternatives[0].keys[:1]
    monkeypatch.setattr(drawn, "every_column", lambda data: [part.alternatives[0].take([0])])
    after = drawn.validation()[tasks[0]]["default"]
    assert size(part) > 15 and size(after) == size(part) - 1 and shown[0] not in after.alternatives[0].keys


@cache
def groups(kind: str) -> list[question_groups.QuestionGroup]:
    return [question_groups.drawn(kind, seed=9, number=number) for number in range(8)]


def asked(kind: str, task: str):
    """What the questions of all groups show: group, reference, preferred and other."""
    for group in groups(kind):
        for question in group.questions[task]:
            yield group, *(group.contents[at] for at in question)


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_asks_as_many_questions_none_both_ways_and_shows_nothing_that_is_reserved_for_evaluation(kind):
    for group in groups(kind):
        for task, questions in group.questions.items():
            assert len(questions) == QUESTIONS and len(set(questions)) > QUESTIONS / 3
            for reference, right, wrong in questions:
                assert (reference, wrong, right) not in questions
                shown = [group.contents[at] for at in (reference, right, wrong)]
                modalities = tuple("image" if isinstance(each, Shown) else "text" for each in shown)
                assert modalities[:2] == TASKS[task] and shown[1] != shown[2]
        scenes = [content.scene for content in group.contents if isinstance(content, Shown)]
        assert not any(scene.held_out() for scene in scenes)
        assert {scene.background.part for scene in scenes} == {"train"}


def test_the_preferred_image_is_the_less_distorted_less_changed_or_less_damaged():
    for _, _, better, worse in asked("distortions", "image-choice"):
        assert better.strength in STRENGTHS and better.strength < worse.strength and better.strength <= WEAKEST
    for _, scene, better, worse in asked("changes", "image-choice"):
        near, far = (len(facts(each.scene) ^ facts(scene.scene)) for each in (better, worse))
        assert near < far
    same = []
    for _, _, better, worse in asked("damages", "quality"):
        same.append(better.scene == worse.scene)
        assert better.strength + (1 if same[-1] else 2) <= worse.strength and better.strength <= WEAKEST
    assert 0.02 < np.mean(same) < 0.2


def test_a_third_of_the_false_alternatives_to_texts_and_images_are_of_another_scene():
    """The scene of each content follows from its place: images of one scene after the other, then captions so. The
    false image is not known by being the scene's first, which is not moved."""
    images, firsts = (CHANGES + 3) * SCENES, []
    for group in groups("changes"):
        texts = len(group.contents) - images
        of = [at * SCENES // images for at in range(images)] + [at * SCENES // texts for at in range(texts)]
        for task in ("image-for-text", "text-for-image"):
            questions = group.questions[task]
            assert all(of[reference] == of[right] for reference, right, _ in questions)
            across = [wrong for reference, _, wrong in questions if of[reference] != of[wrong]]
            assert len(across) == ACROSS
            firsts += [wrong % (CHANGES + 3) == 0 for wrong in across if task == "image-for-text"]
    assert 0.02 < np.mean(firsts) < 0.3


def test_a_step_brings_the_groups_together_that_tasks_share():
    sets = drawn.training(seed=0, count=3 * QUESTIONS - 1)
    assert [len(part) for part in sets] == [3 * QUESTIONS] * 4, "rounded up to whole groups"
    for step in (0, 3):  # the last is of the second epoch
        batch = batches(sets, batch_size=QUESTIONS, seed=0, step=step)
        images = {
            task: {id(each) for example in batch[task] for each in example.contents if each.modality == "image"}
            for task in TASKS
        }
        shared = images["image-choice"] | images["image-for-text"] | images["text-for-image"]
        assert len(shared) <= SCENES * (CHANGES + 3) < sum(map(len, images.values())) / 2
        assert not shared & images["quality"]
