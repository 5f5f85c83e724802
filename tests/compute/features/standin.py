"""A model that counts what it is given and tells items apart by their first pixel."""

import io
from dataclasses import replace

import numpy as np
from PIL import Image

from compute.content import items
from compute.features.store import FeatureStore
from compute.features.subject import Subject
from compute.models.adapter import Hardware
from compute.types import Model

CPU = Hardware(device="cpu", dtype="float32")
ENCODER = Model(key="made/up", title="Made up", abilities=("embed_image", "embed_text"))
LATE = replace(ENCODER, late_interaction=True)
COMPARER = Model(key="made/metric", title="Made up", abilities=("compare",))


def file(colour, *, size=4):
    held = io.BytesIO()
    Image.new("RGB", (size, size), (colour % 256, colour // 256, 7)).save(held, "PNG")
    return held.getvalue()


def files(*colours):
    return items.images([file(colour) for colour in colours], of="squares")


def seen(item):
    """What the stand-in makes of an item: numbers that tell items apart."""
    if isinstance(item, tuple):
        return np.concatenate([seen(part)[:2] for part in item])
    if isinstance(item, str):
        return np.array([len(item), sum(map(ord, item)), 1, 1], dtype=np.float32)
    return np.array([*item.getpixel((0, 0)), 0], dtype=np.float32)


class Standin:
    """Counts what it is given; fails where told to."""

    def __init__(self):
        self.settings = {"pooling": "none"}
        self.loads = 0
        self.batches = []
        self.at_most = 10**9
        self.trouble = lambda found: found

    def load(self, row, *, hardware):
        self.loads += 1
        return self

    def prepare(self, modality, item):
        return seen(item)

    def embed(self, modality, prepared):
        if len(prepared) > self.at_most:
            raise RuntimeError("CUDA error: out of memory")
        self.batches.append((modality, len(prepared)))
        found = np.stack(prepared)
        return self.trouble(found)

    def compare(self, first, second):
        self.batches.append(("compare", len(second)))
        left, right = (np.stack([seen(item) for item in side])[:, 0] for side in (first, second))
        return 2 * left + right

    @property
    def encoded(self):
        return sum(size for _, size in self.batches)


def subject(
    folder,
    model,
    dtype="float32",
    *,
    row=ENCODER,
    hardware=CPU,
    threads=2,
    **options,
):
    return Subject(
        row,
        store=FeatureStore(folder, dtype=dtype),
        hardware=hardware,
        load=model.load,
        threads=threads,
        identity=lambda row, *, hardware: {"model": row.key, "dtype": hardware.dtype},
        **options,
    )
