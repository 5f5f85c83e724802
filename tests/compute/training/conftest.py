"""Small random bases to be tuned, each written once."""

import pytest

from tests.compute.training.small_training import base


@pytest.fixture(scope="session")
def bases(tmp_path_factory):
    """Loads a base of this adapter, by default CLIP, as often as it is called."""
    folder = tmp_path_factory.mktemp("bases")
    return lambda adapter="clip", **given: base(folder / adapter, adapter, **given)
