"""Groups of drawn examples: answers that hold, contents that are shared, and batches that keep them together."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest

from compute.tasks.drawing import compose
from compute.tasks.drawing.distortions import Shown
from compute.tasks.drawing.lexicon import WORDS
from compute.tasks.drawing.render import photograph
from compute.tasks.drawing.scenes import Background, Scene, facts
from compute.tasks.mini import album
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
def test_a_group_asks_as_many_questions_and_none_both_ways(kind):
    for group in drawn(kind):
        for task, questions in group.questions.items():
            assert len(questions) == QUESTIONS
            assert len(set(questions)) > QUESTIONS / 3  # some twice, where so many different ones are not there
            for reference, right, wrong in questions:
                assert (reference, wrong, right) not in questions
                modalities = ["image" if isinstance(group.contents[at], Shown) else "text" for at in (reference, right)]
                assert tuple(modalities) == TASKS[task]
                assert group.contents[right] != group.contents[wrong]


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


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_is_reserved_for_evaluation_is_shown(kind):
    scenes = [content.scene for group in drawn(kind) for content in group.contents if isinstance(content, Shown)]
    assert not any(scene.held_out() for scene in scenes)
    assert {scene.background.part for scene in scenes} == {"train"}


def test_changes_are_as_frequent_as_in_the_suite():
    """A fifth of the suite's changes to two things change no description; 2% where a change may leave its eighth."""
    ways = {"train": (question_groups._scene, question_groups._edited), "test": (album.scene, compose.edited)}
    unseen = {}
    for part, (draw, edit) in ways.items():
        changes = []
        for number in range(250):
            rng = Random(f"changes of {part} {number}")
            first = draw(rng, compose.pair)
            changes.append((first, edit(first, rng)))
        assert np.mean([before.eighth() == after.eighth() for before, after in changes]) > 0.98
        unseen[part] = np.mean([before.description() == after.description() for before, after in changes])
    assert abs(unseen["train"] - unseen["test"]) < 0.11 and min(unseen.values()) > 0.1  # 4 standard errors


def test_a_scene_whose_eighth_has_no_other_changes_too():
    paper = Background(first="white", second="white", part="train")
    words = [Scene(background=paper, words=(word,)) for word in WORDS]
    eighths = [scene.eighth() for scene in words]
    alone = [scene for scene in words if eighths.count(scene.eighth()) == 1 and not scene.held_out()]
    assert alone
    for scene in alone:
        assert not question_groups._edited(scene, Random(0)).held_out()


def test_photographs_are_enlarged_as_in_the_suite():
    for number in range(40):
        ground = question_groups._scene(Random(number), compose.view).background
        train, test = (min(photograph(ground.photograph, part).size) for part in ("train", "test"))
        assert abs(question_groups.CUT * train / test - 1) < 0.02
        assert 0.98 * 0.5 < ground.cut[2] * train / test < 1.02 * 0.95  # the suite's own share of its part


def test_quality_prefers_the_weaker_damage_by_a_step_of_one_scene_and_by_two_of_others():
    forms = []
    for group in drawn("damages"):
        for _, right, wrong in group.questions["quality"]:
            better, worse = group.contents[right], group.contents[wrong]
            same = better.scene == worse.scene
            forms.append(same)
            assert better.strength + (1 if same else 2) <= worse.strength and better.strength <= WEAKEST
    assert 0.02 < np.mean(forms) < 0.2


@pytest.mark.parametrize("task", TASKS)
def test_examples_of_a_group_share_their_contents(task):
    part = drawn_examples.DrawnExamples(task=task, seed=1, count=2 * QUESTIONS)
    first = {id(content): content for row in range(QUESTIONS) for content in part[row].contents}
    assert len(first) <= SCENES * (CHANGES + 3 + 2 * (CHANGES + 1))
    assert not first.keys() & {id(each) for row in range(QUESTIONS, 2 * QUESTIONS) for each in part[row].contents}


def test_a_step_brings_the_groups_together_that_tasks_share():
    sets = drawn_examples.training(seed=0, count=3 * QUESTIONS)
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


def test_counts_are_rounded_up_to_whole_groups():
    assert [len(part) for part in drawn_examples.training(count=QUESTIONS + 1)] == [2 * QUESTIONS] * 4
