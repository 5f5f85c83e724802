"""What models are calibrated with, of which nothing is downloaded: drawn scenes, photographs, sentences."""

from random import Random

import numpy as np
import pytest

from compute.analysis.calibrated import SCENES
from compute.tasks.calibration import PAIRS, drawn, photographs
from compute.tasks.calibration.drawn import deranged


@pytest.fixture(scope="module")
def scenes():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawn, "COUNT", 60)
        yield drawn.material()


def sides(pairs):
    """Keys of the pairs that belong together, then of the others: first and second sides."""
    first, second = pairs.first.keys.tolist(), pairs.second.keys.tolist()
    many = int(pairs.human.sum())
    return list(zip(first[:many], second[:many], strict=True)), list(zip(first[many:], second[many:], strict=True))


def test_drawn_pairs_are_a_scene_each_and_without_photographs(scenes):
    assert set(scenes) == {*PAIRS, *drawn.CHANGES}
    for pairing in PAIRS:
        of = scenes[pairing].scenes[scenes[pairing].human == 1]
        assert len(np.unique(of)) == len(of) <= 60
        assert len(scenes[pairing].names) - len(of) >= 50, pairing
    assert set(scenes["brightness"].human) == set(range(-5, 6)) and set(scenes["sharpness"].human) == set(range(-5, 1))
    assert all(drawn.scene(Random(str(seed))).background.photograph == "" for seed in range(200))


def test_an_unrelated_caption_is_false_of_its_scene(scenes):
    """No caption of the drawn pairs is the image's own."""
    own, crossed = sides(scenes["image-text"])
    assert all(dict(own)[image] != text for image, text in crossed)


def test_photographs_are_fourteen_scenes_however_many_parts():
    found = photographs.material()
    own, others = sides(found["image-image"])
    scenes = found["image-image"].scenes[: len(own)]
    assert len(own) == 140 and len(np.unique(scenes)) == 14 < SCENES
    of = dict(zip([first for first, _ in own], scenes.tolist(), strict=True))
    crossed = np.array([of[first] for first, _ in others])
    assert (crossed != scenes).all() and (np.bincount(crossed) >= 5).all()
    assert [first for first, _ in sides(found["image-text"])[0]] == [second for _, second in own]


def test_a_derangement_avoids_what_belongs_together():
    for seed in range(20):
        lots = np.random.default_rng(seed)
        together = np.eye(12, dtype=bool) | (lots.random((12, 12)) < 0.4)
        order = deranged(together, lots)
        there = np.flatnonzero(order >= 0)
        assert not together[there, order[there]].any() and len(set(order[there].tolist())) == len(there) >= 11
    for together, order in ((np.ones((3, 3)), [-1] * 3), (np.eye(2), [1, 0]), (np.zeros((0, 0)), [])):
        assert deranged(together.astype(bool), lots).tolist() == order
