"""Which shipped distributions speak for which inputs: photographs, drawn scenes, texts, and mixtures of them."""

from functools import cache
from itertools import product
from random import Random

import pytest
from PIL import Image

from compute import paths
from compute.analysis.domain import Calibrations, DomainCheck
from compute.calibration import drawn, files
from compute.content.items import content_key
from compute.live import answers, examples
from compute.live.inputs import Input, text
from compute.tasks.drawing.distortions import Shown
from tests.compute.live.subjects import ROWS, subject

PHOTOGRAPHS = ("cat", "cat-face", "coffee", "coffee-blurred", "astronaut", "rocket")


@cache
def calibrations():
    references, regions, problems = files.every(paths.COMPUTED, models=ROWS)
    assert problems == []
    return Calibrations(
        references=tuple(one.content for one in references), domains=tuple(one.content for one in regions)
    )


def image(picture):
    return Input(modality="image", key=content_key(picture.tobytes()), name="an image", content=picture)


def judged(key, *inputs, by=None):
    pairing = "-".join(sorted(each.modality for each in inputs))
    return answers.domain(subject(key), inputs, pairing=pairing, calibrations=by or calibrations())


def fresh(count):
    """Scenes that no calibration drew."""
    scenes = [drawn.scene(Random(f"fresh {number}")) for number in range(count)]
    return [
        image(Image.fromarray(Shown(scene=one).pixels()).resize((256, 256), Image.Resampling.BICUBIC)) for one in scenes
    ]


@pytest.mark.parametrize("name", ["tiny", "ssim", "colour-histogram", "efficientnet-lite0"])
def test_ordinary_photographs_are_inside_and_no_drawn_scenes(name):
    """Two of them side by side are read, without a percentile."""
    for first, second in product(map(examples.load, PHOTOGRAPHS), repeat=2):
        found = judged(name, first, second)
        assert found.few and found.reference.domain == "photographs", (first.name, second.name)


@pytest.mark.parametrize("name", ["tiny", "ssim"])
def test_fresh_drawn_scenes_are_rarely_outside(name):
    """Of 150 at most 5%; there 2.5% are expected."""
    assert sum(not judged(name, scene, scene).has_percentile for scene in fresh(150)) <= 7


def test_sentences_have_a_place_on_wordllamas_scale():
    first, near = (text(words, name=words) for words in ("a cat is asleep on the sofa", "a kitten naps on the couch"))
    found = judged("wordllama", first, near)
    assert found.has_percentile and found.reference.domain == "sentences" and found.reference.scenes == 64


def test_a_photographs_caption_is_none_of_a_drawn_scene():
    found = judged("tiny", examples.load("astronaut"), examples.load("text-astronaut"))
    assert found.few and found.reference.domain == "photographs"
    everyday = examples.load("text-asleep"), examples.load("text-nap")
    assert judged("tiny", *everyday).reference.domain == "sentences"
    inside = judged("tiny", examples.load("heart-left"), examples.load("text-heart-right"))
    assert inside.has_percentile and inside.reference.domain == "drawn"


def test_a_model_without_a_distribution_is_not_calibrated():
    words = text("a cat", name="a cat")
    assert judged("wordllama", words, words, by=Calibrations()) == DomainCheck()
