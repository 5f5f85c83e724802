"""Groups of drawn examples: answers that hold, contents that are shared, and batches that keep them together."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from compute.tasks.drawing.scenes import facts
from compute.tasks.drawing.variants import Shown
from compute.training.unisim import ablation, mini, question_groups
from compute.training.unisim.examples import TASKS, batches, rows
from compute.training.unisim.question_groups import QUESTION_GROUPS, QUESTIONS
from compute.types import LikenessError

COUNT = 24  # groups of each task


def drawn(task: str) -> list[question_groups.QuestionGroup]:
    return [QUESTION_GROUPS[task](Random(f"test {task} {number}"), number) for number in range(COUNT)]


@pytest.mark.parametrize("task", TASKS)
def test_a_group_asks_as_many_different_questions_and_none_both_ways(task):
    for group in drawn(task):
        assert len(group.questions) == len(set(group.questions)) == QUESTIONS
        for reference, right, wrong in group.questions:
            assert (reference, wrong, right) not in group.questions
            modalities = ["image" if isinstance(group.contents[at], Shown) else "text" for at in (reference, right)]
            assert tuple(modalities) == TASKS[task]
            assert group.contents[right] != group.contents[wrong]


def test_of_one_distortion_the_weaker_strength_is_preferred():
    for number in range(7, COUNT, 8):
        group = QUESTION_GROUPS["image-choice"](Random(number), number)
        pixels = [content.pixels().astype(float) for content in group.contents]
        nearer = [
            ((pixels[right] - pixels[reference]) ** 2).mean() < ((pixels[wrong] - pixels[reference]) ** 2).mean()
            for reference, right, wrong in group.questions
        ]
        assert np.mean(nearer) > 0.9


def test_of_changed_scenes_the_one_with_fewer_changes_is_preferred():
    for number in (number for number in range(COUNT) if number % 8 != 7):
        group = QUESTION_GROUPS["image-choice"](Random(number), number)
        known = [facts(content.scene) for content in group.contents]
        for _, right, wrong in group.questions:
            assert len(known[0] ^ known[right]) < len(known[0] ^ known[wrong])


def test_quality_prefers_the_weaker_damage_by_a_step_of_one_scene_and_by_two_of_others():
    for group in drawn("quality"):
        for _, right, wrong in group.questions:
            better, worse = group.contents[right], group.contents[wrong]
            same = better.scene == worse.scene
            assert better.strength + (1 if same else 2) <= worse.strength and better.strength <= question_groups.WEAKEST


@pytest.mark.parametrize("task", ["image-for-text", "text-for-image"])
def test_the_bundled_model_gives_most_of_the_answers_to_captions(task):
    from compute.catalog import shipped
    from compute.models.adapter import Hardware
    from compute.training.unisim import trainable

    (tiny,) = (row for row in shipped().models if row.key == "tiny")
    base = trainable.load(tiny, hardware=Hardware(device="cpu", dtype="float32"))
    part = mini.DrawnExamples(task=task, seed=3, count=8 * QUESTIONS)
    right = []
    for example in (part[row] for row in range(len(part))):
        vectors = [
            base.text_vectors([content.text()])[0]
            if content.modality == "text"
            else base.image_vectors([base.prepared(content.image())])[0]
            for content in example.contents
        ]
        first, second = (float(vectors[0] @ other) for other in vectors[1:])
        right.append((second > first) == bool(example.preferred))
    assert np.mean(right) > 0.75


@pytest.mark.parametrize("task", TASKS)
def test_examples_of_a_group_share_their_contents(task):
    part = mini.DrawnExamples(task=task, seed=1, count=2 * QUESTIONS)
    first = {id(content): content for row in range(QUESTIONS) for content in part[row].contents}
    assert len(first) <= 14
    assert not first.keys() & {id(content) for row in range(QUESTIONS, 2 * QUESTIONS) for content in part[row].contents}


def test_batches_keep_groups_together_and_every_example_comes_once_an_epoch():
    count, size = 6 * QUESTIONS, 2 * QUESTIONS
    epoch = [rows(count, size, seed=0, task="quality", step=step, group_size=QUESTIONS) for step in range(3)]
    assert sorted(sum(epoch, [])) == list(range(count))
    assert all(len({row // QUESTIONS for row in batch}) == 2 for batch in epoch)
    following = rows(count, size, seed=0, task="quality", step=3, group_size=QUESTIONS)
    assert following != epoch[0]
    batch = batches(mini.training(seed=0, count=count), batch_size=size, seed=0, step=0)
    for examples in batch.values():
        assert len({id(content) for example in examples for content in example.contents}) <= 28


def test_sets_that_hold_part_of_a_group_are_shuffled_by_example():
    part = mini.DrawnExamples(task="quality", seed=1, count=QUESTIONS + 3)
    order = rows(len(part), len(part), seed=0, task="quality", step=0)
    batch = batches([part], batch_size=len(part), seed=0, step=0)["quality"]
    expected = [[content.key() for content in part[row].contents] for row in order]
    assert [[content.key() for content in example.contents] for example in batch] == expected
    assert any(row >= QUESTIONS for row in order[:QUESTIONS])  # the group does not come first as a whole


def test_counts_are_rounded_up_to_whole_groups():
    assert [len(part) for part in mini.training(count=QUESTIONS + 1)] == [2 * QUESTIONS] * 4


@pytest.mark.parametrize("task", TASKS)
def test_unrelated_examples_share_no_image_and_have_both_forms(task):
    (part,) = (part for part in mini.unrelated(seed=1, count=10) if part.task == task)
    assert len(part) == 10
    images = [content.key() for row in range(10) for content in part[row].contents if content.modality == "image"]
    assert len(set(images)) == len(images)
    keys = part.keys()
    assert [content.key() for content in part[7].contents] == keys[7].tolist()


def test_domains_of_the_ablation_are_whole_groups_of_one_background():
    sets = ablation.examples(["plain", "textures"], seed=0, count=2 * QUESTIONS, others=QUESTIONS)
    domains = [part for part in sets if isinstance(part, ablation.DomainExamples)]
    assert [len(part) for part in domains] == [2 * QUESTIONS] * 2
    for part in domains:
        for row in part._rows:
            group = QUESTION_GROUPS[part.task](mini.random_of(part.task, 0, row // QUESTIONS), row // QUESTIONS)
            images = [content for content in group.contents if isinstance(content, Shown)]
            assert {ablation.domain_of(image) for image in images} == {part.domain}


def test_a_domain_with_too_few_examples_is_named():
    few = ablation.DomainExamples(mini.DrawnExamples(task=ablation.TASK, count=QUESTIONS), "textures", 9 * QUESTIONS)
    with pytest.raises(LikenessError, match=f"textures: .* among {QUESTIONS} drawn, not {9 * QUESTIONS}"):
        len(few)
