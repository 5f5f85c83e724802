"""Families of drawn examples: answers that hold, contents that are shared, and batches that keep them together."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from compute.tasks.drawing.scenes import facts
from compute.tasks.drawing.variants import Shown
from compute.training.unisim import ablation, families, mini
from compute.training.unisim.examples import TASKS, batches, rows
from compute.training.unisim.families import FAMILIES, QUESTIONS

COUNT = 24  # families of each task


def drawn(task: str) -> list[families.Family]:
    return [FAMILIES[task](Random(f"test {task} {number}"), number) for number in range(COUNT)]


@pytest.mark.parametrize("task", TASKS)
def test_a_family_asks_as_many_different_questions_and_none_both_ways(task):
    for family in drawn(task):
        assert len(family.questions) == len(set(family.questions)) == QUESTIONS
        for reference, right, wrong in family.questions:
            assert (reference, wrong, right) not in family.questions
            modalities = ["image" if isinstance(family.contents[at], Shown) else "text" for at in (reference, right)]
            assert tuple(modalities) == TASKS[task]
            assert family.contents[right] != family.contents[wrong]


def test_of_one_distortion_the_weaker_strength_is_preferred():
    for number in range(7, COUNT, 8):
        family = FAMILIES["image-choice"](Random(number), number)
        pixels = [content.pixels().astype(float) for content in family.contents]
        nearer = [
            ((pixels[right] - pixels[reference]) ** 2).mean() < ((pixels[wrong] - pixels[reference]) ** 2).mean()
            for reference, right, wrong in family.questions
        ]
        assert np.mean(nearer) > 0.9


def test_of_changed_scenes_the_one_with_fewer_changes_is_preferred():
    fewer = []
    for number in (number for number in range(COUNT) if number % 8 != 7):
        family = FAMILIES["image-choice"](Random(number), number)
        known = [facts(content.scene) for content in family.contents]
        fewer += [len(known[0] ^ known[right]) < len(known[0] ^ known[wrong]) for _, right, wrong in family.questions]
    assert np.mean(fewer) > 0.8  # a third change may undo one of the first two


def test_quality_prefers_the_weaker_damage_by_a_step_of_one_scene_and_by_two_of_others():
    for family in drawn("quality"):
        for _, right, wrong in family.questions:
            better, worse = family.contents[right], family.contents[wrong]
            same = better.scene == worse.scene
            assert better.strength + (1 if same else 2) <= worse.strength and better.strength <= families.WEAKEST


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
def test_examples_of_a_family_share_their_contents(task):
    part = mini.DrawnExamples(task=task, seed=1, count=2 * QUESTIONS)
    first = {id(content): content for row in range(QUESTIONS) for content in part[row].contents}
    assert len(first) <= 14
    assert not first.keys() & {id(content) for row in range(QUESTIONS, 2 * QUESTIONS) for content in part[row].contents}


def test_batches_keep_families_together_and_every_example_comes_once_an_epoch():
    count, size = 6 * QUESTIONS, 2 * QUESTIONS
    epoch = [rows(count, size, seed=0, task="quality", step=step, family=QUESTIONS) for step in range(3)]
    assert sorted(sum(epoch, [])) == list(range(count))
    assert all(len({row // QUESTIONS for row in batch}) == 2 for batch in epoch)
    following = rows(count, size, seed=0, task="quality", step=3, family=QUESTIONS)
    assert following != epoch[0]
    batch = batches(mini.training(seed=0, count=count), batch_size=size, seed=0, step=0)
    for examples in batch.values():
        assert len({id(content) for example in examples for content in example.contents}) <= 28


def test_sets_that_hold_part_of_a_family_are_shuffled_by_example():
    part = mini.DrawnExamples(task="quality", seed=1, count=QUESTIONS + 3)
    batch = batches([part], batch_size=QUESTIONS + 3, seed=0, step=0)["quality"]
    assert len({tuple(map(id, example.contents)) for example in batch}) == QUESTIONS + 3


def test_domains_of_the_ablation_are_whole_families_of_one_background():
    sets = ablation.examples(["plain", "textures"], seed=0, count=2 * QUESTIONS, others=QUESTIONS)
    domains = [part for part in sets if isinstance(part, ablation.DomainExamples)]
    assert [len(part) for part in domains] == [2 * QUESTIONS] * 2
    assert len({id(content) for row in range(QUESTIONS) for content in domains[0][row].contents}) <= 14
