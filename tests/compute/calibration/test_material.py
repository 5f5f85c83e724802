"""What models are calibrated with, of which nothing is downloaded: drawn scenes, photographs, sentences."""

from random import Random

import numpy as np
import pytest

from compute.analysis.calibrated import SCENES
from compute.calibration import drawn, photographs
from compute.calibration.drawn import deranged


@pytest.fixture(scope="module")
def scenes():
    return drawn.material(scenes=60, seed=0)


def test_drawn_pairs_are_a_scene_each_and_without_photographs(scenes):
    assert set(scenes.samples) == {"image-image", "image-text", "text-text", *drawn.CHANGES}
    for pairing, sample in scenes.samples.items():
        assert len(np.unique(sample.scenes)) == len(sample.scenes) <= 60
        assert len(sample.unrelated[0]) >= 50, pairing
    assert [len(scenes.wholes[name]) for name in ("image", "text")] == [60, 60]
    assert all(drawn.scene(Random(str(seed))).background.photograph == "" for seed in range(200))


def test_an_unrelated_caption_is_false_of_its_scene(scenes):
    """No caption of the drawn pairs is the image's own."""
    sample = scenes.samples["image-text"]
    own = dict(zip(sample.matching[0].keys.tolist(), sample.matching[1].keys.tolist(), strict=True))
    crossed = zip(sample.unrelated[0].keys.tolist(), sample.unrelated[1].keys.tolist(), strict=True)
    assert all(own[image] != text for image, text in crossed)


def test_photographs_are_fourteen_scenes_however_many_parts():
    found = photographs.material(scenes=500, seed=0)
    pairs, captions = (found.samples[pairing] for pairing in ("image-image", "image-text"))
    assert len(pairs.scenes) == 140 and len(np.unique(pairs.scenes)) == 14 < SCENES and not found.wholes
    of = dict(zip(pairs.matching[0].keys.tolist(), pairs.scenes.tolist(), strict=True))
    crossed = np.array([of[key] for key in pairs.unrelated[0].keys.tolist()])
    assert (crossed != pairs.scenes).all() and (np.bincount(crossed) >= 5).all()
    assert (captions.matching[0].keys == pairs.matching[1].keys).all()


def test_a_derangement_avoids_what_belongs_together():
    for seed in range(20):
        lots = np.random.default_rng(seed)
        together = np.eye(12, dtype=bool) | (lots.random((12, 12)) < 0.4)
        order = deranged(together, lots)
        there = np.flatnonzero(order >= 0)
        assert not together[there, order[there]].any() and len(set(order[there].tolist())) == len(there) >= 11
    assert deranged(np.ones((3, 3), dtype=bool), np.random.default_rng(0)).tolist() == [-1] * 3
    assert deranged(np.eye(2, dtype=bool), np.random.default_rng(0)).tolist() == [1, 0]
    assert deranged(np.zeros((0, 0), dtype=bool), np.random.default_rng(0)).tolist() == []
