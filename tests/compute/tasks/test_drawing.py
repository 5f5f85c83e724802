"""Drawn scenes: the same from the same seed, captions true, distortions as strong as they say, splits apart."""

from random import Random

import numpy as np
import pytest
from skimage.metrics import structural_similarity

from compute.tasks.drawing import captions, compose, render
from compute.tasks.drawing.compose import facts
from compute.tasks.drawing.lexicon import DAMAGES, PHOTOGRAPHS
from compute.tasks.drawing.render import draw, photograph


def scenes(count, *, part="train", seed="test"):
    rng = Random(seed)
    return [compose.scene(rng, part=part) for _ in range(count)]


def test_every_caption_is_true_and_a_change_is_told():
    """The facts of a caption hold for its scene; changed scenes differ in description and stay on their side."""
    rng = Random("captions")
    for scene in scenes(400):
        stated = captions.caption(scene, rng)
        assert stated.text and stated.facts <= facts(scene)
        other = compose.edited(scene, rng)
        assert other != scene and not other.held_out()


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_grows_with_its_strength(kind):
    """Against scikit-image's structural similarity: on average over photographs it falls at every step."""
    shown = [draw(scene) for scene in (compose.view(Random(f"view {n}"), part="test") for n in range(12))]

    def similar(strength):
        worse = (render.distort(image, kind=kind, strength=strength, seed=n) for n, image in enumerate(shown))
        return np.mean([structural_similarity(*each, channel_axis=-1) for each in zip(shown, worse, strict=True)])

    means = [similar(strength) for strength in range(6)]
    assert means[0] == 1 and (np.diff(means) < -0.005).all()


def test_training_and_evaluation_are_drawn_apart():
    """No description in both, no column of a photograph in both."""
    train, test = scenes(1500), scenes(300, part="test")
    assert not any(scene.held_out() for scene in train) and all(scene.held_out() for scene in test)
    assert not {scene.description() for scene in train} & {scene.description() for scene in test}
    for name in PHOTOGRAPHS:
        left, right = photograph(name, "train"), photograph(name, "test")
        assert left.size[0] > 64 and right.size[0] > 64
        assert np.asarray(left)[:, -1].tolist() != np.asarray(right)[:, 0].tolist()
