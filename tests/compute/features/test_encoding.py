"""The pipeline's parts: order, bounds, one large image at a time, halving, and telling a spent memory."""

from __future__ import annotations

import io
import threading
import time
from typing import Any

import numpy as np
import pytest
from PIL import Image

from compute.content import decoding
from compute.features.encoding import checked, in_order, out_of_memory, ready
from compute.types import BadInput, LikenessError


def test_items_come_in_order_and_not_far_ahead() -> None:
    draw = np.random.default_rng(0)
    pauses = draw.random(200) / 500
    begun: list[int] = []
    taken = 0

    def make(at: int) -> int:
        begun.append(at)
        assert at - taken < 24 + 4
        time.sleep(pauses[at])
        return at * at

    for taken, found in enumerate(in_order(make, 200, threads=4, ahead=24)):
        assert found == taken * taken
    assert sorted(begun) == list(range(200))


def test_an_error_comes_in_its_turn_and_ends_the_threads() -> None:
    def make(at: int) -> int:
        if at == 30:
            raise KeyError("thirty")
        return at

    found = []
    with pytest.raises(KeyError):
        found.extend(in_order(make, 100, threads=3, ahead=50))
    assert found == list(range(28))  # the piece of four that holds it goes with it
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("prepare")]


def test_large_images_are_prepared_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "LARGE", 60)
    together, most = [0], {64: 0, 16: 0}
    counting = threading.Lock()

    def prepare(modality: str, image: Image.Image) -> int:
        pixels = image.width * image.height
        if pixels == 64:
            with counting:
                together[0] += 1
                most[64] = max(most[64], together[0])
            time.sleep(0.002)  # others would come in meanwhile
            with counting:
                together[0] -= 1
        return pixels

    data = []
    for size in (8, 4):
        held = io.BytesIO()
        Image.new("RGB", (size, size)).save(held, "PNG")
        data.append(held.getvalue())
    found = list(in_order(lambda at: ready("image", data[at % 2], prepare), 40, threads=4, ahead=40))
    assert found == [64, 16] * 20
    assert most[64] == 1


def test_every_modality_is_decoded_and_checked() -> None:
    held = io.BytesIO()
    Image.new("L", (3, 2), 9).save(held, "PNG")
    keep: Any = lambda modality, item: (modality, item)  # noqa: E731
    modality, (image, text) = ready("pair", (held.getvalue(), "a cat"), keep)
    assert (modality, image.mode, image.size, text) == ("pair", "RGB", (3, 2), "a cat")
    assert ready("text", "a cat", keep) == ("text", "a cat")
    for modality, content in (("image", b"no"), ("text", " "), ("pair", (held.getvalue(), "")), ("pair", (b"", "a"))):
        with pytest.raises(BadInput):
            ready(modality, content, keep)


def test_a_spent_memory_is_told_from_other_errors() -> None:
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


def test_outputs_are_checked() -> None:
    vectors, offsets, finite = checked(np.ones((2, 3)), count=2, multi=False, model="m")
    assert (vectors.dtype, offsets, finite.tolist()) == (np.float32, None, [True, True])
    vectors, offsets, finite = checked([np.ones((2, 3)), np.full((1, 3), np.inf)], count=2, multi=True, model="m")
    assert (vectors.shape, offsets.tolist(), finite.tolist()) == ((3, 3), [0, 2, 3], [True, False])
    for wrong in (np.ones(2), np.ones((3, 3)), np.ones((2, 3, 4))):
        with pytest.raises(LikenessError, match="m: its adapter gave"):
            checked(wrong, count=2, multi=False, model="m")
