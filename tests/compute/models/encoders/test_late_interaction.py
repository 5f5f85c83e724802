"""Late-interaction models from tiny random checkpoints in the hub's own layout.

References: the library's own model called on each item alone; mteb's evaluation of the same network.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import mteb
import numpy as np
import pytest
import torch
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction
from transformers import AutoProcessor, ColPaliForRetrieval, ColQwen2ForRetrieval

import compute
from compute.models import load
from compute.models.own import checkpoints
from tests.compute.models.checkpoints import CPU, embedded, noise
from tests.compute.models.multimodal import colpali, colqwen2
from tests.compute.tasks import hub_files

TEXTS = ["a dog", "Two birds sit on a wire, and one of them sings.", "rouge et noir", "a red circle"]
PICTURES = noise((40, 60), (90, 30), (56, 56), (56, 84))


@pytest.fixture(scope="module", params=[colpali, colqwen2])
def folder(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("late") / request.param.__name__)


class Theirs(AbsEncoder):
    """The network as mteb's wrappers of such models run it: batches of padded items, texts as queries."""

    def __init__(self, folder: Path) -> None:
        kind = ColPaliForRetrieval if "colpali" in folder.name else ColQwen2ForRetrieval
        self.model = kind.from_pretrained(folder).eval()
        self.processor = AutoProcessor.from_pretrained(folder)
        self.processor.tokenizer.padding_side = "right"
        self.mteb_model_meta = ModelMeta.create_empty(
            overwrites={
                "name": f"made/{folder.name}",
                "revision": "1",
                "modalities": ["image", "text"],
                "similarity_fn_name": ScoringFunction.MAX_SIM,
            }
        )

    def encode(self, inputs: Any, **kwargs: Any) -> Any:
        found: list[torch.Tensor] = []
        for batch in inputs:
            ready = (
                self.processor.process_images(batch["image"])
                if "image" in batch
                else self.processor.process_queries(batch["text"])
            )
            with torch.no_grad():
                found.extend(self.model(**{name: ready[name] for name in ready if name != "labels"}).embeddings)
        return torch.nn.utils.rnn.pad_sequence(found, batch_first=True)


def test_vectors_are_the_library_call(folder):
    made = checkpoints.from_folder(folder)
    assert (made.row.adapter, made.row.late_interaction, made.row.embed_dim) == ("late_interaction", True, 16)
    encoder, theirs = load(made.row, hardware=CPU), Theirs(folder)
    for modality, items in (("image", PICTURES), ("text", TEXTS)):
        found = embedded(encoder, modality, items)
        for item, vectors in zip(items, found, strict=True):
            np.testing.assert_allclose(vectors, theirs.encode([{modality: [item]}])[0].numpy(), atol=2e-5)
    assert len({len(vectors) for vectors in found}) > 1


def test_retrieval_scores_are_those_of_mteb(folder, tmp_path, monkeypatch):
    """Of the checkpoint, and of the object that mteb itself evaluates; other tasks are skipped for one reason."""
    task = type(mteb.get_task("VidoreDocVQARetrieval"))()
    pages = noise(*((28 + 14 * (at % 3), 28 + 14 * (at % 4)) for at in range(12)))
    tables = {
        ("queries", "test"): {"query-id": [*range(8)], "query": [f"{TEXTS[at % 4]} {at}" for at in range(8)]},
        ("corpus", "test"): {"corpus-id": [*range(12)], "image": pages},
        ("qrels", "test"): hub_files.qrels([(at, at * 7 % 12, 1) for at in range(8)]),
    }
    place = hub_files.write(tmp_path / "data" / task.metadata.dataset["path"], tables)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setitem(task.metadata.dataset, "path", str(place))
    theirs = Theirs(folder)
    wanted = task.evaluate(theirs, "test", None, encode_kwargs={"batch_size": 5})["default"]["ndcg_at_5"]
    for model in (folder, theirs):
        scores = compute.evaluate(
            model,
            suite="vidore-v1",
            tasks=["mieb/vidoredocvqaretrieval"],
            data=tmp_path / "data",
            results=tmp_path / "results",
            offline=True,
            progress=False,
        )
        assert scores.frame()["value"].tolist() == pytest.approx([wanted], abs=1e-5) and 0 < wanted < 1
