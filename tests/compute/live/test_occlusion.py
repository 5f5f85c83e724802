"""Which parts of an image a score rests on: how far it falls without each cell of a grid."""

import numpy as np
import pytest
from PIL import Image

from compute.live import examples, occlusion
from compute.procedures.shared.similarity import alike
from compute.types import BadInput, CannotDo
from tests.compute.live.subjects import JUDGE, loaded, subject

CAT, FACE, WORDS = (examples.load(key) for key in ("cat", "cat-face", "text-cat"))


@pytest.mark.parametrize("other", [FACE, WORDS], ids=["image", "text"])
def test_a_drop_is_the_score_less_that_of_the_image_greyed_by_hand(other):
    whole, grids = occlusion.drops(subject("tiny"), CAT, other)
    assert [grid is None for grid in grids] == [False, other.modality == "text"]
    pixels = np.asarray(CAT.content.resize(occlusion.size(CAT), Image.Resampling.LANCZOS)).copy()
    height, width = (side / occlusion.CELLS for side in pixels.shape[:2])
    pixels[round(3 * height) : round(4 * height), round(5 * width) : round(6 * width)] = pixels.mean((0, 1)).round()
    model, content = loaded("tiny"), other.content
    if other.modality == "image":
        content = content.resize(occlusion.size(other), Image.Resampling.LANCZOS)
    first, second = (
        model.embed(kind, [model.prepare(kind, each)])
        for kind, each in (("image", Image.fromarray(pixels)), (other.modality, content))
    )
    assert grids[0][3, 5] == pytest.approx(whole - alike(first, second)[0], abs=1e-5)


class Endless:
    """A metric without bounds: equal images are infinitely alike."""

    def compare(self, first, second):
        return [float("inf")] * len(second)


@pytest.mark.parametrize("row, error", [("psnr", BadInput), (JUDGE, CannotDo)], ids=["infinite", "words"])
def test_what_has_no_score_to_fall_is_refused(row, error):
    with pytest.raises(error):
        occlusion.drops(subject(row, model=Endless()), CAT, FACE)
