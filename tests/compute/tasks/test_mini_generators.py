"""Drawn generators: noise of known strength over the same prompts."""

from __future__ import annotations

from collections import Counter

import numpy as np

from compute.catalog import shipped
from compute.tasks.drawing.scenes import facts
from compute.tasks.mini import generators as drawn


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


def test_noise_changes_images_more_with_strength_and_the_same_way_each_time():
    assert {f"mini/{key}" for key in drawn.STRENGTHS} == {
        row.key for row in shipped().models if row.key.startswith("mini/")
    }
    rows = range(0, 256, 32)
    clean = [drawn.clean_image(row).astype(int) for row in rows]
    distances = [
        np.mean([np.abs(drawn.image(key, row) - image).mean() for row, image in zip(rows, clean, strict=True)])
        for key in drawn.STRENGTHS
    ]
    assert distances[0] == 0 and (np.diff(distances) > 0).all()
    assert np.array_equal(drawn.image("noise-2", 5), drawn.image("noise-2", 5))
    assert not np.array_equal(drawn.clean_image(5), drawn.reference_image(5))
