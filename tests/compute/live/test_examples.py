"""The ready inputs are there, free to use, told apart, and fit the questions that are ready for them."""

import pytest

from compute import paths
from compute.io.tables import read_csv
from compute.live import examples
from compute.live.examples import EXAMPLES
from compute.tasks.calibration.photographs import CAPTIONS
from compute.tasks.drawing import render
from compute.types import BadInput, NotHere


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
