"""An object in memory in the engine: what it fails on is recorded with its reason, and the rest goes on."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from compute.content import items
from compute.features.store import FeatureStore
from compute.features.subject import LoadedSubject
from compute.models.own.own_model import OwnModel
from compute.types import BadItem, CannotDo
from tests.compute.features.standin import file
from tests.compute.models.own.small_objects import CPU, Eye, embedded, of_image, of_text, wrapped

RED = 200  # of the images that the model fails on


class Failing(Eye):
    """Fails on images with much red in the way named."""

    def __init__(self, way: str) -> None:
        self.way = way

    def encode_image(self, images):
        red = np.array([image.getpixel((0, 0))[0] == RED for image in images])
        if self.way == "raises" and red.any():
            raise ZeroDivisionError("no contrast")
        vectors = super().encode_image(images)
        if self.way == "nan":
            vectors[red] = np.nan
        return vectors

    def encode_text(self, texts):
        return [[float(value) for value in of_text(text)] for text in texts]


def subject(own: OwnModel, folder: Path, *, skip_bad: bool = False, batch_size: int = 5) -> LoadedSubject:
    return LoadedSubject(
        own.row,
        store=FeatureStore(folder),
        hardware=CPU,
        batch_size=batch_size,
        skip_bad=skip_bad,
        threads=2,
        load=own.load,
        identity=own.identity,
    )


def pictures(*colours: int):
    return items.images([file(colour) for colour in colours], of="squares")


GOOD, BAD = (1, 2, 3, 4, 5, 6, 7), RED


@pytest.mark.parametrize(
    "way, reason",
    [
        ("raises", "the model raised ZeroDivisionError: no contrast"),
        ("nan", "the model gave values that are not finite (NaN or infinite), which may be the model's fault"),
    ],
)
def test_one_item_fails_and_the_others_are_stored(tmp_path, way, reason):
    own = wrapped(Failing(way))
    column = pictures(*GOOD[:3], BAD, *GOOD[3:])
    with pytest.raises(BadItem, match=re.escape(reason)) as caught:
        subject(own, tmp_path).embed(column)
    assert "skip_bad=True" in str(caught.value)
    assert caught.value.item == "squares, image 3"
    skipping = subject(own, tmp_path, skip_bad=True)
    skipping.prepare([column])
    assert list(skipping.bad.values()) == [reason]
    rest = column.take(np.array([0, 1, 2, 4, 5, 6, 7]))
    expected = embedded(wrapped(Eye()), "image", [rest_image(colour) for colour in GOOD])
    np.testing.assert_allclose(skipping.embed(rest), expected, rtol=1e-5)


def rest_image(colour: int):
    from compute.content import decoding

    return decoding.decode(file(colour))


def test_a_model_that_fails_on_everything_is_no_fault_of_the_items(tmp_path):
    own = wrapped(Eye())

    class Broken:
        settings, multi_vector = {}, False

        def prepare(self, modality, item):
            return item

        def embed(self, modality, prepared):
            raise RuntimeError("device lost")

    broken = OwnModel(row=own.row, load=lambda row, hardware: Broken(), identity=own.identity)
    broken_subject = subject(broken, tmp_path, skip_bad=True)
    with pytest.raises(RuntimeError, match="device lost"):
        broken_subject.prepare([pictures(*GOOD)])
    assert not broken_subject.bad


def test_preprocessing_that_raises_is_the_items_fault(tmp_path):
    import torch

    from tests.compute.models.own.objects.test_torch_module import Flat
    from tests.compute.models.own.small_objects import pixels

    def fussy(image) -> torch.Tensor:
        if image.getpixel((0, 0))[0] == RED:
            raise KeyError("exif")
        return pixels(image)

    own = wrapped(Flat(), preprocess=fussy)
    skipping = subject(own, tmp_path, skip_bad=True)
    skipping.prepare([pictures(*GOOD, BAD)])
    assert list(skipping.bad.values()) == ["the model's preprocessing raised KeyError: 'exif'"]


def test_a_metric_that_raises_on_a_pair_names_it(tmp_path):
    def distance(a, b) -> float:
        if a.getpixel((0, 0))[0] == RED:
            raise ValueError("too red")
        return float(np.abs(of_image(a) - of_image(b)).sum())

    own = wrapped(distance, higher_is_better=False)
    first, second = pictures(*GOOD[:3], BAD), pictures(*GOOD[:4])
    with pytest.raises(
        BadItem, match=r"squares, image 3 against squares, image 3: the model raised ValueError: too red"
    ):
        subject(own, tmp_path).compare(first, second)
    rows = np.arange(3)
    assert subject(own, tmp_path).compare(first.take(rows), second.take(rows)) == pytest.approx(0)


def test_lists_are_taken(tmp_path):
    own = wrapped(Failing("never"))
    texts = items.texts(["a dog", "two red cats"], of="captions")
    expected = np.stack([of_text("a dog"), of_text("two red cats")])
    np.testing.assert_allclose(subject(own, tmp_path).embed(texts), expected, rtol=1e-5)


def test_without_a_text_tower_texts_are_refused_with_the_reason(tmp_path):
    class Images:
        def encode_image(self, images):
            return [of_image(image) for image in images]

    own = wrapped(Images())
    with pytest.raises(CannotDo, match="does not embed texts"):
        subject(own, tmp_path).embed(items.texts(["a"], of="captions"))
