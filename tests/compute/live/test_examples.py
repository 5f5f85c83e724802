"""The ready inputs are there, free to use, told apart, and fit the questions that are ready for them."""

import pytest

from compute import paths
from compute.calibration.photographs import CAPTIONS
from compute.io.tables import read_csv
from compute.live import examples
from compute.live.examples import EXAMPLES
from compute.tasks.drawing import render
from compute.types import BadInput, NotHere

KEYS = [example.key for example in EXAMPLES]


@pytest.mark.parametrize("key", KEYS)
def test_every_example_loads_once_and_always_the_same(key):
    found = examples.load(key)
    example = EXAMPLES[KEYS.index(key)]
    assert found is examples.load(key) and found.modality == example.modality and found.note == ""
    assert example.title and example.credit and example.licence in ("CC0", "public domain")
    if found.modality == "text":
        assert found.content == example.title
    else:
        assert found.content.mode == "RGB" and 150 <= max(found.content.size) <= 512
        assert examples._input(example).key == found.key


@pytest.mark.parametrize("key", ["", "../cat", "cat.png", "CAT"])
def test_an_unknown_key_is_a_sentence(key):
    with pytest.raises(BadInput, match="There is no example .* there are: cat, "):
        examples.load(key)


def test_without_the_photographs_it_says_how_to_get_them(monkeypatch):
    monkeypatch.setattr(render.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotHere, match="scikit-image.* pip install"):
        examples.photo_path("chelsea.png")


def test_no_example_is_among_what_models_are_calibrated_with():
    """A photograph of both would be within the domain because it made it."""
    files = {example.file for example in EXAMPLES if example.file}
    texts = {example.title for example in EXAMPLES if example.modality == "text"}
    sentences = read_csv(paths.SENTENCES, columns=("first", "second"))
    assert files and not files & set(CAPTIONS)
    assert not {text.lower() for text in texts} & {
        text.lower() for text in [*CAPTIONS.values(), *sentences["first"], *sentences["second"]]
    }
