"""What models are calibrated with where nothing is downloaded: drawn scenes, photographs, sentences."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from compute.analysis.domain import SCENES, image_facts
from compute.calibration import drawn, photographs, sentences
from compute.calibration.pairs import scenes_of
from compute.live import examples


def facts(file: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(file)) as image:
        return image_facts(np.asarray(image.convert("RGB")))


@pytest.fixture(scope="module")
def scenes():
    return drawn.samples(scenes=60, seed=0)


def test_drawn_pairs_are_a_scene_each_and_without_photographs(scenes):
    samples, wholes = scenes
    assert set(samples) == {"image-image", "image-text", "text-text", *drawn.CHANGES}
    for pairing, (sample,) in samples.items():
        assert len(np.unique(sample.scenes)) == len(sample.scenes) <= 60
        assert len(sample.unrelated[0]) >= 50, pairing
    assert [len(wholes[name]) for name in ("image", "text")] == [60, 60]
    assert all(facts(wholes["image"].read(row))[2] > 0.3 for row in range(60)), "flat areas, as drawings have"
    assert all(drawn.scene(drawn.Random(str(seed))).background.photograph == "" for seed in range(200))


def test_an_unrelated_caption_is_false_of_its_scene(scenes):
    """No caption of the drawn pairs is the image's own."""
    (sample,) = scenes[0]["image-text"]
    own = dict(zip(sample.matching[0].keys.tolist(), sample.matching[1].keys.tolist(), strict=True))
    crossed = zip(sample.unrelated[0].keys.tolist(), sample.unrelated[1].keys.tolist(), strict=True)
    assert all(own[image] != text for image, text in crossed)


def test_photographs_are_fourteen_scenes_however_many_parts():
    samples, wholes = photographs.samples(seed=0)
    (pairs,), (captions,) = samples["image-image"], samples["image-text"]
    assert len(wholes["image"]) == len(photographs.CAPTIONS) == 14 < SCENES
    assert len(pairs.scenes) == 140 and len(np.unique(pairs.scenes)) == 14
    whole = {key: row for row, key in enumerate(wholes["image"].keys.tolist())}
    crossed = np.array([whole[key] for key in pairs.unrelated[0].keys.tolist()])
    assert (crossed != pairs.scenes).all() and (np.bincount(crossed) >= 5).all()
    assert (captions.matching[0].keys == pairs.matching[1].keys).all()
    assert all(facts(wholes["image"].read(row))[2] < 0.25 for row in range(14)), "no flat areas"


def test_each_sentence_is_a_scene_of_two_wordings():
    samples, wholes = sentences.samples(seed=0)
    (sample,) = samples["text-text"]
    texts = {column.read(row) for column in sample.matching for row in range(len(column))}
    assert len(sample.scenes) == len(wholes["text"]) == 64 >= SCENES and len(texts) == 128
    assert (sample.matching[1].keys != sample.unrelated[1].keys).all()
    shown = {example.title for example in examples.EXAMPLES if example.modality == "text"}
    assert not texts & shown, "none is a ready comparison's"


def test_pairs_that_share_an_item_are_of_one_scene():
    first, second = np.array([b"a", b"a", b"b", b"c", b"d"]), np.array([b"x", b"y", b"y", b"z", b"d2"])
    assert np.unique(scenes_of(first, second)).size == 3
    found = scenes_of(first, second)
    assert found[0] == found[1] == found[2] != found[3] != found[4]
