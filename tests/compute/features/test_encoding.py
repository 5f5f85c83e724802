"""The pipeline's parts: order, bounds, one large image at a time, halving, and telling a spent memory."""

import io
import threading
import time

import numpy as np
import pytest
from PIL import Image

from compute.content import decoding
from compute.features.encoding import checked, in_order, out_of_memory, ready
from compute.types import BadInput, LikenessError
from tests.compute.features.standin import file


def test_large_images_are_prepared_one_at_a_time(monkeypatch):
    monkeypatch.setattr(decoding, "LARGE", 60)
    together, most = [0], {64: 0, 16: 0}
    counting = threading.Lock()

    def prepare(modality, image):
        pixels = image.width * image.height
        if pixels == 64:
            with counting:
                together[0] += 1
                most[64] = max(most[64], together[0])
            time.sleep(0.002)  # others would come in meanwhile
            with counting:
                together[0] -= 1
        return pixels

    data = file(1, size=8), file(1)
    found = list(in_order(lambda at: ready("image", data[at % 2], prepare), 40, threads=4, ahead=lambda: 40))
    assert found == [64, 16] * 20
    assert most[64] == 1


def test_every_modality_is_decoded_and_checked():
    held = io.BytesIO()
    Image.new("L", (3, 2), 9).save(held, "PNG")
    keep = lambda modality, item: (modality, item)  # noqa: E731
    modality, (image, text) = ready("pair", (held.getvalue(), "a cat"), keep)
    assert (modality, image.mode, image.size, text) == ("pair", "RGB", (3, 2), "a cat")
    assert ready("text", "a cat", keep) == ("text", "a cat")
    for modality, content in (("image", b"no"), ("text", " "), ("pair", (held.getvalue(), "")), ("pair", (b"", "a"))):
        with pytest.raises(BadInput):
            ready(modality, content, keep)


def test_a_spent_memory_is_told_from_other_errors():
    """The first two are torch's own, raised by asking for more than there is."""
    import torch

    assert out_of_memory(torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))
    with pytest.raises(RuntimeError) as caught:
        torch.empty(1 << 60, dtype=torch.uint8)
    assert out_of_memory(caught.value)
    with pytest.raises(MemoryError) as caught:
        np.empty(1 << 60, dtype=np.uint8)
    assert out_of_memory(caught.value)
    assert out_of_memory(RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"))
    assert not out_of_memory(RuntimeError("mat1 and mat2 shapes cannot be multiplied"))
    assert not out_of_memory(ValueError("out of memory"))


def test_an_adapter_that_gives_another_shape_is_named():
    for wrong in (np.ones(2), np.ones((3, 3)), np.ones((2, 3, 4))):
        with pytest.raises(LikenessError, match="m: its adapter gave"):
            checked(wrong, count=2, multi=False, model="m")
