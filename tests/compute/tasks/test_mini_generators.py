"""Drawn generators: one known fault each, graded, over the same prompts; the strength is the truth."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

from compute.tasks.drawing.scenes import facts
from compute.tasks.mini import generators as drawn
from compute.types import BadInput

SHARED_FAULTS = ("modes", "prompts", "objects", "copies")


@pytest.fixture(scope="module")
def columns():
    return {generator.key: drawn.image_column(generator) for generator in drawn.GENERATORS}


@pytest.fixture(scope="module")
def reference():
    return drawn.reference_column()


def test_every_fault_has_four_strengths_and_all_share_the_clean_generator():
    assert len(drawn.GENERATORS) == 1 + 7 * 4 == len(drawn.BY_KEY)
    assert drawn.generator("clean").strength == 0
    assert drawn.generator("blur-3") == drawn.Generator(fault="blur", strength=3)
    with pytest.raises(BadInput, match="no drawn generator 'blur-9'"):
        drawn.generator("blur-9")
    assert all(len(fault.grades) == 4 for fault in drawn.FAULTS.values())
    assert len({generator.note for generator in drawn.GENERATORS}) == 29


def test_prompts_are_different_and_say_what_the_images_show():
    prompts = drawn.all_prompts()
    assert len({prompt.text for prompt in prompts}) == drawn.PROMPTS == 256
    for row in range(0, 256, 7):
        counts = Counter(f"{colour} {shape}" for shape, colour in prompts[row].kinds)
        for purpose in ("reference", "clean"):
            scene = drawn.scene(row, purpose)
            assert scene.held_out()  # the bundled model never saw it
            assert {f"{number} name {name}" for name, number in counts.items()} <= facts(scene)
            assert len(scene.things) == len(prompts[row].kinds) >= 2


def test_images_are_the_same_each_time_and_named(columns):
    again = drawn.image_column(drawn.generator("noise-2"))
    assert (again.keys == columns["noise-2"].keys).all()
    assert again.read(5) == columns["noise-2"].read(5)
    assert again.name(5) == "mini/generators, noise-2, image 5"


def test_a_clean_draw_is_no_copy_of_the_reference(columns, reference):
    assert not set(columns["clean"].keys) & set(reference.keys)


@pytest.mark.parametrize("fault", ["blur", "noise", "colour"])
def test_a_distortion_changes_nearly_every_image_more_with_strength(fault):
    rows = range(0, 256, 16)
    distances = [
        np.mean(
            [
                np.abs(drawn.FAULTS[fault].image(row, strength).astype(int) - drawn.clean_image(row)).mean()
                for row in rows
            ]
        )
        for strength in drawn.STRENGTHS
    ]
    assert distances[0] > 0
    assert (np.diff(distances) > 0).all()


@pytest.mark.parametrize("fault", SHARED_FAULTS)
def test_a_stronger_fault_covers_all_that_a_weaker_one_does(fault, columns):
    covered = [{row for row in range(256) if drawn.reached(fault, row, strength)} for strength in (0, *drawn.STRENGTHS)]
    assert [len(rows) for rows in covered] == [0, 26, 64, 128, 256]
    assert all(less <= more for less, more in zip(covered, covered[1:], strict=False))
    for strength in drawn.STRENGTHS:
        changed = set(np.flatnonzero(columns[f"{fault}-{strength}"].keys != columns["clean"].keys))
        assert changed == covered[strength]


def test_swapped_prompts_leave_the_set_of_images_as_it_was(columns):
    for strength in drawn.STRENGTHS:
        assert sorted(columns[f"prompts-{strength}"].keys) == sorted(columns["clean"].keys)


def test_copies_are_the_references_own_images(columns, reference):
    assert [(columns[f"copies-{strength}"].keys == reference.keys).sum() for strength in (1, 2, 3, 4)] == [
        26,
        64,
        128,
        256,
    ]


def test_fewer_objects_show_one_thing_where_the_prompt_names_more():
    row = next(row for row in range(256) if drawn.reached("objects", row, 1))
    whole, less = drawn.clean_image(row), drawn.FAULTS["objects"].image(row, 1)
    assert 0 < (whole != less).any(axis=2).mean() < 0.7


def test_collapsed_images_have_one_background():
    corners = {
        tuple(drawn.FAULTS["modes"].image(row, 4)[0, 0])
        for row in range(256)
        if all(colour != "white" for _, colour in drawn.all_prompts()[row].kinds)
    }
    assert corners == {(248, 248, 248)}


def test_most_images_are_shared_so_that_features_are_made_once(columns, reference):
    keys = set(reference.keys).union(*(column.keys for column in columns.values()))
    assert len(keys) <= 16 * 256 < 30 * 256 * 0.6


def test_images_are_drawn_when_read():
    began = time.thread_time()
    column = drawn.image_column(drawn.generator("blur-1"))
    made = time.thread_time() - began
    held = [cell.cell_contents for cell in column.read.__closure__]
    assert not any(isinstance(content, list | np.ndarray | bytes) for content in held)
    assert made < 20
