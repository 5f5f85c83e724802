"""Every command and script of docs/ runs, on small checkpoints and data with the names that the pages use."""

from __future__ import annotations

import json
import os
import shutil
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
from tests.compute.tasks.own.drawn import pictures, write

COUNT = 24
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
    (root / "my_encoder.py").write_text(ENCODER)
    for name in ("triplets", "my-triplets"):
        names = pictures(root / name, 24)
        rows = [(names[at], names[at + 6], names[at + 1], 1 + at % 2) for at in range(16)]
        table = root / name / ("triplets.csv" if name == "triplets" else "manifest.csv")
        write(table, ("reference", "alternative_1", "alternative_2", "answer"), rows)
    for name in pictures(root, 24):
        assert (root / name).is_file()
    shutil.copy(root / "triplets" / "triplets.csv", root / "birds.csv")
    text = (root / "birds.csv").read_text().replace("reference", "photo", 1)
    (root / "birds.csv").write_text(text)
    beir = root / "my-retrieval"
    (beir / "qrels").mkdir(parents=True)
    for name, texts in (("corpus", TEXTS), ("queries", [text.replace(" on ", " upon ") for text in TEXTS])):
        lines = [json.dumps({"_id": f"{name[0]}{at}", "text": text}) for at, text in enumerate(texts)]
        (beir / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    rows = [(f"q{at}", f"c{at}", 1) for at in range(len(TEXTS))]
    write(beir / "qrels" / "test.tsv", ("query-id", "corpus-id", "score"), rows)
    more = pd.DataFrame(np.random.default_rng(0).random((9, 8)), index=[f"model {at}" for at in range(9)])
    more.to_csv(root / "more_scores.csv", index_label="model")
    for name, image in (
        ("photos", drawn.reference_image),
        ("images/sdxl", drawn.clean_image),
        ("images/flux", lambda row: drawn.clean_image((row + 1) % COUNT)),
    ):
        (root / name).mkdir(parents=True)
        for row in range(COUNT):
            Image.fromarray(image(row)).save(root / name / f"{row:03}.png")
    rows = [f'{row:03}.png,"{prompt.text}"' for row, prompt in enumerate(drawn.all_prompts()[:COUNT])]
    (root / "prompts.csv").write_text("\n".join(["image,prompt", *rows]) + "\n")
    fields = ("reference", "alternative_1", "alternative_2")
    asked = [[f"{(row + step) % COUNT:03}.png" for step in (0, 1, 5)] for row in range(COUNT)]
    write(root / "judged.csv", (*fields, "choice"), [(*names, 1 + at % 2) for at, names in enumerate(asked)])
    result = [{"type": "pairwise", "value": {"selected": "left"}}]
    tasks = [{"data": dict(zip(fields, names, strict=True)), "annotations": [{"result": result}]} for names in asked]
    (root / "export.json").write_text(json.dumps(tasks))
    return root


def answers(program: str, words: list[str]) -> None:
    """In place of the app on a study: somebody answers, and saves the study."""
    path = Path(words[words.index("--eyes") + 1])
    answered(path, by="tiny", count=40)
    study = StudyFolder.opened(path, writes=False)
    Path("ann.json").write_text(StudyFile(study=study.study, judgments=study.judgments()).model_dump_json())


@pytest.mark.parametrize("name", NAMES)
def test_a_page_runs_as_it_stands(name, folder, monkeypatch):
    monkeypatch.setattr(os, "execv", answers)
    documents.run(documents.ROOT / "docs" / f"{name}.md", folder, monkeypatch)
