"""The README's commands and calls that compare generators, run as they are written, on drawn images."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from compute import paths
from compute.__main__ import app
from compute.tasks.mini import generators as drawn

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
SECTION = README.partition("### Generators\n")[2].partition("\n### ")[0]
COMMANDS = re.findall(r"^python -m compute (frechet .*)$", SECTION, re.MULTILINE)
COUNT = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the README names: photos, images/sdxl, images/flux, prompts.csv."""
    root = tmp_path_factory.mktemp("readme")
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
    return root


def run(line: str, folder: Path) -> str:
    """What a command prints; without weights here, the paper's encoders are the bundled model."""
    words = shlex.split(line, comments=True)
    words += [] if "--backbones" in words else ["--backbones", "tiny"]
    result = CliRunner().invoke(app, [*words, "--results", str(folder / "results")])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_commands_in_their_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert len(COMMANDS) == 4
    every, save, against, grid = (run(line, folder) for line in COMMANDS)
    for title in ("cFreD", "FD", "FD at infinite N", "CMMD", "KID", "CLIPScore", "Precision", "Coverage", "Vendi"):
        assert re.search(rf"^\| {title}", every, re.MULTILINE), title
    assert re.search(r"^\| metric +\| features +\| n +\| sdxl +\| flux +\|$", every, re.MULTILINE)
    assert "No cFreD, CLIPScore: the images have no prompts: give --prompts" in save
    assert re.search(r"^\| FD ↓ +\| tiny +\| 40 \| ", against, re.MULTILINE) and "KID" not in against
    assert "cFreD" in grid


def test_the_calls_from_python(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(paths, "RESULTS", folder / "results")
    run(COMMANDS[1], folder)  # saves photos.npz
    [code] = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    features, others, text_features = np.random.default_rng(0).normal(size=(3, 50, 4))
    names = {"features": features, "others": others, "text_features": text_features}
    exec(compile(code, "README.md", "exec"), names)
    printed = capsys.readouterr().out
    assert "| cFreD ↓" in printed and "| FD at infinite N ↓" in printed
    assert names["table"].value("cfred", "sdxl") > 0
