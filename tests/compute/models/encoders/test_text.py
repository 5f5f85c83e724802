"""Text encoders, each by its real path and beside the library's own call."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, T5EncoderModel

from compute.models import load
from compute.types import BadInput, CannotDo
from tests.compute.models import checkpoints
from tests.compute.models.checkpoints import CPU, LONG, TEXTS, cosines, embedded, images, row

LENGTHS = {"bert": 24, "roberta": 24, "modernbert": 24, "t5": 512}


def by_library(folder: Path, kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = (T5EncoderModel if kind == "t5" else AutoModel).from_pretrained(folder).eval()
    words = tokenizer([*TEXTS, LONG], padding=True, truncation=True, max_length=LENGTHS[kind], return_tensors="pt")
    with torch.no_grad():
        return model(**words).last_hidden_state, words["attention_mask"]


@pytest.mark.parametrize("kind", list(LENGTHS))
def test_vectors_are_the_librarys(tmp_path: Path, kind: str) -> None:
    """Reference: transformers called directly on all texts in one padded batch; the mean in numpy over real tokens."""
    folder = checkpoints.text(tmp_path / kind, kind)
    encoder = load(row(folder, "t5" if kind == "t5" else "bert"), hardware=CPU)
    words = [encoder.prepare("text", text) for text in [*TEXTS, LONG]]
    assert len(words[-1]) == LENGTHS[kind] == encoder.settings["text"]["max_tokens"]
    found = encoder.embed("text", words)
    states, mask = by_library(folder, kind)
    expected = np.stack(
        [state[kept.astype(bool)].mean(axis=0) for state, kept in zip(states.numpy(), mask.numpy(), strict=True)]
    )
    assert np.std(expected, axis=0).max() > 1e-2
    np.testing.assert_allclose(cosines(found, expected), 1, atol=1e-5)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    np.testing.assert_allclose(np.concatenate([encoder.embed("text", [one]) for one in words]), found, atol=1e-4)
    with pytest.raises(CannotDo, match="text"):
        encoder.prepare("image", images()[0])


def test_another_pooling_where_asked(tmp_path: Path) -> None:
    """Published BERTs for filling masks hold no pooler; it would be random."""
    folder = checkpoints.text(tmp_path / "bert", "bert")
    encoder = load(row(folder, "bert", pooling="cls"), hardware=CPU)
    found = embedded(encoder, "text", [*TEXTS, LONG])
    np.testing.assert_allclose(found, by_library(folder, "bert")[0][:, 0].numpy(), atol=1e-4)
    with pytest.raises(BadInput, match="pooler"):
        load(row(folder, "bert", pooling="pooler"), hardware=CPU)


def test_a_shorter_limit_and_a_prefix(tmp_path: Path) -> None:
    folder = checkpoints.text(tmp_path / "bert", "bert")
    encoder = load(row(folder, "bert", max_tokens=7, text_prefix="a photo of "), hardware=CPU)
    assert len(encoder.prepare("text", LONG)) == 7
    assert encoder.prepare("text", "dog") == load(row(folder, "bert"), hardware=CPU).prepare("text", "a photo of dog")
