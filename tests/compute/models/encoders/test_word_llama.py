"""WordLlama's vectors beside those of the package's own code, which the program itself never runs."""

from dataclasses import replace

import numpy as np
import pytest

from compute.catalog import shipped
from compute.models import load
from compute.models.files import weights
from compute.types import NotHere
from tests.compute.models.checkpoints import CPU, embedded

ROW = shipped().model("wordllama")
TEXTS = ["a photo of a cat", "A cup of coffee, please!", "Ein Fußgänger überquert die Straße", "cat " * 3000, "x", "猫"]


@pytest.fixture(scope="module")
def encoder():
    return load(ROW, hardware=CPU)


def test_the_vectors_are_the_packages_own(encoder):
    from wordllama import WordLlama

    package = weights.own_folder(ROW)
    reference = WordLlama.load(cache_dir=package, disable_download=True)
    vectors = embedded(encoder, "text", TEXTS)
    assert vectors.shape == (len(TEXTS), 256)
    np.testing.assert_allclose(vectors, reference.embed(TEXTS), rtol=1e-4, atol=1e-5)


def test_the_order_of_words_decides_nothing_to_the_last_bit(encoder):
    left, right = "a red circle left of a large blue square", "a large blue square left of a red circle"
    one, other, among = (embedded(encoder, "text", texts) for texts in ([left], [right], [right, "cat " * 40]))
    assert (one == other).all() and (one[0] == among[0]).all()


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(NotHere, match="no-such-words"):
        weights.local_folder(replace(ROW, weights="package:no-such-words"), required=weights.RequiredFiles())
    assert not weights.is_downloaded(replace(ROW, weights="package:no-such-words"), required=weights.RequiredFiles())
