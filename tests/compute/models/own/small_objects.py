"""Small objects that somebody may bring as a model, and what all of them are wrapped with."""

import tempfile
from functools import cache, partial
from pathlib import Path

import numpy as np
import open_clip
import torch
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta
from PIL import Image

from compute.models.own.wrapping import hardware_of, wrap
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU

SIDE, DIM = 8, 6
IMAGES, TEXTS = checkpoints.images(), ["a photo of a cat", "two red squares under a large blue circle", "dog"]
MATRIX = np.random.default_rng(5).standard_normal((SIDE * SIDE * 3, DIM)).astype(np.float32)


def wrapped(model, **given):
    """The object wrapped where it is."""
    return wrap(model, hardware=hardware_of(model), **given)


versioned = partial(wrapped, version="1")


def embedded(own, modality, items):
    """What the engine gets: each item prepared by itself, all in one batch."""
    return checkpoints.embedded(own.load(own.row, hardware=CPU), modality, list(items))


def pixels(image):
    """(3, SIDE, SIDE) float32 from 0 to 1."""
    small = np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX), dtype=np.float32)
    return torch.from_numpy(small / 255).permute(2, 0, 1).contiguous()


def of_image(image):
    return (pixels(image).numpy().ravel() - 0.5) @ MATRIX


def of_text(text):
    counts = np.bincount(np.frombuffer(text.encode(), dtype=np.uint8), minlength=256)
    return counts[:192].astype(np.float32) @ MATRIX / len(text)


class Eye:
    """The duck type: lists in, an array out."""

    def encode_image(self, images):
        return np.stack([of_image(image) for image in images])

    def encode_text(self, texts):
        return np.stack([of_text(text) for text in texts])


class Flat(torch.nn.Module):
    """A linear layer over the pixels."""

    def __init__(self):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            self.project = torch.nn.Linear(SIDE * SIDE * 3, DIM)

    def forward(self, batch):
        return self.project(batch.flatten(1))


@cache
def small_open_clip(*, vocabulary=49408):
    """A CLIP of open_clip with random weights."""
    with tempfile.TemporaryDirectory() as folder:
        made = checkpoints.open_clip(Path(folder, "model"), vocabulary=vocabulary)
        return open_clip.create_model(f"local-dir:{made}").eval()


class Recording(AbsEncoder):
    """As mteb's own encoders are written: it asks the data set for its columns, and takes batch after batch."""

    def __init__(self, modalities=("image", "text")):
        self.mteb_model_meta = ModelMeta.create_empty(
            overwrites={"name": "made/recording", "revision": "1", "modalities": list(modalities)}
        )
        self.seen, self.kinds = [], set()  # items, and the types of columns

    def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
        vectors = []
        for batch in inputs:
            assert kwargs["batch_size"] >= len(next(iter(batch.values())))
            self.seen += batch.get("image", batch.get("text"))
            self.kinds |= {(name, type(items)) for name, items in batch.items()}
            if "image" in inputs.dataset.features:
                vectors += [of_image(image) for image in batch["image"]]
            if "text" in inputs.dataset.features:
                vectors += [of_text(text) for text in batch["text"]]
        return torch.from_numpy(np.stack(vectors))
