"""Groups of drawn examples: answers that hold, contents that are shared, and batches that keep them together."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from compute.tasks.drawing.distortions import Shown
from compute.tasks.drawing.scenes import facts
from compute.training import drawn as drawn_examples
from compute.training import question_groups
from compute.training.examples import TASKS, batches
from compute.training.question_groups import (
    ACROSS,
    CHANGES,
    FAR,
    KINDS,
    QUESTIONS,
    SCENES,
    STRENGTHS,
    WEAKEST,
)

COUNT = 8  # groups of each kind


@cache
def drawn(kind: str) -> list[question_groups.QuestionGroup]:
    return [question_groups.drawn(kind, seed=9, number=number) for number in range(COUNT)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_group_asks_as_many_questions_none_both_ways_and_shows_nothing_that_is_reserved_for_evaluation(kind):
    for group in drawn(kind):
        for task, questions in group.questions.items():
            assert len(questions) == QUESTIONS
            assert len(set(questions)) > QUESTIONS / 3  # some twice, where so many different ones are not there
            for reference, right, wrong in questions:
                assert (reference, wrong, right) not in questions
                modalities = ["image" if isinstance(group.contents[at], Shown) else "text" for at in (reference, right)]
                assert tuple(modalities) == TASKS[task]
                assert group.contents[right] != group.contents[wrong]
        scenes = [content.scene for content in group.contents if isinstance(content, Shown)]
        assert not any(scene.held_out() for scene in scenes)
        assert {scene.background.part for scene in scenes} == {"train"}


def test_every_task_has_a_kind_that_asks_it_and_three_share_their_groups():
    for number in range(14, 17):
        kinds = {task: question_groups.kind_of(task, number) for task in TASKS}
        assert all(task in question_groups.drawn(kind, seed=0, number=number).questions for task, kind in kinds.items())
        assert kinds["image-for-text"] == kinds["text-for-image"] == "changes"
    kinds = [question_groups.kind_of("image-choice", number) for number in range(160)]
    assert kinds.count("distortions") == 10 and kinds.count("changes") == 150
    assert question_groups.kind_of("quality", 0) == "damages"


def test_of_one_distortion_the_weaker_strength_is_preferred():
    for group in drawn("distortions"):
        pixels = [content.pixels().astype(float) for content in group.contents]
        nearer = [
            ((pixels[right] - pixels[reference]) ** 2).mean() < ((pixels[wrong] - pixels[reference]) ** 2).mean()
            for reference, right, wrong in group.questions["image-choice"]
        ]
        assert np.mean(nearer) > 0.9
        for _, right, wrong in group.questions["image-choice"]:
            weak, strong = group.contents[right].strength, group.contents[wrong].strength
            assert weak in STRENGTHS and weak <= WEAKEST and weak < strong


def test_of_changed_scenes_the_one_with_fewer_changes_is_preferred():
    images = CHANGES + 3  # of a scene
    states = [*range(CHANGES + 1), 0, CHANGES]
    seen = set()
    for group in drawn("changes"):
        known = [facts(content.scene) for content in group.contents if isinstance(content, Shown)]
        for reference, right, wrong in group.questions["image-choice"]:
            assert len(known[right] ^ known[reference]) < len(known[wrong] ^ known[reference])
            assert len({at // images for at in (reference, right, wrong)}) == 1
            near, far = (abs(states[at % images] - states[reference % images]) for at in (right, wrong))
            assert (near == 0 and far >= 1) or (near == 1 and far >= FAR)
            assert max(reference % images, wrong % images) <= CHANGES
            seen.add((near, far))
    assert seen == {(0, far) for far in range(1, CHANGES + 1)} | {(1, far) for far in range(FAR, CHANGES + 1)}


def test_a_third_of_the_false_alternatives_to_texts_and_images_are_of_another_scene():
    """The scene of each content follows from its place: images of one scene after the other, then captions so."""
    images = (CHANGES + 3) * SCENES
    for group in drawn("changes"):
        texts = len(group.contents) - images
        of = [at * SCENES // images for at in range(images)] + [at * SCENES // texts for at in range(texts)]
        for task in ("image-for-text", "text-for-image"):
            assert all(of[reference] == of[right] for reference, right, _ in group.questions[task])
            assert sum(of[reference] != of[wrong] for reference, _, wrong in group.questions[task]) == ACROSS


def test_quality_prefers_the_weaker_damage_by_a_step_of_one_scene_and_by_two_of_others():
    forms = []
    for group in drawn("damages"):
        for _, right, wrong in group.questions["quality"]:
            better, worse = group.contents[right], group.contents[wrong]
            same = better.scene == worse.scene
            forms.append(same)
            assert better.strength + (1 if same else 2) <= worse.strength and better.strength <= WEAKEST
    assert 0.02 < np.mean(forms) < 0.2


def test_a_step_brings_the_groups_together_that_tasks_share():
    sets = drawn_examples.training(seed=0, count=3 * QUESTIONS - 1)
    assert [len(part) for part in sets] == [3 * QUESTIONS] * 4, "rounded up to whole groups"
    for step in (0, 2, 3):  # the last is of the second epoch
        batch = batches(sets, batch_size=QUESTIONS, seed=0, step=step)
        of = {task: [content for example in batch[task] for content in example.contents] for task in TASKS}
        images = {task: {id(each) for each in of[task] if each.modality == "image"} for task in TASKS}
        shared = images["image-choice"] | images["image-for-text"] | images["text-for-image"]
        assert len(shared) <= SCENES * (CHANGES + 3) < sum(map(len, images.values())) / 2
        assert not shared & images["quality"]


def test_the_false_image_of_another_scene_is_not_known_by_where_it_stands():
    """Of 8 images of a scene the first is not moved: as many of the false as of all are that one, about."""
    images, group_of = CHANGES + 3, drawn("changes")
    wrong = [
        wrong % images
        for group in group_of
        for _, right, wrong in group.questions["image-for-text"]
        if right // images != wrong // images
    ]
    assert len(wrong) == COUNT * ACROSS and 0.02 < np.mean([at == 0 for at in wrong]) < 0.3
