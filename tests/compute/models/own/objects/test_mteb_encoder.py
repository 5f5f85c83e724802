"""An encoder of mteb's protocol gives here the vectors that it gives within `mteb.evaluate`, from the same batches."""

from __future__ import annotations

from typing import Any

import mteb
import numpy as np
import pytest
import torch
from mteb.mocks.mock_tasks.sts import MockSTSTask, MockVisualSTSTask
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta

from compute.types import BadInput
from tests.compute.models.own.small_objects import (
    DIM,
    embedded,
    of_image,
    of_text,
    versioned,
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
    """Notes the items that it gets with their vectors, and the types of its batches."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[Any, np.ndarray]] = []
        self.kinds: set[tuple[str, str]] = set()

    def encode(self, inputs: Any, **kwargs: Any):
        vectors = super().encode(inputs, **kwargs)
        self.kinds |= {(name, type(items).__name__) for batch in inputs for name, items in batch.items()}
        items = [item for batch in inputs for item in batch.get("image", batch.get("text"))]
        self.seen += zip(items, vectors.numpy(), strict=True)
        return vectors


@pytest.mark.parametrize(("task", "modality"), [(MockSTSTask, "text"), (MockVisualSTSTask, "image")])
def test_vectors_and_batches_are_those_that_mteb_makes(task, modality):
    theirs, ours = Watched(), Watched()
    mteb.evaluate(theirs, task(), cache=None, encode_kwargs={"batch_size": 2, "show_progress_bar": False})
    items, vectors = zip(*theirs.seen, strict=True)
    np.testing.assert_array_equal(embedded(versioned(ours), modality, list(items)), np.stack(vectors))
    assert len(items) >= 2 and {kind for kind in ours.kinds if kind[0] == modality} <= theirs.kinds


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
