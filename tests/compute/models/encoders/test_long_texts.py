"""Whatever 100,000 characters a visitor sends, no text tower spends long on their tokens."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compute.catalog import shipped
from compute.models import loading
from compute.models.adapter import Hardware
from compute.models.registry import ADAPTERS
from tests.compute.models import checkpoints

CPU = Hardware(device="cpu", dtype="float32")
DRAW = random.Random(0)
TEXTS = {
    "letters": "".join(DRAW.choices("abcdefghijklmnopqrstuvwxyz", k=100_000)),
    "one letter": "a" * 100_000,
    "marks": "a" + "\u0301\u0316" * 50 + "e\u0301\u0316" * 33_000,
    "emoji": "\U0001f600" * 100_000,
    "spaces": " " * 100_000,
    "right-to-left marks": "\u200f" * 100_000,
    "chinese": "".join(chr(DRAW.randrange(0x4E00, 0x9FFF)) for _ in range(100_000)),
    "signs": "!" * 100_000,
}
MADE: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "open_clip": ("open_clip", checkpoints.open_clip),
    "clip": ("clip", checkpoints.clip),
    "siglip": ("siglip", checkpoints.siglip),
    "siglip2": ("siglip", checkpoints.siglip2),
    "align": ("align", checkpoints.align),
    "blip": ("blip", checkpoints.blip),
    **{
        kind: ("bert", lambda folder, kind=kind: checkpoints.text(folder, kind))
        for kind in ("bert", "roberta", "albert")
    },
    "t5": ("t5", lambda folder: checkpoints.text(folder, "t5")),
}


def check(ready: Callable[[str], object]) -> None:
    for kind, text in TEXTS.items():
        started = time.thread_time()
        ready(text)
        assert time.thread_time() - started < 2, kind


@pytest.mark.parametrize("kind", MADE)
def test_tokens_of_every_kind_of_checkpoint(tmp_path: Path, kind: str) -> None:
    adapter, make = MADE[kind]
    folder = make(tmp_path / kind)
    check(ADAPTERS[adapter].load(checkpoints.row(folder, adapter), CPU, folder).text.ready)


@pytest.mark.parametrize("key", ["tiny", "wordllama"])
def test_tokens_of_what_comes_with_the_packages(key: str) -> None:
    row = next(model for model in shipped().models if model.key == key)
    check(loading.load(row, hardware=CPU).text.ready)
