"""An encoder of mteb's protocol gives here the vectors that it gives within `mteb.evaluate`, from the same batches."""

from __future__ import annotations

import hashlib
from typing import Any

import mteb
import numpy as np
import pytest
import torch
from mteb.mocks.mock_tasks.retrieval import MockAny2AnyRetrievalT2ITask
from mteb.mocks.mock_tasks.sts import MockSTSTask, MockVisualSTSTask
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta
from PIL import Image

from compute.models.own import probing
from compute.types import BadInput
from tests.compute.models.own.small_objects import (
    DIM,
    embedded,
    of_image,
    of_text,
    small_open_clip,
    transform_of,
    versioned,
    wrapped,
)


class Recording(AbsEncoder):
    """As mteb's own encoders are written: it asks the data set for its columns, and takes batch after batch."""

    def __init__(self, modalities: tuple[str, ...] = ("image", "text")) -> None:
        self.mteb_model_meta = ModelMeta.create_empty(
            overwrites={"name": "made/recording", "revision": "1", "modalities": list(modalities)}
        )

    def encode(
        self, inputs: Any, *, task_metadata: Any, hf_split: str, hf_subset: str, prompt_type=None, **kwargs: Any
    ):
        vectors = []
        for batch in inputs:
            assert kwargs["batch_size"] >= len(next(iter(batch.values())))
            if "image" in inputs.dataset.features:
                vectors += [of_image(image) for image in batch["image"]]
            if "text" in inputs.dataset.features:
                vectors += [of_text(text) for text in batch["text"]]
        return torch.from_numpy(np.stack(vectors))


class Watched(Recording):
    """Notes every item that it gets, its vector, and what the batch looks like."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors: dict[str, np.ndarray] = {}
        self.items: dict[str, Any] = {}
        self.kinds: set[tuple[str, str, str]] = set()

    def encode(self, inputs: Any, **kwargs: Any):
        vectors = super().encode(inputs, **kwargs)
        items = [item for batch in inputs for item in batch.get("image", batch.get("text"))]
        for batch in inputs:
            for name in {"image", "text"} & set(batch):
                kinds = (name, type(batch[name]).__name__, type(batch[name][0]).__bases__[0].__name__)
                self.kinds.add(kinds)
        for item, vector in zip(items, vectors, strict=True):
            self.vectors[content(item)], self.items[content(item)] = vector.numpy(), item
        return vectors


def content(item: Any) -> str:
    data = item.encode() if isinstance(item, str) else repr(item.size).encode() + item.tobytes()
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize("task", [MockSTSTask, MockVisualSTSTask, MockAny2AnyRetrievalT2ITask])
def test_vectors_are_those_that_mteb_makes(task):
    model = Watched()
    mteb.evaluate(model, task(), cache=None, encode_kwargs={"batch_size": 2, "show_progress_bar": False})
    theirs, items = dict(model.vectors), dict(model.items)
    assert len(theirs) >= 2
    own = versioned(Recording())
    for modality, kind in (("image", Image.Image), ("text", str)):
        some = {key: item for key, item in items.items() if isinstance(item, kind)}
        if some:
            ours = embedded(own, modality, list(some.values()))
            np.testing.assert_array_equal(ours, np.stack([theirs[key] for key in some]))


def test_batches_look_as_those_of_mteb():
    theirs, ours = Watched(), Watched()
    for task in (MockSTSTask(), MockVisualSTSTask()):
        mteb.evaluate(theirs, task, cache=None, encode_kwargs={"batch_size": 2, "show_progress_bar": False})
    for modality in ("image", "text"):
        embedded(versioned(ours), modality, probing.images() if modality == "image" else probing.texts())
    assert {kind[:2] for kind in ours.kinds} == {kind[:2] for kind in theirs.kinds}


def test_its_metadata_says_what_it_takes():
    own = versioned(Recording(("text",)))
    assert own.row.abilities == ("embed_text",)
    with pytest.raises(BadInput, match="audio"):
        versioned(Recording(("audio",)))


def test_without_metadata_it_takes_what_it_does_not_refuse():
    class Texts:
        def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
            return np.stack([of_text(text) for batch in inputs for text in batch["text"]])

    own = versioned(Texts())
    assert (own.row.abilities, own.row.modalities, own.row.embed_dim) == (("embed_text",), ("text",), DIM)

    class Neither:
        def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None, **kwargs):
            raise RuntimeError("no weights")

    with pytest.raises(BadInput, match="no weights"):
        versioned(Neither())


def test_mtebs_own_wrapper_of_open_clip(monkeypatch):
    """An encoder that mteb itself ships, around a small model."""
    import open_clip
    from mteb.models.model_implementations.openclip_models import openclip_loader

    model = small_open_clip()
    monkeypatch.setattr(
        open_clip, "create_model_and_transforms", lambda name, device: (model, None, transform_of(model))
    )
    tokenizer = open_clip.get_tokenizer("", context_length=16)
    monkeypatch.setattr(open_clip, "get_tokenizer", lambda name, **given: tokenizer)
    encoder = openclip_loader("made/clip", revision="1", device="cpu")
    monkeypatch.setattr(torch.cuda.amp, "autocast", _nothing)
    own = wrapped(encoder)
    monkeypatch.undo()
    direct = wrapped(model)
    for modality, items in (("image", probing.images()), ("text", probing.texts())):
        np.testing.assert_allclose(embedded(own, modality, items), embedded(direct, modality, items), atol=1e-5)


class _nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *args: Any) -> None: ...
