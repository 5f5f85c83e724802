"""The page of the Python interface: every block is run as it is written, each as a script of its own."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from compute import paths
from tests.compute.models import checkpoints
from tests.compute.models.own.test_checkpoints import sentences
from tests.compute.tasks.own.drawn import pictures, write

PAGE = (Path(__file__).resolve().parents[1] / "compute" / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the page names."""

    root = tmp_path_factory.mktemp("page")
    checkpoints.open_clip(root / "my-open-clip")
    checkpoints.clip(root / "my-clip-folder")
    sentences(root / "my-sentence-transformer")
    (root / "my_encoder.py").write_text(ENCODER)
    names = pictures(root / "triplets", 24)
    rows = [(names[at], names[at + 6], names[at + 1], 1) for at in range(16)]
    write(root / "triplets" / "triplets.csv", ("reference", "alternative_1", "alternative_2", "answer"), rows)
    beir = root / "my-retrieval"
    (beir / "qrels").mkdir(parents=True)
    for name, texts in (("corpus", TEXTS), ("queries", [text.replace(" on ", " upon ") for text in TEXTS])):
        lines = [json.dumps({"_id": f"{name[0]}{at}", "text": text}) for at, text in enumerate(texts)]
        (beir / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    rows = [(f"q{at}", f"c{at}", 1) for at in range(len(TEXTS))]
    write(beir / "qrels" / "test.tsv", ("query-id", "corpus-id", "score"), rows)
    draw = np.random.default_rng(0)
    scores = [(f"model {name}", *draw.random(8).round(3)) for name in "abcd"]
    write(root / "scores.csv", ("model", *(f"task {at}" for at in range(8))), scores)
    return root


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_block_runs_as_it_stands(
    folder: Path, number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(paths, "RESULTS", folder / "results")
    script = folder / f"script_{number}.py"
    script.write_text(BLOCKS[number])
    if "pairs.parquet" in BLOCKS[number]:
        make_pairs(folder)
    made: dict[str, Any] = runpy.run_path(str(script))
    if "scores" in made:
        scores = made["scores"]
        assert {outcome.state for outcome in scores.outcomes} <= {"made", "stored"} and scores.runs
        assert all(np.isfinite(score.value) for run in scores.runs.values() for score in run.scores)
    else:
        assert made["ranked"].frame()["rank"].tolist() == [1, 2, 3, 4]


def make_pairs(folder: Path) -> None:
    """`pairs.parquet` by the command that the page names."""
    from typer.testing import CliRunner

    from compute.__main__ import app

    images = folder / "scenes"
    if not images.is_dir():
        pictures(images, 12)
        command = ["pairs", "make", "--images", str(images), "--out", str(folder / "pairs.parquet")]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output


def test_the_scripts_are_short() -> None:
    assert len(BLOCKS) >= 10
    for block in BLOCKS:
        lines = [line for line in block.splitlines() if line.strip()]
        assert len(lines) <= 10, block


def test_every_public_name_is_on_the_page() -> None:
    import compute

    for name in compute.__all__:
        assert re.search(rf"`(compute\.)?{name}\b", PAGE), name
