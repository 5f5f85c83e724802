"""What is odd or broken gives a defined number with a warning, a reason, or one line that names it; NaN is nowhere."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from typer.testing import Result

import compute
from tests.compute.commands import likeness, save_images, save_prompts
from tests.compute.tasks import drawn_generators as drawn

COUNT = 8
Folder = Callable[[Path], None]
command = partial(likeness, "frechet")


def compared(root: Path, *options: object) -> Result:
    return command(
        *("--reference", root / "real", "--generated", f"mine={root / 'mine'}", "--prompts", root / "prompts.csv"),
        *("--backbones", "tiny", "--results", root / "results", "--format", "json", *options),
    )


@pytest.fixture
def root(tmp_path):
    save_images(tmp_path / "real", drawn.reference_image, COUNT)
    save_images(tmp_path / "mine", drawn.clean_image, COUNT)
    save_prompts(tmp_path / "prompts.csv", COUNT)
    return tmp_path


def opened(path: Path) -> Image.Image:
    return Image.open(path).convert("RGB")


def grey(mine: Path) -> None:
    opened(mine / "000.png").convert("L").save(mine / "000.png")


def animated(mine: Path) -> None:
    frames = [opened(mine / f"{row:03}.png") for row in range(3)]
    frames[0].save(mine / "000.gif", save_all=True, append_images=frames[1:])
    (mine / "000.png").unlink()


def of_two_sizes(mine: Path) -> None:
    opened(mine / "000.png").resize((31, 47)).save(mine / "000.png")


def copies(mine: Path) -> None:
    for row in range(1, COUNT):
        (mine / f"{row:03}.png").write_bytes((mine / "000.png").read_bytes())


def single(mine: Path) -> None:
    for row in range(1, COUNT):
        (mine / f"{row:03}.png").unlink()


def duplicate_prompts(mine: Path) -> None:
    rows = [f"{row:03}.png,a red ball" for row in range(COUNT)]
    (mine.parent / "prompts.csv").write_text("\n".join(["image,prompt", *rows]) + "\n")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (grey, "grey"),
        (animated, "animated"),
        (of_two_sizes, "2 sizes"),
        (copies, "exact copies"),
        (single, "1 of 8 prompts"),
        (duplicate_prompts, "more than once"),
    ],
)
def test_what_is_odd_is_said_beside_defined_numbers(change, words, root):
    change(root / "mine")
    result = compared(root)
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)  # allows no NaN
    assert any(words in line for line in content["warnings"]), content["warnings"]
    for row in content["figures"]:
        assert (row["value"] is None) == bool(row["reason"]), row
        assert row["value"] is None or math.isfinite(row["value"]), row
    assert any(row["value"] is not None for row in content["figures"])
    [stored] = (root / "results").glob("own__mine/**/scores.parquet")
    scores = pd.read_parquet(stored)
    assert len(scores) and np.isfinite(scores["value"]).all()


def empty_caption(root: Path) -> None:
    text = (root / "prompts.csv").read_text().splitlines()
    (root / "prompts.csv").write_text("\n".join([*text[:3], "002.png, ", *text[4:]]))


def broken(root: Path) -> None:
    data = (root / "mine" / "003.png").read_bytes()
    (root / "mine" / "003.png").write_bytes(data[: len(data) // 2])


def empty(root: Path) -> None:
    for path in (root / "mine").iterdir():
        path.unlink()


def missing(root: Path) -> None:
    (root / "mine").rename(root / "other")


@pytest.mark.parametrize(
    ("change", "words", "options"),
    [
        (empty_caption, "row 3", ()),
        (broken, "mine/003.png", ()),
        (empty, "mine holds no image", ()),
        (missing, "There is no ", ()),
        (None, "'mine' is named twice", ("--generated", "mine=real")),
        (None, "hf download org/none --repo-type dataset", ("--generated", "b=hf://datasets/org/none", "--offline")),
        (None, "inception-v3", ("--metrics", "fid")),
    ],
)
def test_what_cannot_be_compared_is_one_line_that_names_it(change, words, options, root, monkeypatch):
    monkeypatch.chdir(root)
    if change:
        change(root)
    result = compared(root, *options)
    assert result.exit_code == 1 and result.stdout == ""
    [line] = [line for line in result.stderr.splitlines() if not line.startswith("Reading ")]
    assert line.startswith("Error: ") and words in line
    assert not (root / "results" / "suites").exists()


def test_a_damaged_image_can_be_left_out_with_its_pair(root):
    broken(root)
    result = compared(root, "--skip-bad-items")
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert {row["n"] for row in content["figures"]} == {COUNT - 1}
    assert any("mine/003.png" in line for line in content["warnings"])


def test_metrics_that_need_prompts_say_so(root):
    plain = ("--reference", root / "real", "--generated", f"mine={root / 'mine'}", "--backbones", "tiny")
    said = command(*plain, "--results", root / "results", "--metrics", "fd,cfred,clipscore", "--format", "json")
    reasons = {row["metric"]: row["reason"] for row in json.loads(said.stdout)["figures"]}
    assert reasons["fd"] == "" and "no prompts: give --prompts" in reasons["cfred"] == reasons["clipscore"]
    refused = command(*plain, "--results", root / "results", "--metrics", "cfred")
    assert refused.exit_code == 1 and "cfred: the images have no prompts. Give --prompts" in refused.stderr


REAL = np.random.default_rng(0).normal(size=(40, 6))


def changed(**at: float) -> np.ndarray:
    rows = np.random.default_rng(1).normal(size=(40, 6))
    for name, value in at.items():
        rows[int(name.removeprefix("row")), 2] = value
    return rows


@pytest.mark.parametrize(
    ("generated", "words"),
    [
        (changed(row3=np.nan), "row 3"),
        (changed()[:, :5], "dimensions|features an image|5"),
        (changed()[:1], ""),
        (np.where(np.arange(6) == 2, 0.0, changed()), ""),
        (np.zeros((40, 6)), ""),
        (REAL, ""),
        (np.rint(changed() * 9).astype(np.int64), ""),
    ],
)
def test_features_give_numbers_or_reasons_never_nan(generated, words):
    frame = compute.frechet(reference=REAL, generated={"mine": generated}).frame()
    assert len(frame) >= 8
    numbers = frame[["value", "low", "high", "stderr", "limit", "limit_low", "limit_high"]]
    assert not np.isinf(numbers).any(axis=None) and (numbers["value"].isna() == (frame["reason"] != "")).all()
    if words:
        assert frame.query("metric not in ('vendi', 'cfred')")["value"].isna().all()
        assert any(each in " ".join(frame["reason"]) for each in words.split("|"))
    else:
        assert numbers["value"].notna().any()


def test_a_backbone_named_twice_counts_once():
    from compute.engine.generators.backbones import PAPERS, choose

    assert choose("tiny,conse,tiny").image == ("tiny", "conse")
    assert choose("paper,inception-v3").image == PAPERS.image
