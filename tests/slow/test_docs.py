"""Every command and script of docs/ runs, on small checkpoints and data with the names that the pages use."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from compute.eyes.folder import StudyFolder
from compute.eyes.study import StudyFile
from leaderboard.html.docs_page import NAMES
from tests import documents
from tests.compute.eyes.test_command import answered
from tests.compute.models import checkpoints
from tests.compute.models.own.test_checkpoints import sentences
from tests.compute.tasks import drawn_generators as drawn
from tests.compute.tasks.files import put
from tests.compute.tasks.own.drawn import pictures
from tests.serving import ROOT

COUNT = 24
FIELDS = ("reference", "alternative_1", "alternative_2")
TEXTS = [
    f"{colour} {shape} on {ground}"
    for colour in ("red", "green", "blue")
    for shape in ("cube", "disc")
    for ground in ("grass", "sand")
]
ENCODER = """
import numpy as np

class MyEncoder:
    def encode(self, inputs, *, task_metadata=None, hf_split="", hf_subset="", prompt_type=None, **rest):
        images = [image.convert("RGB").resize((4, 4)) for batch in inputs for image in batch["image"]]
        return np.stack([np.asarray(image, float).ravel() for image in images])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the pages name."""
    root = tmp_path_factory.mktemp("docs")
    checkpoints.open_clip(root / "my-open-clip")
    checkpoints.clip(root / "my-clip-folder")
    sentences(root / "my-sentence-transformer")
    names = pictures(root, COUNT)
    for name, table in (("triplets", "triplets.csv"), ("my-triplets", "manifest.csv")):
        rows = [(names[at], names[at + 6], names[at + 1], 1 + at % 2) for at in range(16)]
        put(root, {f"{name}/{table}": [(*FIELDS, "answer"), *rows]})
        pictures(root / name, COUNT)
    more = pd.DataFrame(np.random.default_rng(0).random((9, 8)), index=[f"model {at}" for at in range(9)])
    more.to_csv(root / "more_scores.csv", index_label="model")
    asked = [[f"{(row + step) % COUNT:03}.png" for step in (0, 1, 5)] for row in range(COUNT)]
    result = [{"type": "pairwise", "value": {"selected": "left"}}]
    texts = {"corpus": TEXTS, "queries": [text.replace(" on ", " upon ") for text in TEXTS]}
    beir = {
        f"my-retrieval/{name}.jsonl": [{"_id": f"{name[0]}{at}", "text": text} for at, text in enumerate(of)]
        for name, of in texts.items()
    }
    links = [("query-id", "corpus-id", "score"), *((f"q{at}", f"c{at}", 1) for at in range(len(TEXTS)))]
    files = beir | {
        "my_encoder.py": ENCODER,
        "birds.csv": (root / "triplets" / "triplets.csv").read_text().replace("reference", "photo", 1),
        "my-retrieval/qrels/test.tsv": links,
        "judged.csv": [(*FIELDS, "choice"), *((*names, 1 + at % 2) for at, names in enumerate(asked))],
        "export.json": [
            {"data": dict(zip(FIELDS, names, strict=True)), "annotations": [{"result": result}]} for names in asked
        ],
        "prompts.csv": [("image", "prompt")],
    }
    for row, prompt in enumerate(drawn.all_prompts()[:COUNT]):
        name = f"{row:03}.png"
        files["prompts.csv"].append((name, prompt.text))
        files[f"photos/{name}"] = Image.fromarray(drawn.reference_image(row))
        files[f"images/sdxl/{name}"] = Image.fromarray(drawn.clean_image(row))
        files[f"images/flux/{name}"] = Image.fromarray(drawn.clean_image((row + 1) % COUNT))
    put(root, files)
    return root


def answers(program, words):
    """In place of the app on a study: somebody answers, and saves the study."""
    path = Path(words[words.index("--eyes") + 1])
    answered(path, by="tiny", count=40)
    study = StudyFolder.opened(path, writes=False)
    Path("ann.json").write_text(StudyFile(study=study.study, judgments=study.judgments()).model_dump_json())


@pytest.mark.parametrize("name", NAMES)
def test_a_page_runs_as_it_stands(name, folder, monkeypatch):
    monkeypatch.setattr(os, "execv", answers)
    documents.run(ROOT / "docs" / f"{name}.md", folder, monkeypatch)
